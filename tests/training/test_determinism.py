"""Deterministic operations on a GPU: asked for within the block alone. No GPU is needed to ask."""

import pytest
import torch

from attendo.training.determinism import same_bits


@pytest.mark.parametrize(
    ("device", "wanted", "asked"), [("cuda", True, True), ("cuda", False, False), ("cpu", True, False)]
)
def test_asked_for_where_wanted(monkeypatch: pytest.MonkeyPatch, device: str, wanted: bool, asked: bool) -> None:
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    seen: list[bool] = []

    def fail() -> None:
        with same_bits(torch.device(device), wanted):
            seen.append(torch.are_deterministic_algorithms_enabled())
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert seen == [asked]
    assert not torch.are_deterministic_algorithms_enabled()
