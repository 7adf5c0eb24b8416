"""Languages told apart, on sentences of Tatoeba's kind and on single words."""

import pytest

from attendo.serving.answers import detected_of
from attendo.serving.detection import Detector

DETECTOR = Detector(["en", "de"])
SENTENCES = [
    ("en", "I have no time."),
    ("en", "Where is the station?"),
    ("en", "Tom didn't want to come with us."),
    ("en", "WE ARE CLOSED TODAY"),
    ("de", "Ich habe keine Zeit."),
    ("de", "Wo ist der Bahnhof?"),
    ("de", "Tom wollte nicht mit uns kommen."),
    ("de", "HEUTE GESCHLOSSEN"),
]
WORDS = [
    ("en", "the"),
    ("en", "Hello"),
    ("en", "want"),
    ("en", "Thanks!"),
    ("de", "der"),
    ("de", "Hallo"),
    ("de", "mit"),
]


@pytest.mark.parametrize(("language", "text"), SENTENCES + WORDS)
def test_a_text_is_in_its_language(language: str, text: str) -> None:
    found = DETECTOR.detect(text)
    assert found[0].language == language
    assert sum(each.confidence for each in found) == pytest.approx(1)
    assert found[0].confidence > 0.5


@pytest.mark.parametrize("text", ["", " \n", "12.5 %", "🙂", "⟦1⟧"])
def test_what_has_no_letter_is_in_none(text: str) -> None:
    assert [(each.language, each.confidence) for each in DETECTOR.detect(text)] == [("en", 0.0), ("de", 0.0)]


def test_only_served_languages_are_found() -> None:
    assert {each.language for each in DETECTOR.detect("Je n'ai pas le temps.")} == {"en", "de"}
    assert Detector(["fr", "en"]).detect("Je n'ai pas le temps.")[0].language == "fr"
    assert [each.confidence for each in Detector(["en"]).detect("Hello")] == [1.0]


def test_languages_that_the_library_does_not_know_are_served_too() -> None:
    assert [each.language for each in Detector(["reversed", "digits"]).detect("Hello there")] == ["reversed", "digits"]


def test_a_short_text_among_others_is_in_their_language() -> None:
    found = detected_of(DETECTOR, ["Ich habe leider gar keine Zeit.", "Tom", "Where is the old station?"])
    assert [each.language for each in found] == ["de", "de", "en"]
