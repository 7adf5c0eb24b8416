"""Word order in both languages, against sentences written by hand."""

from dataclasses import replace

import pytest

from attendo.synthetic.clauses import (
    HE,
    SHE,
    WE,
    YOU,
    YOU_FRIEND,
    YOU_FRIENDS,
    Clause,
    I,
    NounPhrase,
    Order,
    Predicate,
    Subject,
    Tense,
    english_infinitive,
    german_imperative,
    german_infinitive,
    in_english,
    in_german,
    sentence,
)
from attendo.synthetic.predicates import THE, A, object_predicate
from attendo.synthetic.words import Phrase, adjectives, nouns, verb

GET_UP = Predicate(
    verb=verb("auf|stehen steht +aufgestanden = get_up got_up"), en="at seven o'clock", de_place="um sieben Uhr"
)
(HAT,) = nouns("der Hut/Hüte = hat")
(RED,) = adjectives("rot = red")
BUY = verb("kaufen kauft gekauft = buy bought")
A_RED_HAT = NounPhrase(noun=HAT, determiner=A, adjective=RED)
BUY_A_HAT = object_predicate(BUY, A_RED_HAT)
BUY_THE_HAT = object_predicate(BUY, NounPhrase(noun=HAT, determiner=THE))
YESTERDAY, TOMORROW = Phrase("yesterday", "gestern"), Phrase("tomorrow", "morgen")


@pytest.mark.parametrize(
    ("subject", "predicate", "tense", "time", "order", "english", "german"),
    [
        (I, GET_UP, "habit", None, "statement", "I get up at seven o'clock", "ich stehe um sieben Uhr auf"),
        (I, GET_UP, "habit", None, "subordinate", "I get up at seven o'clock", "ich um sieben Uhr aufstehe"),
        (I, GET_UP, "past", None, "statement", "I got up at seven o'clock", "ich bin um sieben Uhr aufgestanden"),
        (I, GET_UP, "past", None, "subordinate", "I got up at seven o'clock", "ich um sieben Uhr aufgestanden bin"),
        (
            HE,
            GET_UP,
            "must",
            None,
            "subordinate",
            "he has to get up at seven o'clock",
            "er um sieben Uhr aufstehen muss",
        ),
        (SHE, GET_UP, "habit", None, "question", "does she get up at seven o'clock", "steht sie um sieben Uhr auf"),
        (
            YOU,
            GET_UP,
            "past",
            None,
            "question",
            "did you get up at seven o'clock",
            "sind Sie um sieben Uhr aufgestanden",
        ),
        (HE, BUY_A_HAT, "now", None, "statement", "he is buying a red hat", "er kauft einen roten Hut"),
        (
            WE,
            BUY_A_HAT,
            "now",
            TOMORROW,
            "fronted",
            "tomorrow we are buying a red hat",
            "morgen kaufen wir einen roten Hut",
        ),
        (
            I,
            BUY_A_HAT,
            "past",
            YESTERDAY,
            "statement",
            "I bought a red hat yesterday",
            "ich habe gestern einen roten Hut gekauft",
        ),
        (
            HE,
            BUY_A_HAT,
            "future",
            TOMORROW,
            "fronted",
            "tomorrow he will buy a red hat",
            "morgen wird er einen roten Hut kaufen",
        ),
        (SHE, BUY_A_HAT, "want", None, "statement", "she wants to buy a red hat", "sie will einen roten Hut kaufen"),
        (SHE, BUY_A_HAT, "want", None, "question", "does she want to buy a red hat", "will sie einen roten Hut kaufen"),
        (
            I,
            BUY_A_HAT,
            "would",
            None,
            "statement",
            "I would like to buy a red hat",
            "ich möchte einen roten Hut kaufen",
        ),
        (I, BUY_A_HAT, "had_to", None, "statement", "I had to buy a red hat", "ich musste einen roten Hut kaufen"),
        (I, BUY_A_HAT, "shall", None, "question", "shall I buy a red hat", "soll ich einen roten Hut kaufen"),
        (YOU_FRIEND, BUY_A_HAT, "now", None, "question", "are you buying a red hat", "kaufst du einen roten Hut"),
        (YOU_FRIENDS, BUY_A_HAT, "past", None, "question", "did you buy a red hat", "habt ihr einen roten Hut gekauft"),
    ],
)
def test_word_order(
    subject: Subject,
    predicate: Predicate,
    tense: Tense,
    time: Phrase | None,
    order: Order,
    english: str,
    german: str,
) -> None:
    clause = Clause(subject=subject, predicate=predicate, tense=tense, time=time or Phrase("", ""))
    assert in_english(clause, order) == english
    assert in_german(clause, order) == german


def test_indefinite_objects_are_negated_by_kein() -> None:
    predicate = object_predicate(BUY, A_RED_HAT, negated=True)
    clause = Clause(subject=I, predicate=predicate, tense="past", time=YESTERDAY, negated=True)
    assert in_english(clause) == "I did not buy a red hat yesterday"
    assert in_german(clause) == "ich habe gestern keinen roten Hut gekauft"


def test_definite_objects_stand_before_nicht() -> None:
    clause = Clause(subject=HE, predicate=BUY_THE_HAT, tense="can", negated=True)
    assert in_english(clause) == "he cannot buy the hat"
    assert in_german(clause) == "er kann den Hut nicht kaufen"


def test_already_follows_a_definite_object() -> None:
    clause = Clause(subject=HE, predicate=BUY_THE_HAT, tense="perfect", adverb=Phrase("already", "schon"))
    assert in_english(clause) == "he has already bought the hat"
    assert in_german(clause) == "er hat den Hut schon gekauft"


def test_nicht_stands_before_places() -> None:
    going = Predicate(verb=verb("gehen geht +gegangen = go went gone"), en="home", de_place="nach Hause")
    clause = Clause(subject=WE, predicate=going, tense="past", negated=True)
    assert in_english(clause) == "we did not go home"
    assert in_german(clause) == "wir sind nicht nach Hause gegangen"


def test_infinitive_groups() -> None:
    assert german_infinitive(GET_UP, TOMORROW) == "morgen um sieben Uhr aufzustehen"
    assert english_infinitive(GET_UP, TOMORROW) == "get up at seven o'clock tomorrow"


def test_imperatives() -> None:
    assert sentence(german_imperative(GET_UP)) == "Stehen Sie bitte um sieben Uhr auf."
    assert german_imperative(BUY_THE_HAT, negated=True) == "kaufen Sie bitte den Hut nicht"


def test_reflexives_follow_the_finite_verb() -> None:
    joy = Predicate(
        verb=verb("freuen freut gefreut = look_forward looked_forward"),
        en="to the trip",
        de_pronoun=HE.reflexive,
        de_place="auf die Reise",
    )
    assert in_german(Clause(subject=HE, predicate=joy, tense="now")) == "er freut sich auf die Reise"
    assert in_english(Clause(subject=HE, predicate=joy, tense="now")) == "he is looking forward to the trip"


def test_stative_verbs_have_no_progressive() -> None:
    needing = replace(BUY_A_HAT, verb=verb("brauchen braucht gebraucht = need"))
    assert in_english(Clause(subject=SHE, predicate=needing, tense="now")) == "she needs a red hat"


def test_noun_phrases_in_english() -> None:
    shoes, umbrella = nouns("+der Schuh/Schuhe = shoe\n der Regenschirm/Regenschirme = umbrella")
    assert NounPhrase(noun=shoes, determiner=A, adjective=RED).en == "red shoes"
    assert NounPhrase(noun=shoes, determiner=Phrase("this", "dieser")).en == "these shoes"
    assert NounPhrase(noun=umbrella, determiner=A).en == "an umbrella"
    assert NounPhrase(noun=umbrella, determiner=A, adjective=RED).en == "a red umbrella"


def test_what_belongs_to_a_noun_subject() -> None:
    parents, aunt = nouns("+der Elternteil/Eltern = parent\n die Tante/Tanten = aunt")
    assert NounPhrase(noun=parents, determiner=THE).as_subject().my == Phrase("their", "ihr")
    assert NounPhrase(noun=aunt, determiner=THE).as_subject().my == Phrase("her", "ihr")
