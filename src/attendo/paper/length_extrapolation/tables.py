"""The position tables of trained models: which rows were trained, and how far PE(pos + k) is linear in PE(pos)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

from attendo.checkpoint.model_folder import load_model
from attendo.model.positions import sinusoids
from attendo.paper.length_extrapolation.offsets import ROUNDING, ClosedForm, by_offset, cosines, fitted
from attendo.paper.length_extrapolation.picture import similarity_png
from attendo.paper.length_extrapolation.rows import ROWS
from attendo.paper.length_extrapolation.texts import ALL, SHORT
from attendo.paper.report import Paragraph, Picture, Section, Table, table_of
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


# --- on the page ------------------------------------------------------------------------------------------------------


def linear(closed_forms: Sequence[ClosedForm], tables: Tables, limit: int) -> Section:
    """Says how far PE(pos + k) is a linear function of PE(pos).

    Args:
        closed_forms: of sinusoids.
        tables: the trained models'.
        limit: tokens of the longest source that short training texts have.
    """
    closed = table_of(
        "The closed form against the table that models read: the largest error over all pos, k and columns",
        closed_forms,
        (
            ("layout", lambda found: found.layout),
            ("d_model", lambda found: str(found.d_model)),
            ("pos", lambda found: f"0 to {found.positions - 1:,}"),
            ("k", lambda found: f"1 to {found.offsets:,}"),
            ("largest error", lambda found: f"{found.largest_error:.2e}"),
            ("rounding allows", lambda found: f"{ROUNDING:.2e}"),
        ),
        words=1,
    )
    fits = Table(
        caption="What fitted linear maps leave unsaid of rows they were not fitted to: a share of their variance",
        columns=("table", "rows", *(f"k = {offset}" for offset in OFFSETS)),
        rows=tuple(
            (
                fit.title,
                str(fit.rows),
                *(_residual(fit.by_offset.get(offset)) for offset in OFFSETS),
            )
            for fit in tables.fits
        ),
        words=1,
    )
    exact = (
        "For sinusoids the map from PE(pos) to PE(pos + k) is known: each pair of a sine and a cosine of frequency w "
        "turns by the angle w k, whatever pos is. The matrix is zero but for these turns, 2 by 2 on its diagonal where "
        "sines and cosines stand by turns (interleaved), and with the same entries in other places where all sines "
        "come first (halves). It is exact; what is left is the rounding of the table to 32 bits."
    )
    fitted = (
        "Learned positions have no such form. So the best linear map is fitted to half of the positions, by ridge "
        "regression with the ridge that does best for each table, and tried on the other half: 0 is an exact "
        "map, 1 no better than knowing the mean row. Often trained are the rows that at least 1 of 20 training texts "
        "reaches; rows never trained stay as they were drawn, and show what no structure at all comes to."
    )
    return Section(
        title="PE(pos + k) as a linear function of PE(pos)",
        blocks=(
            Paragraph(text=exact),
            closed,
            Paragraph(text=fitted),
            fits,
            Picture(
                name="similarity.png",
                png=similarity_png(tables.similarity, tables.curves, limit, tables.shown),
                alt="Heat maps of the cosines between positions, of sinusoids and of learned tables, and their means "
                "by distance",
                caption="Cosines between positions of the source. Dashed: the longest short training text. Sinusoids "
                "depend on the distance alone; learned rows take structure from training, and have none beyond it. At "
                "the right the means within the often trained rows; of learned tables, those of the first seed.",
            ),
        ),
    )


def _residual(found: Estimate | None) -> str:
    if found is None:
        return ""
    half = "" if found.half_width is None else f" ± {found.half_width:.2f}"
    return f"{found.mean:.1e}" if found.mean < 0.005 else f"{found.mean:.2f}{half}"
