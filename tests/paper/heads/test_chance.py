"""What chance is: exact tests, places, positional twins."""

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from attendo.paper.heads.chance import (
    Case,
    OffsetProfile,
    PositionalBaseline,
    best_positional_baseline,
    holm,
    p_text,
    sign_test,
    sign_tests,
)


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (3, 0), (0, 3), (4, 2), (5, 5), (2, 7)])
def test_the_sign_test_counts_all_tosses(wins: int, losses: int) -> None:
    tosses = list(product((0, 1), repeat=wins + losses))
    assert sign_test(wins, losses) == pytest.approx(sum(sum(each) >= wins for each in tosses) / len(tosses))


def test_the_sign_test_does_not_overflow() -> None:
    assert sign_test(3000, 0) == 0.0  # 2^-3000
    assert sign_test(1500, 1500) == pytest.approx(0.5, abs=0.01)


def test_each_head_has_its_own_test_and_ties_do_not_count() -> None:
    differences = np.zeros((4, 1, 2))
    differences[:3, 0, 0] = 1.0
    differences[:, 0, 1] = (-1.0, 2.0, -0.1, 0.0)
    assert sign_tests(differences) == pytest.approx(np.array([[1 / 8, 7 / 8]]))


def test_holm_by_a_worked_example() -> None:
    # 4 x 0.005, 3 x 0.01, 2 x 0.03, and 1 x 0.04, which is not allowed below the one before it.
    assert holm(np.array([[0.01, 0.04], [0.03, 0.005]])) == pytest.approx(np.array([[0.03, 0.06], [0.06, 0.02]]))
    assert holm(np.array([0.6, 0.9])) == pytest.approx([1.0, 1.0])


def test_the_best_place_is_the_one_that_finds_most() -> None:
    cases = [Case(query=1, target=4, length=8), Case(query=2, target=5, length=6), Case(query=0, target=4, length=9)]
    rules = [PositionalBaseline(kind="offset", number=number) for number in range(-9, 10)]
    rules += [
        PositionalBaseline(kind=kind, number=n) for kind in ("from the start", "from the end") for n in range(1, 10)
    ]
    counts = {rule: sum(map(rule.finds, cases)) for rule in rules}
    best = best_positional_baseline(cases)
    assert counts[best] == max(counts.values()) == 2
    assert best == PositionalBaseline(kind="offset", number=3)  # before 'word 5 from the start', which finds as many
    assert best.to_text() == "3 to the right"
    assert PositionalBaseline(kind="from the end", number=1).finds(Case(query=0, target=7, length=8))
    assert best_positional_baseline([Case(query=5, target=2, length=8)]).to_text() == "3 to the left"


def test_a_head_of_places_is_its_own_twin() -> None:
    def positional(length: int) -> NDArray[np.float64]:
        places = np.arange(length + 1)
        weights: NDArray[np.float64] = np.exp(-np.abs(places[None, :] - places[:, None] + 1.0))
        return weights[None, None]

    profile = OffsetProfile([positional(6), positional(9)])
    assert profile.weights(7) == pytest.approx(positional(7)[:, :, :7, :7])


def test_a_twin_is_the_mean_over_words_so_many_places_away() -> None:
    generator = np.random.default_rng(1)
    weights = [generator.random((2, 3, length + 1, length + 1)) for length in (4, 6)]
    found = OffsetProfile(weights).weights(5)
    for offset in range(-4, 5):
        values = [
            each[:, :, row, row + offset]
            for each in weights
            for row in range(each.shape[-1] - 1)
            if 0 <= row + offset < each.shape[-1] - 1
        ]
        row = max(0, -offset)
        assert found[:, :, row, row + offset] == pytest.approx(np.mean(values, axis=0))


def test_p_values_as_text() -> None:
    assert [p_text(each) for each in (0.04999, 0.00001, 0.2486, 1.0)] == ["0.0500", "< 0.0001", "0.25", "1.00"]
