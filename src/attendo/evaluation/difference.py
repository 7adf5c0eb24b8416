"""By how much two outputs of one test set differ, as an interval: the paired bootstrap's."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sacrebleu.metrics.bleu import BLEU

from attendo.evaluation.scores import check_parallel, metrics

SEED = 12345
"""sacreBLEU's own."""


@dataclass(frozen=True, kw_only=True)
class BleuDifference:
    """The BLEU of two outputs of one test set, and the second's gain over the first."""

    a: float
    b: float
    low: float
    """Lower end of the 95 % interval of the gain."""
    high: float
    """Upper end."""

    @property
    def gain(self) -> float:
        """How much better the second output is."""
        return self.b - self.a

    @property
    def smallest_visible(self) -> float:
        """The smallest gain that this many sentences can show: half the interval's width."""
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
    """Works out the gain in BLEU and its 95 % interval, by resampling the sentences of both outputs together.

    Args:
        outputs_a: one system's translations, detokenised, one a sentence.
        outputs_b: the other's.
        references: what both should have been.
        target_language: two-letter code; chooses BLEU's tokeniser.
        num_resamples: resamples of the sentences.
        seed: of the resamples.

    Raises:
        DataError: the texts differ in length or one is empty.
    """
    check_parallel({"the first output": outputs_a, "the second output": outputs_b, "the reference": references})
    metric = metrics(target_language)["bleu"]
    assert isinstance(metric, BLEU)
    # Counts of each sentence, as sacreBLEU's own paired tests take them.
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
