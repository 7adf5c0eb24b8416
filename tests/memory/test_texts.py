"""Marks and forms of texts, by hand."""

import pytest

from attendo.formats.contents import Code
from attendo.memory.texts import content_of, marked_texts, pattern_of, same_text, text_hash, with_edges_of

BOLD, END = Code(id="1", raw="<b>", kind="open"), Code(id="1", raw="</b>", kind="close")
BREAK = Code(id="x", raw="<br/>")


def test_codes_are_numbered_by_the_source() -> None:
    source, target = ("Press ", BREAK, BOLD, "save", END), (BOLD, "Sichern", END, " drücken", BREAK)
    assert marked_texts(source, target) == ("Press ⟦1/⟧⟦2⟧save⟦/2⟧", "⟦2⟧Sichern⟦/2⟧ drücken⟦1/⟧")


def test_a_translation_that_lost_or_invented_a_code_is_of_no_use() -> None:
    assert marked_texts((BREAK, "a"), ("b",))[1] == ""
    assert marked_texts(("a",), ("b", BREAK))[1] == ""


def test_marks_become_the_codes_of_another_text() -> None:
    link, end = Code(id="7", raw="<a>", kind="open"), Code(id="7", raw="</a>", kind="close")
    assert content_of("⟦1⟧Sichern⟦/1⟧ drücken", ("Press ", link, "save", end)) == (link, "Sichern", end, " drücken")
    assert content_of("Sichern drücken", ("Press ", link, "save", end)) is None
    assert content_of("⟦1⟧ as it is written", ("plain text",)) == ("⟦1⟧ as it is written",)


def test_equal_texts_are_equal_whatever_their_form_and_edges() -> None:
    assert same_text(" Cafe\u0301\n") == same_text("Café")
    assert text_hash("Café") == text_hash("Caf\u00e9")
    assert with_edges_of(" Tür ", "  door\n") == "  Tür\n"


def test_values_are_their_kinds_and_marks_stay() -> None:
    one, other = (pattern_of(text, "en") for text in ("Step 3 of ⟦1⟧%s⟦/1⟧.", "Step 12 of ⟦1⟧%d⟦/1⟧."))
    assert one.text == other.text
    assert [value.text for value in one.values] == ["3", "%s"]
    assert pattern_of("Step 3 of ⟦2⟧%s⟦/2⟧.", "en").text != one.text


@pytest.mark.parametrize("length", [5_000, 21_846, 65_536, 200_000])
def test_no_text_has_more_words_than_the_index_can_count(length: int) -> None:
    # The case-folded form of this letter is a letter and two marks: three words.
    assert len("\u0390".casefold()) == 3
    assert len(pattern_of("\u0390" * length, "el").words) < 1 << 16
