"""Shows the decoder which source word its output has reached: deterministic attention (Ma et al., 2017).

A parser's output has a symbol for each word of its input, in the input's order, and brackets between them. So it is
known at each position which word is next, and the decoder need not learn to count: the memory at that word's first
piece is added, through a matrix, to the input of its first layer. The encoder-decoder attention is unchanged.
"""

import torch
from torch import Tensor, nn

from attendo.model.config import ModelConfig
from attendo.model.words import WordTables
from attendo.text.subwords.tokenization import EOS_ID


class NextWord(nn.Module):
    """The decoder's input for the next word.

    Args:
        config: the model's architecture.
        src_vocab_size: ids of the source.
        tgt_vocab_size: ids of the target.
    """

    begins: Tensor
    """boolean `(src_vocab_size,)`: the pieces that begin a word."""
    writes: Tensor
    """boolean `(tgt_vocab_size,)`: the symbols that stand for a word."""

    def __init__(self, config: ModelConfig, src_vocab_size: int, tgt_vocab_size: int) -> None:
        super().__init__()
        self.memory = nn.Linear(config.d_model, config.d_model, bias=False)
        # Not saved: they follow from the vocabularies, which are in every model folder.
        self.register_buffer("begins", torch.zeros(src_vocab_size, dtype=torch.bool), persistent=False)
        self.register_buffer("writes", torch.zeros(tgt_vocab_size, dtype=torch.bool), persistent=False)

    def know(self, begins: Tensor, writes: Tensor) -> None:
        """Tells it the vocabularies, see `begins` and `writes`."""
        self.begins.copy_(begins)
        self.writes.copy_(writes)

    def tables(self, kinds: Tensor | None) -> WordTables:
        """Returns its tables of the vocabularies, in the same memory.

        Args:
            kinds: uint8 `(tgt_vocab_size,)`, the table of `ParserStack`; None for a model without it.
        """
        kinds = self.writes.to(torch.uint8) if kinds is None else kinds
        return WordTables(begins=self.begins.numpy(), writes=self.writes.numpy(), kinds=kinds.numpy())

    def by_word(self, values: Tensor, src_ids: Tensor) -> Tensor:
        """Selects the entries of each word's first piece.

        Args:
            values: `(batch, src_len, size)`, one for each piece.
            src_ids: int64 `(batch, src_len)`, each sentence with its `</s>`, then padding.

        Returns:
            `(batch, src_len, size)`: row k belongs to word k, rows after the last word to `</s>`.
        """
        begins = self.begins[src_ids]
        # Words first, then the first </s>; all rows after that repeat it.
        order = torch.where(begins, 0, torch.where(src_ids == EOS_ID, 1, 2)).argsort(dim=1, stable=True)
        row = torch.arange(order.shape[1], device=order.device)
        order = order.gather(1, torch.minimum(row, begins.sum(dim=1, keepdim=True)))
        return values.gather(1, order[:, :, None].expand_as(values))

    def written(self, tgt_in_ids: Tensor) -> Tensor:
        """Counts the words in the decoder's input up to each position, inclusive.

        Args:
            tgt_in_ids: int64 `(..., tgt_len)`, the start first.

        Returns:
            int64, of the same shape: the number, from 0, of the word that is next.
        """
        return self.writes[tgt_in_ids.clamp(min=0)].logical_and(tgt_in_ids >= 0).cumsum(dim=-1)

    def forward(self, words: Tensor, read_ids: Tensor, positions: int) -> Tensor:
        """Computes the decoder's further input.

        Args:
            words: `(batch, src_len, 1, d_model)`, the projection of the memory for each word, from `by_word`.
            read_ids: int64 `(rows, length)`, the decoder's input so far; equally many rows for each sentence.
            positions: number of last positions that get the input.

        Returns:
            `(rows, positions, d_model)`.
        """
        return looked_up(words, self.written(read_ids)[:, -positions:, None])


def looked_up(words: Tensor, numbers: Tensor) -> Tensor:
    """The sum of the entries of some words, at each position.

    Args:
        words: `(batch, src_len, told, d_model)`: the entries of each word, one for each use.
        numbers: int64 `(rows, positions, told)`: the word of each use; equally many rows for each sentence.

    Returns:
        `(rows, positions, d_model)`.
    """
    sentences = numbers.reshape(len(words), -1, words.shape[2]).clamp(max=words.shape[1] - 1)
    entries = words.gather(1, sentences[..., None].expand(-1, -1, -1, words.shape[3])).sum(dim=2)
    return entries.view(*numbers.shape[:2], -1)
