"""What the vocabularies say of words and brackets, for models whose decoder is told where in a tree it is."""

import torch

from attendo.model.transformer import Transformer
from attendo.text.sampling import SPACE_MARK
from attendo.text.tokenization import Tokenizer

_BRACKETS = frozenset("()")


def know_words(model: Transformer, source: Tokenizer, target: Tokenizer) -> None:
    """Has a model know which pieces begin words, which symbols stand for one and which are brackets, if it has to.

    A word of the source begins with SentencePiece's mark of a space. A symbol of the target stands for a word unless it
    holds a bracket, or is a control symbol or a byte.
    """
    if model.next_word is None and model.tree_depth is None:
        return
    begins, symbols = (tokenizer.pieces(range(tokenizer.vocab_size)) for tokenizer in (source, target))
    if model.next_word is not None:
        model.next_word.know(
            torch.tensor([piece.startswith(SPACE_MARK) for piece in begins]),
            torch.tensor([piece.startswith(SPACE_MARK) and not _BRACKETS & set(piece) for piece in symbols]),
        )
    if model.tree_depth is not None:
        model.tree_depth.know(torch.tensor([("(" in piece) - (")" in piece) for piece in symbols]))
