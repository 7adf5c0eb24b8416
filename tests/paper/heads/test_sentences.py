"""The drawn sentences: two halves, known structure, twins that differ in one word."""

from dataclasses import fields
from typing import Any

import pytest

from attendo.errors import DataError
from attendo.paper.heads import sentences
from attendo.paper.heads.sentences import anaphor_pairs, dependency_pairs
from attendo.synthetic.annotated.lexicon import ParticleVerb, lexicon
from attendo.synthetic.annotated.markup import Pair, links
from attendo.synthetic.annotated.templates import ANAPHORS, DEPENDENCIES
from attendo.synthetic.words import Adjective, Noun, Phrase, Verb


def words_of(value: Any) -> set[str]:
    """The German content words of a part of the lexicon."""
    match value:
        case Noun() | Adjective() | Verb():
            return {value.de}
        case ParticleVerb():
            return {value.en + value.en_particle, *(noun.de for noun in value.objects)}
        case Phrase():
            return {value.de}
        case tuple():
            return {word for each in value for word in words_of(each)}
    raise AssertionError(value)


def test_the_halves_of_the_lexicon_share_no_word() -> None:
    first, second = (lexicon(held_out=held_out) for held_out in (False, True))
    for each in fields(first):
        one, other = words_of(getattr(first, each.name)), words_of(getattr(second, each.name))
        assert one, each.name
        assert other, each.name
        assert not one & other, each.name


@pytest.mark.parametrize(("draw", "templates"), [(dependency_pairs, DEPENDENCIES), (anaphor_pairs, ANAPHORS)])
def test_both_halves_have_every_template_and_no_sentence_twice(draw: Any, templates: Any) -> None:
    pairs: tuple[Pair, ...] = draw(96, 1)
    assert len(pairs) == 96
    assert [pair.held_out for pair in pairs] == [False] * 48 + [True] * 48
    for half in (pairs[:48], pairs[48:]):
        assert {pair.template for pair in half} == set(templates)
    assert len({pair.english.text for pair in pairs}) == 96
    assert pairs == draw(96, 1)
    assert pairs != draw(96, 2)


def test_dependencies_are_far_and_every_word_has_a_translation() -> None:
    for pair in dependency_pairs(240, 3):
        assert pair.german.dependency is not None
        known = links(pair.english, pair.german)
        linked = {source for source, _ in known}
        # One language asks for a comma where the other does not, and "ich weiß es nicht" is "I do not know".
        assert {word for place, word in enumerate(pair.english.words) if place not in linked} <= {","}
        linked = {target for _, target in known}
        assert {word for place, word in enumerate(pair.german.words) if place not in linked} <= {",", "es"}
        for side in (pair.english, pair.german):
            if side.dependency is not None:
                first, last = side.dependency
                assert last - first >= 3, side.text


def test_ends_of_dependencies_are_the_words_that_are_meant() -> None:
    for pair in dependency_pairs(60, 1):
        ends = [
            tuple(side.words[place] for place in side.dependency) if side.dependency else ()
            for side in (pair.english, pair.german)
        ]
        if pair.template == "has bought":
            assert ends[0] == ()
            assert ends[1][0] == "hat"
            assert ends[1][1].startswith(("ge", "ver", "rep"))
        if pair.template in ("who sold", "that was bought"):
            assert [each[1] for each in ends] == ["was", "war"]
        if pair.template == "made so":
            assert [each[0] for each in ends] == ["made", "machte"]


def test_twins_differ_in_the_anaphor_and_in_whom_it_means() -> None:
    pairs = anaphor_pairs(96, 1)
    for one, other in zip(pairs[::2], pairs[1::2], strict=True):
        assert one.twin == other.twin
        assert one.template == other.template
        for side, twin in ((one.english, other.english), (one.german, other.german)):
            assert side.anaphor is not None
            differing = [place for place, word in enumerate(side.words) if word != twin.words[place]]
            assert differing == [side.anaphor]
            assert twin.anaphor == side.anaphor
            assert (side.antecedent, side.rival) == (twin.rival, twin.antecedent)
    meant = {
        (pair.english.words[pair.english.anaphor or 0], pair.english.words[pair.english.antecedent or 0])
        for pair in pairs
    }
    assert ("he", "king") in meant or ("his", "king") in meant
    women = {"woman", "sister", "aunt", "grandmother", "queen", "mother", "daughter", "nurse"}
    assert {antecedent for anaphor, antecedent in meant if anaphor in ("she", "her")} <= women
    assert not {antecedent for anaphor, antecedent in meant if anaphor in ("he", "his")} & women


def test_more_than_there_are_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentences, "_PATIENCE", 20)
    with pytest.raises(DataError, match="more than the templates have; ask for fewer --seeds"):
        anaphor_pairs(40_000, 1)
