"""Dropout against its definition: the share kept, the scale, independence, and gradients through the same mask."""

import pytest
import torch

from attendo.model.dropout import Dropout


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5, 0.9])
def test_share_and_scale(p: float) -> None:
    torch.manual_seed(3)
    size = 400_003  # no multiple of the four elements that a draw decides
    kept = Dropout(p).train()(torch.ones(size))
    share = (kept > 0).float().mean().item()
    assert share == pytest.approx(1 - p, abs=5 * (p * (1 - p) / size) ** 0.5)
    assert kept[kept > 0].unique().tolist() == pytest.approx([1 / (1 - p)], rel=1e-3)


def test_the_four_elements_of_a_draw_are_alike_and_independent() -> None:
    torch.manual_seed(3)
    kept = (Dropout(0.5).train()(torch.ones(100_000, 4)) > 0).double()
    # 16 patterns of equal probability; the standard deviation of each count is about 77.
    patterns = (kept @ torch.tensor([8.0, 4, 2, 1], dtype=torch.float64)).long()
    assert (torch.bincount(patterns, minlength=16) - 6250).abs().max() < 400


def test_gradient_goes_through_what_was_kept() -> None:
    hidden = torch.ones(1000, requires_grad=True)
    kept = Dropout(0.4).train()(hidden)
    kept.sum().backward()
    assert hidden.grad is not None
    assert torch.equal(hidden.grad, kept.detach())


def test_nothing_is_dropped_in_evaluation_or_at_zero() -> None:
    hidden = torch.randn(10)
    assert Dropout(0.5).eval()(hidden) is hidden
    assert Dropout(0.0).train()(hidden) is hidden


def test_bfloat16_stays_bfloat16() -> None:
    assert Dropout(0.5).train()(torch.ones(8, dtype=torch.bfloat16)).dtype == torch.bfloat16
