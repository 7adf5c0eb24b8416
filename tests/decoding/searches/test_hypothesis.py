"""Expected values: worked by hand, with Python lists."""

import numpy as np
import pytest

from attendo.decoding.searches.hypothesis import GrowingHypotheses, scored


def test_tokens_are_kept_row_by_row_however_many() -> None:
    written, expected = GrowingHypotheses(2), [[], []]  # type: tuple[GrowingHypotheses, list[list[int]]]
    for token in range(1, 81):
        written.append(np.array([token, -token]), np.array([-token, -0.5]))
        expected[0].append(token)
        expected[1].append(-token)
        if token % 10 == 0:
            written.select(np.array([1, 0]))
            expected.reverse()
    assert written.ids.tolist() == expected
    found = written.hypothesis(0, -0.25, finished=True, alpha=0.0)
    assert found.ids == tuple(expected[0])
    assert found.token_log_probs[-1] == -0.25
    assert found.log_prob == sum(found.token_log_probs) == found.score


def test_scores_by_hand() -> None:
    # Two tokens and </s>: the penalty is (8 / 6)^1.
    found = scored([5, 6], [-1.0, -2.0, -3.0], finished=False, alpha=1.0)
    assert found.log_prob == -6.0
    assert found.score == pytest.approx(-4.5)
    assert (found.ids, found.finished) == ((5, 6), False)
