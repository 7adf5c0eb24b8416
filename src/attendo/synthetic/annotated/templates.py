"""The sentence templates: functions that draw a sentence in both languages, with its structure marked in it."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from attendo.synthetic import german
from attendo.synthetic.annotated.lexicon import Lexicon
from attendo.synthetic.english import with_article
from attendo.synthetic.german import Case
from attendo.synthetic.lexicon import read_data
from attendo.synthetic.words import Adjective, Noun, Phrase

T = TypeVar("T")
THE, A, MY = Phrase("the", "der"), Phrase("a", "ein"), Phrase("my", "mein")

_POSSESSIVES = {"m": Phrase("his", "sein"), "f": Phrase("her", "ihr"), "n": Phrase("its", "sein")}
_THEIR = Phrase("their", "ihr")
_PRONOUNS = {"m": "he~x! = er~x!", "f": "she~x! = sie~x!"}
_INSIDE = "in~{0} = in~{0}"
_WITH = "with~{0} = mit~{0}"
_PATTERNS: Mapping[str, Phrase] = {
    name: Phrase(pattern["en"], pattern["de"])
    for name, pattern in read_data("annotated/templates.toml")["patterns"].items()
}


class Writer:
    """Draws words and writes phrases of them, in which each word has labels that no other phrase has.

    Args:
        words: the words to draw from.
        generator: the random generator.
    """

    def __init__(self, words: Lexicon, generator: random.Random) -> None:
        self.words, self._generator, self._labels = words, generator, 0

    def one(self, choices: Sequence[T]) -> T:
        """Draws one of several choices."""
        return choices[int(self._generator.random() * len(choices))]

    def chance(self, probability: float) -> bool:
        """Returns True with this probability."""
        return self._generator.random() < probability

    def noun_phrase(
        self,
        noun: Noun,
        case: Case,
        determiner: Phrase = THE,
        *,
        adjective: Adjective | None = None,
        plural: bool = False,
        mark: str = "",
        determiner_mark: str = "",
    ) -> Phrase:
        """Writes a determiner, an adjective if one is given, and a noun, with their marks."""
        parts = ["d", "n"] if adjective is None else ["d", "a", "n"]
        labels = [self._label() for _ in parts]
        marks = [determiner_mark, *[""] * (len(parts) - 2), mark]
        en_noun = noun.en_plural if plural else noun.en
        following = f"{adjective.en} {en_noun}" if adjective else en_noun
        en = with_article(following) if determiner == A else f"{determiner.en} {following}"
        de = german.noun_phrase(determiner.de, noun, case, adjective=adjective, plural=plural)
        return Phrase(_bracketed(en, labels, marks), _bracketed(de, labels, marks))

    def thing(self, case: Case, noun: Noun | None = None, *, mark: str = "") -> Phrase:
        """Draws a thing, in three of five cases with an adjective."""
        adjective = self.one(self.words.adjectives) if self.chance(0.6) else None
        return self.noun_phrase(noun or self.one(self.words.things), case, adjective=adjective, mark=mark)

    def person(self, case: Case) -> Phrase:
        """Draws a man or a woman."""
        noun = self.one(self.words.men if self.chance(0.5) else self.words.women)
        # "My man" and "my woman" say something else, and few have a king.
        determiner = THE if noun.en in ("man", "woman", "king", "queen") else self.one((THE, MY))
        return self.noun_phrase(noun, case, determiner)

    def place(self) -> Phrase:
        """Draws a place, such as *in the kitchen*."""
        phrase = self.behind(_INSIDE, self.noun_phrase(self.one(self.words.places), "dative"))
        return Phrase(phrase.en, re.sub(r"in~(\w+) \[ dem~(\w+)", r"im~\1,\2 [", phrase.de))

    def maybe_place(self) -> Phrase:
        """Draws a place, such as *in the kitchen*, or nothing."""
        return self.place() if self.chance(0.7) else Phrase("", "")

    def maybe_day(self) -> Phrase:
        """Draws an adverb of time, such as *yesterday*, or nothing."""
        if self.chance(0.5):
            return Phrase("", "")
        day, label = self.one(self.words.days), self._label()
        return Phrase(f"{day.en}~{label}", f"{day.de}~{label}")

    def behind(self, preposition: str, phrase: Phrase) -> Phrase:
        """Writes a prepositional phrase; the preposition is given as `with~{0} = mit~{0}`."""
        en, de = preposition.format(self._label()).split(" = ")
        return Phrase(f"[ {en} {phrase.en} ]", f"[ {de} {phrase.de} ]")

    def _label(self) -> str:
        self._labels += 1
        return f"w{self._labels}"


Draw = Callable[[Writer], Sequence[Phrase]]
"""A function that draws one sentence, or two that are twins."""


def particle(write: Writer) -> Sequence[Phrase]:
    """The man turned the old radio in the kitchen off: from the verb to its particle."""
    verb = write.one(write.words.particle_verbs)
    subject, item = write.person("nominative"), write.thing("accusative", write.one(verb.objects))
    sentence = _filled("particle", subject=subject, verb=verb, what=item, where=write.maybe_place())
    return [_with_beginning_and_end(write, sentence, subject.de)]


def made(write: Writer) -> Sequence[Phrase]:
    """The music made the evening with my father very pleasant: from the verb to the adjective."""
    cause, noun, how = write.one(write.words.made)
    subject, affected = write.noun_phrase(cause, "nominative"), write.noun_phrase(noun, "accusative")
    company = write.behind(_WITH, write.person("dative")) if write.chance(0.7) else write.place()
    extent = Phrase("very~e", "sehr~e") if write.chance(0.5) else Phrase("", "")
    sentence = _filled("made so", subject=subject, what=affected, company=company, extent=extent, how=how)
    return [_with_beginning_and_end(write, sentence, subject.de)]


def who_sold(write: Writer) -> Sequence[Phrase]:
    """The man who sold us the old bicycle was very tired: from the subject to its verb."""
    noun = write.one((*write.words.men, *write.words.women))
    subject = write.noun_phrase(noun, "nominative", mark="<")
    item, where, mood = write.thing("accusative"), write.maybe_place(), write.one(write.words.moods)
    day, pronoun = write.maybe_day(), german.relative_pronoun(noun, "nominative")
    return [
        _with_clauses(
            write, _filled("who sold", subject=subject, what=item, where=where, mood=mood, day=day, who=pronoun)
        )
    ]


def that_was_bought(write: Writer) -> Sequence[Phrase]:
    """The book that the teacher bought in the city was very expensive: from the subject to its verb."""
    noun, verb = write.one(write.words.things), write.one(write.words.deeds)
    subject = write.thing("nominative", noun, mark="<")
    doer, where, state = write.person("nominative"), write.maybe_place(), write.one(write.words.states)
    day, pronoun = write.maybe_day(), german.relative_pronoun(noun, "accusative")
    sentence = _filled(
        "that was bought", subject=subject, doer=doer, verb=verb, where=where, day=day, state=state, that=pronoun
    )
    return [_with_clauses(write, sentence)]


def has_bought(write: Writer) -> Sequence[Phrase]:
    """My brother bought the old watch in the shop: in German from the auxiliary to the participle."""
    return _deed(write, "has bought")


def wanted_to_buy(write: Writer) -> Sequence[Phrase]:
    """My brother wanted to buy the old watch: in German from the modal verb to the infinitive."""
    return _deed(write, "wanted to buy")


def because(write: Writer) -> Sequence[Phrase]:
    """The king called the nurse because he was ill; because she was ill."""
    mood = write.one(write.words.moods)
    return _with_pronouns(write, ("nominative", "accusative"), partial(_filled, "because", mood=mood))


def that_had_won(write: Writer) -> Sequence[Phrase]:
    """The king told the nurse that he had won; that she had won."""
    return _with_pronouns(write, ("nominative", "dative"), partial(_filled, "that had won"))


def when_they_met(write: Writer) -> Sequence[Phrase]:
    """When the king met the nurse in the garden, he was very tired; she was very tired."""
    where, mood = write.place(), write.one(write.words.moods)
    twin = partial(_filled, "when they met", where=where, mood=mood)
    return _with_pronouns(write, ("nominative", "accusative"), twin)


def gave(write: Writer) -> Sequence[Phrase]:
    """The king gave the nurse his book; her book."""
    return _with_possessives(write, partial(_filled, "gave"))


def talked(write: Writer) -> Sequence[Phrase]:
    """The king talked to the nurse about his book; about her book."""
    return _with_possessives(write, partial(_filled, "talked"))


def brought(write: Writer) -> Sequence[Phrase]:
    """The children brought the dog their ball; its ball."""
    words = write.words
    owners, animal, belonging = write.one(words.plural_owners), write.one(words.animals), write.one(words.belongings)
    owners_first = write.chance(0.5)
    adjective = write.one(words.adjectives) if write.chance(0.5) else None
    twins = []
    for is_plural in (True, False):
        cases: tuple[Case, Case] = ("nominative", "dative") if owners_first else ("dative", "nominative")
        plural = write.noun_phrase(owners, cases[0], plural=True, mark="*" if is_plural else "#")
        singular = write.noun_phrase(animal, cases[1], mark="#" if is_plural else "*")
        possessive = _THEIR if is_plural else _POSSESSIVES["n"]
        ball = write.noun_phrase(belonging, "accusative", possessive, adjective=adjective, determiner_mark="!")
        first, second, verb = (plural, singular, "brachten") if owners_first else (singular, plural, "brachte")
        twins.append(_filled("brought", first=first, second=second, anaphor=ball, verb=verb))
    return twins


DEPENDENCIES: Mapping[str, Draw] = {
    "particle": particle,
    "made so": made,
    "who sold": who_sold,
    "that was bought": that_was_bought,
    "has bought": has_bought,
    "wanted to buy": wanted_to_buy,
}
"""The templates with a long-distance dependency, by name."""

ANAPHORS: Mapping[str, Draw] = {
    "because": because,
    "that had won": that_had_won,
    "when they met": when_they_met,
    "gave": gave,
    "talked": talked,
    "brought": brought,
}
"""The templates with an anaphor, by name; each draws twins."""


def _filled(name: str, **parts: object) -> Phrase:
    """Fills in the pattern of a template with its parts: phrases of both languages, or words of one of them."""
    pattern = _PATTERNS[name]
    return Phrase(pattern.en.format_map(parts), pattern.de.format_map(parts))


def _deed(write: Writer, name: str) -> Sequence[Phrase]:
    verb, subject = write.one(write.words.deeds), write.person("nominative")
    item, where = write.thing("accusative"), write.maybe_place()
    return [
        _with_beginning_and_end(write, _filled(name, subject=subject, verb=verb, what=item, where=where), subject.de)
    ]


def _bracketed(words: str, labels: Sequence[str], marks: Sequence[str]) -> str:
    marked = zip(words.split(), labels, marks, strict=True)
    return f"[ {' '.join(f'{word}~{label}{mark}' for word, label, mark in marked)} ]"


def _with_beginning_and_end(write: Writer, sentence: Phrase, subject_de: str) -> Phrase:
    """Adds a time or a clause before a sentence and a clause after it, at random, so that word positions vary.

    In German the verb precedes the subject after a time.

    Args:
        write: the writer.
        sentence: the sentence, in English with its subject, in German from the verb on.
        subject_de: the German subject.
    """
    if not write.chance(0.4):
        return _with_clauses(write, Phrase(sentence.en, f"{subject_de} {sentence.de}"))
    tail = write.one(write.words.tails) if write.chance(0.6) else Phrase("", "")
    time = write.one(write.words.times)
    verb, rest = sentence.de.split(" ", 1)
    return Phrase(f"{time.en} {sentence.en} {tail.en} .~dot", f"{time.de} {verb} {subject_de} {rest} {tail.de} .~dot")


def _with_clauses(write: Writer, sentence: Phrase) -> Phrase:
    """Adds a clause before a sentence, one after it, both or neither, at random; the word order stays."""
    nothing = Phrase("", "")
    opening = write.one(write.words.openings) if write.chance(0.6) else nothing
    tail = write.one(write.words.tails) if write.chance(0.6) else nothing
    return Phrase(f"{opening.en} {sentence.en} {tail.en} .~dot", f"{opening.de} {sentence.de} {tail.de} .~dot")


def _couple(write: Writer, cases: tuple[Case, Case]) -> Callable[[str], tuple[Phrase, Phrase]]:
    """Draws a man and a woman in either order; returns a function from the antecedent's gender to both phrases."""
    man, woman = write.one(write.words.men), write.one(write.words.women)
    man_first = write.chance(0.5)

    def phrases(meant: str) -> tuple[Phrase, Phrase]:
        both = [(man, "*" if meant == "m" else "#"), (woman, "*" if meant == "f" else "#")]
        first, second = both if man_first else reversed(both)
        return (
            write.noun_phrase(first[0], cases[0], mark=first[1]),
            write.noun_phrase(second[0], cases[1], mark=second[1]),
        )

    return phrases


def _with_pronouns(write: Writer, cases: tuple[Case, Case], twin: Callable[..., Phrase]) -> Sequence[Phrase]:
    couple = _couple(write, cases)
    twins = []
    for meant in "mf":
        first, second = couple(meant)
        twins.append(twin(first=first, second=second, anaphor=Phrase(*_PRONOUNS[meant].split(" = "))))
    return twins


def _with_possessives(write: Writer, twin: Callable[..., Phrase]) -> Sequence[Phrase]:
    couple, noun = _couple(write, ("nominative", "dative")), write.one(write.words.things)
    adjective = write.one(write.words.adjectives) if write.chance(0.5) else None
    twins = []
    for meant in "mf":
        first, second = couple(meant)
        possession = write.noun_phrase(
            noun, "accusative", _POSSESSIVES[meant], adjective=adjective, determiner_mark="!"
        )
        twins.append(twin(first=first, second=second, anaphor=possession))
    return twins
