"""Cross-entropy with label smoothing (Section 5.4) that never holds tokens x vocabulary in full.

The target distribution gives 1 - eps to the right token and spreads eps evenly over the whole vocabulary, as torch's
`cross_entropy` does; with eps = 0 it is the negative log-likelihood.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

CHUNK_ELEMENTS = 1 << 21
"""Logits held at once (8 MiB of float32): a chunk stays in the processor's cache between its passes."""

CHUNK_ELEMENTS_GPU = 1 << 27
"""On a GPU larger pieces keep it busy: half a GiB of float32."""


class TokenLoss(NamedTuple):
    """Sums over the tokens of a batch, scalars of float32."""

    smoothed: Tensor
    """What training minimises; it has a gradient."""
    log_loss: Tensor
    """Negative log-likelihood in nats, without smoothing: its mean's exponential is the perplexity. No gradient."""


class _ProjectedCrossEntropy(torch.autograd.Function):
    """Projection, softmax and cross-entropy in one, chunk by chunk, with the gradients made on the way forward."""

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor, smoothing: float, chunk: int
    ) -> tuple[Tensor, Tensor]:
        vocab_size = weight.shape[0]
        needs_grad = any(ctx.needs_input_grad[:3])
        smoothed = hidden.new_zeros((), dtype=torch.float32)
        log_loss = torch.zeros_like(smoothed)
        grad_hidden = torch.empty_like(hidden) if needs_grad else None
        grad_weight = torch.zeros_like(weight, dtype=torch.float32) if needs_grad else None
        grad_bias = None if bias is None else torch.zeros_like(bias, dtype=torch.float32)
        product_weight = weight.to(hidden.dtype)
        for first in range(0, len(hidden), chunk):
            rows, right = hidden[first : first + chunk], targets[first : first + chunk, None]
            logits = (rows @ product_weight.t()).float()
            if bias is not None:
                logits += bias
            probabilities = logits.softmax(dim=1)
            # The largest logit's probability is 1 / sum(exp(logits - largest)), never 0: log-sum-exp for little.
            log_total = logits.amax(dim=1, keepdim=True) - probabilities.amax(dim=1, keepdim=True).log()
            chunk_log_loss = log_total - logits.gather(1, right)
            log_loss += chunk_log_loss.sum()
            smoothed += (1 - smoothing) * chunk_log_loss.sum()
            if smoothing:
                smoothed += smoothing * (log_total.sum() - logits.sum() / vocab_size)
            if grad_hidden is None or grad_weight is None:
                continue
            # d loss / d logits = softmax - target distribution, written over the probabilities.
            grad = probabilities
            if smoothing:
                grad -= smoothing / vocab_size
            grad.scatter_add_(1, right, grad.new_full(right.shape, smoothing - 1))
            if grad_bias is not None:
                grad_bias += grad.sum(dim=0)
            grad = grad.to(hidden.dtype)
            torch.mm(grad, product_weight, out=grad_hidden[first : first + chunk])
            if grad.dtype == torch.float32:
                grad_weight.addmm_(grad.t(), rows)
            else:
                grad_weight += grad.t() @ rows
        ctx.save_for_backward(grad_hidden, grad_weight, grad_bias)
        ctx.mark_non_differentiable(log_loss)
        return smoothed, log_loss

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        scale = grads[0]
        hidden, weight, bias = (None if saved is None else saved * scale.to(saved.dtype) for saved in ctx.saved_tensors)
        return hidden, weight, bias, None, None, None


def token_loss(
    hidden: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor, label_smoothing: float
) -> TokenLoss:
    """The loss of a batch's tokens, from the decoder's output.

    Args:
        hidden: `(tokens, d_model)`, the decoder's output at real tokens only; its dtype is that of the products.
        weight: `(vocab_size, d_model)`, the pre-softmax matrix.
        bias: `(vocab_size,)` or None.
        targets: int64 `(tokens,)`, the right token of each.
        label_smoothing: eps_ls, the share of probability spread over the vocabulary.

    Returns:
        Sums over the tokens; divide by their number for the mean.
    """
    elements = CHUNK_ELEMENTS if hidden.device.type == "cpu" else CHUNK_ELEMENTS_GPU
    chunk = max(1, elements // weight.shape[0])
    smoothed, log_loss = _ProjectedCrossEntropy.apply(  # type: ignore[no-untyped-call]  # torch leaves it untyped
        hidden, weight, bias, targets, label_smoothing, chunk
    )
    return TokenLoss(smoothed, log_loss)
