"""Reliability against worked examples, published intervals and brute force."""

import random
from itertools import product

import numpy as np
import pytest

from attendo.errors import DataError
from attendo.evaluation.reliability import reliability, wilson


def test_bins_and_error_by_hand() -> None:
    # Ten bins of two, sorted: in the first five none of 10 % came close, in the others both of 80 % did, but in one.
    confidences = [0.8, 0.1] * 10
    close = [place % 2 == 0 for place in range(20)]
    close[0] = close[2] = False
    found = reliability(confidences, close)
    assert [one.count for one in found.bins] == [2] * 10
    assert [one.confidence for one in found.bins] == pytest.approx([0.1] * 5 + [0.8] * 5)
    assert [one.share for one in found.bins] == [0.0] * 6 + [1.0] * 4
    assert found.error == pytest.approx((5 * 0.1 + 0.8 + 4 * 0.2) / 10)
    assert found.share == pytest.approx(0.4)
    assert found.confidence == pytest.approx(0.45)


def test_a_few_sentences_are_a_bin_each() -> None:
    found = reliability([0.2, 0.9, 0.4], [False, True, True])
    assert [(one.count, one.confidence, one.share) for one in found.bins] == [(1, 0.2, 0), (1, 0.4, 1), (1, 0.9, 1)]


def test_without_a_sentence_there_is_nothing_to_say() -> None:
    with pytest.raises(DataError, match="no sentence at all"):
        reliability([], [])


@pytest.mark.parametrize(
    ("close", "count", "low", "high"),
    # Newcombe (1998), "Two-sided confidence intervals for the single proportion", Table I, method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_intervals_are_the_published_ones(close: int, count: int, low: float, high: float) -> None:
    assert wilson(close / count, count) == pytest.approx((low, high), abs=5e-5)


def test_ranking_is_the_share_of_pairs_in_the_right_order() -> None:
    generator = random.Random(5)
    confidences = [generator.randrange(8) / 8 for _ in range(60)]
    close = [generator.random() < confidence for confidence in confidences]
    above = [confidence for confidence, is_close in zip(confidences, close, strict=True) if is_close]
    below = [confidence for confidence, is_close in zip(confidences, close, strict=True) if not is_close]
    pairs = [1.0 if one > other else 0.5 if one == other else 0.0 for one, other in product(above, below)]
    assert reliability(confidences, close).ranking == pytest.approx(np.mean(pairs))


def test_one_kind_alone_cannot_be_ranked() -> None:
    assert reliability([0.5, 0.6], [True, True]).ranking is None


def test_true_probabilities_stay_below_the_error_that_chance_explains() -> None:
    generator = np.random.default_rng(7)
    probabilities = generator.uniform(0, 1, 3000)
    below = 0
    for _ in range(20):
        found = reliability(probabilities.tolist(), (generator.random(3000) < probabilities).tolist())
        below += found.error <= found.error_by_chance
    assert below >= 16  # 19 are expected; fewer than 16 of 20 would have a probability of 0.0003
    assert reliability((probabilities**2).tolist(), (generator.random(3000) < probabilities).tolist()).error > 0.1
