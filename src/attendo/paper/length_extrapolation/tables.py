"""PE(pos + k) as a linear function of PE(pos) (Section 3.5): in closed form, and fitted to models' position tables."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional as F

from attendo.checkpoint.model_folder import load_model
from attendo.evaluation.estimates import Estimate, estimate
from attendo.model.positions import sinusoids
from attendo.paper.length_extrapolation.rows import ALL, ROWS, SHORT
from attendo.text.prepared import PreparedData

# --- the closed form, and fits of tables ------------------------------------------------------------------------------

Layout = Literal["interleaved", "halves"]
LAYOUTS: tuple[Layout, ...] = ("interleaved", "halves")

ROUNDING = (1 + math.sqrt(2)) * 2.0**-25
"""Bound of the closed form's error due to float32 rounding: 2^-25 for the entry itself and for each of the two entries,
weighted by a cosine and a sine, that it is computed from."""

_RIDGES = (1e-10, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
"""Ridges, in units of a column's mean square. Fitted rows may be fewer than columns, so that many maps would fit; for
each table and offset the ridge with the smallest residual is taken."""
_LEAST_ROWS = 16
"""Smallest number of pairs of rows for a fit and its test."""
_SEED = 1
"""Seed for choosing the rows that are fitted."""


@dataclass(frozen=True, kw_only=True)
class ClosedForm:
    """The error of the closed form on the table that models read."""

    layout: Layout
    d_model: int
    positions: int
    """Number of positions: pos runs from 0 to below this."""
    offsets: int
    """Largest offset: k runs from 1 to this."""
    largest_error: float
    """Largest absolute error over all pos, k and columns."""


@dataclass(frozen=True, kw_only=True)
class OffsetFit:
    """The fit of a linear map from rows of a table to the rows `offset` positions after them."""

    offset: int
    residual: float
    """Squared error on rows that were not fitted, as a share of their variance: 0 is an exact map, 1 is no better than
    the mean row, above 1 is worse."""


def rotations(offset: int, d_model: int) -> Tensor:
    """The rotations of all pairs of columns, from (sin a, cos a) to (sin(a + w k), cos(a + w k)).

    Args:
        offset: k.
        d_model: number of columns, even.

    Returns:
        float64 `(d_model / 2, 2, 2)`, one rotation for each frequency w, the highest first.
    """
    angle = offset * 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    sine, cosine = angle.sin(), angle.cos()
    return torch.stack((torch.stack((cosine, sine), dim=1), torch.stack((-sine, cosine), dim=1)), dim=1)


def offset_matrix(offset: int, d_model: int, layout: Layout) -> Tensor:
    """The matrix M with PE(pos + k) = M PE(pos) for every pos, float64 `(d_model, d_model)`.

    Args:
        offset: k.
        d_model: number of columns of the table, even.
        layout: order of sines and cosines in the columns.
    """
    half = d_model // 2
    pair = torch.arange(half)
    places = torch.stack((2 * pair, 2 * pair + 1) if layout == "interleaved" else (pair, half + pair), dim=1)
    matrix = torch.zeros(d_model, d_model, dtype=torch.float64)
    matrix[places[:, :, None], places[:, None, :]] = rotations(offset, d_model)
    return matrix


def closed_form(layout: Layout, d_model: int, positions: int, offsets: int) -> ClosedForm:
    """Compares the closed form with the model's own table, for every position and offset.

    Args:
        layout: layout of the table.
        d_model: number of columns of the table.
        positions: number of positions: pos runs from 0 to below this.
        offsets: largest offset: k runs from 1 to this.
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
        for column, expected in enumerate((sine, cosine)):
            computed = sine[:positions] * turn[:, column, 0] + cosine[:positions] * turn[:, column, 1]
            largest = max(largest, float((computed - expected[offset : offset + positions]).abs().max()))
    return ClosedForm(layout=layout, d_model=d_model, positions=positions, offsets=offsets, largest_error=largest)


def fitted(table: Tensor, offsets: Iterable[int]) -> tuple[OffsetFit, ...]:
    """Fits a linear map for each offset to half of the rows, by ridge regression, and tests it on the other half.

    Args:
        table: `(rows, d_model)`, rows of consecutive positions.
        offsets: offsets k; those that leave too few rows are skipped.
    """
    rows = table.double()
    return tuple(
        OffsetFit(offset=offset, residual=_offset_residual(rows[:-offset], rows[offset:]))
        for offset in offsets
        if len(rows) - offset >= _LEAST_ROWS
    )


def cosines(table: Tensor) -> Tensor:
    """Cosines of the angles between all rows of a table `(rows, d_model)`, float64 `(rows, rows)`."""
    unit: Tensor = F.normalize(table.double(), dim=1)
    return unit @ unit.t()


def by_offset(similarity: Tensor) -> list[float]:
    """The mean of a square matrix along each diagonal: the similarity of rows 0, 1, 2, ... positions apart."""
    return [float(similarity.diagonal(offset).mean()) for offset in range(len(similarity))]


def _offset_residual(before: Tensor, behind: Tensor) -> float:
    """The residual, as for `OffsetFit`, of a map from `before` to `behind` fitted to half of the rows."""
    # Rows are drawn at random: every other row would hide what changes its sign from row to row.
    order = torch.randperm(len(before), generator=torch.Generator().manual_seed(_SEED))
    half = order[: len(order) // 2]
    rest = order[len(order) // 2 :]
    inputs, targets = before[half], behind[half]
    held_out, mean = behind[rest], targets.mean(dim=0)
    gram, size = inputs.t() @ inputs, float(inputs.square().mean()) * len(inputs)
    unit = torch.eye(len(gram), dtype=gram.dtype)
    maps = [torch.linalg.solve(gram + ridge * size * unit, inputs.t() @ targets) for ridge in _RIDGES]
    error = min(float((before[rest] @ matrix - held_out).square().sum()) for matrix in maps)
    return error / float((held_out - mean).square().sum())


# --- tables of trained models -----------------------------------------------------------------------------------------

OFFSETS = (1, 2, 4, 8, 16, 32)
"""Offsets k of the fitted maps."""

_USUAL = 0.95
"""Share of the training texts within the length up to which positions count as often trained."""


@dataclass(frozen=True, kw_only=True)
class LengthStatistics:
    """Token counts of the texts of one corpus, `</s>` included."""

    texts: int
    """Number of texts."""
    mean_target: float
    usual_source: int
    """Length that 19 of 20 sources do not exceed; positions up to there count as often trained."""
    usual_target: int
    """Length that 19 of 20 targets do not exceed."""
    longest_source: int
    longest_target: int


@dataclass(frozen=True, kw_only=True)
class TableFit:
    """How well linear maps predict one row of a table from another, over seeds."""

    title: str
    rows: int
    by_offset: dict[int, Estimate]
    """Mean residuals of `OffsetFit` over seeds, by offset."""

    @property
    def residuals(self) -> Mapping[str, str]:
        """The residuals by offset as the page prints them; empty for an offset that leaves too few rows."""
        return {str(offset): _residual(self.by_offset.get(offset)) for offset in OFFSETS}

    def to_json(self) -> dict[str, Any]:
        """The title, the number of rows and the residuals, for `result.json`."""
        residuals = {str(offset): residual.mean for offset, residual in self.by_offset.items()}
        return {"table": self.title, "rows": self.rows, "residuals": residuals}


@dataclass(frozen=True, kw_only=True)
class Tables:
    """The fits and similarities of the source's position tables."""

    fits: tuple[TableFit, ...]
    similarity: dict[str, npt.NDArray[np.float64]]
    """Cosines between rows `(rows, rows)`, by title."""
    curves: dict[str, list[float]]
    """Mean cosines by distance, within the rows that short texts often train, by title."""
    shown: int
    """Number of rows in a heat map."""


def trained(prepared: PreparedData, corpus: str) -> LengthStatistics:
    """The token counts of a corpus, which determine the positions that it trains.

    Args:
        prepared: prepared data of the study.
        corpus: name of the corpus, `SHORT` or `ALL`.
    """
    pairs = prepared.corpora[corpus]
    return LengthStatistics(
        texts=len(pairs),
        mean_target=float(pairs.target_lengths.mean()),
        usual_source=int(np.quantile(pairs.source_lengths, _USUAL)),
        usual_target=int(np.quantile(pairs.target_lengths, _USUAL)),
        longest_source=int(pairs.source_lengths.max()),
        longest_target=int(pairs.target_lengths.max()),
    )


def tables(models: Mapping[str, Sequence[Path]], d_model: int, prepared: PreparedData) -> Tables:
    """Reads the learned tables, and compares their fits and similarities with those of sinusoids.

    Args:
        models: model folders by row, one per seed; rows with sinusoids are ignored.
        d_model: d_model of the models.
        prepared: prepared data of the study.

    Raises:
        ModelError: a model cannot be read.
    """
    short, every = trained(prepared, SHORT), trained(prepared, ALL)
    of_short, of_all = ([_source_table(path) for path in models.get(row.name, ())] for row in (ROWS[1], ROWS[3]))
    sines = sinusoids(every.usual_source, d_model, "interleaved")
    fits = [_fit("sinusoids", [sines[: short.usual_source]]), _fit("sinusoids, as many rows as 'all lengths'", [sines])]
    shown = 2 * short.longest_source
    similarity = {"sinusoids": _numpy(cosines(sinusoids(shown, d_model, "interleaved")))}
    curves = {"sinusoids": by_offset(cosines(sines[: short.usual_source]))}
    for title, learned, usual in (
        ("learned, short texts", of_short, short.usual_source),
        ("learned, all lengths", of_all, every.usual_source),
    ):
        if learned:
            fits.append(_fit(f"{title}, often trained rows", [table[:usual] for table in learned]))
            similarity[title] = _numpy(cosines(learned[0][:shown]))
            curves[title] = by_offset(cosines(learned[0][: short.usual_source]))
    if of_short:
        first, last = short.longest_source, short.longest_source + short.usual_source
        fits.append(_fit("learned, short texts, rows never trained", [table[first:last] for table in of_short]))
    return Tables(fits=tuple(fits), similarity=similarity, curves=curves, shown=shown)


def _fit(title: str, seed_tables: Sequence[Tensor]) -> TableFit:
    by_seed = [{fit.offset: fit.residual for fit in fitted(table, OFFSETS)} for table in seed_tables]
    residuals = {offset: estimate([fits[offset] for fits in by_seed]) for offset in by_seed[0]}
    return TableFit(title=title, rows=len(seed_tables[0]), by_offset=residuals)


def _residual(residual: Estimate | None) -> str:
    if residual is None:
        return ""
    return f"{residual.mean:.1e}" if residual.mean < 0.005 else f"{residual:.2f}"


def _source_table(model: Path) -> Tensor:
    positions = load_model(model).transformer.source_embedding.positions
    return positions.table.detach()


def _numpy(tensor: Tensor) -> npt.NDArray[np.float64]:
    return np.asarray(tensor.numpy(), dtype=np.float64)
