"""The maximum length of a translation, by the words of its source rather than by the tokens that spell them."""

import re
from collections.abc import Sequence

from attendo.decoding.constraints.words import Pieces
from attendo.decoding.guards.verbatim import UNSPACED
from attendo.text.patterns import compiled

_SPACE_MARK = "\u2581"
_LONGEST_WORD = 40
"""Tokens of a word: German's longest compounds have fewer."""
_LONGEST_ORDINARY = 64
"""Maximum number of tokens of a source that is not examined: whatever it contains, its translation costs little."""
_SHORTEST_SPELLED = 20
_SPELLED = 3.4
"""Tokens a character times characters a piece: of news and conversations 1.3 to 2, of French read as English 2.8, of
stack traces and random letters 3.6 to 5.6."""
_UNSPACED = f"[{UNSPACED}]"
_FURTHER_BYTE = re.compile("<0x[89AB][0-9A-F]>")


def needed_tokens(vocabulary: Pieces, ids: Sequence[int]) -> int:
    """The number of tokens that the translation of a source is expected to need.

    It is the number of source tokens, except that an endless word counts as the longest real word, and a character
    spelled in bytes as one token. Scripts without spaces between words have no such limit.

    Args:
        vocabulary: the source vocabulary.
        ids: the source, with `</s>`.
    """
    if len(ids) - 1 <= _LONGEST_ORDINARY:
        return len(ids) - 1
    needed = word = 0
    for piece in vocabulary.pieces(ids[:-1]):
        if piece.startswith(_SPACE_MARK):
            needed, word = needed + min(word, _LONGEST_WORD), 0
        if compiled(_UNSPACED).search(piece):
            needed += 1
        elif not _FURTHER_BYTE.fullmatch(piece):
            word += 1
    return needed + min(word, _LONGEST_WORD)


def is_spelled(text: str, tokens: int, piece_length: float) -> bool:
    """Whether a text needs so many tokens that its vocabulary must spell out its words rather than know them.

    Args:
        text: the text that the model reads.
        tokens: number of its tokens, without `</s>`.
        piece_length: the mean length of the vocabulary's pieces, in characters.
    """
    return len(text) >= _SHORTEST_SPELLED and tokens * piece_length > _SPELLED * len(text)


def piece_length(vocabulary: Pieces) -> float:
    """The mean length of a vocabulary's pieces, in characters."""
    pieces = vocabulary.pieces(range(vocabulary.vocab_size))
    return sum(map(len, pieces)) / len(pieces)
