"""Shows a parser's decoder the top of the parser's stack.

A parser's output opens constituents and closes them, which makes it a transition system with a stack: the open
constituents and the complete ones after them. To learn to follow a stack, attention needs many trees. So at each
position it gets the features of the transition-based parsers in the literature (Dyer et al., 2016; Liu and Zhang,
2017): how many constituents are open, the label of the innermost one and its first word, the label or tag of the part
completed last and its first word. All these follow from the output so far. Depth and labels are rows of tables; words
are their positions in the memory, through a matrix, as in `next_word.py`. The sum is added to the input of the
decoder's first layer.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from attendo.model.config import ModelConfig
from attendo.model.next_word import looked_up
from attendo.model.words import MAX_DEPTH, SymbolKind


class StackTop(NamedTuple):
    """The top of the stack at each position; all int64, of the shape of the ids that were read."""

    depth: Tensor
    """Number of open constituents."""
    opened: Tensor
    """The symbol that opened the innermost of them; `tgt_vocab_size` where none is open."""
    opened_at: Tensor
    """Number, from 0, of the first word of the innermost open constituent; 0 if none is open."""
    completed: Tensor
    """The symbol of the word that was completed last, or the one that opened the constituent; `tgt_vocab_size` if
    nothing was completed."""
    completed_at: Tensor
    """Number of the first word of the constituent completed last; 0 if none was completed."""


class ParserStack(nn.Module):
    """The decoder's input for the parser's stack.

    Args:
        config: the model's architecture.
        tgt_vocab_size: ids of the target.
    """

    kinds: Tensor
    """uint8 `(tgt_vocab_size,)`: the `SymbolKind` of each symbol."""

    def __init__(self, config: ModelConfig, tgt_vocab_size: int) -> None:
        super().__init__()
        self.depths, self.opened, self.completed = (
            nn.Parameter(torch.empty(rows, config.d_model))
            for rows in (MAX_DEPTH + 1, tgt_vocab_size + 1, tgt_vocab_size + 1)
        )
        for table in (self.depths, self.opened, self.completed):
            nn.init.normal_(table, std=config.d_model**-0.5)
        self.memory = nn.Linear(config.d_model, 2 * config.d_model, bias=False)
        # Not saved: it follows from the vocabulary, which is in every model folder.
        self.register_buffer("kinds", torch.zeros(tgt_vocab_size, dtype=torch.uint8), persistent=False)

    def know(self, kinds: Tensor) -> None:
        """Tells it the vocabulary, see `kinds`."""
        self.kinds.copy_(kinds)

    def read(self, tgt_in_ids: Tensor) -> StackTop:
        """Finds the top of the stack at each position from the decoder's input up to it, inclusive.

        Without a loop over positions, so that a GPU does not wait for the processor. Positions are counted from 1 here,
        and 0 is an empty position before them.

        Args:
            tgt_in_ids: int64 `(batch, tgt_len)`, the start first; negative values are not symbols.
        """
        ids = functional.pad(tgt_in_ids, (1, 0), value=-1)
        kinds = torch.where(ids >= 0, self.kinds[ids.clamp(min=0)], SymbolKind.OTHER)
        symbols = torch.where(ids >= 0, ids, len(self.kinds))
        place = torch.arange(ids.shape[1], device=ids.device).expand_as(ids)
        is_word, closes = kinds == SymbolKind.WORD, kinds == SymbolKind.CLOSES
        behind = kinds == SymbolKind.OPENS_BEHIND
        opens = behind | (kinds == SymbolKind.OPENS_BEFORE)
        level = (opens.long() - closes.long()).cumsum(dim=1)
        innermost = _last_at_level(level, opens)
        closed = torch.where(closes, functional.pad(innermost[:, :-1], (1, 0)), 0)
        last = torch.where(is_word | closes, place, 0).cummax(dim=1).values  # where something was completed
        # A closing bracket points to its opening one, an in-order opening bracket to the part completed before it.
        # Every target comes earlier, so pointers end, at the latest at a word.
        begins = torch.where(closes, closed, torch.where(behind, last, place))
        for _ in range(begins.shape[1].bit_length()):
            begins = begins.gather(1, begins)
        word = (is_word.cumsum(dim=1) - is_word.long()).gather(1, begins)
        labels = torch.where(closes, symbols.gather(1, closed), symbols)
        top = StackTop(
            depth=level - level.cummin(dim=1).values,
            opened=symbols.gather(1, innermost),
            opened_at=word.gather(1, innermost),
            completed=labels.gather(1, last),
            completed_at=word.gather(1, last),
        )
        return StackTop(*(each[:, 1:] for each in top))

    def forward(self, words: Tensor, read_ids: Tensor, positions: int) -> Tensor:
        """Computes the decoder's further input.

        Args:
            words: `(batch, src_len, 2, d_model)`, the projection of the memory for each word, from `NextWord.by_word`.
            read_ids: int64 `(rows, length)`, the decoder's input so far, the start first; equally many rows for each
                sentence.
            positions: number of last positions that get the input.

        Returns:
            `(rows, positions, d_model)`.
        """
        top = StackTop(*(each[:, -positions:] for each in self.read(read_ids)))
        return self.labelled(top) + looked_up(words, torch.stack((top.opened_at, top.completed_at), dim=2))

    def labelled(self, top: StackTop) -> Tensor:
        """Computes the input for depth and labels, `(..., d_model)`."""
        entries = functional.embedding(top.depth.clamp(max=MAX_DEPTH), self.depths)
        entries = entries + functional.embedding(top.opened, self.opened)
        return entries + functional.embedding(top.completed, self.completed)


def _last_at_level(level: Tensor, opens: Tensor) -> Tensor:
    """Finds where the innermost constituent at each position was opened: the last opening that reached its level.

    Had that been closed, the level would have been lower since, and another opening would have led back to it.

    Args:
        level: int64 `(batch, length)`: number opened minus number closed; negative if more were closed.
        opens: boolean, of the same shape.

    Returns:
        int64, of the same shape; 0 if nothing is open.
    """
    length = level.shape[1]
    order = level.argsort(dim=1, stable=True)  # of each level the positions, side by side
    least = length * level.gather(1, order)
    found = least + torch.where(opens.gather(1, order), order, 0)
    return torch.zeros_like(level).scatter(1, order, found.cummax(dim=1).values - least)
