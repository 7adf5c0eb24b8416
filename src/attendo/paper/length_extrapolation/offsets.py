"""PE(pos + k) as a linear function of PE(pos) (Section 3.5): closed form for sinusoids, fitted for learned ones.

Each pair of columns (sin(w pos), cos(w pos)) turns by the angle w k, whatever pos is; the matrix has these turns on its
diagonal. Learned positions have no such form, so that the best matrix is fitted to some rows and tried on others.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from attendo.model.positions import sinusoids

Layout = Literal["interleaved", "halves"]
LAYOUTS: tuple[Layout, ...] = ("interleaved", "halves")

ROUNDING = (1 + math.sqrt(2)) * 2.0**-25
"""The most by which entries rounded to float32 can miss: 2^-25 each, of the entry itself and of the two, weighted by a
cosine and a sine, that it is worked out from."""

_RIDGES = (1e-10, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
"""In units of the mean square of a column. Fitted rows may be fewer than columns, so that something has to choose among
the maps that fit; every table is given the ridge that does best for it."""
_LEAST_ROWS = 16
_SEED = 1
"""Of which rows are fitted."""


@dataclass(frozen=True, kw_only=True)
class ClosedForm:
    """The closed form held against the table that models read."""

    layout: Layout
    d_model: int
    positions: int
    """pos from 0 to below this."""
    offsets: int
    """k from 1 to this."""
    largest_error: float
    """Over all of them and all columns."""


@dataclass(frozen=True, kw_only=True)
class OffsetFit:
    """The best linear map from rows of a table to the rows so many positions behind them."""

    offset: int
    residual: float
    """Squared distance left on rows that were not fitted, as a share of their variance: 0 is an exact map, 1 no more
    than knowing the mean row, and above 1 is worse than that."""


def rotations(offset: int, d_model: int) -> Tensor:
    """The turns of all pairs of columns, from (sin a, cos a) to (sin(a + w k), cos(a + w k)).

    Args:
        offset: k.
        d_model: columns, an even number.

    Returns:
        float64 `(d_model / 2, 2, 2)`, of the frequencies w from the highest.
    """
    angle = offset * 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    sine, cosine = angle.sin(), angle.cos()
    return torch.stack((torch.stack((cosine, sine), dim=1), torch.stack((-sine, cosine), dim=1)), dim=1)


def offset_matrix(offset: int, d_model: int, layout: Layout) -> Tensor:
    """The matrix M with PE(pos + k) = M PE(pos) for every pos, float64 `(d_model, d_model)`.

    Args:
        offset: k.
        d_model: columns of the table, an even number.
        layout: of sines and cosines among them.
    """
    half = d_model // 2
    pair = torch.arange(half)
    places = torch.stack((2 * pair, 2 * pair + 1) if layout == "interleaved" else (pair, half + pair), dim=1)
    matrix = torch.zeros(d_model, d_model, dtype=torch.float64)
    matrix[places[:, :, None], places[:, None, :]] = rotations(offset, d_model)
    return matrix


def closed_form(layout: Layout, d_model: int, positions: int, offsets: int) -> ClosedForm:
    """Holds the closed form against the model's own table, for every position and offset.

    Args:
        layout: of the table.
        d_model: its columns.
        positions: pos from 0 to below this.
        offsets: k from 1 to this.
    """
    table = sinusoids(positions + offsets, d_model, layout).double()
    if layout == "interleaved":
        pairs = table.view(len(table), d_model // 2, 2)
    else:
        pairs = table.view(len(table), 2, d_model // 2).transpose(1, 2)
    sine, cosine = pairs[..., 0].contiguous(), pairs[..., 1].contiguous()
    largest = 0.0
    for offset in range(1, offsets + 1):
        turn = rotations(offset, d_model)
        for column, right in enumerate((sine, cosine)):
            found = sine[:positions] * turn[:, column, 0] + cosine[:positions] * turn[:, column, 1]
            largest = max(largest, float((found - right[offset : offset + positions]).abs().max()))
    return ClosedForm(layout=layout, d_model=d_model, positions=positions, offsets=offsets, largest_error=largest)


def fitted(table: Tensor, offsets: Iterable[int]) -> tuple[OffsetFit, ...]:
    """Fits a linear map for each offset to half of the rows, by ridge regression, and tries it on the others.

    Args:
        table: `(rows, d_model)`, rows of consecutive positions.
        offsets: those for which too few rows are left are passed over.
    """
    rows = table.double()
    return tuple(
        OffsetFit(offset=offset, residual=_residual(rows[:-offset], rows[offset:]))
        for offset in offsets
        if len(rows) - offset >= _LEAST_ROWS
    )


def cosines(table: Tensor) -> Tensor:
    """Cosines of the angles between all rows of a table `(rows, d_model)`, float64 `(rows, rows)`."""
    unit: Tensor = F.normalize(table.double(), dim=1)
    return unit @ unit.t()


def by_offset(similarity: Tensor) -> list[float]:
    """The mean of a square matrix along each diagonal: how alike rows are that are 0, 1, 2, ... positions apart."""
    return [float(similarity.diagonal(offset).mean()) for offset in range(len(similarity))]


def _residual(before: Tensor, behind: Tensor) -> float:
    """What a map from `before` to `behind`, fitted to half of the rows, leaves of the others' variance."""
    # Drawn by lot: every other row would hide what changes its sign from row to row.
    order = torch.randperm(len(before), generator=torch.Generator().manual_seed(_SEED))
    half = order[: len(order) // 2]
    rest = order[len(order) // 2 :]
    given, wanted = before[half], behind[half]
    held_out, mean = behind[rest], wanted.mean(dim=0)
    gram, size = given.t() @ given, float(given.square().mean()) * len(given)
    unit = torch.eye(len(gram), dtype=gram.dtype)
    maps = [torch.linalg.solve(gram + ridge * size * unit, given.t() @ wanted) for ridge in _RIDGES]
    left = min(float((before[rest] @ matrix - held_out).square().sum()) for matrix in maps)
    return left / float((held_out - mean).square().sum())
