"""Quotation marks of translations; expected texts are written by hand, by the rules of Duden (D 12) and of English."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attendo.decoding.guards.quotes import with_matching_quotes

MARKS = '„“”»«"'


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        # One opens with what the other does not close.
        ("Delete “%s”?", "»%s” löschen?", "»%s« löschen?"),
        ('Delete "%s"?', "„%s” löschen?", "„%s“ löschen?"),
        ('a "b" c', '"b“ c', '"b" c'),
        ("a “b” c", "”b“ c", "„b“ c"),
        # English marks, which German does not have.
        ("Click “Save”.", "Klicken Sie auf “Speichern”.", "Klicken Sie auf „Speichern“."),
        # A pair that is right says how the others are to be.
        ('Extract "%s" to "%s"', "»%s« nach «%s” extrahieren", "»%s« nach »%s« extrahieren"),
        ("“Yes,” she said, “I am.”", "„Ja,” sagte sie, „das bin ich.“", "„Ja,“ sagte sie, „das bin ich.“"),
        # One too many.
        ("Replace “%1$s” with “%2$s”?", "„%1$s“ durch „%2$s“ ersetzen?“", "„%1$s“ durch „%2$s“ ersetzen?"),
        ("Add “%1”?", "„%1“ anfügen?“?", "„%1“ anfügen?"),
        ("“%s” is here", "”„%s“ ist da", "”„%s“ ist da"),  # between two marks none is certain
        # One is missing.
        ("Compressed into “%s”", "In %s” komprimiert", "In „%s“ komprimiert"),
        ("Extracted “%s” to “%s”", "»%s« zu ”%s extrahiert", "»%s« zu »%s« extrahiert"),
        ("“a”, “b”", "“a, “b”", "„a“, „b“"),
        ("Rename “%s”", "‚%s” umbenennen", "„%s“ umbenennen"),
        ("Rename “%s”", "„%s‘ umbenennen", "„%s“ umbenennen"),
        ("“a”, “b”", "„ab, „b“", "„ab, „b“"),
        ("the “new file”", "die neue Datei”", "die neue Datei“"),
        # A sentence of several within marks has the first or the last alone.
        ("“Yes.", "“Ja.", "„Ja."),
        ("I am.”", "Das bin ich.”", "Das bin ich.“"),
        ("I am.”", "Das bin ich.«", "Das bin ich.«"),
        # What is right stays.
        ("a “b” c", "a „b“ c", "a „b“ c"),
        ("a “b” c", "a »b« c", "a »b« c"),
        ("a “b” c", "a «b» c", "a «b» c"),
        ("a “b” c", 'a "b" c', 'a "b" c'),
        # What is not certain stays too.
        ("a “b” c", "a „ ” c", "a „ ” c"),
        ("a “b” c", "a b”c” d", "a b”c” d"),
        # Nothing is quoted in the source.
        ("a b c", "a „b” c", "a „b” c"),
        ("", "a „b” c", "a „b” c"),
    ],
)
def test_german(source: str, text: str, expected: str) -> None:
    assert with_matching_quotes(source, text, "de") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the „word“", "the “word”"),
        ("the “word“", "the “word”"),
        ("the «word»", "the “word”"),
        ("the “word”", "the “word”"),
        ('the "word"', 'the "word"'),
    ],
)
def test_english(text: str, expected: str) -> None:
    assert with_matching_quotes("das „Wort“", text, "en") == expected


@pytest.mark.parametrize("language", ["fr", "cs", ""])
def test_other_languages_are_left_alone(language: str) -> None:
    assert with_matching_quotes("a “b” c", "a „b” c", language) == "a „b” c"


TEXTS = st.text(st.sampled_from(f"{MARKS} ab.,-("), max_size=20)


@given(source=TEXTS, text=TEXTS, language=st.sampled_from(["de", "en"]))
def test_nothing_but_marks_changes_and_once_is_enough(source: str, text: str, language: str) -> None:
    found = with_matching_quotes(source, text, language)
    assert re.sub(f"[{MARKS}.]", "", found) == re.sub(f"[{MARKS}.]", "", text)
    assert -1 <= len(text) - len(found) <= 2
    assert len(found.split(" ")) == len(text.split(" "))
    assert with_matching_quotes(source, found, language) == found
