"""The share of a score that remains after a change of the source, with its confidence interval."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sacrebleu.metrics.bleu import BLEU

from attendo.evaluation.scores import Score, metrics


@dataclass(frozen=True, kw_only=True)
class Side:
    """Outputs and what they should have been."""

    outputs: Sequence[str]
    references: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """A metric on the same lines without and with a change."""

    clean: float
    """The score without it."""
    perturbed: float
    """The score with it."""
    ratio: float | None
    """The second over the first; None where the first is 0."""
    low: float | None = None
    """Lower end of the ratio's 95% bootstrap interval; None where none was asked for or there is no ratio."""
    high: float | None = None
    """Upper end of the same."""


def ratio(clean: Score, perturbed: Score, interval: tuple[float, float] | None = None) -> Ratio:
    """Two scores as a ratio, with the interval that `bleu_ratio_interval` found."""
    low, high = interval or (None, None)
    share = perturbed.score / clean.score if clean.score else None
    return Ratio(clean=clean.score, perturbed=perturbed.score, ratio=share, low=low, high=high)


def bleu_ratio_interval(
    clean: Side, perturbed: Side, *, target_language: str, num_resamples: int, seed: int
) -> tuple[float, float] | None:
    """The 95% interval of a ratio of BLEU, by the paired bootstrap (Koehn 2004): both sides of the same lines.

    Args:
        clean: without the change; a line for each of `perturbed`.
        perturbed: with it.
        target_language: two-letter code; chooses BLEU's tokeniser.
        num_resamples: 0 for no interval.
        seed: the seed of the resamples.

    Returns:
        The 2.5th and the 97.5th percentile; None where no resample has a BLEU above 0 without the change.

    Raises:
        DataError: BLEU's tokeniser needs a package that is not there.
    """
    if not num_resamples:
        return None
    generator = np.random.default_rng(seed)
    counts = [_bleu_counts(side, target_language) for side in (clean, perturbed)]
    num_lines = len(clean.outputs)
    ratios = []
    for _ in range(num_resamples):
        # How often each line is drawn, in place of the lines: the sum is then one product.
        drawn = generator.multinomial(num_lines, np.full(num_lines, 1 / num_lines))
        without, with_it = (_bleu(drawn @ its_counts) for its_counts in counts)
        if without > 0:
            ratios.append(with_it / without)
    if not ratios:
        return None
    low, high = np.percentile(ratios, (2.5, 97.5))
    return float(low), float(high)


def _bleu_counts(side: Side, target_language: str) -> npt.NDArray[np.int64]:
    """What BLEU counts in each line, `(lines, 10)`: matches, then n-grams of 1 to 4 words, then both sides' words."""
    metric = metrics(target_language)["bleu"]
    assert isinstance(metric, BLEU)
    metric.effective_order = True  # of a line's own score, which is not used; without it there is a warning
    found = [
        metric.sentence_score(*pair) for pair in ((o, [r]) for o, r in zip(side.outputs, side.references, strict=True))
    ]
    return np.array([[*line.counts, *line.totals, line.sys_len, line.ref_len] for line in found], dtype=np.int64)


def _bleu(counts: npt.NDArray[np.int64]) -> float:
    """BLEU of summed counts, `(10,)`, smoothed as `corpus_bleu` has it."""
    numbers = [int(number) for number in counts]
    found = BLEU.compute_bleu(
        correct=numbers[:4], total=numbers[4:8], sys_len=numbers[8], ref_len=numbers[9], smooth_method="exp"
    )
    return float(found.score)
