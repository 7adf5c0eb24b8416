"""The share of a score that remains after a change of the source, with its confidence interval."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sacrebleu.metrics.bleu import BLEU

from attendo.evaluation.scores import Score, metrics


@dataclass(frozen=True, kw_only=True)
class Side:
    """Outputs and their reference translations."""

    outputs: Sequence[str]
    references: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """The scores of the same lines without and with a change."""

    clean: float
    """The score without the change."""
    perturbed: float
    """The score with the change."""
    ratio: float | None
    """The score with the change divided by that without it; None if the latter is 0."""
    low: float | None = None
    """Lower end of the ratio's 95% bootstrap interval; None if it was not requested or there is no ratio."""
    high: float | None = None
    """Upper end of that interval."""


def ratio(clean: Score, perturbed: Score, interval: tuple[float, float] | None = None) -> Ratio:
    """Returns two scores as a ratio, with the interval from `bleu_ratio_interval`."""
    low, high = interval or (None, None)
    share = perturbed.score / clean.score if clean.score else None
    return Ratio(clean=clean.score, perturbed=perturbed.score, ratio=share, low=low, high=high)


def bleu_ratio_interval(
    clean: Side, perturbed: Side, *, target_language: str, num_resamples: int, seed: int
) -> tuple[float, float] | None:
    """Returns the 95% interval of a ratio of BLEU, by the paired bootstrap (Koehn 2004) over lines of both sides.

    Args:
        clean: the outputs without the change, one for each line of `perturbed`.
        perturbed: the outputs with the change.
        target_language: two-letter code; chooses BLEU's tokeniser.
        num_resamples: number of resamples; 0 for no interval.
        seed: the seed of the resamples.

    Returns:
        The 2.5th and the 97.5th percentile; None without resamples, or if all have a BLEU of 0 without the change.

    Raises:
        DataError: BLEU's tokeniser needs a package that is not installed.
    """
    if not num_resamples:
        return None
    generator = np.random.default_rng(seed)
    counts = [_bleu_counts(side, target_language) for side in (clean, perturbed)]
    num_lines = len(clean.outputs)
    ratios = []
    for _ in range(num_resamples):
        # Drawing the number of occurrences of each line instead of lines turns the sum into one matrix product.
        drawn = generator.multinomial(num_lines, np.full(num_lines, 1 / num_lines))
        clean_bleu, perturbed_bleu = (_bleu(drawn @ side_counts) for side_counts in counts)
        if clean_bleu > 0:
            ratios.append(perturbed_bleu / clean_bleu)
    if not ratios:
        return None
    low, high = np.percentile(ratios, (2.5, 97.5))
    return float(low), float(high)


def _bleu_counts(side: Side, target_language: str) -> npt.NDArray[np.int64]:
    """Returns BLEU's counts of each line, `(lines, 10)`: matches and totals of 1- to 4-grams, then both lengths."""
    metric = metrics(target_language)["bleu"]
    assert isinstance(metric, BLEU)
    metric.effective_order = True  # only affects the unused scores of single lines, and avoids a warning
    scores = [
        metric.sentence_score(*pair) for pair in ((o, [r]) for o, r in zip(side.outputs, side.references, strict=True))
    ]
    return np.array([[*line.counts, *line.totals, line.sys_len, line.ref_len] for line in scores], dtype=np.int64)


def _bleu(counts: npt.NDArray[np.int64]) -> float:
    """Returns the BLEU of summed counts, `(10,)`, smoothed as in `corpus_bleu`."""
    numbers = [int(number) for number in counts]
    score = BLEU.compute_bleu(
        correct=numbers[:4], total=numbers[4:8], sys_len=numbers[8], ref_len=numbers[9], smooth_method="exp"
    )
    return float(score.score)
