"""Which kernels are chosen; the variants are faked, so that every processor's choice is tried on this one."""

from collections.abc import Iterator

import pytest

from attendo.errors import ModelError
from attendo.native import library
from attendo.native.library import Found, Kernels, describe, find_kernels


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    find_kernels.cache_clear()
    yield
    find_kernels.cache_clear()


def choice(monkeypatch: pytest.MonkeyPatch, *variants: str, wanted: str = "") -> Found:
    monkeypatch.setattr(library, "available_kernels", lambda: tuple(Kernels(name, {}) for name in variants))
    monkeypatch.setenv("ATTENDO_KERNELS", wanted)
    return find_kernels()


def variant(found: Found) -> str:
    return "none" if found.kernels is None else found.kernels.variant


@pytest.mark.parametrize("available", [("avx512bf16", "avx2", "portable"), ("avx2", "portable")])
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
    assert choice(monkeypatch, "avx2", "portable", wanted="plain") == Found(None, "ATTENDO_KERNELS=plain")


@pytest.mark.parametrize(("wanted", "message"), [("avx2", "has it not; leave it unset"), ("fast", "no such variant")])
def test_what_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch, wanted: str, message: str) -> None:
    with pytest.raises(ModelError, match=f"ATTENDO_KERNELS={wanted}: .*{message}"):
        choice(monkeypatch, "portable", wanted=wanted)
