"""Joins attention between pieces to attention between words.

Attention to a word is the sum over its pieces, and attention from a word is the mean over its pieces, so every row of
every head still sums to 1 (Clark et al., 2019, "What Does BERT Look At?", Section 4.1).
"""

import re
import unicodedata
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from attendo.attention_maps.weights import AttentionMap
from attendo.decoding.constraints.words import bytes_of

_SPACE_MARK = "\u2581"
_BYTE = re.compile(r"<0x[0-9A-F]{2}>")
_WITHOUT_SPACES = frozenset(
    ("BOPOMOFO", "CJK", "HIRAGANA", "IDEOGRAPHIC", "KATAKANA", "KHMER", "LAO", "MYANMAR", "THAI", "TIBETAN")
)
"""Scripts that put no spaces between words, by the first word of their characters' Unicode names."""

Sizes = tuple[int, ...]
"""The number of pieces of each word of a side, in order; their sum is the side's number of pieces."""


def word_sizes(pieces: Sequence[str]) -> Sizes:
    """Groups pieces into words and returns the words' numbers of pieces.

    Words are separated by spaces, and punctuation at a word's edges is split off: "tired." is two words, "didn't" is
    one. Pieces of scripts that write no spaces, such as Han, stay words by themselves, and so does the last, `</s>`.

    Args:
        pieces: the pieces of one side, `</s>` last.
    """
    sizes: list[int] = []
    start, has_text = 0, False
    for place, piece in enumerate(pieces[:-1]):
        if has_text and piece.startswith(_SPACE_MARK):
            sizes += _sizes_within(pieces[start:place])
            start, has_text = place, False
        has_text = has_text or bool(piece.strip(_SPACE_MARK))
    return (*sizes, *_sizes_within(pieces[start : len(pieces) - 1]), 1)


def is_byte(piece: str) -> bool:
    """Returns whether a piece is a byte, such as `<0x3C>`, of a character that the vocabulary has no piece for."""
    return _BYTE.fullmatch(piece) is not None


def text_of(pieces: Sequence[str]) -> str:
    """Returns the text that pieces spell; bytes that form no character become U+FFFD, lone surrogates `?`."""
    encoded = (bytes_of(piece.encode("utf-8", errors="replace").decode()) for piece in pieces)
    return b"".join(encoded).decode("utf-8", errors="replace")


def words_of(pieces: Sequence[str], sizes: Sizes) -> tuple[str, ...]:
    """Returns each word's text; bytes that form no character become U+FFFD, lone surrogates question marks.

    Args:
        pieces: the pieces of one side, `</s>` last.
        sizes: the words' numbers of pieces.
    """
    ends = np.cumsum(sizes)
    spelled = (text_of(pieces[end - size : end]) for size, end in zip(sizes, ends, strict=True))
    texts = [text.strip(" ") or _SPACE_MARK for text in spelled]
    return (*texts[:-1], pieces[-1])


def key_sizes(target: Sizes) -> Sizes:
    """Returns the sizes of the words that the decoder's self-attention attends to: the start, then all but `</s>`."""
    return (1, *target[:-1])


def joined(attention: AttentionMap) -> AttentionMap:
    """Joins attention between pieces to attention between words.

    A word's column is the sum over its pieces' columns, and its row is the mean over its pieces' rows, so that every
    row still sums to 1. In the decoder a word of several pieces also attends to itself: its later pieces attend to its
    earlier ones.

    Args:
        attention: attention between pieces, with `</s>` last on both sides; attention between words is returned as it
            is.

    Returns:
        The attention between words.
    """
    if attention.unit == "words":
        return attention
    source, target = word_sizes(attention.source), word_sizes(attention.target)
    return AttentionMap(
        source=words_of(attention.source, source),
        target=words_of(attention.target, target),
        encoder=None if attention.encoder is None else _join(attention.encoder, source, source),
        decoder=_join(attention.decoder, target, key_sizes(target)),
        cross=_join(attention.cross, target, source),
        unit="words",
    )


def _join(weights: NDArray[np.float32], queries: Sizes, keys: Sizes) -> NDArray[np.float32]:
    exact = weights.astype(np.float64)
    looked_at = np.add.reduceat(exact, _starts(keys), axis=3)
    looking = np.add.reduceat(looked_at, _starts(queries), axis=2)
    mean: NDArray[np.float32] = (looking / np.array(queries)[:, np.newaxis]).astype(np.float32)
    return mean


def _starts(sizes: Sizes) -> NDArray[np.intp]:
    return np.cumsum((0, *sizes[:-1]))


def _sizes_within(group: Sequence[str]) -> list[int]:
    """Splits the pieces between two spaces into words and returns the words' numbers of pieces."""
    spaces = next((place for place, piece in enumerate(group) if piece.strip(_SPACE_MARK)), len(group))
    rest = group[spaces:]
    if not rest:
        return [spaces] if spaces else []
    lexical = [place for place, piece in enumerate(rest) if not _is_punctuation(piece)]
    first, last = (lexical[0], lexical[-1]) if lexical else (len(rest), 0)
    sizes: list[int] = []
    for place, piece in enumerate(rest):
        inside = first < place <= last
        if inside and not (_stands_alone(piece) or _stands_alone(rest[place - 1])):
            sizes[-1] += 1
        else:
            sizes.append(1)
    # A space that is a piece by itself belongs to the word after it.
    return [sizes[0] + spaces, *sizes[1:]]


def _is_punctuation(piece: str) -> bool:
    return all(unicodedata.category(character)[0] in "PSZ" for character in piece)


def _stands_alone(piece: str) -> bool:
    first = piece.lstrip(_SPACE_MARK)[:1]
    return bool(first) and unicodedata.name(first, "").partition(" ")[0] in _WITHOUT_SPACES
