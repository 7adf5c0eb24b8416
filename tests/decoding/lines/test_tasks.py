"""The budget that all searches of a part share; the expected numbers are counted by hand."""

from dataclasses import replace
from typing import Any

from attendo.decoding.constraints.constraint import Rules
from attendo.decoding.constraints.line_constraints import Constraints
from attendo.decoding.guards.parts import Part
from attendo.decoding.lines.tasks import NumberedLine, Task
from attendo.decoding.lines.translation import Candidate


def task(*, needed: int = 10, max_len: int = 60, text: str = "the dog", **rules: Any) -> Task:
    return Task.new(
        NumberedLine(number=1, text=text, constraints=Constraints()),
        Part(text=text, read=text),
        src_ids=[5, 6, 0],
        cut=False,
        needed=needed,
        rules=Rules(max_len=max_len, **rules),
    )


def written(tokens: int) -> tuple[Candidate, ...]:
    """A candidate of so many tokens, `</s>` among them."""
    log_probs = (-1.0,) * tokens
    return (Candidate(text="", ids=(), pieces=(), log_prob=-1.0, score=-1.0, token_log_probs=log_probs, finished=True),)


def test_a_sentence_is_searched_again_as_often_as_guards_ask_with_the_limit_it_had() -> None:
    tried = task()
    for _ in range(6):
        retry = tried.retry()
        assert retry is not None
        assert retry.rules.max_len == 60
        tried = retry.found(written(12))


def test_what_runs_to_the_limit_is_searched_once_more_and_then_left() -> None:
    first = task(needed=1000, max_len=1050).found(written(1051))
    second = first.retry()
    assert second is not None
    assert second.rules.max_len == 1050
    assert second.found(written(1051)).retry() is None


def test_a_retry_may_write_no_more_than_is_left() -> None:
    # Of 2 * 61 + 10 tokens 51 are left.
    tried = task().found(written(81))
    retry = tried.retry()
    assert retry is not None
    assert (retry.steps, retry.rules.max_len) == (51, 50)


def test_a_least_length_that_no_longer_fits_ends_it() -> None:
    assert task(min_len=55).found(written(81)).retry() is None


def test_short_parts_that_a_search_cannot_tell_apart_have_one_key() -> None:
    one, other = task(), task(seed=7)
    assert one.key is not None
    assert one.key == other.key
    assert replace(one, src_ids=[5, 7, 0]).key != one.key
    assert replace(one, rules=replace(one.rules, max_len=9)).key != one.key
    assert task(text="the dog and the old house").key is None


def test_a_line_that_can_be_cancelled_has_searches_of_its_own() -> None:
    one, other = (
        replace(each, line=replace(each.line, number=number, cancellable=True))
        for number, each in enumerate((task(), task()), start=1)
    )
    assert one.key != other.key
