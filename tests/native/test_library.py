"""Which kernels are chosen; the variants are faked, so that every processor's choice is tried on this one."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from attendo.errors import ModelError
from attendo.native import library
from attendo.native.library import (
    KernelChoice,
    Kernels,
    available_kernels,
    describe,
    find_kernels,
    multiplies_bfloat16_fast,
)


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    find_kernels.cache_clear()
    yield
    find_kernels.cache_clear()


def choice(monkeypatch: pytest.MonkeyPatch, *variants: str, wanted: str = "") -> KernelChoice:
    monkeypatch.setattr(library, "available_kernels", lambda: tuple(Kernels(name, {}) for name in variants))
    monkeypatch.setenv("ATTENDO_KERNELS", wanted)
    return find_kernels()


def variant(found: KernelChoice) -> str:
    return "none" if found.kernels is None else found.kernels.variant


@pytest.mark.parametrize(
    "available", [("avx512amx", "avx512bf16", "portable"), ("avx512bf16", "avx2", "portable"), ("avx2", "portable")]
)
def test_the_best_is_taken(monkeypatch: pytest.MonkeyPatch, available: tuple[str, ...]) -> None:
    assert variant(choice(monkeypatch, *available)) == available[0]
    assert describe() == f"native {available[0]}"


def test_the_portable_variant_is_only_taken_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert variant(choice(monkeypatch, "portable")) == "none"
    assert describe().startswith("plain torch (")
    find_kernels.cache_clear()
    assert variant(choice(monkeypatch, "avx2", "portable", wanted="portable")) == "portable"
    assert describe() == "native portable (ATTENDO_KERNELS=portable)"


def test_plain_torch_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choice(monkeypatch, "avx2", "portable", wanted="plain") == KernelChoice(None, "ATTENDO_KERNELS=plain")


@pytest.mark.parametrize(
    ("wanted", "message"),
    [("avx2", "not available on this processor or in this build; leave it unset"), ("fast", "no such variant")],
)
def test_what_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch, wanted: str, message: str) -> None:
    with pytest.raises(ModelError, match=f"ATTENDO_KERNELS={wanted}: .*{message}"):
        choice(monkeypatch, "portable", wanted=wanted)


# Linux grants no tile registers to a process one of whose threads has an alternate signal stack too small to save them.
WITH_A_SMALL_SIGNAL_STACK = """
import ctypes

class Stack(ctypes.Structure):
    _fields_ = [("address", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]

memory = ctypes.create_string_buffer(2048)
stack = Stack(ctypes.addressof(memory), 0, len(memory))
assert ctypes.CDLL(None).sigaltstack(ctypes.byref(stack), None) == 0
"""


@pytest.mark.skipif(
    "avx512amx" not in (kernels.variant for kernels in available_kernels()), reason="no AMX that could be refused"
)
@pytest.mark.parametrize(("before", "expected"), [("", "avx512amx"), (WITH_A_SMALL_SIGNAL_STACK, "avx512bf16")])
def test_where_the_system_refuses_amx_the_next_best_is_taken(before: str, expected: str) -> None:
    program = f"{before}\nfrom attendo.native.library import describe\nprint(describe())"
    environment = {key: value for key, value in os.environ.items() if key != "ATTENDO_KERNELS"}
    finished = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True, env=environment
    )
    assert (finished.stdout, finished.stderr) == (f"native {expected}\n", "")


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="the system does not say what the processor can do")
def test_bfloat16_is_fast_where_the_system_says_that_the_processor_has_it() -> None:
    facts = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n\n")[0]
    flags = facts.split()
    has_it = "amx_bf16" in flags or ("avx512_bf16" in flags and "AuthenticAMD" in flags)
    if has_it != multiplies_bfloat16_fast():  # a system may refuse AMX's registers, and a build may lack a variant
        assert has_it
        assert variant(find_kernels()) not in ("avx512amx", "avx512bf16")


@pytest.mark.parametrize(
    ("available", "vendor", "expected"),
    [
        ("avx512amx", "GenuineIntel", True),
        ("avx512bf16", "AuthenticAMD", True),
        ("avx512bf16", "GenuineIntel", False),
        ("avx512vnni", "AuthenticAMD", False),
        ("neoni8mm", "", False),
    ],
)
def test_bfloat16_is_fast_by_variant_and_maker(
    monkeypatch: pytest.MonkeyPatch, available: str, vendor: str, expected: bool
) -> None:
    choice(monkeypatch, available)
    monkeypatch.setattr(library, "_processor_facts", lambda: f"vendor_id : {vendor}")
    assert multiplies_bfloat16_fast() is expected


def test_plain_torch_has_no_fast_bfloat16(monkeypatch: pytest.MonkeyPatch) -> None:
    choice(monkeypatch, "avx512amx", wanted="plain")
    assert not multiplies_bfloat16_fast()
