"""Positional encodings (Section 3.5): sinusoids, computed as needed, or a learned table."""

import math
from typing import Literal

import torch
from torch import Tensor, nn

from attendo.errors import DataError


def sinusoids(length: int, d_model: int, layout: Literal["interleaved", "halves"], *, first: int = 0) -> Tensor:
    """The paper's table: PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos of the same (Section 3.5).

    Args:
        length: rows.
        d_model: columns, an even number.
        layout: `interleaved` puts sine and cosine by turns as the paper does; `halves` has all sines first.
        first: the first row's position.

    Returns:
        float32 `(length, d_model)`. Angles are in float64: float32 would lose digits at far positions.
    """
    position = torch.arange(first, first + length, dtype=torch.float64)[:, None]
    frequency = torch.exp(torch.arange(0, d_model, 2, dtype=torch.float64) * (-math.log(10000.0) / d_model))
    angle = position * frequency
    if layout == "interleaved":
        return torch.stack((angle.sin(), angle.cos()), dim=2).flatten(1).float()
    return torch.cat((angle.sin(), angle.cos()), dim=1).float()


class SinusoidalPositions(nn.Module):
    """The table of `sinusoids`, kept as a buffer that is not saved and grows to the longest text met."""

    table: Tensor

    def __init__(self, d_model: int, layout: Literal["interleaved", "halves"], length: int = 256) -> None:
        super().__init__()
        self.d_model = d_model
        self.layout: Literal["interleaved", "halves"] = layout
        with torch.device("cpu"):  # to calculate for a skeleton torch would import its compiler, which takes seconds
            table = sinusoids(length, d_model, layout)
        self.register_buffer("table", table.to(torch.get_default_device()), persistent=False)

    def forward(self, first: int, length: int) -> Tensor:
        """The encodings of positions `first` to `first + length - 1`, `(length, d_model)`."""
        end = first + length
        if end > len(self.table):
            rows = sinusoids(max(end, 2 * len(self.table)), self.d_model, self.layout)
            self.table = rows.to(self.table)
        return self.table[first:end]


class LearnedPositions(nn.Module):
    """A trained row a position (Table 3, row E)."""

    def __init__(self, d_model: int, max_positions: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(max_positions, d_model))
        nn.init.normal_(self.table, std=d_model**-0.5)

    def forward(self, first: int, length: int) -> Tensor:
        """The encodings of positions `first` to `first + length - 1`, `(length, d_model)`.

        Raises:
            DataError: a position past the table.
        """
        if first + length > len(self.table):
            raise DataError(
                f"a text of {first + length} tokens is longer than the {len(self.table)} learned positions of this "
                "model (model.max_positions); split it, or train with sinusoids, which have no limit"
            )
        return self.table[first : first + length]
