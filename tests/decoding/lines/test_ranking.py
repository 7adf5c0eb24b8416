"""The choice among a search's candidates; the expected scores are worked out by hand."""

import math
from collections.abc import Callable, Sequence

import pytest

from attendo.decoding.constraints.constraint import Rules
from attendo.decoding.constraints.line_constraints import Constraints
from attendo.decoding.guards.parts import Part
from attendo.decoding.lines.ranking import Ranking
from attendo.decoding.lines.reverse import ReverseModel
from attendo.decoding.lines.tasks import NumberedLine, Task
from attendo.decoding.lines.translation import Candidate
from attendo.decoding.scoring import PairScore


def candidate(text: str, log_prob: float, tokens: int, *, finished: bool = True) -> Candidate:
    """A candidate whose tokens are equally probable; its place in the search is not by its score here."""
    return Candidate(
        text=text,
        ids=(),
        pieces=(),
        log_prob=log_prob,
        score=0.0,
        token_log_probs=(log_prob / tokens,) * tokens,
        finished=finished,
    )


def task(*candidates: Candidate, source: str = "sign in") -> Task:
    line = NumberedLine(number=1, text=source, constraints=Constraints())
    new = Task.new(
        line, Part(text=source, read=source), src_ids=[5, 6, 0], cut=False, needed=10, rules=Rules(max_len=60)
    )
    return new.found(candidates)


def texts(ranking: Ranking, *tasks: Task) -> list[list[str]]:
    return [[each.text for each in done.candidates] for done in ranking.ranked(tasks)]


# -3 over 7 tokens and -5 over 13: ((5 + 7) / 6)^a = 2^a and ((5 + 13) / 6)^a = 3^a. The longer one is better where
# 5 / 3^a < 3 / 2^a, that is from a = log(5/3) / log(3/2) = 1.2598 on.
@pytest.mark.parametrize(("alpha", "first"), [(0.6, "short"), (1.25, "short"), (1.27, "complete"), (2.4, "complete")])
def test_a_larger_length_penalty_prefers_the_longer_candidate(alpha: float, first: str) -> None:
    tried = task(candidate("short", -3.0, 7), candidate("complete", -5.0, 13))
    assert texts(Ranking(length_penalty=alpha, n_best=1, reverse=None), tried) == [[first]]


def test_the_probability_of_a_text_is_the_sum_over_its_divisions_into_pieces() -> None:
    # e^-2.35 + e^-2.45 = 0.1817 is more than e^-1.86 = 0.1557, and each alone, 0.0954 and 0.0863, is less.
    tried = task(candidate("Melden", -1.86, 3), candidate("Anmelden", -2.35, 3), candidate("Anmelden", -2.45, 4))
    ranking = Ranking(length_penalty=0.6, n_best=3, reverse=None)
    assert texts(ranking, tried) == [["Anmelden", "Melden", "Anmelden"]]
    best = ranking.ranked([tried])[0].candidates[0]
    assert (best.log_prob, len(best.token_log_probs)) == (-2.35, 3)


def test_unfinished_candidates_come_last() -> None:
    tried = task(candidate("cut", -1.0, 7, finished=False), candidate("whole", -9.0, 7))
    assert texts(Ranking(length_penalty=2.4, n_best=2, reverse=None), tried) == [["whole", "cut"]]


def test_a_single_candidate_and_none_stay_as_they_are() -> None:
    alone, cancelled = task(candidate("only", -1.0, 7)), task()
    assert Ranking(length_penalty=2.4, n_best=1, reverse=None).ranked([alone, cancelled]) == [alone, cancelled]
    assert Ranking(length_penalty=2.4, n_best=1, reverse=None).ranked([]) == []


def test_a_reverse_model_adds_its_score_of_each_source() -> None:
    log_probs = {("short", "sign in"): -8.0, ("complete", "sign in"): -2.0, ("short", "other"): -2.0}
    asked: list[tuple[str, str]] = []

    def score_pairs(pairs: Sequence[tuple[str, str]], *, between: Callable[[], object]) -> list[PairScore]:
        asked.extend(pairs)
        between()
        # Seven tokens: a penalty of 2 with alpha = 1.
        return [PairScore(log_prob=log_probs.get(pair, -9.0), token_log_probs=(0.0,) * 7) for pair in pairs]

    reverse = ReverseModel(score_pairs=score_pairs, weight=0.5)
    candidates = candidate("short", -3.0, 7), candidate("complete", -5.0, 13)
    both = [task(*candidates), task(*candidates, source="other")]
    # -3 / 2 - 0.5 * 8 / 2 = -3.5 and -5 / 3 - 0.5 * 2 / 2 = -2.17; for the other -1.5 - 0.5 = -2 and -1.67 - 2.25.
    assert texts(Ranking(length_penalty=1.0, n_best=2, reverse=reverse), *both) == [
        ["complete", "short"],
        ["short", "complete"],
    ]
    assert len(asked) == len(set(asked)) == 4
    assert math.isclose(reverse.scores([("complete", "sign in")], 1.0)[0], -0.5)
