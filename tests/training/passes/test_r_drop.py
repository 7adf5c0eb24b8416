"""The loss of R-Drop against torch's own `cross_entropy` and `kl_div` on whole logits, differentiated by torch."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from attendo.training.passes import loss as loss_module
from attendo.training.passes.kernels import TrainingKernels
from attendo.training.passes.loss import LossKernels, PlainKernels, token_loss
from attendo.training.passes.r_drop import r_drop_loss

D_MODEL = 32


def leaves(tokens: int, vocab_size: int, filling: int = 0) -> tuple[list[Tensor], Tensor]:
    torch.manual_seed(5)
    passes = [torch.randn(tokens + filling, D_MODEL) for _ in range(2)]
    weight, bias = 0.5 * torch.randn(vocab_size, D_MODEL), torch.randn(vocab_size)
    return [leaf.requires_grad_() for leaf in (*passes, weight, bias)], torch.randint(vocab_size, (tokens,))


def of_the_paper(first: Tensor, second: Tensor, targets: Tensor, smoothing: float, alpha: float) -> Tensor:
    """Half of Equation 4 of Liang et al. (2021), from the logits."""
    likelihoods = [
        F.cross_entropy(logits, targets, label_smoothing=smoothing, reduction="sum") for logits in (first, second)
    ]
    p, q = first.log_softmax(dim=1), second.log_softmax(dim=1)
    apart = F.kl_div(q, p, reduction="sum", log_target=True) + F.kl_div(p, q, reduction="sum", log_target=True)
    return 0.5 * (likelihoods[0] + likelihoods[1] + alpha * 0.5 * apart)


@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("tokens_a_chunk", [1, 5, 37, 100])
@pytest.mark.parametrize("vocab_size", [16, 48])
@pytest.mark.parametrize("native", [False, True])
def test_equals_the_papers_loss(
    kernels: TrainingKernels,
    with_bias: bool,
    smoothing: float,
    tokens_a_chunk: int,
    vocab_size: int,
    native: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loss_module, "CHUNK_ELEMENTS", 4 * 2 * tokens_a_chunk * vocab_size)
    parameters, targets = leaves(37, vocab_size, filling=3)
    first, second, weight, bias = parameters
    if not with_bias:
        parameters = parameters[:3]
    own: LossKernels = kernels if native else PlainKernels()
    ours = r_drop_loss((first, second), weight, bias if with_bias else None, targets, smoothing, 5.0, own)
    our_grads = torch.autograd.grad(ours.smoothed * 0.5, parameters)

    logits = [F.linear(each[:37], weight, bias if with_bias else None) for each in (first, second)]
    theirs = of_the_paper(logits[0], logits[1], targets, smoothing, 5.0)
    their_grads = torch.autograd.grad(theirs * 0.5, parameters)
    assert ours.smoothed.item() == pytest.approx(theirs.item(), rel=1e-5)
    likelihood = sum(F.cross_entropy(each, targets, reduction="sum").item() for each in logits) / 2
    assert ours.log_loss.item() == pytest.approx(likelihood, rel=1e-5)
    for mine, other in zip(our_grads, their_grads, strict=True):
        assert torch.allclose(mine, other, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 8e-3)])
@pytest.mark.parametrize("vocab_size", [3, 16, 37, 1000])
@pytest.mark.parametrize("has_bias", [False, True])
def test_gradient_of_logits(
    kernels: TrainingKernels, dtype: torch.dtype, tolerance: float, vocab_size: int, has_bias: bool
) -> None:
    """For vocabularies that are no whole vectors too, and twice with the same bits."""
    generator = torch.Generator().manual_seed(1)
    logits = (3 * torch.randn(42, vocab_size, generator=generator)).to(dtype)
    bias = torch.randn(vocab_size, generator=generator) if has_bias else None
    targets = torch.randint(vocab_size, (21,), generator=generator)
    exact = logits.double().requires_grad_()
    biased = exact if bias is None else exact + bias
    expected = of_the_paper(biased[0::2], biased[1::2], targets, 0.1, 5.0)
    (wanted,) = torch.autograd.grad(expected, [exact])
    own = kernels.r_drop_gradient(logits.clone(), bias, targets, 0.1, 5.0, needs_grad=True)
    plain = PlainKernels().r_drop_gradient(logits.clone(), bias, targets, 0.1, 5.0, needs_grad=True)
    for found in (own, plain):
        assert float(found[0]) == pytest.approx(expected.item(), rel=1e-5)
        assert torch.allclose(found[2].double(), wanted, atol=tolerance, rtol=tolerance)
    kept = logits.clone()
    alone = kernels.r_drop_gradient(kept, bias, targets, 0.1, 5.0, needs_grad=False)
    assert [float(value) for value in alone[:2]] == [float(value) for value in own[:2]]
    assert torch.equal(kept, logits), "without a gradient nothing is written"


@pytest.mark.parametrize("native", [False, True])
def test_equal_passes_have_the_ordinary_loss(kernels: TrainingKernels, native: bool) -> None:
    (hidden, _, weight, bias), targets = leaves(20, 64)
    own: LossKernels = kernels if native else PlainKernels()
    found = r_drop_loss((hidden, hidden), weight, bias, targets, 0.1, 5.0, own)
    ordinary = token_loss(hidden, weight, bias, targets, 0.1, own)
    assert found.smoothed.item() == pytest.approx(ordinary.smoothed.item(), rel=1e-6)
    gradients = [torch.autograd.grad(loss.smoothed, [hidden, weight, bias]) for loss in (found, ordinary)]
    for mine, other in zip(*gradients, strict=True):
        assert torch.allclose(mine, other, atol=1e-5, rtol=1e-4)


def test_a_token_that_one_pass_rules_out_is_no_infinity(kernels: TrainingKernels) -> None:
    """The passes are each sure of another token: 400 nats apart, 0 in float32."""
    logits = torch.tensor([[400.0, 0.0], [0.0, 400.0]])
    targets = torch.tensor([0])
    for own in (kernels, PlainKernels()):
        minimised, log_loss, grad = own.r_drop_gradient(logits.clone(), None, targets, 0.0, 2.0, needs_grad=True)
        assert float(log_loss) == pytest.approx(200.0)
        assert float(minimised) == pytest.approx(200.0 + 0.25 * 2.0 * 800.0)
        assert torch.isfinite(grad).all()
