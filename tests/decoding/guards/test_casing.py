"""Capitals and titles; what a vocabulary spells in fewer pieces is listed, the rest is as any reader would say."""

from collections.abc import Sequence

import pytest

from attendo.decoding.guards.casing import (
    in_capitals,
    in_small_letters,
    in_title_case,
    out_of_title_case,
    with_first_capital,
    with_source_capitals,
)


class Words:
    """A vocabulary of words: each is one piece, others a piece a letter."""

    vocab_size = 0

    def __init__(self, *known: str) -> None:
        self._known = known

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        return [[1] * (1 if text in self._known else len(text)) + [0] for text in texts]

    def pieces(self, ids: Sequence[int]) -> list[str]:
        raise NotImplementedError


WORDS = Words("the", "dog", "sleeps", "near", "i", "am", "here", "NATO", "Anna", "stop", "go", "people", "wrote", "a")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("THE DOG SLEEPS.", True),
        ("GO ON", True),
        ("STOP!", True),
        ("NATO", True),  # told from STOP by the vocabulary
        ("STRAßE", True),
        ("ES WAR 1999, NICHT 2001.", True),
        ("USA", False),
        ("A", False),
        ("1999!", False),
        ("ß", False),
        ("The DOG", False),
        ("", False),
    ],
)
def test_capitals(text: str, expected: bool) -> None:
    assert in_capitals(text) is expected


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("The Dog Sleeps Near Anna", "en", True),
        ("The Dog Sleeps in the House", "en", True),
        ("Why NATO Did Not Sleep", "en", True),
        ("The Dog Sleeps", "en", False),
        ("The Dog sleeps Near Anna", "en", False),
        ("THE DOG SLEEPS HERE", "en", False),
        ("Der Hund Schläft Im Haus", "de", False),
        ("Der Hund Schläft Im Haus", "", False),
        ("", "en", False),
    ],
)
def test_titles(text: str, language: str, expected: bool) -> None:
    assert in_title_case(text, language) is expected


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("THE DOG SLEEPS NEAR NATO.", "en", "The dog sleeps near NATO."),
        ("GO. I AM HERE, I'M.", "en", "Go. I am here, I'm."),
        ("GO I", "de", "Go i"),
        ("The Dog Sleeps Near Anna", "en", "The dog sleeps near Anna"),
        ("“STOP!” 1999", "en", "“Stop!” 1999"),
        ("NATO", "en", "NATO"),
        ("ÖL UND ÄPFEL", "de", "Öl und äpfel"),
        ("1 2", "en", "1 2"),
    ],
)
def test_small_letters(text: str, language: str, expected: str) -> None:
    starts = [0, 3] if text.startswith("GO. ") else [0]
    found = in_small_letters(text, WORDS, language, starts)
    assert found.text == expected
    assert (found.changed > 0) == (text != expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Anna Stop Here Go", "Anna stop here go"),
        ("People Wrote The Sonnet", "People wrote the sonnet"),  # two words, and one that may be a name
        ("The Dog Sleeps near the Kowal", "The Dog Sleeps near the Kowal"),  # two are too few beside small ones
        ("The Dog Sleeps in the Stop Here", "The dog sleeps in the stop here"),
        ("Kowal Brecht Miller Suarez", "Kowal Brecht Miller Suarez"),
        ("The Dog Of Kowal Brecht", "The Dog Of Kowal Brecht"),
    ],
)
def test_a_title_has_common_words(text: str, expected: str) -> None:
    assert out_of_title_case(text, WORDS, "en", [0]) == expected


def test_a_word_alone_keeps_its_capitals_where_nothing_speaks_against_it() -> None:
    assert in_small_letters("UNESC", WORDS, "en", [0]).text == "UNESC"
    assert in_small_letters("STOP", WORDS, "en", [0]).text == "Stop"
    assert in_small_letters("GO UNESC", WORDS, "en", [0]).text == "Go unesc"


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        ("View left file", "linke Datei anzeigen", "Linke Datei anzeigen"),
        ("“Left” file", "„linke“ Datei", "„Linke“ Datei"),
        ("Écran", "écran", "Écran"),
        ("Path of vCard", "vCard-Pfad", "vCard-Pfad"),
        ("Examples of oci_execute()", "oci_execute() in Beispielen", "oci_execute() in Beispielen"),
        ("last album", "letztes Album", "letztes Album"),
        ("Eszett", "ß", "ß"),
        ("The %s", "%s davon", "%s davon"),
        ("12 files", "dateien", "dateien"),
        ("A", "", ""),
        ("", "a", "a"),
    ],
)
def test_a_translation_begins_as_its_source(source: str, text: str, expected: str) -> None:
    assert with_first_capital(source, text, "en") == expected


def test_a_german_noun_says_nothing() -> None:
    assert with_first_capital("Haus", "house", "de") == "house"


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        ("COSPAR meets in Ecuador", "CoSPAR trifft sich in EcUador", "COSPAR trifft sich in Ecuador"),
        ("the UNAIDS report", "der UNAidS-Bericht", "der UNAIDS-Bericht"),
        ("It is in JavaScript", "Es ist in JavaScript", "Es ist in JavaScript"),
        # Program names that people write in small letters, and words that the source does not have.
        ("a javascript file", "eine JavaScript-Datei", "eine JavaScript-Datei"),
        ("the users of Windows", "die BenutzerInnen von Windows", "die BenutzerInnen von Windows"),
        ("", "McFadden", "McFadden"),
    ],
)
def test_a_word_with_a_capital_inside_is_spelled_as_in_the_source(source: str, text: str, expected: str) -> None:
    assert with_source_capitals(source, text) == expected
