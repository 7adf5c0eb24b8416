"""What stands at rows and columns: characters, also for bytes. By hand, in UTF-8 é is C3 A9 and 😀 F0 9F 98 80."""

from collections.abc import Callable

import pytest

from attendo.attention_maps.drawing import sentence
from attendo.attention_maps.labels import labels
from attendo.attention_maps.weights import AttentionMap


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (["▁a", "b", "</s>"], ["▁a", "b", "</s>"]),
        (["▁", "<0x3C>", "script", "<0x3E>", "</s>"], ["▁", "<", "script", ">", "</s>"]),
        (["<0x5F>", "<0x7B>"], ["_", "{"]),
        (["▁caf", "<0xC3>", "<0xA9>", "s"], ["▁caf", "é 1/2", "é 2/2", "s"]),
        (["<0xF0>", "<0x9F>", "<0x98>", "<0x80>"], ["😀 1/4", "😀 2/4", "😀 3/4", "😀 4/4"]),
        (["<0x3C>", "<0xC3>", "<0xA9>", "<0x3C>"], ["<", "é 1/2", "é 2/2", "<"]),
        (["<0x0A>", "<0x20>"], ["[U+000A]", "▁"]),
        # Not UTF-8: a second byte alone, a first byte alone, a character that breaks off.
        (["<0xA9>", "<0x41>"], ["\ufffd", "A"]),
        (["<0xC3>", "<0x41>"], ["\ufffd", "A"]),
        (["<0xF0>", "<0x9F>", "</s>"], ["\ufffd", "\ufffd", "</s>"]),
        (["<0xFF>"], ["\ufffd"]),
        (["\ud83d", "<0x3c>", "<0x3C>x"], ["[U+D83D]", "<0x3c>", "<0x3C>x"]),
    ],
)
def test_bytes_are_shown_as_the_characters_that_they_spell(pieces: list[str], shown: list[str]) -> None:
    assert labels(pieces, "pieces") == tuple(shown)


def test_words_are_shown_as_they_are() -> None:
    assert labels(["<0x3C>", "é"], "words") == ("<0x3C>", "é")


def test_a_sentence_is_the_text_that_its_pieces_spell(random_map: Callable[..., AttentionMap]) -> None:
    source = ("▁", "<0x3C>", "b", "<0x3E>", "▁na", "<0xC3>", "<0xAF>", "ve", "</s>")
    attention = random_map(source, ("▁x", "</s>"))
    assert sentence(attention, attention.source) == "<b> naïve"
