"""What the vocabularies say of words, for models whose decoder is told which word is next."""

import torch

from attendo.model.transformer import Transformer
from attendo.text.sampling import SPACE_MARK
from attendo.text.tokenization import Tokenizer

_BRACKETS = frozenset("()")


def know_words(model: Transformer, source: Tokenizer, target: Tokenizer) -> None:
    """Has a model know which pieces begin words and which symbols stand for one, if it is one that has to.

    A word of the source begins with SentencePiece's mark of a space. A symbol of the target stands for a word unless it
    holds a bracket, or is a control symbol or a byte.
    """
    if model.next_word is None:
        return
    begins, writes = (tokenizer.pieces(range(tokenizer.vocab_size)) for tokenizer in (source, target))
    model.next_word.know(
        torch.tensor([piece.startswith(SPACE_MARK) for piece in begins]),
        torch.tensor([piece.startswith(SPACE_MARK) and not _BRACKETS & set(piece) for piece in writes]),
    )
