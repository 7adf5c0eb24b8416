"""The kernels for aarch64, built by a cross compiler: what is built, and what is chosen on which processor.

`test_products.py` runs their products under emulation.
"""

import os
import platform
import subprocess
from pathlib import Path

import pytest
from tests.native.emulation import CROSS_COMPILER, MISSING, compile_program, emulated

from attendo.native.build import HERE, NEON_VARIANTS, SWITCH, build
from attendo.native.library import VARIANTS

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {MISSING}")


@pytest.fixture(scope="module")
def can_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("can_run") / "can_run"
    compile_program(made, [HERE / "dispatch.cpp", Path(__file__).parent / "can_run.cpp"])
    return made


@pytest.mark.parametrize(
    ("processor", "expected"),
    [
        ("cortex-a57", {"neon", "portable"}),  # Armv8.0
        ("cortex-a76", {"neondot", "neon", "portable"}),  # Armv8.2 with dot products
        ("max", {"neoni8mm", "neondot", "neon", "portable"}),
    ],
)
def test_a_processor_can_run_what_it_has_instructions_for(can_run: Path, processor: str, expected: set[str]) -> None:
    command = emulated(processor, can_run, str(len(VARIANTS)))
    answers = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert {variant for variant, answer in zip(VARIANTS, answers, strict=True) if answer == "1"} == expected


@pytest.mark.slow  # four variants of everything
@pytest.mark.parametrize("machine", ["aarch64", "arm64"])
def test_the_real_sources_become_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, machine: str) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    built = build(tmp_path, environment=os.environ | {"CXX": CROSS_COMPILER, SWITCH: "auto"})
    assert built.variants == tuple(variant.name for variant in NEON_VARIANTS), built.message
