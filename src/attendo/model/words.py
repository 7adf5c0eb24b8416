"""Word and bracket tables of a vocabulary, for decoders with the next word or the parser's stack as inputs.

`model.next_word` and `model.parser_stack` have the layers that use it.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

MAX_DEPTH = 63
"""Maximum depth that is distinguished; at most 28 constituents are open in CRAFT, QuestionBank and the Penn Treebank's
sample."""


class SymbolKind(IntEnum):
    """The effect of a target symbol on the stack."""

    OTHER = 0
    WORD = 1
    """A word, which is then complete."""
    OPENS_BEHIND = 2
    """Opens a constituent whose first part is the one completed last: in-order `(NP`."""
    OPENS_BEFORE = 3
    """Opens a constituent that begins with the next word: top-down `(NP`."""
    CLOSES = 4
    """Closes and completes the innermost open constituent, if there is one."""


@dataclass(frozen=True, kw_only=True, eq=False)
class WordTables:
    """Tables of vocabularies: pieces that begin words, symbols for words, each symbol's action on the stack."""

    begins: npt.NDArray[np.bool_]
    """`(src_vocab_size,)`: the pieces that begin a word."""
    writes: npt.NDArray[np.bool_]
    """`(tgt_vocab_size,)`: the symbols that stand for a word."""
    kinds: npt.NDArray[np.uint8]
    """`(tgt_vocab_size,)`: the `SymbolKind` of each symbol."""
