"""The queue: who takes turns, what is worked on together, and that no line is lost or done twice."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from attendo.serving.config import BatchingConfig
from attendo.serving.core.cost import estimated_tokens
from attendo.serving.core.waiting import Line, WaitingLines


def line(
    caller: str,
    item: object = None,
    *,
    kind: str = "k",
    tokens: int = 1,
    deadline: float | None = None,
    alone: bool = False,
    small: bool = True,
) -> Line:
    return Line(
        caller=caller,
        flow=caller,
        kind=kind,
        item=item,
        characters=tokens,
        tokens=tokens,
        arrived=0.0,
        deadline=deadline,
        alone=alone,
        small=small,
    )


def queue(lines: list[Line], **config: float) -> WaitingLines:
    waiting = WaitingLines(BatchingConfig(**config))  # type: ignore[arg-type]  # any of its numbers
    waiting.add(lines)
    return waiting


def items(batch: list[Line]) -> list[object]:
    return [each.item for each in batch]


def test_callers_take_turns_however_much_one_has() -> None:
    waiting = queue(
        [line("greedy", n) for n in range(10)] + [line("other", "a"), line("third", "b")], max_batch_lines=4
    )
    assert items(waiting.take(0.0)) == [0, "a", "b"]  # no more of one: the others would wait for it
    assert items(waiting.take(0.0)) == [1, 2, 3, 4]


def test_who_gave_a_line_goes_behind_who_comes() -> None:
    waiting = queue([line("greedy", n) for n in range(4)], max_batch_lines=2)
    assert items(waiting.take(0.0)) == [0, 1]
    waiting.add([line("late", "late")])
    assert items(waiting.take(0.0)) == [2, "late"]
    assert items(waiting.take(0.0)) == [3]
    assert waiting.take(0.0) == []


def test_a_batch_is_of_one_kind_and_the_oldest_of_whose_turn_it_is() -> None:
    waiting = queue([line("a", 1, kind="x"), line("a", 2, kind="y"), line("b", 3, kind="y"), line("a", 4, kind="x")])
    assert items(waiting.take(0.0)) == [1, 4]
    assert items(waiting.take(0.0)) == [3, 2]  # b's turn came first


def test_no_kind_starves() -> None:
    waiting = queue([line("a", "rare", kind="rare")], max_batch_lines=1)
    taken = []
    for n in range(3):
        waiting.add([line("b", n), line("c", n)])
        taken += items(waiting.take(0.0))
    assert "rare" in taken


def test_what_there_is_is_divided_between_free_threads() -> None:
    waiting = queue([line("a", n) for n in range(7)], max_batch_lines=32)
    assert [len(waiting.take(0.0, threads=threads)) for threads in (3, 2, 1)] == [3, 2, 2]


def test_a_batch_is_bounded_by_tokens_with_padding() -> None:
    waiting = queue([line("a", n, tokens=tokens) for n, tokens in enumerate((10, 10, 40, 10))], max_batch_tokens=100)
    assert items(waiting.take(0.0)) == [0, 1]  # with the third, three of 40
    assert items(waiting.take(0.0)) == [2, 3]


def test_a_line_longer_than_a_batch_is_a_batch() -> None:
    assert len(queue([line("a", tokens=5000)], max_batch_tokens=100).take(0.0)) == 1


def test_lines_that_nobody_wants_are_not_worked_on() -> None:
    first, late, last = line("a", "first"), line("a", "late", deadline=1.0), line("a", "last", deadline=3.0)
    waiting = queue([first, late, last])
    assert waiting.drop([first]) == 1
    assert waiting.drop([first]) == 0
    assert waiting.lines == 2
    assert items(waiting.take(1.0)) == ["last"]
    assert (waiting.lines, waiting.characters, waiting.expired) == (0, 0, 1)


def test_only_late_lines_give_no_batch_and_end() -> None:
    waiting = queue([line("a", deadline=1.0), line("b", deadline=1.0, kind="other"), line("c", "good")])
    assert items(waiting.take(2.0)) == ["good"]
    assert waiting.take(2.0) == []


def test_kinds_that_may_not_begin_wait() -> None:
    waiting = queue([line("a", 1, kind="x"), line("a", 2, kind="y")])
    assert items(waiting.take(0.0, may_begin=lambda kind: kind != "x")) == [2]
    assert waiting.take(0.0, may_begin=lambda kind: False) == []
    assert items(waiting.take(0.0)) == [1]


def test_dropped_lines_do_not_gather() -> None:
    waiting = WaitingLines(BatchingConfig())
    for _ in range(200):
        lines = [line("a") for _ in range(100)]
        waiting.add(lines)
        waiting.drop(lines)
    kept = sum(len(row) for rows in waiting._rows.values() for row in rows.values())
    assert kept <= 1100  # of 20,000
    assert waiting.share("a") == (0, 0)


def test_the_flow_that_is_named_goes_first() -> None:
    waiting = queue([line("a", 1), line("b", 2), line("c", 3)], max_batch_lines=2)
    assert items(waiting.take(0.0, first="c")) == [3, 1]  # two fill a batch
    assert items(waiting.take(0.0, first="gone")) == [2]


def test_short_lines_of_small_requests_share_a_batch_and_others_do_not() -> None:
    waiting = queue([line("a", 1), line("b", 2, tokens=65), line("c", 3, tokens=64), line("b", 4)])
    assert items(waiting.take(0.0)) == [1, 3]
    assert items(waiting.take(0.0)) == [2, 4]
    large = queue([line("a", 1, small=False), line("b", 2), line("a", 3, small=False), line("c", 4)])
    assert items(large.take(0.0)) == [1, 3]
    assert items(large.take(0.0)) == [2, 4]
    # What begins with short lines of two has no long one of either.
    mixed = queue([line("a", 1), line("b", 2), line("a", 3, tokens=65), line("b", 4)])
    assert items(mixed.take(0.0)) == [1, 2, 4]


def test_a_line_that_was_put_back_is_first_of_its_flow_and_a_batch_by_itself() -> None:
    waiting = queue([line("a", n) for n in range(3)])
    *_, last = waiting.take(0.0)
    waiting.add([line("a", "late"), line("b", "other")])
    last.alone = True
    waiting.put_back([last])
    assert (waiting.lines, waiting.share("a")) == (3, (2, 2))
    assert items(waiting.take(0.0)) == [2]
    assert items(waiting.take(0.0)) == ["other", "late"]


def test_flows_that_can_begin() -> None:
    waiting = queue([line("a", kind="x"), line("b", kind="y")])
    assert list(waiting.flows()) == ["a", "b"]
    assert list(waiting.flows(lambda kind: kind == "y")) == ["b"]


def test_estimated_tokens_of_any_script() -> None:
    assert estimated_tokens("") == 1
    assert estimated_tokens("x" * 40) == 11
    assert estimated_tokens("汉" * 4) == 4  # three bytes each
    assert estimated_tokens("\ud800") == 1
    assert estimated_tokens("x" * 64) == 17
    assert estimated_tokens("x" * 1064) == 1017  # beyond a word's length a character is a token
    assert estimated_tokens("The old house. " * 100) == 376
    assert estimated_tokens("汉" * 1000) == 1001  # a token a character at most, also where no word ends


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, 4), st.integers(0, 2), st.integers(1, 6)),
        st.tuples(st.just("take"), st.integers(1, 3), st.just(0), st.just(0)),
        st.tuples(st.just("drop"), st.integers(0, 50), st.just(0), st.just(0)),
    ),
    max_size=40,
)


@given(steps=STEPS)
def test_every_line_is_taken_once_or_dropped_once_in_its_callers_order(
    steps: list[tuple[str, int, int, int]],
) -> None:
    waiting = WaitingLines(BatchingConfig(max_batch_lines=3, max_batch_tokens=10))
    came: list[Line] = []
    gone: Counter[int] = Counter()
    taken: list[Line] = []
    for what, one, two, three in steps:
        if what == "add":
            new = [line(f"caller {one}", kind=f"kind {two}", tokens=n + 1) for n in range(three)]
            waiting.add(new)
            came += new
        elif what == "take":
            batch = waiting.take(0.0, threads=one)
            assert len({each.kind for each in batch}) <= 1
            taken += batch
            gone.update(map(id, batch))
        elif came:
            dropped = came[one % len(came)]
            if waiting.drop([dropped]):
                gone[id(dropped)] += 1
        left = [each for each in came if not gone[id(each)]]
        assert (waiting.lines, waiting.characters) == (len(left), sum(each.characters for each in left))
    while batch := waiting.take(0.0):
        taken += batch
        gone.update(map(id, batch))
    assert set(gone.values()) <= {1}
    assert len(gone) == len(came)
    for row in {(each.caller, each.kind) for each in taken}:
        orders = [each.order for each in taken if (each.caller, each.kind) == row]
        assert orders == sorted(orders)
