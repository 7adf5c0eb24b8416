"""What a study of lengths beyond training says: who reads longer texts than trained, and what position alone does."""

import math
from collections.abc import Sequence

from attendo.paper.length_extrapolation.comparison import Place
from attendo.paper.length_extrapolation.rows import ROWS, Row
from attendo.paper.report import Paragraph, Section
from attendo.paper.statistics import Estimate


def outcome(lengths: Sequence[Place], positions: Sequence[Place], limit: int) -> Section:
    """Says what comes out.

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
    told += [_moved(row, positions, moved) for row in ROWS[:2]] if moved else []
    told.append(
        "One row is told apart from another where the 95% interval of their difference in log-loss, paired by seed, "
        "leaves out zero; so few seeds may leave a true difference untold."
    )
    return Section(title="What comes out", blocks=tuple(Paragraph(text=text) for text in told if text))


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
        "not told apart": "the two are not told apart",
    }[contrast.verdict]
    return f"{text} Against the same model trained on all lengths: {nats(contrast.log_loss)} nats a token; {end}."


def _side_by_side(what: str, places: Sequence[Place], unit: str) -> str:
    found = [(place, contrast) for place in places if (contrast := place.learned_against_sinusoidal)]
    if not found:
        return ""
    by_verdict = {
        verdict: [str(place.at) for place, contrast in found if contrast.verdict == verdict]
        for verdict in ("worse", "better", "not told apart")
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
        f"{moved[0].at} in place of 0."
    )


def nats(found: Estimate) -> str:
    """A difference and half of its interval."""
    half = "" if found.half_width is None else f" ± {found.half_width:.3f}"
    return f"{found.mean:+.3f}{half}"
