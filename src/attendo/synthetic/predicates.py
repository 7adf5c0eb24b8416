"""Draws the predicate of a sentence: a verb from the families, with an object or a place."""

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
    """Returns the families that suit a use, each repeated by its weight."""
    return tuple(
        family for family in OBJECT_FAMILIES + ACTIVITY_FAMILIES if use in family.uses for _ in range(family.weight)
    )


def _determiner(code: str, subject: Subject) -> Phrase:
    return {"a": A, "t": THE, "s": THIS, "m": subject.my, "0": BARE}[code]


def noun_object(
    choose: Chooser, nouns: tuple[Noun, ...], determiner: Phrase, adjectives: tuple[Adjective, ...] = ()
) -> NounPhrase:
    """Draws a noun, with an adjective in 65 % of cases."""
    noun = choose.word(nouns)
    adjective = choose.word(adjectives) if adjectives and choose.chance(0.65) else None
    return NounPhrase(noun=noun, determiner=determiner, adjective=adjective)


def draw_predicate(
    choose: Chooser, use: str, subject: Subject, *, negated: bool = False, definite: bool = False
) -> Predicate:
    """Draws a verb with its object or complement.

    Args:
        choose: draws the choices of the sentence.
        use: the use of the sentence, a letter of `Family.uses`.
        subject: the subject, whose possessive objects with the determiner "m" take.
        negated: whether the clause is negated, so that an indefinite object takes kein.
        definite: whether the object must be definite, with article or possessive.
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
    # In the phrasebook's simplified world, subjects with the possessive sein have no women's clothes.
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
    """Returns a predicate of a verb and a noun phrase as its object, with or without a preposition."""
    en = f"{preposition.en} {phrase.en}".strip()
    if preposition.de:
        return Predicate(verb=verb, en=en, de_place=german.prepositional(preposition.de, phrase.de(case)))
    by_kein = negated and phrase.is_indefinite
    de = (phrase.negated() if by_kein else phrase).de(case)
    return Predicate(verb=verb, en=en, de_object=de, indefinite=phrase.is_indefinite, negated_by_kein=by_kein)
