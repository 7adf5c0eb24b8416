"""Sentences from a subject, a predicate and a tense: word order and verb forms of both languages.

German is built from fields: the field before the finite verb, the middle field (pronouns, time, object, negation,
place) and the right bracket (prefix, participle, infinitive), where the two languages differ most.
"""

from dataclasses import dataclass, replace
from typing import Literal

from attendo.synthetic import english, german
from attendo.synthetic.english import Person
from attendo.synthetic.words import Adjective, Noun, Phrase, Verb

Tense = Literal[
    "habit", "now", "past", "perfect", "future", "can", "should", "shall", "may", "would", "must", "had_to", "want"
]
Order = Literal["statement", "fronted", "question", "subordinate"]

_GERMAN_MODALS = {
    "can": "können",
    "should": "sollten",
    "shall": "sollen",
    "may": "dürfen",
    "would": "möchten",
    "must": "müssen",
    "want": "wollen",
}
STATIVE = frozenset({"need", "know", "like", "understand", "see"})
"""English verbs without a progressive form."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """The subject of a clause, with the pronouns that refer back to it."""

    en: str
    de: str
    person: Person
    my: Phrase
    """The possessive: my/mein."""
    reflexive: str
    """The German accusative reflexive: mich, sich."""


def _subject(en: str, de: str, person: Person, my_en: str, my_de: str, reflexive: str) -> Subject:
    return Subject(en=en, de=de, person=person, my=Phrase(my_en, my_de), reflexive=reflexive)


I = _subject("I", "ich", "1s", "my", "mein", "mich")  # noqa: E741
WE = _subject("we", "wir", "1p", "our", "unser", "uns")
HE = _subject("he", "er", "3s", "his", "sein", "sich")
SHE = _subject("she", "sie", "3s", "her", "ihr", "sich")
IT = _subject("it", "es", "3s", "its", "sein", "sich")
THEY = _subject("they", "sie", "3p", "their", "ihr", "sich")
YOU = _subject("you", "Sie", "3p", "your", "Ihr", "sich")
YOU_FRIEND = _subject("you", "du", "2s", "your", "dein", "dich")
YOU_FRIENDS = _subject("you", "ihr", "2p", "your", "euer", "euch")


def english_person(subject: Subject) -> Person:
    """Returns the person of the English verb: polite Sie is plural in both languages, du is plural in English only."""
    return "2p" if subject.en == "you" else subject.person


@dataclass(frozen=True, kw_only=True)
class NounPhrase:
    """A noun with its determiner and perhaps an adjective, in any case."""

    noun: Noun
    determiner: Phrase
    """English and German (masculine nominative) determiner; both empty for none."""
    adjective: Adjective | None = None
    plural: bool = False

    @property
    def is_plural(self) -> bool:
        """Whether the phrase is in the plural."""
        return self.plural or self.noun.always_plural

    def de(self, case: german.Case) -> str:
        """The German phrase in a case."""
        return german.noun_phrase(self.determiner.de, self.noun, case, adjective=self.adjective, plural=self.is_plural)

    @property
    def en(self) -> str:
        """The English phrase."""
        words = self.noun.en_plural if self.is_plural else self.noun.en
        if self.adjective is not None:
            words = f"{self.adjective.en} {words}"
        if self.determiner.en == "a":
            return words if self.is_plural else english.with_article(words)
        determiner = "these" if self.determiner.en == "this" and self.is_plural else self.determiner.en
        return f"{determiner} {words}".strip()

    @property
    def person(self) -> Person:
        """The person that a verb agrees with, `3s` or `3p`."""
        return "3p" if self.is_plural else "3s"

    @property
    def is_indefinite(self) -> bool:
        """Whether German negates it with kein."""
        return self.determiner.de in ("", "ein")

    def negated(self) -> "NounPhrase":
        """Returns the phrase with German kein if it is indefinite; English negates the verb."""
        if not self.is_indefinite:
            return self
        return replace(self, determiner=Phrase(self.determiner.en, "kein"))

    def as_subject(self) -> Subject:
        """Returns the phrase as the subject of a clause."""
        singular = SHE if self.noun.gender == "f" else HE
        pronoun = THEY if self.is_plural else singular
        return replace(pronoun, en=self.en, de=self.de("nominative"))


def name_subject(name: str, *, woman: bool) -> Subject:
    """Returns a subject that is a person's name."""
    pronoun = SHE if woman else HE
    return replace(pronoun, en=name, de=name)


@dataclass(frozen=True, kw_only=True)
class Predicate:
    """A verb with its objects and complements, without time and negation."""

    verb: Verb
    en: str = ""
    """The objects and places that follow the English verb."""
    de_pronoun: str = ""
    """Reflexives and pronouns, which German puts first in the middle field."""
    de_object: str = ""
    """Object, which German puts before nicht."""
    de_place: str = ""
    """Directions, places and verb complements, which German puts after nicht."""
    indefinite: bool = True
    """Whether the object is indefinite; in the perfect schon precedes indefinite objects and follows definite ones."""
    brief: bool = False
    """Whether the action takes a moment only, so that only near times suit it."""
    negated_by_kein: bool = False
    """Whether the object already has kein."""


NO_TIME = Phrase("", "")


@dataclass(frozen=True, kw_only=True)
class Clause:
    """A subject, a predicate, a tense and the rest; rendered by `in_english` and `in_german`."""

    subject: Subject
    predicate: Predicate
    tense: Tense
    time: Phrase = NO_TIME
    adverb: Phrase = NO_TIME
    """An adverb before the English main verb: often/oft, already/schon."""
    negated: bool = False


def _english_verb(clause: Clause) -> tuple[str, str]:
    """Returns auxiliary (may be empty) and main verb; do and did are added by `in_english`."""
    verb, person = clause.predicate.verb, english_person(clause.subject)
    match clause.tense:
        case "now" if verb.en not in STATIVE:
            return english.be(person), english.ing_form(verb.en)
        case "perfect":
            return english.have(person), verb.en_participle
        case "future":
            return "will", verb.en
        case "can" | "should" | "shall" | "may":
            return clause.tense, verb.en
        case "would":
            return "would", f"like to {verb.en}"
        case "must":
            return "", f"{english.have(person)} to {verb.en}"
        case "had_to":
            return "", f"had to {verb.en}"
        case "want":
            return "", f"{'wants' if person == '3s' else 'want'} to {verb.en}"
        case "past":
            return "", verb.en_past
    return "", english.third_person(verb.en) if person == "3s" else verb.en


def _english_base(clause: Clause) -> str:
    """Returns the form of the main verb after do, does or did."""
    base = clause.predicate.verb.en
    prefix = {"must": "have to ", "had_to": "have to ", "want": "want to "}.get(clause.tense, "")
    return prefix + base


def in_english(clause: Clause, order: Order = "statement") -> str:
    """Returns the clause in English, without capital and full stop."""
    auxiliary, main = _english_verb(clause)
    if not auxiliary and (clause.negated or order == "question"):
        past = clause.tense in ("past", "had_to")
        auxiliary = "did" if past else english.do(english_person(clause.subject))
        main = _english_base(clause)
    negation = "not" if clause.negated else ""
    verb_group = [auxiliary, clause.subject.en] if order == "question" else [clause.subject.en, auxiliary]
    words: list[str] = [*verb_group, negation, clause.adverb.en, main, clause.predicate.en]
    words = [clause.time.en, *words] if order == "fronted" else [*words, clause.time.en]
    return " ".join(filter(None, words)).replace("can not", "cannot")


def _german_verb(clause: Clause) -> tuple[str, str]:
    """Returns finite verb and right bracket."""
    verb, person = clause.predicate.verb, clause.subject.person
    match clause.tense:
        case "habit" | "now":
            return german.present(verb, person), verb.prefix.strip()
        case "past" | "perfect":
            return german.auxiliary("sein" if verb.with_sein else "haben", person), verb.participle
        case "future":
            return german.auxiliary("werden", person), verb.infinitive
        case "had_to":
            return german.simple_past("müssen", person), verb.infinitive
    return german.auxiliary(_GERMAN_MODALS[clause.tense], person), verb.infinitive


def middle_field(clause: Clause, *, time: bool = True) -> list[str]:
    """Returns the parts between the finite German verb and the right bracket; they can be empty."""
    predicate = clause.predicate
    nicht = "nicht" if clause.negated and not predicate.negated_by_kein else ""
    target = [clause.adverb.de, predicate.de_object]
    if not predicate.indefinite and clause.tense == "perfect":
        target.reverse()
    return [predicate.de_pronoun, clause.time.de if time else "", *target, nicht, predicate.de_place]


def in_german(clause: Clause, order: Order = "statement") -> str:
    """Returns the clause in German, without capital and full stop."""
    finite, bracket = _german_verb(clause)
    subject = clause.subject.de
    if order == "subordinate":
        joined = clause.tense in ("habit", "now")
        last = clause.predicate.verb.prefix + finite if joined else f"{bracket} {finite}"
        words = [subject, *middle_field(clause), last]
    elif order == "question":
        words = [finite, subject, *middle_field(clause), bracket]
    elif order == "fronted":
        words = [clause.time.de, finite, subject, *middle_field(clause, time=False), bracket]
    else:
        words = [subject, finite, *middle_field(clause), bracket]
    return " ".join(filter(None, words))


def german_infinitive(predicate: Predicate, time: Phrase = NO_TIME) -> str:
    """Returns the predicate as an infinitive group with zu: den Brief zu lesen, um sieben Uhr aufzustehen."""
    words = [time.de, predicate.de_pronoun, predicate.de_object, predicate.de_place]
    return " ".join(filter(None, [*words, german.zu_infinitive(predicate.verb)]))


def german_imperative(predicate: Predicate, *, negated: bool = False) -> str:
    """Returns the polite request: bringen Sie mir bitte den Schlüssel, machen Sie bitte die Tür zu."""
    verb = predicate.verb
    start = "seien" if verb.de == "sein" else verb.de
    nicht = "nicht" if negated and not predicate.negated_by_kein else ""
    words = [start, "Sie", predicate.de_pronoun, "bitte", predicate.de_object, nicht, predicate.de_place, verb.prefix]
    return " ".join(filter(None, (word.strip() for word in words)))


def english_infinitive(predicate: Predicate, time: Phrase = NO_TIME) -> str:
    """Returns the base form with its complements: read the letter tomorrow."""
    return " ".join(filter(None, [predicate.verb.en, predicate.en, time.en]))


def sentence(text: str, mark: str = ".") -> str:
    """Returns a clause as a sentence with capital letter and closing mark."""
    return text[0].upper() + text[1:] + mark
