"""Lengths by words, with listed pieces; the expected numbers are counted by hand."""

from collections.abc import Sequence

import pytest

from attendo.decoding.lines.lengths import is_spelled, needed_tokens, piece_length

MARK = "\u2581"


class Listed:
    """Pieces as they are listed, and their places as ids."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._pieces = list(pieces)
        self.vocab_size = len(self._pieces)

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        raise NotImplementedError

    def pieces(self, ids: Sequence[int]) -> list[str]:
        return [self._pieces[i] for i in ids]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([MARK + "the", MARK + "old", "er"], 3),
        ([MARK + "x", *["x"] * 63], 64),  # not longer than any sentence
        ([MARK + "the", MARK + "dog"] * 100, 200),
        # One word of a thousand tokens is the longest there is, 40.
        ([MARK + "the", MARK + "x", *["xx"] * 999, MARK + "dog"], 42),
        ([MARK + "das", MARK + "Haus", *["ung"] * 29] * 4, 4 * 31),
        # A character in three bytes is one token; two hundred of them are still a word.
        ([MARK, *["<0xE2>", "<0x82>", "<0xAC>"] * 30], 31),
        ([MARK, *["<0xE2>", "<0x82>", "<0xAC>"] * 200], 40),
        # Chinese and Thai have no spaces between words, and their sentences may be long.
        ([MARK, *["人人", "生"] * 100], 201),
        ([MARK, *["มนุษย์"] * 90], 91),
    ],
)
def test_the_tokens_that_words_need(pieces: list[str], expected: int) -> None:
    vocabulary = Listed([*pieces, "</s>"])
    assert needed_tokens(vocabulary, range(len(pieces) + 1)) == expected


@pytest.mark.parametrize(
    ("text", "tokens", "expected"),
    [
        ("The old house stands here.", 7, False),
        ("at org.file.ListImpl.get(List.java:12)", 27, True),
        ("ListImpl.java:12", 16, False),  # so short that a beam costs little
        ("人人生而自由在尊严和权利上一律平等他们赋有理性和良心", 14, False),
    ],
)
def test_what_takes_a_token_for_a_letter_or_two_is_spelled(text: str, tokens: int, expected: bool) -> None:
    vocabulary = Listed(["the", "house", "stands", "ungen", "</s>", "st"])
    assert piece_length(vocabulary) == pytest.approx(25 / 6)
    assert is_spelled(text, tokens, 5.6) is expected
