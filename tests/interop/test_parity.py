"""On programs made up for it, whose differences are known."""

import math
from collections.abc import Sequence

import pytest

from attendo.interop.parity import Parity, ParityError, compare

Ids = Sequence[Sequence[int]]

SOURCES = [[5, 6, 0], [7, 0], [8, 9, 10, 0]]


class Echo:
    """Writes its source again; a token's log-probability is minus its id."""

    def __init__(self, *, shift: float = 0.0, other: dict[int, list[int]] | None = None, extra: int = 0) -> None:
        self.name = "echo"
        self._shift, self._other, self._extra = shift, other or {}, extra

    def token_log_probs(self, sources: Ids, targets: Ids) -> list[list[float]]:
        return [[-number + self._shift for number in ids] + [0.0] * self._extra for ids in targets]

    def greedy(self, sources: Ids, max_len: int) -> list[list[int]]:
        return [self._other.get(ids[0], list(ids[:-1])) for ids in sources]


def test_the_same_is_parity() -> None:
    found = compare(Echo(), Echo(), SOURCES)
    assert (found.max_difference, found.identical, found.sentences) == (0, 3, 3)
    assert found.tokens == 2 * (3 + 2 + 4)  # behind its own source and behind another one
    assert found.our_outputs == ((5, 6), (7,), (8, 9, 10))
    assert found.problems(exact=True) == found.problems(exact=False) == []


@pytest.mark.parametrize(
    ("shift", "exact", "near"),
    [(9e-5, [], []), (2e-4, ["0.0002, more than 0.0001"], []), (0.2, ["0.2"], ["0.2 on the average, more than 0.1"])],
)
def test_log_probabilities_must_not_differ(shift: float, exact: list[str], near: list[str]) -> None:
    found = compare(Echo(), Echo(shift=shift), SOURCES)
    assert found.max_difference == pytest.approx(shift)
    for problems, expected in ((found.problems(exact=True), exact), (found.problems(exact=False), near)):
        assert len(problems) == len(expected)
        assert all(part in problem for part, problem in zip(expected, problems, strict=True))


def test_what_is_not_a_number_is_no_parity() -> None:
    found = compare(Echo(), Echo(shift=math.nan), SOURCES)
    assert math.isnan(found.max_difference)
    assert found.problems(exact=True)
    assert found.problems(exact=False)


def test_another_output_is_no_parity_unless_it_is_a_tie() -> None:
    found = compare(Echo(), Echo(other={7: [8], 5: [5, 0]}), SOURCES)
    assert (found.identical, found.ties) == (1, 0)
    assert found.problems(exact=True) == ["2 greedy outputs differ"]
    assert found.problems(exact=False) == []


class Undecided(Echo):
    """Finds the tokens 7 and 8 equally probable."""

    def token_log_probs(self, sources: Ids, targets: Ids) -> list[list[float]]:
        return [[-7.0 if number == 8 else -number for number in ids] for ids in targets]


def test_outputs_that_part_at_a_tie_are_counted() -> None:
    found = compare(Undecided(), Undecided(other={7: [8, 3], 8: [8, 9]}), SOURCES)
    assert (found.identical, found.ties) == (1, 1)  # the other one ends where we go on with 10
    assert found.problems(exact=True) == ["1 greedy outputs differ"]


def test_another_number_of_tokens_is_an_error() -> None:
    with pytest.raises(ParityError, match="echo gives 4 log-probabilities where there are 3 tokens"):
        compare(Echo(), Echo(extra=1), SOURCES[:1])


def test_no_sentence_is_no_difference() -> None:
    found: Parity = compare(Echo(), Echo(), [])
    assert (found.sentences, found.tokens, found.max_difference) == (0, 0, 0.0)
