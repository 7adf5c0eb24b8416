"""What the vocabularies say of words and brackets, for models whose decoder is told what follows from what it wrote."""

import torch

from attendo.model.parser_stack import SymbolKind
from attendo.model.transformer import Transformer
from attendo.text.sampling import SPACE_MARK
from attendo.text.tokenization import Tokenizer


def know_words(model: Transformer, source: Tokenizer, target: Tokenizer) -> None:
    """Has a model know which pieces begin words, which symbols stand for one and which are brackets, if it has to.

    A word of the source begins with SentencePiece's mark of a space. A symbol of the target stands for a word unless it
    holds a bracket, or is a control symbol or a byte.
    """
    if model.next_word is None:
        return
    begins, symbols = (tokenizer.pieces(range(tokenizer.vocab_size)) for tokenizer in (source, target))
    kinds = torch.tensor(_kinds(symbols))
    model.next_word.know(torch.tensor([piece.startswith(SPACE_MARK) for piece in begins]), kinds == SymbolKind.WORD)
    if model.parser_stack is not None:
        model.parser_stack.know(kinds)


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
