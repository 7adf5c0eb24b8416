"""Letters that a vocabulary lacks, in a vocabulary that is listed."""

from collections.abc import Sequence

import pytest

from attendo.decoding.guards.scripts import KnownLetters


class Listed:
    """Small letters of two scripts in pieces, and bytes."""

    every = ("</s>", "<unk>", "<0x41>", "<0xE2>", "\u2581ab", "cde", "fghijklmnopqrstuvwxyz", "äöüß", "аб", ".", "7")
    vocab_size = len(every)

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        raise NotImplementedError

    def pieces(self, ids: Sequence[int]) -> list[str]:
        return [self.every[i] for i in ids]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Das ist GRÜN, ja!", False),
        ("这是中文。", True),
        ("Das ist 中文.", False),
        ("a 中文", True),
        ("абаб", False),
        ("абвгде", True),  # two of six letters
        ("été ñandú", False),
        ("12 % !", False),
        ("\U0001f600 \u2028", False),
        ("", False),
    ],
)
def test_letters_that_are_not_in_the_vocabulary(text: str, expected: bool) -> None:
    assert KnownLetters(Listed()).are_few_of(text) is expected


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Hello \u0645\u0631\u062d\u0628\u0627 my friend", "en", ["\u0645\u0631\u062d\u0628\u0627"]),
        ("Herr \u7530\u4e2d \u3055\u3093 ist da", "de", ["\u7530\u4e2d \u3055\u3093"]),
        ("so \u00bfD\u00f3nde est\u00e1s? he said", "en", ["\u00bfD\u00f3nde est\u00e1s?"]),
        ("so \u00bfd\u00f3nde est\u00e1s? he said", "es", []),
        ("Paul Erd\u0151s is na\u00efve", "en", ["Erd\u0151s"]),
        ("all of it, 7 \u20ac", "en", []),
        ("Joyeux No\u00ebl, Paul Erd\u0151s !", "fr", ["Erd\u0151s"]),  # French has an \u00eb of its own
        ("Merry No\u00ebl", "en", ["No\u00ebl"]),
        ("", "en", []),
    ],
)
def test_words_that_the_model_cannot_read(text: str, language: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in KnownLetters(Listed()).foreign(text, language)] == expected
