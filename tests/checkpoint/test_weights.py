"""Averages by hand."""

import torch

from attendo.checkpoint.weights import mean_weights


def test_the_mean_by_hand() -> None:
    parts = [{"w": torch.tensor([1.0, 2.0])}, {"w": torch.tensor([2.0, 4.0])}, {"w": torch.tensor([6.0, 0.0])}]
    assert mean_weights(parts)["w"].tolist() == [3.0, 2.0]
