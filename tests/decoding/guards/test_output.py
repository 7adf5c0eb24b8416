"""Loops and copies; what is one and what is not is said by hand."""

import random

import pytest

from attendo.decoding.constraints.constraint import NoRepeat
from attendo.decoding.guards.output import (
    AtMostOnce,
    InOrder,
    NoStutter,
    Without,
    doubled_words,
    has_loop,
    has_much_of,
    is_copy,
    is_long_loop,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("salat salat salat", True),
        ("und der Mann und der Mann und der Mann schläft", True),
        ("so ist es es es es es", True),
        ("das ist sehr, sehr gut", False),
        ("der Hund, der Mann, der Wald, der See", False),
        ("i i i", False),
        (". . . . . .", False),
        ("", False),
        ("salat", False),
    ],
)
def test_loops(text: str, expected: bool) -> None:
    assert has_loop(text.split()) is expected


@pytest.mark.parametrize(
    ("text", "source", "found"),
    [
        ("Du solltest das jetzt jetzt tun.", "You should do that right now.", ["jetzt"]),
        ("the Pacific Pacific.", "den Pazifik", ["Pacific"]),
        ("a blue blue blouse, a big big hat", "ein Hut", ["blue", "big"]),
        # Right in a sentence, as in the source, or another word.
        ("I think that that is true, you had had it.", "ja", []),
        ("die Tür, die die Katze öffnet; Vous vous trompez.", "non", []),
        ("blue blue", "blau blau", []),
        ("le modèle de haut haut-parleur, Essen essen, in in, 10 10, Haus Hausboot, ja, ja", "x", []),
        ("", "", []),
    ],
)
def test_words_that_are_written_twice(text: str, source: str, found: list[str]) -> None:
    assert doubled_words(text, source) == found


def test_points_are_a_loop_where_they_fill_a_line() -> None:
    assert is_long_loop(["ja", *["."] * 30], source_tokens=5)
    assert not is_long_loop(["ja", *["."] * 10], source_tokens=5)
    assert not is_long_loop([str(number) for number in range(40)], source_tokens=5)


def test_the_rules_leave_no_loop() -> None:
    """A writer of five words who is held to the rules, against the definition said plainly: a stretch three times."""
    drawn = random.Random(4)
    rules = (NoRepeat(3), NoStutter())
    for _ in range(200):
        ids: list[int] = []
        while len(ids) < 40:
            allowed = [token for token in range(5) if all(token in rule.following(ids) for rule in rules)]
            if not allowed:
                break
            ids.append(drawn.choice(allowed))
        text = [f"Wort{token}" for token in ids]
        thrice = any(
            text[place : place + size] == text[place + size : place + 2 * size] == text[place + 2 * size :][:size]
            for size in range(1, len(text) // 3 + 1)
            for place in range(len(text) - 3 * size + 1)
        )
        assert not thrice
        assert not has_loop(text)


def test_some_come_once_and_some_never() -> None:
    once, never = AtMostOnce(frozenset((5, 6))), Without(frozenset((7,)))
    assert [token in once.following([1, 5, 2]) for token in (5, 6, 7, 1)] == [False, True, True, True]
    assert [token in never.following([1, 5, 2]) for token in (5, 6, 7, 1)] == [True, True, False, True]
    assert Without(frozenset()).following([]).is_everything


@pytest.mark.parametrize(
    ("source", "translation", "expected"),
    [
        ("The old house stands here.", "the OLD house stands here!", True),
        ("The old house, 12 years", "The old house - 12 years", True),
        ("The old house", "Das alte Haus", False),
        ("Anna Miller", "Anna Miller", False),  # two words: a name
        ("", "", False),
        ("1 2 3 4", "1 2 3 4", False),
    ],
)
def test_copies(source: str, translation: str, expected: bool) -> None:
    assert is_copy(source, translation) is expected


def test_having_much_of_the_source() -> None:
    assert has_much_of("the old house here", "the old Haus here")
    assert not has_much_of("the old house here", "the Haus ist alt here")
    assert not has_much_of("the old house here", "")


def test_tokens_come_in_their_order() -> None:
    order = InOrder([5, 3, 9])
    for ids, banned in (((), {3, 9}), ((3, 7), {9}), ((7, 5), {9}), ((5, 3), set()), ((5, 7, 3, 9), set())):
        assert order.following(ids).banned == banned
