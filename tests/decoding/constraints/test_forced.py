"""Expected values: every text of a small alphabet, shortest first, in which all that is forced occurs."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from attendo.decoding.constraints.forced import ForcedSequences, holds

Ids = tuple[int, ...]
SEQUENCES = st.lists(st.lists(st.integers(1, 2), min_size=1, max_size=3).map(tuple), min_size=1, max_size=3)


GROUPS = st.lists(SEQUENCES, max_size=2)


def occurs(sequence: Ids, ids: Ids) -> bool:
    return ",".join(map(str, sequence)) in ",".join(map(str, ids))


def has_all(forced: list[Ids], groups: list[list[Ids]], ids: Ids) -> bool:
    return all(occurs(sequence, ids) for sequence in forced) and all(
        any(occurs(sequence, ids) for sequence in group) for group in groups
    )


def fewest_more(forced: list[Ids], groups: list[list[Ids]], ids: Ids) -> int:
    for length in itertools.count():
        for more in itertools.product((1, 2, 3), repeat=length):
            if has_all(forced, groups, ids + more):
                return length
    raise AssertionError


@settings(max_examples=200, deadline=None)
@given(forced=st.just([]) | SEQUENCES, groups=GROUPS, ids=st.lists(st.integers(1, 3), max_size=5).map(tuple))
def test_the_shortest_completion_is_the_shortest_text(forced: list[Ids], groups: list[list[Ids]], ids: Ids) -> None:
    sequences = ForcedSequences(forced, groups)
    assert sequences.shortest_after(ids) == fewest_more(forced, groups, ids)
    assert (sequences.need(sequences.state(ids)) == 0) == has_all(forced, groups, ids)
    assert sequences.need(sequences.state(ids)) >= sequences.shortest_after(ids)


@settings(max_examples=200, deadline=None)
@given(
    forced=st.just([]) | SEQUENCES,
    groups=GROUPS,
    ids=st.lists(st.integers(1, 3), max_size=4).map(tuple),
    room=st.integers(1, 6),
)
def test_just_the_tokens_that_leave_room_enough_are_within(
    forced: list[Ids], groups: list[list[Ids]], ids: Ids, room: int
) -> None:
    sequences = ForcedSequences(forced, groups)
    found = sequences.within(sequences.state(ids), room)
    fitting = {token for token in (1, 2, 3) if fewest_more(forced, groups, (*ids, token)) < room}
    assert fitting == ({1, 2, 3} if found is None else found)


@settings(max_examples=200, deadline=None)
@given(forced=st.just([]) | SEQUENCES, groups=GROUPS, ids=st.lists(st.integers(1, 3), max_size=5).map(tuple))
def test_advancing_tokens_lead_to_the_end(forced: list[Ids], groups: list[list[Ids]], ids: Ids) -> None:
    sequences = ForcedSequences(forced, groups)
    state = sequences.state(ids)
    for _ in range(sequences.need(state)):
        if sequences.need(state):
            state = sequences.after(state, sequences.advancing(state)[0])
    assert sequences.need(state) == 0
    assert sequences.advancing(state) == []


def test_by_hand() -> None:
    # 1 2 3 and 2 3 4 overlap in 2 3; after 2 3 only 4 is missing of the second, and 1 2 3 as a whole.
    sequences = ForcedSequences([(1, 2, 3), (2, 3, 4), (3,)])
    assert sequences.shortest(sequences.start) == 4
    assert sequences.need(sequences.start) == 6
    state = sequences.state((5, 2, 3))
    assert sequences.need(state) == 4
    assert sequences.advancing(state) == [4]
    assert sequences.shortest(state) == 4
    assert sequences.within(state, 4) == frozenset({1, 4})
    assert sequences.within(state, 5) is None


def test_any_form_of_a_group_is_enough() -> None:
    # 1 2 or 1 3 4 or 5: behind 1 both 2 and 3 go on with a form, and 5 is one.
    sequences = ForcedSequences([], [[(1, 2), (1, 3, 4), (5,), (7, 5)]])
    assert sequences.shortest(sequences.start) == 1
    assert sequences.advancing(sequences.start) == [1, 5]
    assert sequences.advancing(sequences.state((1,))) == [2, 3, 5]
    assert sequences.advancing(sequences.state((1, 3))) == [4, 5]
    for ids in ((1, 2), (1, 3, 4), (5,), (9, 1, 1, 2)):
        assert sequences.need(sequences.state(ids)) == 0


def test_groups_of_many_forms_are_not_fitted_together_exactly() -> None:
    groups = [[(number, form) for form in range(100, 130)] for number in range(8)]
    sequences = ForcedSequences([], groups)
    assert sequences.shortest(sequences.start) == 16


def test_many_sequences_are_not_fitted_together_but_come_one_by_one() -> None:
    sequences = ForcedSequences([(i, i + 1) for i in range(1, 13)])
    assert sequences.shortest(sequences.start) == 24
    assert sequences.shortest_after(range(1, 14)) == 0


def test_holding() -> None:
    assert holds((1, 2, 3), (2, 3))
    assert not holds((1, 2, 3), (1, 3))
    assert not holds((), (1,))
