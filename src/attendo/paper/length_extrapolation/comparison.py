"""Sinusoidal and learned positions at each length and position, over seeds, and what that says."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from attendo.paper.length_extrapolation.measures import LengthMeasure, RunMeasures, ShiftMeasure
from attendo.paper.length_extrapolation.rows import ROWS, Row
from attendo.paper.statistics import Estimate, estimate, paired

Measures = Mapping[str, Mapping[int, RunMeasures]]
"""What was measured, by the row's name and the seed."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A row of the study at one length, or at one position."""

    row: Row
    log_loss: Estimate
    """Nats a target token; its exponential is the perplexity."""
    accuracy: Estimate
    """Share of target tokens that are foretold."""
    bleu: Estimate | None
    """None where nothing was translated."""
    words: Estimate | None
    """Words written by those of the references, likewise."""


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """One row against another, paired by seed."""

    log_loss: Estimate
    """Difference in nats a token: above 0 the first row is worse."""
    bleu: Estimate | None
    """Difference: below 0 the first row is worse."""

    @property
    def verdict(self) -> str:
        """Whether the first row is told apart on the log-loss."""
        return {0: "not significant", 1: "worse", -1: "better"}[self.log_loss.sign]


@dataclass(frozen=True, kw_only=True)
class Place:
    """All rows at one length, or at one position."""

    at: int
    """Sentences a text, or the position of the first token."""
    first: int
    """The position of the first token: 0 where texts are read from there on."""
    target_tokens: float
    """Of a text on average; at a position, of a sentence."""
    longest: int
    """Tokens of the longest side of all, from position 0."""
    cells: tuple[Cell, ...]
    learned_against_sinusoidal: Contrast | None
    """Both trained on short texts; None where no seed has both."""
    untrained: Mapping[str, Contrast]
    """By kind of positions: trained on short texts against trained on all lengths."""

    def is_beyond(self, limit: int) -> bool:
        """Whether a text of average length is longer than the longest trained, or begins behind its positions."""
        return (self.first or self.target_tokens) >= limit

    def cell(self, row: Row) -> Cell | None:
        """That of a row, where it has one."""
        return next((cell for cell in self.cells if cell.row == row), None)

    def to_json(self) -> dict[str, Any]:
        """For `result.json`."""
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
"""What a run's model made of a test."""


def by_length(measures: Measures) -> tuple[Place, ...]:
    """Compares the rows at every tested length.

    Args:
        measures: at least one run's.
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
        measures: at least one run's.
    """
    single = next(run for runs in measures.values() for run in runs.values()).lengths[0]
    positions = sorted({shift.first for runs in measures.values() for run in runs.values() for shift in run.shifts})
    places = []
    for first in positions:
        found = {
            row: {seed: shift for seed, run in runs.items() for shift in run.shifts if shift.first == first}
            for row, runs in measures.items()
        }
        places.append(_place(first, first, single.target_tokens, first + single.longest, found))
    return tuple(places)


def _place(
    at: int, first: int, target_tokens: float, longest: int, found: Mapping[str, Mapping[int, Reading]]
) -> Place:
    runs = {row: found.get(row.name, {}) for row in ROWS}
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


def _cell(row: Row, found: Sequence[Reading]) -> Cell:
    return Cell(
        row=row,
        log_loss=estimate([one.log_loss for one in found]),
        accuracy=estimate([one.accuracy for one in found]),
        bleu=_known([one.bleu for one in found]),
        words=_known([one.words for one in found]),
    )


def _contrast(one: Mapping[int, Reading], other: Mapping[int, Reading]) -> Contrast | None:
    log_loss = paired(one, other, lambda reading: reading.log_loss)
    if log_loss is None:
        return None
    pairs = [(one[seed].bleu, other[seed].bleu) for seed in sorted(one.keys() & other.keys())]
    return Contrast(
        log_loss=log_loss,
        bleu=_known([None if left is None or right is None else left - right for left, right in pairs]),
    )


def _known(values: Sequence[float | None]) -> Estimate | None:
    """The mean over seeds; None where there is nothing to take it of."""
    known = [value for value in values if value is not None]
    return estimate(known) if known else None


# --- what that says ---------------------------------------------------------------------------------------------------


def outcomes(lengths: Sequence[Place], positions: Sequence[Place], limit: int) -> list[str]:
    """Says what comes out, a paragraph each.

    Args:
        lengths: from `by_length`.
        positions: from `by_position`.
        limit: tokens of the longest target that short training texts have.
    """
    beyond = [place for place in lengths if place.is_beyond(limit)]
    told = [_extrapolation(row, lengths[0], beyond, limit) for row in ROWS[:2]] if beyond else []
    told += [_side_by_side("texts longer than all trained ones", beyond, "sentences a text")]
    moved = [place for place in positions if place.is_beyond(limit)]
    told += [
        _side_by_side("single sentences that begin behind the trained positions", moved, "position of the first token")
    ]
    return [*told, *(_moved(row, positions, moved) for row in ROWS[:2] if moved)]


def _extrapolation(row: Row, single: Place, beyond: Sequence[Place], limit: int) -> str:
    """What became of a row trained on short texts at the longest test."""
    longest = beyond[-1]
    here, there, contrast = single.cell(row), longest.cell(row), longest.untrained.get(row.kind)
    if here is None or there is None:
        return ""
    bleu = f", BLEU from {here.bleu.mean:.1f} to {there.bleu.mean:.1f}" if here.bleu and there.bleu else ""
    text = (
        f"{row.kind.capitalize()} positions, trained on short texts: from single sentences to texts of "
        f"{longest.target_tokens:.0f} target tokens, {longest.target_tokens / limit:.1f} times the longest trained, "
        f"perplexity goes from {math.exp(here.log_loss.mean):.2f} to {math.exp(there.log_loss.mean):.2f}{bleu}."
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
    found = [(place, contrast) for place in places if (contrast := place.learned_against_sinusoidal)]
    if not found:
        return ""
    by_verdict = {
        verdict: [str(place.at) for place, contrast in found if contrast.verdict == verdict]
        for verdict in ("worse", "better", "not significant")
    }
    told = "; ".join(f"{verdict} at {', '.join(at)}" for verdict, at in by_verdict.items() if at)
    return f"Learned against sinusoidal positions, both trained on short texts, on {what}: {told} ({unit})."


def _moved(row: Row, positions: Sequence[Place], moved: Sequence[Place]) -> str:
    here, there = positions[0].cell(row), moved[0].cell(row)
    if here is None or there is None:
        return ""
    return (
        f"Position alone, {row.kind}: single sentences, whose content and length stay as they are, go from perplexity "
        f"{math.exp(here.log_loss.mean):.2f} to {math.exp(there.log_loss.mean):.2f} where they begin at position "
        f"{moved[0].at} instead of 0."
    )
