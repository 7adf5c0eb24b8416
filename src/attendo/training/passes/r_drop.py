"""The loss of R-Drop (Liang et al., 2021): two passes with different dropout should give the same probabilities.

A token has the probabilities p in one pass and q in the other. The paper minimises -log p(y) - log q(y) +
alpha (KL(p, q) + KL(q, p)) / 2. Here the loss is half of that, so that it is the ordinary one where both passes are
equal, and the log-likelihoods have label smoothing.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from attendo.training.passes.loss import LossKernels, PlainKernels, TokenLoss, projected_loss

_COPIES = 4
"""Logits, which turn into their gradients; plain torch holds more beside them."""


def r_drop_loss(
    passes: tuple[Tensor, Tensor],
    weight: Tensor,
    bias: Tensor | None,
    targets: Tensor,
    label_smoothing: float,
    alpha: float,
    kernels: LossKernels | None = None,
) -> TokenLoss:
    """The loss of a batch's tokens, from the decoder's outputs of two passes.

    Args:
        passes: `(rows, d_model)` each: the decoder's output at real tokens, followed by rows that do not count.
        weight: `(vocab_size, d_model)`, the pre-softmax matrix.
        bias: `(vocab_size,)` or None.
        targets: int64 `(tokens,)`, the right tokens, one for each real token.
        label_smoothing: eps_ls, the share of probability spread over the vocabulary.
        alpha: the weight of the divergences; the paper takes 5 for translation.
        kernels: the computation between the products; None for plain torch.

    Returns:
        Sums over the tokens: the loss, and the mean negative log-likelihood of both passes.
    """
    kernels = kernels or PlainKernels()
    loss = _RDrop(targets=targets, smoothing=label_smoothing, alpha=alpha, kernels=kernels)
    beside = torch.stack(passes, dim=1).flatten(0, 1)
    return projected_loss(beside, weight, bias, loss, kernels, copies=_COPIES, rows_together=2)


@dataclass(frozen=True, kw_only=True)
class _RDrop:
    """The `ChunkLoss` of `r_drop_loss`."""

    targets: Tensor
    smoothing: float
    alpha: float
    kernels: LossKernels

    def __call__(
        self, logits: Tensor, bias: Tensor | None, first: int, *, needs_grad: bool
    ) -> tuple[Tensor, Tensor, Tensor]:
        right = self.targets[first // 2 : (first + len(logits)) // 2]
        return self.kernels.r_drop_gradient(
            logits[: 2 * len(right)], bias, right, self.smoothing, self.alpha, needs_grad=needs_grad
        )
