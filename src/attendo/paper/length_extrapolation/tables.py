"""PE(pos + k) as a linear function of PE(pos) (Section 3.5): in closed form, and in the position tables of models."""

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
from attendo.model.positions import sinusoids
from attendo.paper.length_extrapolation.rows import ALL, ROWS, SHORT
from attendo.paper.statistics import Estimate, estimate
from attendo.text.prepared import PreparedData

# --- the closed form, and fits of tables ------------------------------------------------------------------------------

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
        OffsetFit(offset=offset, residual=_offset_residual(rows[:-offset], rows[offset:]))
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


def _offset_residual(before: Tensor, behind: Tensor) -> float:
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


# --- tables of trained models -----------------------------------------------------------------------------------------

OFFSETS = (1, 2, 4, 8, 16, 32)
"""k of the fitted maps."""

_USUAL = 0.95
"""Of the texts have no more tokens than what counts as often trained."""


@dataclass(frozen=True, kw_only=True)
class Trained:
    """Tokens of the texts of one corpus, each with its `</s>`."""

    texts: int
    mean_target: float
    usual_source: int
    """19 of 20 sources are no longer: positions up to there are often trained."""
    usual_target: int
    """Likewise of targets."""
    longest_source: int
    longest_target: int


@dataclass(frozen=True, kw_only=True)
class TableFit:
    """How well linear maps say one row of a table by another, over seeds."""

    title: str
    rows: int
    by_offset: dict[int, Estimate]
    """Residuals of `OffsetFit`."""

    @property
    def residuals(self) -> Mapping[str, str]:
        """By offset, as the page has them; empty for an offset of which too few rows are left."""
        return {str(offset): _residual(self.by_offset.get(offset)) for offset in OFFSETS}

    def to_json(self) -> dict[str, Any]:
        """For `result.json`."""
        found = {str(offset): found.mean for offset, found in self.by_offset.items()}
        return {"table": self.title, "rows": self.rows, "residuals": found}


@dataclass(frozen=True, kw_only=True)
class Tables:
    """What is said of the source's positions."""

    fits: tuple[TableFit, ...]
    similarity: dict[str, npt.NDArray[np.float64]]
    """Cosines between rows, by title."""
    curves: dict[str, list[float]]
    """The mean cosine by distance within the often trained rows, by title."""
    shown: int
    """Rows of a heat map."""


def trained(prepared: PreparedData, corpus: str) -> Trained:
    """What a corpus trains of positions.

    Args:
        prepared: the study's data.
        corpus: `SHORT` or `ALL`.
    """
    pairs = prepared.corpora[corpus]
    return Trained(
        texts=len(pairs),
        mean_target=float(pairs.target_lengths.mean()),
        usual_source=int(np.quantile(pairs.source_lengths, _USUAL)),
        usual_target=int(np.quantile(pairs.target_lengths, _USUAL)),
        longest_source=int(pairs.source_lengths.max()),
        longest_target=int(pairs.target_lengths.max()),
    )


def tables(models: Mapping[str, Sequence[Path]], d_model: int, prepared: PreparedData) -> Tables:
    """Reads the learned tables and holds them beside the sinusoids.

    Args:
        models: model folders by row, one a seed; rows of sinusoids are passed over.
        d_model: the models'.
        prepared: the study's data.

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
    for title, found, usual in (
        ("learned, short texts", of_short, short.usual_source),
        ("learned, all lengths", of_all, every.usual_source),
    ):
        if found:
            fits.append(_fit(f"{title}, often trained rows", [table[:usual] for table in found]))
            similarity[title] = _numpy(cosines(found[0][:shown]))
            curves[title] = by_offset(cosines(found[0][: short.usual_source]))
    if of_short:
        first, last = short.longest_source, short.longest_source + short.usual_source
        fits.append(_fit("learned, short texts, rows never trained", [table[first:last] for table in of_short]))
    return Tables(fits=tuple(fits), similarity=similarity, curves=curves, shown=shown)


def _fit(title: str, found: Sequence[Tensor]) -> TableFit:
    by_seed = [{fit.offset: fit.residual for fit in fitted(table, OFFSETS)} for table in found]
    residuals = {offset: estimate([fits[offset] for fits in by_seed]) for offset in by_seed[0]}
    return TableFit(title=title, rows=len(found[0]), by_offset=residuals)


def _residual(found: Estimate | None) -> str:
    if found is None:
        return ""
    return f"{found.mean:.1e}" if found.mean < 0.005 else f"{found:.2f}"


def _source_table(model: Path) -> Tensor:
    positions = load_model(model).transformer.source_embedding.positions
    return positions.table.detach()


def _numpy(tensor: Tensor) -> npt.NDArray[np.float64]:
    return np.asarray(tensor.numpy(), dtype=np.float64)
