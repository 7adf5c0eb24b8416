"""Which numbers a translation may write, against a regular expression over all that a small vocabulary can write."""

import re
from collections.abc import Sequence
from itertools import product

import pytest

from attendo.decoding.constraints.words import Spelling
from attendo.decoding.guards.digits import DigitPieces, OnlyNumbers

PIECES = ("</s>", "1", "\u25812", "12", "a", ",", "\u25811,", "\u27e61\u27e7", "<0x33>")
EOS_ID, PLACEHOLDER = 0, 7


class Listed:
    vocab_size = len(PIECES)

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        raise NotImplementedError

    def pieces(self, ids: Sequence[int]) -> list[str]:
        return [PIECES[i] for i in ids]


SPELLING = Spelling(Listed())
SHAPES = [set[str](), {"12"}, {"1", "12"}, {"1,2", "3"}, {"2,12", "12,1"}, {"1", "1,2"}, {"13", "123"}]


@pytest.mark.parametrize("numbers", SHAPES)
def test_exactly_the_texts_with_only_these_numbers_can_be_written(numbers: set[str]) -> None:
    constraint = OnlyNumbers(DigitPieces(SPELLING, [PLACEHOLDER]), numbers)
    either = "|".join(map(re.escape, numbers)) or "(?!)"
    allowed_text = re.compile(rf"(?:[^0-9]|(?:{either})(?![0-9]))*")
    for length in range(5):
        for ids in product(range(1, len(PIECES)), repeat=length):
            sequence = (*ids, EOS_ID)
            can_be_written = all(token in constraint.following(ids[:place]) for place, token in enumerate(sequence))
            text = b"".join(b"*" if token == PLACEHOLDER else SPELLING.texts[token] for token in ids).decode()
            assert can_be_written == bool(allowed_text.fullmatch(text)), (text, numbers)


@pytest.mark.parametrize("numbers", SHAPES)
def test_places_say_what_the_whole_hypothesis_says(numbers: set[str]) -> None:
    constraint = OnlyNumbers(DigitPieces(SPELLING, [PLACEHOLDER]), numbers)
    for ids in product(range(1, len(PIECES)), repeat=3):
        place = constraint.beginning
        for number, token in enumerate(ids):
            assert [token in place.allowed for token in range(len(PIECES))] == [
                token in constraint.following(ids[:number]) for token in range(len(PIECES))
            ]
            place = place.after(token)
