"""The chunked divergence from a teacher against torch's `kl_div` on whole logits, differentiated by torch."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from attendo.training.passes import loss as loss_module
from attendo.training.passes.distillation import TeacherRows, distilled_loss
from attendo.training.passes.kernels import TrainingKernels

TOKENS, D_MODEL, VOCAB = 37, 32, 53


def make_student() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    torch.manual_seed(5)
    hidden = torch.randn(TOKENS, D_MODEL, requires_grad=True)
    weight = (0.5 * torch.randn(VOCAB, D_MODEL)).requires_grad_()
    bias = torch.randn(VOCAB, requires_grad=True)
    return hidden, weight, bias, torch.randint(VOCAB, (TOKENS,))


def make_teacher(width: int = D_MODEL) -> TeacherRows:
    torch.manual_seed(6)
    return TeacherRows(torch.randn(TOKENS, width), 0.5 * torch.randn(VOCAB, width), torch.randn(VOCAB))


def logits_of(hidden: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return F.linear(hidden, weight, bias)


@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("rows_a_chunk", [1, 5, 37, 100])
def test_equals_torchs_divergence(with_bias: bool, rows_a_chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loss_module, "CHUNK_ELEMENTS", 4 * rows_a_chunk * VOCAB)
    hidden, weight, bias, targets = make_student()
    teacher = make_teacher(16)
    parameters = [hidden, weight, bias] if with_bias else [hidden, weight]
    ours = distilled_loss(hidden, weight, bias if with_bias else None, targets, teacher)
    our_grads = torch.autograd.grad(ours.smoothed * 0.5, parameters)

    logits = logits_of(hidden, weight, bias if with_bias else None)
    wanted = logits_of(*teacher).log_softmax(dim=1)
    theirs = F.kl_div(logits.log_softmax(dim=1), wanted, reduction="sum", log_target=True)
    their_grads = torch.autograd.grad(theirs * 0.5, parameters)
    assert ours.smoothed.item() == pytest.approx(theirs.item(), rel=1e-5)
    assert ours.log_loss.item() == pytest.approx(F.cross_entropy(logits, targets, reduction="sum").item(), rel=1e-6)
    for mine, other in zip(our_grads, their_grads, strict=True):
        assert torch.allclose(mine, other, atol=1e-5, rtol=1e-4)


def test_a_student_that_says_the_same_learns_nothing() -> None:
    hidden, weight, bias, targets = make_student()
    teacher = TeacherRows(hidden.detach().clone(), weight.detach().clone(), bias.detach().clone())
    found = distilled_loss(hidden, weight, bias, targets, teacher)
    assert found.smoothed.item() == 0.0
    for gradient in torch.autograd.grad(found.smoothed, [hidden, weight, bias]):
        assert not gradient.any()


def test_the_kernels_turn_the_same_matrices(kernels: TrainingKernels) -> None:
    hidden, weight, bias, targets = make_student()
    weight = torch.cat((weight, weight[:11])).detach().requires_grad_()  # 64 rows, a multiple of 16
    bias = torch.cat((bias, bias[:11])).detach().requires_grad_()
    plain = make_teacher()
    teacher = TeacherRows(plain.hidden, torch.cat((plain.weight, plain.weight[:11])), None)
    expected = distilled_loss(hidden, weight, bias, targets, teacher)
    their_grads = torch.autograd.grad(expected.smoothed, [hidden, weight, bias])
    found = distilled_loss(hidden, weight, bias, targets, teacher, kernels)
    assert found.smoothed.item() == pytest.approx(expected.smoothed.item(), rel=1e-5)
    our_grads = torch.autograd.grad(found.smoothed, [hidden, weight, bias])
    for mine, other in zip(our_grads, their_grads, strict=True):
        assert torch.allclose(mine, other, atol=1e-5, rtol=1e-4)


def test_a_probability_of_zero_is_no_infinity() -> None:
    """The teacher is sure of the first token, which is 400 nats behind for the student: 0 in float32."""
    hidden = torch.tensor([[1.0]], requires_grad=True)
    weight = torch.tensor([[-400.0], [0.0]], requires_grad=True)
    teacher = TeacherRows(torch.tensor([[1.0]]), torch.tensor([[400.0], [0.0]]), None)
    found = distilled_loss(hidden, weight, None, torch.tensor([0]), teacher)
    assert found.smoothed.item() == pytest.approx(400.0)
    gradient, _ = torch.autograd.grad(found.smoothed, [hidden, weight])
    assert gradient.item() == pytest.approx(400.0), "the logits' gradient is -1 and 1, times -400 and 0"


def test_bfloat16_is_near_float32() -> None:
    hidden, weight, _, targets = make_student()
    teacher = make_teacher()
    exact = distilled_loss(hidden, weight, None, targets, teacher)
    grads = torch.autograd.grad(exact.smoothed, [hidden, weight])
    low = teacher._replace(hidden=teacher.hidden.bfloat16())
    rough = distilled_loss(hidden.bfloat16(), weight, None, targets, low)
    rough_grads = torch.autograd.grad(rough.smoothed, [hidden, weight])
    assert rough.smoothed.item() == pytest.approx(exact.smoothed.item(), rel=1e-2)
    for mine, other in zip(rough_grads, grads, strict=True):
        assert F.cosine_similarity(mine.flatten(), other.flatten(), dim=0).item() > 0.999
        assert mine.dtype == torch.float32
