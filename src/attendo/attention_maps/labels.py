"""Readable labels for pieces and words, also where a vocabulary spells a character in bytes."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from attendo.attention_maps.weights import Unit, visible
from attendo.attention_maps.words import is_byte, text_of

_LENGTHS = ((0x80, 1), (0xC0, 1), (0xE0, 2), (0xF0, 3), (0x100, 4))
"""Pairs of an exclusive upper bound of a character's first byte and its number of bytes in UTF-8."""


def labels(tokens: Sequence[str], unit: Unit) -> tuple[str, ...]:
    """Returns a line of text for each token.

    A piece that is a byte, such as `<0x3C>`, is shown as the character it spells. Where a character takes several
    bytes, each of them shows the character and its own number: `é 1/2`, `é 2/2`. Bytes that form no character are
    shown as U+FFFD.

    Args:
        tokens: the tokens of one side.
        unit: whether the tokens are pieces or words; words are shown unchanged.
    """
    if unit == "words":
        return tuple(map(visible, tokens))
    shown: list[str] = []
    for are_bytes, run in groupby(tokens, is_byte):
        characters = tuple(run)
        shown += _characters(characters) if are_bytes else map(visible, characters)
    return tuple(shown)


def spelled(pieces: Sequence[str]) -> str:
    """Returns the text that pieces spell, on one line; see `labels` for bytes."""
    parts = []
    for are_bytes, run in groupby(pieces, is_byte):
        characters = tuple(run)
        parts.append(visible(text_of(characters)) if are_bytes else "".join(map(visible, characters)))
    return "".join(parts).replace("\u2581", " ").strip()


def _characters(run: tuple[str, ...]) -> Iterator[str]:
    """Yields the labels of consecutive pieces that are bytes."""
    place = 0
    while place < len(run):
        first = int(run[place][3:5], 16)
        length = next(length for bound, length in _LENGTHS if first < bound)
        text = text_of(run[place : place + length])
        if len(text) != 1 or text == "\ufffd":
            text, length = "\ufffd", 1
        character = "\u2581" if text == " " else visible(text)
        yield from [character] if length == 1 else (f"{character} {byte + 1}/{length}" for byte in range(length))
        place += length
