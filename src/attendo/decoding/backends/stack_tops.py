"""The `next_word` and `parser_stack` inputs of a decoder at each position, computed symbol by symbol.

`model.next_word` and `model.parser_stack` compute the same for whole batches, without a loop.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from attendo.decoding.step import BoolArray, IntArray
from attendo.model.words import SymbolKind, WordTables
from attendo.text.subwords.tokenization import EOS_ID


@dataclass(frozen=True, kw_only=True, eq=False)
class TopOfStack:
    """The parser's stack at each position of a target; all int64 `(tgt_len,)`."""

    next_word: IntArray
    """The number, from 0, of the word that is next."""
    depth: IntArray
    """Number of open constituents."""
    opened: IntArray
    """The symbol that opened the innermost of them; `tgt_vocab_size` where none is open."""
    opened_at: IntArray
    """Number of the first word of the innermost open constituent; 0 if none is open."""
    completed: IntArray
    """The symbol of the word that was completed last, or the one that opened the constituent; `tgt_vocab_size` where
    nothing was completed."""
    completed_at: IntArray
    """Number of the first word of the constituent completed last; 0 if none was completed."""


def word_places(source: Sequence[int], begins: BoolArray) -> IntArray:
    """Finds where each word of a source begins; the last entry is the end of the source.

    The end is the first `</s>`; without one, the first token that begins no word, or else the last word itself.

    Args:
        source: its ids with its `</s>`.
        begins: `(src_vocab_size,)`: the pieces that begin a word.
    """
    ids = np.asarray(source, dtype=np.int64)
    starts = np.flatnonzero(begins[ids])
    inside = np.flatnonzero(~begins[ids])
    ends = inside[ids[inside] == EOS_ID]
    last = ends[:1] if len(ends) else inside[:1]
    places: IntArray = np.concatenate((starts, last))
    return places


@dataclass(frozen=True)
class _Part:
    """A word or constituent."""

    symbol: int
    word: int
    """Number of its first word."""


def stack_tops(read: Sequence[int], words: WordTables) -> TopOfStack:
    """Finds the next word and the top of the stack at each position.

    Args:
        read: the ids that the decoder reads, the start first; negative values are not symbols.
        words: the properties of the vocabularies' symbols.
    """
    nothing = _Part(len(words.kinds), 0)
    rows: npt.NDArray[np.int64] = np.empty((6, len(read)), dtype=np.int64)
    stack: list[_Part] = []
    completed, word = nothing, 0
    for place, symbol in enumerate(read):
        kind = SymbolKind(words.kinds[symbol]) if symbol >= 0 else SymbolKind.OTHER
        if kind == SymbolKind.WORD:
            completed = _Part(symbol, word)
        elif kind == SymbolKind.OPENS_BEHIND:
            stack.append(_Part(symbol, completed.word))
        elif kind == SymbolKind.OPENS_BEFORE:
            stack.append(_Part(symbol, word))
        elif kind == SymbolKind.CLOSES:
            completed = stack.pop() if stack else nothing
        word += symbol >= 0 and bool(words.writes[symbol])
        opened = stack[-1] if stack else nothing
        rows[:, place] = word, len(stack), opened.symbol, opened.word, completed.symbol, completed.word
    next_word, depth, opened_by, opened_at, completed_by, completed_at = rows
    return TopOfStack(
        next_word=next_word,
        depth=depth,
        opened=opened_by,
        opened_at=opened_at,
        completed=completed_by,
        completed_at=completed_at,
    )
