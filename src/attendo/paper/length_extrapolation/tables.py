"""The position tables of trained models: which rows were trained, and what linear maps and angles say of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

from attendo.checkpoint.model_folder import load_model
from attendo.model.positions import sinusoids
from attendo.paper.length_extrapolation.offsets import by_offset, cosines, fitted
from attendo.paper.length_extrapolation.rows import ROWS
from attendo.paper.length_extrapolation.texts import ALL, SHORT
from attendo.paper.statistics import Estimate, estimate
from attendo.text.prepared import PreparedData

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


def _source_table(model: Path) -> Tensor:
    positions = load_model(model).transformer.source_embedding.positions
    return positions.table.detach()


def _numpy(tensor: Tensor) -> npt.NDArray[np.float64]:
    return np.asarray(tensor.numpy(), dtype=np.float64)
