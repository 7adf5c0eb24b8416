"""Positional encodings (Section 3.5): sinusoids, computed as needed, or a learned table."""

from typing import Literal

import torch
from torch import Tensor, nn

from attendo.model import encodings


def sinusoids(length: int, d_model: int, layout: Literal["interleaved", "halves"], *, first: int = 0) -> Tensor:
    """The table of `encodings.sinusoids` as a tensor in main memory, float32 `(length, d_model)`."""
    return torch.from_numpy(encodings.sinusoids(length, d_model, layout, first=first))


class SinusoidalPositions(nn.Module):
    """The table of `sinusoids`, kept as a buffer that is not saved and grows to the longest text met."""

    table: Tensor

    def __init__(self, d_model: int, layout: Literal["interleaved", "halves"], length: int = 256) -> None:
        super().__init__()
        self.d_model = d_model
        self.layout: Literal["interleaved", "halves"] = layout
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
            raise encodings.too_long(first + length, len(self.table))
        return self.table[first : first + length]
