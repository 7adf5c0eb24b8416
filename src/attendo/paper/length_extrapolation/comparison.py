"""Comparison of sinusoidal and learned positions at each length and position, over seeds, and its conclusions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from attendo.evaluation.estimates import Estimate, estimate, paired
from attendo.paper.length_extrapolation.measures import LengthMeasure, RunMeasures, ShiftMeasure
from attendo.paper.length_extrapolation.rows import ROWS, Row

Measures = Mapping[str, Mapping[int, RunMeasures]]
"""Measurements by row name and seed."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """The scores of a row at one length, or at one position."""

    row: Row
    log_loss: Estimate
    """Nats per target token; the exponential is the perplexity."""
    accuracy: Estimate
    """Share of target tokens that are predicted correctly."""
    bleu: Estimate | None
    """BLEU; None where nothing was translated."""
    words: Estimate | None
    """Number of words written, divided by that of the references; None where nothing was translated."""


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """The difference between two rows, paired by seed."""

    log_loss: Estimate
    """Difference in nats per token; above 0 the first row is worse."""
    bleu: Estimate | None
    """Difference in BLEU; below 0 the first row is worse. None where nothing was translated."""

    @property
    def verdict(self) -> str:
        """Whether the first row's log-loss is significantly worse or better."""
        return {0: "not significant", 1: "worse", -1: "better"}[self.log_loss.sign]


@dataclass(frozen=True, kw_only=True)
class Place:
    """All rows at one length, or at one position."""

    at: int
    """Number of sentences per text, or position of the first token."""
    first: int
    """Position of the first token; 0 in the comparison by length."""
    target_tokens: float
    """Mean number of target tokens in a text, or in a sentence in the comparison by position."""
    longest: int
    """Number of tokens of the longest source or target, counted from position 0."""
    cells: tuple[Cell, ...]
    learned_against_sinusoidal: Contrast | None
    """Learned against sinusoidal positions, both trained on short texts; None where no seed has both."""
    untrained: Mapping[str, Contrast]
    """Training on short texts against training on all lengths, by kind of positions."""

    def is_beyond(self, limit: int) -> bool:
        """Whether texts have, on average, at least `limit` tokens, or begin at position `limit` or later."""
        return (self.first or self.target_tokens) >= limit

    def cell(self, row: Row) -> Cell | None:
        """The cell of a row; None if it has none."""
        return next((cell for cell in self.cells if cell.row == row), None)

    def to_json(self) -> dict[str, Any]:
        """The cells and contrasts for `result.json`."""
        first = self.learned_against_sinusoidal
        return {
            "at": self.at,
            "target_tokens": self.target_tokens,
            "longest": self.longest,
            "rows": {cell.row.name: {**asdict(cell), "row": cell.row.name} for cell in self.cells},
            "learned_against_sinusoidal": None if first is None else asdict(first),
            "short_against_all": {kind: asdict(contrast) for kind, contrast in self.untrained.items()},
        }


Reading = LengthMeasure | ShiftMeasure
"""The measurements of one run's model on one test."""


def by_length(measures: Measures) -> tuple[Place, ...]:
    """Compares the rows at every tested length.

    Args:
        measures: measurements of at least one run.
    """
    known = next(run for runs in measures.values() for run in runs.values())
    places = []
    for number, first in enumerate(known.lengths):
        tests = {row: {seed: run.lengths[number] for seed, run in runs.items()} for row, runs in measures.items()}
        places.append(_place(first.sentences, 0, first.target_tokens, first.longest, tests))
    return tuple(places)


def by_position(measures: Measures) -> tuple[Place, ...]:
    """Compares the rows where single sentences are read at other positions.

    Args:
        measures: measurements of at least one run.
    """
    single = next(run for runs in measures.values() for run in runs.values()).lengths[0]
    positions = sorted({shift.first for runs in measures.values() for run in runs.values() for shift in run.shifts})
    places = []
    for first in positions:
        tests = {
            row: {seed: shift for seed, run in runs.items() for shift in run.shifts if shift.first == first}
            for row, runs in measures.items()
        }
        places.append(_place(first, first, single.target_tokens, first + single.longest, tests))
    return tuple(places)


def _place(
    at: int, first: int, target_tokens: float, longest: int, readings: Mapping[str, Mapping[int, Reading]]
) -> Place:
    runs = {row: readings.get(row.name, {}) for row in ROWS}
    short_sines, short_learned, all_sines, all_learned = (runs[row] for row in ROWS)
    kinds = {ROWS[0].kind: (short_sines, all_sines), ROWS[1].kind: (short_learned, all_learned)}
    untrained = {kind: _contrast(short, every) for kind, (short, every) in kinds.items()}
    return Place(
        at=at,
        first=first,
        target_tokens=target_tokens,
        longest=longest,
        cells=tuple(_cell(row, list(of_row.values())) for row, of_row in runs.items() if of_row),
        learned_against_sinusoidal=_contrast(short_learned, short_sines),
        untrained={kind: contrast for kind, contrast in untrained.items() if contrast is not None},
    )


def _cell(row: Row, readings: Sequence[Reading]) -> Cell:
    return Cell(
        row=row,
        log_loss=estimate([reading.log_loss for reading in readings]),
        accuracy=estimate([reading.accuracy for reading in readings]),
        bleu=_estimate_of_known([reading.bleu for reading in readings]),
        words=_estimate_of_known([reading.words for reading in readings]),
    )


def _contrast(first: Mapping[int, Reading], second: Mapping[int, Reading]) -> Contrast | None:
    log_loss = paired(first, second, lambda reading: reading.log_loss)
    if log_loss is None:
        return None
    pairs = [(first[seed].bleu, second[seed].bleu) for seed in sorted(first.keys() & second.keys())]
    return Contrast(
        log_loss=log_loss,
        bleu=_estimate_of_known([None if left is None or right is None else left - right for left, right in pairs]),
    )


def _estimate_of_known(values: Sequence[float | None]) -> Estimate | None:
    """The mean of the values that are not None; None if there are none."""
    known = [value for value in values if value is not None]
    return estimate(known) if known else None


# --- conclusions ------------------------------------------------------------------------------------------------------


def outcomes(lengths: Sequence[Place], positions: Sequence[Place], limit: int) -> list[str]:
    """States the findings, one paragraph each.

    Args:
        lengths: comparisons from `by_length`.
        positions: comparisons from `by_position`.
        limit: number of tokens of the longest target among the short training texts.
    """
    beyond = [place for place in lengths if place.is_beyond(limit)]
    paragraphs = [_extrapolation(row, lengths[0], beyond, limit) for row in ROWS[:2]] if beyond else []
    paragraphs += [_side_by_side("texts longer than all trained ones", beyond, "sentences a text")]
    places_beyond = [place for place in positions if place.is_beyond(limit)]
    paragraphs += [
        _side_by_side(
            "single sentences that begin behind the trained positions", places_beyond, "position of the first token"
        )
    ]
    return [*paragraphs, *(_effect_of_position(row, positions, places_beyond) for row in ROWS[:2] if places_beyond)]


def _extrapolation(row: Row, single: Place, beyond: Sequence[Place], limit: int) -> str:
    """States how a row trained on short texts does at the longest test; empty if it was not measured."""
    longest = beyond[-1]
    single_cell, longest_cell, contrast = single.cell(row), longest.cell(row), longest.untrained.get(row.kind)
    if single_cell is None or longest_cell is None:
        return ""
    bleu = (
        f", BLEU from {single_cell.bleu.mean:.1f} to {longest_cell.bleu.mean:.1f}"
        if single_cell.bleu and longest_cell.bleu
        else ""
    )
    text = (
        f"{row.kind.capitalize()} positions, trained on short texts: from single sentences to texts of "
        f"{longest.target_tokens:.0f} target tokens, {longest.target_tokens / limit:.1f} times the longest trained, "
        f"perplexity goes from {math.exp(single_cell.log_loss.mean):.2f} to "
        f"{math.exp(longest_cell.log_loss.mean):.2f}{bleu}."
    )
    if contrast is None:
        return text
    end = {
        "worse": "these lengths are read well only where they were trained: no extrapolation here",
        "better": "they are read no worse than where they were trained: they are extrapolated to",
        "not significant": "their difference is not significant",
    }[contrast.verdict]
    return f"{text} Against the same model trained on all lengths: {contrast.log_loss:+.3f} nats a token; {end}."


def _side_by_side(what: str, places: Sequence[Place], unit: str) -> str:
    contrasts = [(place, contrast) for place in places if (contrast := place.learned_against_sinusoidal)]
    if not contrasts:
        return ""
    by_verdict = {
        verdict: [str(place.at) for place, contrast in contrasts if contrast.verdict == verdict]
        for verdict in ("worse", "better", "not significant")
    }
    verdicts = "; ".join(f"{verdict} at {', '.join(at)}" for verdict, at in by_verdict.items() if at)
    return f"Learned against sinusoidal positions, both trained on short texts, on {what}: {verdicts} ({unit})."


def _effect_of_position(row: Row, positions: Sequence[Place], moved: Sequence[Place]) -> str:
    first_cell, moved_cell = positions[0].cell(row), moved[0].cell(row)
    if first_cell is None or moved_cell is None:
        return ""
    return (
        f"Position alone, {row.kind}: single sentences, whose content and length stay as they are, go from perplexity "
        f"{math.exp(first_cell.log_loss.mean):.2f} to {math.exp(moved_cell.log_loss.mean):.2f} where they begin at "
        f"position {moved[0].at} instead of 0."
    )
