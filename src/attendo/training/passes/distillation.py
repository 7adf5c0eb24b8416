"""The loss of tokens that are learned from another model's probabilities (Hinton et al., 2015).

It is KL(teacher || student) = sum_v p_t(v) (log p_t(v) - log p_s(v)) of each token, over the whole vocabulary: 0 where
both models give every token the same probability.
"""

from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from attendo.training.passes.loss import LossKernels, PlainKernels, TokenLoss, projected_loss

_COPIES = 4
"""Logits of the student and of the teacher, with the logarithms of their probabilities."""


class TeacherRows(NamedTuple):
    """A teacher's outputs for some tokens, and the parameters that make logits of them; without gradients."""

    hidden: Tensor
    """`(rows, d_model)`, its decoder's output at real tokens, possibly followed by rows that do not count."""
    weight: Tensor
    """`(vocab_size, d_model)`, its pre-softmax matrix."""
    bias: Tensor | None
    """`(vocab_size,)`."""

    def at(self, tokens: Tensor) -> "TeacherRows":
        """Selects tokens by their numbers, int64 `(tokens,)`."""
        return self._replace(hidden=self.hidden.index_select(0, tokens))


def distilled_loss(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    targets: Tensor,
    teacher: TeacherRows,
    kernels: LossKernels | None = None,
) -> TokenLoss:
    """The divergence of a student's probabilities from a teacher's, computed from both decoders' outputs.

    Args:
        hidden: `(tokens, d_model)`, the student's output, at least one token; its dtype is that of the products.
        weight: `(vocab_size, d_model)`, the student's pre-softmax matrix.
        bias: `(vocab_size,)` or None.
        targets: int64 `(tokens,)`, the tokens in the text, only for the log-likelihood.
        teacher: the teacher's output for the same tokens, of the same dtype and vocabulary; its `d_model` may differ.
        kernels: the computation besides the loss; None for plain torch.

    Returns:
        Sums over the tokens: the divergence, and the student's negative log-likelihood of the targets.
    """
    kernels = kernels or PlainKernels()
    _, turned = kernels.turned(teacher.weight, teacher.hidden.dtype)
    loss = _Divergence(targets=targets, teacher=teacher, turned=turned)
    return projected_loss(hidden, weight, bias, loss, kernels, copies=_COPIES)


@dataclass(frozen=True, kw_only=True)
class _Divergence:
    """The `ChunkLoss` of `distilled_loss`."""

    targets: Tensor
    teacher: TeacherRows
    turned: Tensor
    """The teacher's pre-softmax matrix as `(d_model, vocab_size)`."""

    def __call__(
        self, logits: Tensor, bias: Tensor | None, first: int, *, needs_grad: bool
    ) -> tuple[Tensor, Tensor, Tensor]:
        chosen = slice(first, first + len(logits))
        own = _log_probabilities(logits, bias)
        theirs = _log_probabilities(self.teacher.hidden[chosen] @ self.turned, self.teacher.bias)
        log_loss = -own.gather(1, self.targets[chosen, None]).sum()
        probabilities = theirs.exp()
        divergence = (theirs.sub_(own).mul_(probabilities)).sum()
        # d divergence / d logits = softmax of the student - softmax of the teacher.
        grad = own.exp_().sub_(probabilities).to(logits.dtype) if needs_grad else logits
        return divergence, log_loss, grad


def _log_probabilities(logits: Tensor, bias: Tensor | None) -> Tensor:
    """The logarithms of the softmax, float32, in memory of their own."""
    logits = logits.float() if bias is None else logits.float() + bias
    return logits.log_softmax(dim=1)
