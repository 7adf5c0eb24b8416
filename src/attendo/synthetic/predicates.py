"""Draws what a sentence says of its subject: a verb from the families, with an object or a place."""

from dataclasses import replace
from functools import cache

from attendo.synthetic import german, lexicon
from attendo.synthetic.choices import Chooser
from attendo.synthetic.clauses import NounPhrase, Predicate, Subject
from attendo.synthetic.families import ACTIVITY_FAMILIES, BARE, OBJECT_FAMILIES, Family
from attendo.synthetic.words import Adjective, Noun, Phrase, Verb

THE = Phrase("the", "der")
A = Phrase("a", "ein")
THIS = Phrase("this", "dieser")
MY = Phrase("my", "mein")
OUR = Phrase("our", "unser")
HIS = Phrase("his", "sein")


@cache
def families(use: str) -> tuple[Family, ...]:
    """The families that suit a use, each as often as its weight."""
    return tuple(
        family for family in OBJECT_FAMILIES + ACTIVITY_FAMILIES if use in family.uses for _ in range(family.weight)
    )


def _determiner(code: str, subject: Subject) -> Phrase:
    return {"a": A, "t": THE, "s": THIS, "m": subject.my, "0": BARE}[code]


def noun_object(
    choose: Chooser, nouns: tuple[Noun, ...], determiner: Phrase, adjectives: tuple[Adjective, ...] = ()
) -> NounPhrase:
    """Draws a noun, with an adjective in two cases of three."""
    noun = choose.word(nouns)
    adjective = choose.word(adjectives) if adjectives and choose.chance(0.65) else None
    return NounPhrase(noun=noun, determiner=determiner, adjective=adjective)


def draw_predicate(
    choose: Chooser, use: str, subject: Subject, *, negated: bool = False, definite: bool = False
) -> Predicate:
    """Draws a verb and what goes with it.

    Args:
        choose: the sentence's choices.
        use: the letter of `Family.uses` the sentence is about.
        subject: whose own things "m" objects are.
        negated: an indefinite object takes kein.
        definite: only families whose object can be definite, and the definite article or possessive with it.
    """
    options = families(use)
    if definite:
        options = tuple(family for family in options if family.nouns and set(family.determiners) & set("tm"))
    family = choose.form(options)
    verb = choose.word(family.verbs)
    if family.complements:
        complement = choose.word(family.complements)
        return Predicate(verb=verb, en=complement.en, de_place=complement.de, brief=family.brief)
    codes = [code for code in family.determiners if not definite or code in "tm"]
    # What the subject wears or sells follows the phrasebook's own narrow idea of wardrobes.
    nouns = tuple(noun for noun in family.nouns if subject.my.de != "sein" or noun not in lexicon.WOMENS_CLOTHES)
    phrase = noun_object(choose, nouns, _determiner(choose.form(codes), subject), family.adjectives)
    predicate = object_predicate(verb, phrase, family.case, family.preposition, negated=negated)
    return replace(predicate, brief=family.brief)


def object_predicate(
    verb: Verb,
    phrase: NounPhrase,
    case: german.Case = "accusative",
    preposition: Phrase = BARE,
    *,
    negated: bool = False,
) -> Predicate:
    """A verb with a noun phrase as its object, perhaps after a preposition."""
    en = f"{preposition.en} {phrase.en}".strip()
    if preposition.de:
        return Predicate(verb=verb, en=en, de_place=german.prepositional(preposition.de, phrase.de(case)))
    by_kein = negated and phrase.is_indefinite
    de = (phrase.negated() if by_kein else phrase).de(case)
    return Predicate(verb=verb, en=en, de_object=de, indefinite=phrase.is_indefinite, negated_by_kein=by_kein)
