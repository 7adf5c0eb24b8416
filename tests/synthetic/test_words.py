"""The notation of the lexicon's tables, as the module's docstring gives it."""

from attendo.synthetic import words
from attendo.synthetic.words import Noun, Phrase


def test_nouns() -> None:
    apple, colleague, shoe, milk, child = words.nouns("""
        der Apfel/Äpfel = apple
        der Kollege*/Kollegen = colleague
        +der Schuh/Schuhe = shoe
        die Milch = milk
        das Kind/Kinder = child/children
    """)
    assert apple == Noun(de="Apfel", en="apple", gender="m", de_plural="Äpfel", en_plural="apples")
    assert colleague.weak
    assert colleague.de == "Kollege"
    assert shoe.always_plural
    assert milk.de_plural == ""
    assert (child.gender, child.en_plural) == ("n", "children")


def test_verbs() -> None:
    pick_up, go = words.verbs("""
        ab|holen holt abgeholt = pick_up picked_up
        gehen geht +gegangen = go went gone
    """)
    assert (pick_up.prefix, pick_up.de, pick_up.infinitive) == ("ab", "holen", "abholen")
    assert (pick_up.en, pick_up.en_past, pick_up.en_participle) == ("pick up", "picked up", "picked up")
    assert go.with_sein
    assert not pick_up.with_sein
    assert (go.participle, go.en_past, go.en_participle) == ("gegangen", "went", "gone")


def test_verbs_written_apart() -> None:
    walk = words.verb("spazieren_|gehen geht +spazieren_gegangen = walk")
    assert (walk.infinitive, walk.participle, walk.en_past) == ("spazieren gehen", "spazieren gegangen", "walked")


def test_adjectives_and_phrases() -> None:
    (expensive,) = words.adjectives("teuer/teur = expensive")
    assert (expensive.de, expensive.stem) == ("teuer", "teur")
    assert words.phrases("zu Hause = at home\n im Park = in the park") == (
        Phrase("at home", "zu Hause"),
        Phrase("in the park", "im Park"),
    )
