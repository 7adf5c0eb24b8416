"""Cross-entropy with label smoothing (Section 5.4) that never holds tokens x vocabulary in full.

`projected_loss` has the products and their gradients, for any loss. The target distribution of the cross-entropy gives
1 - eps to the right token and spreads eps evenly over the whole vocabulary, as torch's `cross_entropy` does; with eps =
0 it is the negative log-likelihood.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

CHUNK_ELEMENTS = 1 << 24
"""Logits held at once: 64 MiB of float32. Each chunk passes over the whole gradient of the pre-softmax matrix, so that
small chunks, which would stay in the processor's cache, cost more than they save."""

CHUNK_ELEMENTS_GPU = 1 << 27
"""Chunk size on a GPU, which needs larger pieces: half a GiB of float32."""


class TokenLoss(NamedTuple):
    """Sums over the tokens of a batch, scalars of float32."""

    smoothed: Tensor
    """The loss that training minimises; it has a gradient."""
    log_loss: Tensor
    """Negative log-likelihood in nats, without smoothing: its mean's exponential is the perplexity. No gradient."""


class LossKernels(Protocol):
    """The computation between the matrix products: in plain torch, or by `training.passes.kernels`."""

    def softmax_gradient(
        self, logits: Tensor, bias: Tensor | None, targets: Tensor, smoothing: float, *, needs_grad: bool
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Softmax and cross-entropy of a chunk, and their gradient.

        Args:
            logits: `(tokens, vocab_size)`, before the bias; may be overwritten.
            bias: `(vocab_size,)` or None.
            targets: int64 `(tokens,)`.
            smoothing: eps_ls.
            needs_grad: whether the third result is needed; otherwise it is arbitrary.

        Returns:
            The losses' sums, smoothed and without smoothing, and the gradient of the first, like `logits`.
        """

    def r_drop_gradient(
        self,
        logits: Tensor,
        bias: Tensor | None,
        targets: Tensor,
        smoothing: float,
        weight: float,
        *,
        needs_grad: bool,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Softmax and R-Drop's loss (`training.passes.r_drop`) of a chunk, and its gradient.

        Args:
            logits: `(2 * tokens, vocab_size)`, before the bias, those of a token beside each other; may be overwritten.
            bias: `(vocab_size,)` or None.
            targets: int64 `(tokens,)`.
            smoothing: eps_ls.
            weight: alpha, that of the divergences.
            needs_grad: whether the third result is needed; otherwise it is arbitrary.

        Returns:
            The sums over the tokens of the loss and of the mean negative log-likelihood, and the gradient of the first,
            like `logits`.
        """

    def turned(self, weight: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """A float32 weight `(outputs, inputs)` in the type of the products, and the same as `(inputs, outputs)`."""

    def add(self, total: Tensor, addend: Tensor) -> None:
        """Adds to a float32 tensor one of another type."""


class PlainKernels:
    """`LossKernels` in plain torch, on any device."""

    def turned(self, weight: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """A weight in the type of the products, twice; see `LossKernels`."""
        low = weight.to(dtype)
        return low, low.t()

    def softmax_gradient(
        self, logits: Tensor, bias: Tensor | None, targets: Tensor, smoothing: float, *, needs_grad: bool
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Softmax and cross-entropy of a chunk, and their gradient; see `LossKernels`."""
        vocab_size, right, dtype = logits.shape[1], targets[:, None], logits.dtype
        logits = logits.float() if bias is None else logits.float() + bias
        probabilities = logits.softmax(dim=1)
        # The largest logit's probability is 1 / sum(exp(logits - largest)), never 0: log-sum-exp for little.
        log_total = logits.amax(dim=1, keepdim=True) - probabilities.amax(dim=1, keepdim=True).log()
        log_loss = (log_total - logits.gather(1, right)).sum()
        smoothed = (1 - smoothing) * log_loss
        if smoothing:
            smoothed += smoothing * (log_total.sum() - logits.sum() / vocab_size)
        if not needs_grad:
            return smoothed, log_loss, probabilities
        # d loss / d logits = softmax - target distribution, written over the probabilities.
        grad = probabilities
        if smoothing:
            grad -= smoothing / vocab_size
        grad.scatter_add_(1, right, grad.new_full(right.shape, smoothing - 1))
        return smoothed, log_loss, grad.to(dtype)

    def r_drop_gradient(
        self,
        logits: Tensor,
        bias: Tensor | None,
        targets: Tensor,
        smoothing: float,
        weight: float,
        *,
        needs_grad: bool,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Softmax and R-Drop's loss of a chunk, and its gradient; see `LossKernels`."""
        entropy, log_loss, grad = self.softmax_gradient(
            logits.clone(), bias, targets.repeat_interleave(2), smoothing, needs_grad=needs_grad
        )
        values = logits.float() if bias is None else logits.float() + bias
        pairs = values.log_softmax(dim=1).view(len(targets), 2, logits.shape[1])
        gap = pairs[:, 0] - pairs[:, 1]  # log p - log q
        both = pairs.exp_()
        apart = both[:, 0] - both[:, 1]
        minimised = 0.5 * entropy + 0.25 * weight * (apart * gap).sum()
        if needs_grad:
            # d (KL(p, q) + KL(q, p)) / d logits of p = p (log p - log q - KL(p, q)) + p - q; for q with signs changed.
            gaps = torch.stack((gap, -gap), dim=1)
            pull = both * (gaps - (both * gaps).sum(dim=2, keepdim=True)) + torch.stack((apart, -apart), dim=1)
            grad = (0.5 * grad.float() + 0.25 * weight * pull.flatten(0, 1)).to(grad.dtype)
        return minimised, 0.5 * log_loss, grad

    def add(self, total: Tensor, addend: Tensor) -> None:
        """Adds to a float32 tensor one of another type."""
        total.add_(addend)


class ChunkLoss(Protocol):
    """A loss between the logits of some tokens and their targets."""

    def __call__(
        self, logits: Tensor, bias: Tensor | None, first: int, *, needs_grad: bool
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The loss of a chunk, and its gradient.

        Args:
            logits: `(rows, vocab_size)`, before the bias; may be overwritten. The last rows may not be tokens.
            bias: `(vocab_size,)` or None.
            first: the number of the first row among all tokens.
            needs_grad: whether the third result is needed; otherwise it is arbitrary.

        Returns:
            The sums of the loss that is minimised and of the negative log-likelihood, and the gradient of the first by
            the logits, `(tokens, vocab_size)`.
        """


@dataclass(frozen=True, kw_only=True)
class _CrossEntropy:
    """The `ChunkLoss` of `token_loss`."""

    targets: Tensor
    smoothing: float
    kernels: LossKernels

    def __call__(
        self, logits: Tensor, bias: Tensor | None, first: int, *, needs_grad: bool
    ) -> tuple[Tensor, Tensor, Tensor]:
        right = self.targets[first : first + len(logits)]
        return self.kernels.softmax_gradient(logits[: len(right)], bias, right, self.smoothing, needs_grad=needs_grad)


class _ProjectedLoss(torch.autograd.Function):
    """Projection and loss in one, chunk by chunk, with the gradients computed in the forward pass."""

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        loss: ChunkLoss,
        chunk: int,
        kernels: LossKernels,
    ) -> tuple[Tensor, Tensor]:
        needs_grad = any(ctx.needs_input_grad[:3])
        smoothed = hidden.new_zeros((), dtype=torch.float32)
        log_loss = torch.zeros_like(smoothed)
        grads = _Gradients.empty(hidden, weight if ctx.needs_input_grad[1] else None, bias) if needs_grad else None
        product_weight, turned = kernels.turned(weight, hidden.dtype)
        # One buffer for the logits of all chunks: new memory would have to be cleared by the system each time.
        room = hidden.new_empty(min(chunk, len(hidden)), weight.shape[0])
        for first in range(0, len(hidden), chunk):
            rows = hidden[first : first + chunk]
            logits = torch.mm(rows, turned, out=room[: len(rows)])
            found = loss(logits, bias, first, needs_grad=needs_grad)
            smoothed += found[0]
            log_loss += found[1]
            if grads is not None:
                grads.add(_filled(found[2], logits), rows, product_weight, first, kernels)
        ctx.grads = grads
        ctx.mark_non_differentiable(log_loss)
        return smoothed, log_loss

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        own, ctx.grads = ctx.grads, None
        if own is None:
            raise RuntimeError("this loss has been differentiated already, and its gradients are made once")
        # In place: they are as large as the pre-softmax matrix, and are not shared.
        for gradient in (own.hidden, own.weight, own.bias):
            if gradient is not None:
                gradient.mul_(grads[0].to(gradient.dtype))
        return own.hidden, own.weight, own.bias, None, None, None


def _filled(grad: Tensor, room: Tensor) -> Tensor:
    """The gradient of the first rows of `room`, with zeros for the others."""
    if len(grad) == len(room):
        return grad
    if grad.data_ptr() != room.data_ptr():
        room[: len(grad)] = grad
    room[len(grad) :] = 0
    return room


@dataclass(frozen=True)
class _Gradients:
    """Gradients of the inputs, while they are computed."""

    hidden: Tensor
    weight: Tensor | None
    """The gradient, float32, summed over the chunks so far; None if the matrix is not trained."""
    bias: Tensor | None
    product: Tensor | None
    """Buffer for one chunk's share of `weight`, in the type of the products."""

    @classmethod
    def empty(cls, hidden: Tensor, weight: Tensor | None, bias: Tensor | None) -> "_Gradients":
        """Room for them."""
        total = None if weight is None else torch.empty_like(weight, dtype=torch.float32)
        same = total is None or hidden.dtype == total.dtype
        product = total if same or weight is None else torch.empty_like(weight, dtype=hidden.dtype)
        own_bias = None if bias is None else torch.zeros_like(bias, dtype=torch.float32)
        return cls(torch.empty_like(hidden), total, own_bias, product)

    def add(self, grad: Tensor, rows: Tensor, weight: Tensor, first: int, kernels: LossKernels) -> None:
        """Adds the contributions of a chunk's logits' gradient, for the tokens from `first` on."""
        if self.bias is not None:
            self.bias.add_(grad.sum(dim=0))
        torch.mm(grad, weight, out=self.hidden[first : first + len(rows)])
        if self.weight is None or self.product is None:
            return
        if first and self.product is self.weight:
            self.weight.addmm_(grad.t(), rows)
            return
        torch.mm(grad.t(), rows, out=self.product)
        if first:
            kernels.add(self.weight, self.product)
        elif self.product is not self.weight:
            self.weight.copy_(self.product)


def token_loss(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    targets: Tensor,
    label_smoothing: float,
    kernels: LossKernels | None = None,
) -> TokenLoss:
    """The loss of a batch's tokens, from the decoder's output.

    Args:
        hidden: `(rows, d_model)`, the decoder's output at real tokens, followed by rows that do not count; its dtype is
            that of the products.
        weight: `(vocab_size, d_model)`, the pre-softmax matrix.
        bias: `(vocab_size,)` or None.
        targets: int64 `(tokens,)`, the right tokens, one for each real token.
        label_smoothing: eps_ls, the share of probability spread over the vocabulary.
        kernels: the computation between the products; None for plain torch.

    Returns:
        Sums over the tokens; divide by their number for the mean.
    """
    kernels = kernels or PlainKernels()
    loss = _CrossEntropy(targets=targets, smoothing=label_smoothing, kernels=kernels)
    return projected_loss(hidden, weight, bias, loss, kernels)


def projected_loss(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    loss: ChunkLoss,
    kernels: LossKernels,
    *,
    copies: int = 1,
    rows_together: int = 1,
) -> TokenLoss:
    """A loss of a batch's tokens, from the decoder's output.

    Args:
        hidden: `(rows, d_model)`, at least one; its dtype is that of the products.
        weight: `(vocab_size, d_model)`, the pre-softmax matrix.
        bias: `(vocab_size,)` or None.
        loss: the loss between the products.
        kernels: the computation besides the loss.
        copies: number of matrices of the size of a chunk's logits that the loss holds at once.
        rows_together: number of rows beside each other that must be in the same chunk.

    Returns:
        Sums over the tokens.
    """
    elements = CHUNK_ELEMENTS if hidden.device.type == "cpu" else CHUNK_ELEMENTS_GPU
    chunk = max(rows_together, elements // (copies * weight.shape[0]) // rows_together * rows_together)
    minimised, log_loss = _ProjectedLoss.apply(  # type: ignore[no-untyped-call]  # torch leaves it untyped
        hidden, weight, bias, loss, chunk, kernels
    )
    return TokenLoss(minimised, log_loss)
