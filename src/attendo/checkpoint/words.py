"""Tables of words and brackets in the vocabularies, for models whose decoder reads what follows from its output."""

import numpy as np

from attendo.model.config import ModelConfig
from attendo.model.words import SymbolKind, WordTables
from attendo.text.subwords.pieces import SPACE_MARK
from attendo.text.subwords.tokenization import Tokenizer


def word_tables(config: ModelConfig, source: Tokenizer, target: Tokenizer) -> WordTables | None:
    """Returns the tables of words and brackets in the vocabularies; None for a model without `next_word`.

    A source word begins with SentencePiece's mark of a space. A target symbol stands for a word if it begins with that
    mark and holds no bracket.

    Args:
        config: the architecture of the model.
        source: the source vocabulary.
        target: the target vocabulary.
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
    """Returns the kind of each target symbol. Only in in-order trees does `)` close a bracket without a label."""
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
