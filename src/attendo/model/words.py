"""What a vocabulary says of words and brackets, for decoders that are given the next word or the parser's stack.

`model.next_word` and `model.parser_stack` have the layers that use it.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

MAX_DEPTH = 63
"""What is deeper is told as this; in CRAFT, QuestionBank and the Penn Treebank's sample 28 are open at most."""


class SymbolKind(IntEnum):
    """What a symbol of the target does to the stack."""

    OTHER = 0
    WORD = 1
    """It stands for a word, which is complete then."""
    OPENS_BEHIND = 2
    """It opens a constituent whose first part is what was completed last: in-order `(NP`."""
    OPENS_BEFORE = 3
    """It opens a constituent that begins with the word that is next: top-down `(NP`."""
    CLOSES = 4
    """It closes the innermost open constituent, which is complete then; where none is open, nothing is."""


@dataclass(frozen=True, kw_only=True, eq=False)
class WordTables:
    """Which pieces begin words, which symbols stand for words, and what each symbol does to the parser's stack."""

    begins: npt.NDArray[np.bool_]
    """`(src_vocab_size,)`: the pieces that begin a word."""
    writes: npt.NDArray[np.bool_]
    """`(tgt_vocab_size,)`: the symbols that stand for a word."""
    kinds: npt.NDArray[np.uint8]
    """`(tgt_vocab_size,)`: the `SymbolKind` of each symbol."""
