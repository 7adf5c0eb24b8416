"""Contrastive pairs; every wrong translation was written by hand from the rule."""

import pytest

from attendo.errors import DataError
from attendo.evaluation.contrastive import ContrastivePair, contrastive_pairs, preferences, with_other_negation


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Das ist nicht gut.", "de", "Das ist gut."),
        ("Ich habe keine Zeit.", "de", "Ich habe eine Zeit."),
        ("Er kommt nie.", "de", "Er kommt immer."),
        ("Das ist gut.", "de", "Das ist nicht gut."),
        ("Ich sehe einen Hund.", "de", "Ich sehe keinen Hund."),
        ("nicht nur das", "de", "nicht nur das"),
        ("I don't know.", "en", "I do know."),
        ("You cannot go.", "en", "You can go."),
        ("It is late.", "en", "It is not late."),
        ("He did not go.", "en", "He go."),
        ("Je ne sais pas.", "fr", "Je sais."),
        ("Il est tard.", "fr", "Il ne est pas tard."),
        ("So ist es.", "xx", "So ist es."),
    ],
)
def test_negation_is_taken_out_or_put_in(text: str, language: str, expected: str) -> None:
    assert with_other_negation(text, language) == expected


def test_pairs_of_each_kind() -> None:
    sources = ["I met Anna in 1998 here.", "The dog saw Peter."]
    references = ["Ich traf Anna hier im Jahr 1998.", "Der Hund sah Peter."]
    pairs = list(contrastive_pairs(sources, references, source_language="en", target_language="de"))
    assert pairs == list(contrastive_pairs(sources, references, source_language="en", target_language="de"))
    by_kind = {(pair.kind, pair.line): pair.wrong for pair in pairs}
    assert by_kind["name", 1] == "Ich traf Peter hier im Jahr 1998."
    assert by_kind["name", 2] == "Der Hund sah Anna."
    number = by_kind["number", 1]
    assert number != references[0]
    assert len(number) == len(references[0])
    assert sum(one != other for one, other in zip(number, references[0], strict=True)) == 1
    words = by_kind["omission", 2].rstrip(".").split()
    assert (len(words), words[0]) == (3, "Der")
    assert {kind for kind, _ in by_kind} == {"name", "number", "omission"}
    assert all(pair.right == references[pair.line - 1] for pair in pairs)


def test_the_right_one_is_preferred_where_it_is_more_probable() -> None:
    pairs = [
        ContrastivePair(kind=kind, line=1, source="a", right="b", wrong="c")
        for kind in ("number", "number", "negation", "number")
    ]  # fmt: skip
    found = preferences(pairs, [-1.0, -2.0, -1.0, -1.0], [-2.0, -2.0, -3.0, -4.0])
    assert list(found) == ["negation", "number"]
    assert (found["number"].pairs, found["number"].preferred) == (3, 2)
    # Wilson's interval of 1 of 1: from 1 / (1 + 1.96^2) to 1.
    assert (found["negation"].low, found["negation"].high) == pytest.approx((0.2065, 1.0), abs=1e-4)


def test_sides_of_unequal_length_are_refused() -> None:
    with pytest.raises(DataError, match="1 sources, but 2 references; give as many"):
        list(contrastive_pairs(["a"], ["a", "b"], source_language="en", target_language="de"))
