"""A `Transformer` in torch from a model's arrays."""

import torch

from attendo.model.transformer import Transformer
from attendo.model.weights.arrays import ModelArrays
from attendo.model.words import WordTables


def built(arrays: ModelArrays) -> Transformer:
    """A model in torch with its weights: in evaluation mode, float32, on the CPU; nothing is shared with the arrays."""
    with torch.random.fork_rng(devices=[]):  # so that building a model does not advance the caller's random generator
        transformer = Transformer(arrays.config, arrays.src_vocab_size, arrays.tgt_vocab_size)
    with torch.no_grad():
        for name, parameter in transformer.named_parameters():
            # A copy, since torch warns of memory that cannot be written to.
            parameter.copy_(torch.from_numpy(arrays.floats(name).copy()))
    know_words(transformer, arrays.words)
    return transformer.eval()


def know_words(transformer: Transformer, words: WordTables | None) -> None:
    """Gives the vocabularies' word tables to a decoder with `next_word`; does nothing for None."""
    if words is not None and transformer.next_word is not None:
        transformer.next_word.know(torch.from_numpy(words.begins), torch.from_numpy(words.writes))
        if transformer.parser_stack is not None:
            transformer.parser_stack.know(torch.from_numpy(words.kinds))
