"""What the vocabularies say of words and brackets, for models whose decoder is given what follows from its output."""

import numpy as np

from attendo.model.config import ModelConfig
from attendo.model.words import SymbolKind, WordTables
from attendo.text.subwords.pieces import SPACE_MARK
from attendo.text.subwords.tokenization import Tokenizer


def word_tables(config: ModelConfig, source: Tokenizer, target: Tokenizer) -> WordTables | None:
    """What the vocabularies say of words and brackets; None for a model without `next_word`.

    A word of the source begins with SentencePiece's mark of a space. A symbol of the target stands for a word unless it
    holds a bracket, or is a control symbol or a byte.

    Args:
        config: of the model.
        source: the vocabulary of the source.
        target: that of the target.
    """
    if not config.next_word:
        return None
    begins, symbols = (tokenizer.pieces(range(tokenizer.vocab_size)) for tokenizer in (source, target))
    kinds = np.array(_kinds(symbols), dtype=np.uint8)
    return WordTables(
        begins=np.array([piece.startswith(SPACE_MARK) for piece in begins]),
        writes=kinds == SymbolKind.WORD,
        kinds=kinds,
    )


def _kinds(pieces: list[str]) -> list[SymbolKind]:
    """What each symbol of the target does. Where trees are in-order, and only there, `)` closes without a label."""
    opens = SymbolKind.OPENS_BEHIND if SPACE_MARK + ")" in pieces else SymbolKind.OPENS_BEFORE
    kinds = []
    for piece in pieces:
        if "(" in piece:
            kinds.append(opens)
        elif ")" in piece:
            kinds.append(SymbolKind.CLOSES)
        else:
            kinds.append(SymbolKind.WORD if piece.startswith(SPACE_MARK) else SymbolKind.OTHER)
    return kinds
