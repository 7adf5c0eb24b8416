"""Dropout (Section 5.4) with masks that are cheap to draw on a CPU."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

_LEVELS = 1 << 16


class Dropout(nn.Module):
    """Drops each element with probability `p` while training and scales the rest by 1 / (1 - p).

    On a CPU torch draws one Bernoulli number per element, in sequence from a single generator: a sixth of a small
    model's training step. Here a 64-bit draw of the same generator decides four elements, so that `p` is rounded to
    1/65536 and the scale is that of the rounded value.

    Args:
        p: the probability, in [0, 1).
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, hidden: Tensor) -> Tensor:
        """`hidden`, of any shape, with elements dropped in training mode; unchanged otherwise."""
        if not self.training or self.p == 0:
            return hidden
        if hidden.device.type != "cpu":
            return F.dropout(hidden, self.p)
        kept = max(1, round((1 - self.p) * _LEVELS))
        size = hidden.numel()
        draws = torch.empty((size + 3) // 4, dtype=torch.int64).random_(-(1 << 63), None)
        levels = draws.view(torch.int16)[:size].view(hidden.shape)
        return hidden * (levels < kept - _LEVELS // 2).to(hidden.dtype).mul_(_LEVELS / kept)

    def extra_repr(self) -> str:
        """The probability, for `print(model)`."""
        return f"p={self.p}"
