"""The decoder's cache, with which each step computes only one new position.

Rows are hypotheses; a sentence has the same number of them as every other, side by side. Keys and values of the memory
are kept once a sentence: its hypotheses look at them together.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from attendo.model.attention import KeysValues


@dataclass(frozen=True, kw_only=True)
class DecoderCache:
    """Keys and values of the source and of the tokens so far; passed in to a step and handed back by it."""

    length: int
    """Positions written so far."""
    rows_per_sentence: int
    """Number of hypotheses per sentence."""
    memory: tuple[KeysValues, ...]
    """A layer each: keys and values of the memory, `(sentences, num_heads, src_len, d_k or d_v)`."""
    src_mask: Tensor | None
    """boolean `(sentences, 1, 1, src_len)`; None without padding."""
    written: tuple[KeysValues | None, ...]
    """A layer each: keys and values of the written positions, `(rows, num_heads, length, d_k or d_v)`; None before.
    Where self-attention is restricted they are no more than its window."""
    words: Tensor | None = None
    """`(sentences, src_len, inputs, d_model)`: the decoder's possible inputs for each source word; None for a model
    without them."""
    read_ids: Tensor | None = None
    """int64 `(rows, length)`: the decoder's input so far, for models whose further inputs depend on it; None before."""

    def select(self, rows: Tensor, rows_per_sentence: int) -> "DecoderCache":
        """The cache for other hypotheses: reordered, repeated or dropped.

        Args:
            rows: int64 `(new_rows,)`, the old row that each new row continues; rows of a sentence stay adjacent, and a
                sentence without rows is dropped.
            rows_per_sentence: number of new rows per sentence.

        Returns:
            A cache of `new_rows` rows.
        """
        sentences = rows[::rows_per_sentence] // self.rows_per_sentence
        memory, src_mask, words = self.memory, self.src_mask, self.words
        num_sentences = len(memory[0].keys)
        unchanged = len(sentences) == num_sentences and bool(
            (sentences == torch.arange(num_sentences, device=rows.device)).all()
        )
        if not unchanged:
            memory = tuple(_rows(layer, sentences) for layer in memory)
            src_mask = None if src_mask is None else src_mask.index_select(0, sentences)
            words = None if words is None else words.index_select(0, sentences)
        written = tuple(None if layer is None else _rows(layer, rows) for layer in self.written)
        return replace(
            self,
            rows_per_sentence=rows_per_sentence,
            memory=memory,
            src_mask=src_mask,
            written=written,
            words=words,
            read_ids=None if self.read_ids is None else self.read_ids.index_select(0, rows),
        )

    def first(self, length: int) -> "DecoderCache":
        """Returns the cache after a number of positions; for self-attention over all positions."""
        written = tuple(
            None if layer is None else KeysValues(layer.keys[:, :, :length], layer.values[:, :, :length])
            for layer in self.written
        )
        read_ids = None if self.read_ids is None else self.read_ids[:, :length]
        return replace(self, length=length, written=written, read_ids=read_ids)


def _rows(layer: KeysValues, rows: Tensor) -> KeysValues:
    return KeysValues(layer.keys.index_select(0, rows), layer.values.index_select(0, rows))


def extend(written: KeysValues, new: KeysValues) -> KeysValues:
    """Keys and values with further positions, `(rows, num_heads, length + new, d_k or d_v)`."""
    return KeysValues(torch.cat((written.keys, new.keys), dim=2), torch.cat((written.values, new.values), dim=2))
