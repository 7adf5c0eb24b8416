"""The difference in BLEU of two outputs of one test set, with the interval of the paired bootstrap."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sacrebleu.metrics.bleu import BLEU

from attendo.evaluation.scores import check_parallel, metrics

SEED = 12345
"""sacreBLEU's default seed."""


@dataclass(frozen=True, kw_only=True)
class BleuDifference:
    """The BLEU of two outputs of one test set, and the gain of the second over the first."""

    a: float
    """BLEU of the first output."""
    b: float
    """BLEU of the second output."""
    low: float
    """Lower end of the 95 % interval of the gain."""
    high: float
    """Upper end of that interval."""

    @property
    def gain(self) -> float:
        """BLEU of the second output minus that of the first."""
        return self.b - self.a

    @property
    def smallest_visible(self) -> float:
        """The smallest gain that this number of sentences can show: half the width of the interval."""
        return (self.high - self.low) / 2


def bleu_difference(
    outputs_a: Sequence[str],
    outputs_b: Sequence[str],
    references: Sequence[str],
    *,
    target_language: str = "",
    num_resamples: int = 1000,
    seed: int = SEED,
) -> BleuDifference:
    """Computes the gain in BLEU and its 95 % interval, by resampling the sentences of both outputs together.

    Args:
        outputs_a: translations of the first system, detokenised, one per sentence.
        outputs_b: translations of the second system.
        references: the reference translations.
        target_language: two-letter code; chooses BLEU's tokeniser.
        num_resamples: number of resamples of the sentences.
        seed: seed of the resamples.

    Raises:
        DataError: the texts differ in length or one is empty.
    """
    check_parallel({"the first output": outputs_a, "the second output": outputs_b, "the reference": references})
    metric = metrics(target_language)["bleu"]
    assert isinstance(metric, BLEU)
    # BLEU's counts of each sentence, as in sacreBLEU's own paired tests.
    counts = [
        np.array(metric._extract_corpus_statistics(outputs, [references]), dtype=np.int64)
        for outputs in (outputs_a, outputs_b)
    ]
    generator = np.random.default_rng(seed)
    gains = []
    for _ in range(num_resamples):
        rows = generator.integers(len(references), size=len(references))
        gains.append(_bleu(metric, counts[1][rows]) - _bleu(metric, counts[0][rows]))
    low, high = np.quantile(gains, (0.025, 0.975))
    return BleuDifference(a=_bleu(metric, counts[0]), b=_bleu(metric, counts[1]), low=float(low), high=float(high))


def _bleu(metric: BLEU, counts: npt.NDArray[np.int64]) -> float:
    return float(metric._compute_score_from_stats(counts.sum(0).tolist()).score)
