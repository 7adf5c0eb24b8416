"""The kernels for aarch64, built by a cross compiler: what is built, what is chosen on which processor, and its bits.

`test_products.py` runs their products under emulation.
"""

import os
import platform
import subprocess
from pathlib import Path

import pytest
from tests.native.emulation import CROSS_COMPILER, MISSING, PROCESSORS, compile_program, emulated

from attendo.native.build import COMPILE_FLAGS, HERE, NEON_VARIANTS, SWITCH, build, find_compiler
from attendo.native.build import VARIANTS as BUILDS
from attendo.native.library import VARIANTS, available_kernels

DECODING = [Path(__file__).parent / "decoding.cpp", HERE / "dispatch.cpp"]

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


@pytest.fixture(scope="module")
def decoded(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Bits of log-probabilities by AVX2 on this processor."""
    compiler = find_compiler(os.environ)
    if compiler is None or "avx2" not in {kernels.variant for kernels in available_kernels()}:
        pytest.skip("needs a compiler and a processor with AVX2 to compare with")
    flags = next(each.flags for each in BUILDS["x86_64"] if each.name == "avx2")
    made = tmp_path_factory.mktemp("decoding") / "decoding"
    command = [*compiler, *COMPILE_FLAGS, *flags, "-DATTENDO_VARIANT=avx2", f"-I{HERE}", *map(str, DECODING)]
    subprocess.run([*command, "-o", str(made)], check=True)
    return subprocess.run([str(made)], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("variant", PROCESSORS)
def test_int8_decodes_to_the_same_bits_as_on_x86(tmp_path: Path, decoded: str, variant: str) -> None:
    compile_program(tmp_path / "decoding", DECODING, variant=variant)
    command = emulated(PROCESSORS[variant], tmp_path / "decoding")
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == decoded
    assert len(set(decoded.split())) == 3 + 8 * 3 * 2  # rows, all different


@pytest.mark.slow  # four variants of everything
@pytest.mark.parametrize("machine", ["aarch64", "arm64"])
def test_the_real_sources_become_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, machine: str) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    built = build(tmp_path, environment=os.environ | {"CXX": CROSS_COMPILER, SWITCH: "auto"})
    assert built.variants == tuple(variant.name for variant in NEON_VARIANTS), built.message
