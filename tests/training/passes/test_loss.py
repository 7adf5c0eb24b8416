"""The chunked loss against torch's cross-entropy on whole logits."""

import pytest
import torch
from torch.nn import functional as F

from attendo.training.passes import loss as loss_module
from attendo.training.passes.loss import token_loss

TOKENS, D_MODEL, VOCAB = 37, 12, 53


def make_inputs(dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(5)
    hidden = torch.randn(TOKENS, D_MODEL, dtype=dtype, requires_grad=True)
    weight = torch.randn(VOCAB, D_MODEL, dtype=dtype, requires_grad=True)
    bias = torch.randn(VOCAB, dtype=dtype, requires_grad=True)
    return hidden, weight, bias, torch.randint(VOCAB, (TOKENS,))


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.2])
@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("rows_a_chunk", [1, 5, 37, 100])
def test_equals_torchs_cross_entropy(
    smoothing: float, with_bias: bool, rows_a_chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loss_module, "CHUNK_ELEMENTS", rows_a_chunk * VOCAB)
    hidden, weight, bias, targets = make_inputs(torch.float32)
    parameters = [hidden, weight, bias] if with_bias else [hidden, weight]
    ours = token_loss(hidden, weight, bias if with_bias else None, targets, smoothing)
    our_grads = torch.autograd.grad(ours.smoothed * 0.5, parameters)

    logits = hidden @ weight.t() + (bias if with_bias else 0)
    theirs = F.cross_entropy(logits, targets, label_smoothing=smoothing, reduction="sum")
    their_grads = torch.autograd.grad(theirs * 0.5, parameters)
    assert ours.smoothed.item() == pytest.approx(theirs.item(), rel=1e-6)
    assert ours.log_loss.item() == pytest.approx(F.cross_entropy(logits, targets, reduction="sum").item(), rel=1e-6)
    for mine, other in zip(our_grads, their_grads, strict=True):
        assert torch.allclose(mine, other, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("rows_a_chunk", [1, 5, 37, 100])
def test_rows_behind_the_tokens_count_for_nothing(rows_a_chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loss_module, "CHUNK_ELEMENTS", rows_a_chunk * VOCAB)
    hidden, weight, bias, targets = make_inputs(torch.float32)
    alone = token_loss(hidden[:29], weight, bias, targets[:29], 0.1)
    expected = torch.autograd.grad(alone.smoothed, [hidden, weight, bias])
    found = token_loss(hidden, weight, bias, targets[:29], 0.1)
    assert found.smoothed.item() == pytest.approx(alone.smoothed.item(), rel=1e-6)
    assert found.log_loss.item() == pytest.approx(alone.log_loss.item(), rel=1e-6)
    for mine, other in zip(torch.autograd.grad(found.smoothed, [hidden, weight, bias]), expected, strict=True):
        assert torch.allclose(mine, other, atol=1e-5, rtol=1e-5)


def test_a_probability_of_zero_is_no_infinity() -> None:
    """The right token is 400 nats behind: its probability is 0 in float32, its loss is still 400."""
    hidden = torch.tensor([[1.0]])
    weight = torch.tensor([[400.0], [0.0], [-5.0]])
    found = token_loss(hidden, weight, None, torch.tensor([1]), 0.0)
    assert found.log_loss.item() == pytest.approx(400.0)


def test_without_gradients_nothing_is_made_for_them() -> None:
    hidden, weight, _, targets = make_inputs(torch.float32)
    with torch.no_grad():
        found = token_loss(hidden, weight, None, targets, 0.1)
    assert not found.smoothed.requires_grad


def test_bfloat16_is_near_float32() -> None:
    hidden, weight, _, targets = make_inputs(torch.float32)
    exact = token_loss(hidden, weight, None, targets, 0.1)
    grads = torch.autograd.grad(exact.smoothed, [hidden, weight])
    rough = token_loss(hidden.bfloat16(), weight, None, targets, 0.1)
    rough_grads = torch.autograd.grad(rough.smoothed, [hidden, weight])
    assert rough.smoothed.item() == pytest.approx(exact.smoothed.item(), rel=1e-2)
    for mine, other in zip(rough_grads, grads, strict=True):
        assert F.cosine_similarity(mine.flatten(), other.flatten(), dim=0).item() > 0.999
        assert mine.dtype == torch.float32
