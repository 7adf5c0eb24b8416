"""What is lost without the best kernels; processors and builds are faked, so that each case is tried here."""

import pytest

from attendo.native import advice as module
from attendo.native.advice import advice
from attendo.native.build import HERE, Build, problem, read_build
from attendo.native.library import KernelChoice, Kernels, available_kernels


def on(monkeypatch: pytest.MonkeyPatch, variant: str | None, *, why: str = "", left_out: tuple[str, ...] = ()) -> str:
    """The advice of a machine where these kernels are found."""
    monkeypatch.delenv("ATTENDO_KERNELS", raising=False)
    found = KernelChoice(None if variant is None else Kernels(variant, {}), why)
    monkeypatch.setattr(module, "find_kernels", lambda: found)
    monkeypatch.setattr(module, "problem", lambda: why)
    monkeypatch.setattr(module, "left_out", lambda: list(left_out))
    return advice()


def test_nothing_is_lost_with_the_best_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    assert on(monkeypatch, "avx512vnni") == ""
    assert on(monkeypatch, "avx512vnni", left_out=("avx2",)) == "", "a lesser variant that is missing costs nothing"


def test_without_kernels_decoding_is_slower_and_needs_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    told = on(monkeypatch, None, why="the native kernels are not built, as no C++ compiler was found")
    assert told.startswith("decoding takes 2 to 5 times as long")
    assert told.endswith('needs torch, and training is slower, too: pip install "attendo[train]"')


def test_an_unknown_processor_can_decode_without_torch_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    told = on(monkeypatch, None)
    assert "decoding takes 2 to 5 times as long" in told
    assert told.endswith("processor (riscv64) but the slowest: ATTENDO_KERNELS=portable decodes without torch")


def test_a_variant_that_the_compiler_could_not_build(monkeypatch: pytest.MonkeyPatch) -> None:
    told = on(monkeypatch, "avx512bf16", left_out=("avx512amx",))
    assert told.startswith("this processor can run avx512amx, which is faster; the compiler that built the kernels")
    assert told.endswith("and build again with: python -m attendo.native.build")


def test_what_the_user_has_chosen_is_no_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTENDO_KERNELS", "plain")
    assert advice() == ""


@pytest.mark.skipif(bool(problem()), reason=problem())
def test_what_a_library_leaves_out_is_what_this_processor_could_run(monkeypatch: pytest.MonkeyPatch) -> None:
    built = read_build(HERE)
    assert built is not None
    runnable = [kernels.variant for kernels in available_kernels()]
    only_portable = Build(message="", variants=("portable",), fingerprint=built.fingerprint)
    monkeypatch.setattr(module, "read_build", lambda: only_portable)
    assert module.left_out() == [name for name in runnable if name != "portable"]
    monkeypatch.setattr(module, "read_build", lambda: built)
    assert module.left_out() == []
