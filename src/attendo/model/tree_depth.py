"""Telling the decoder how deep in the tree its output has come: how many constituents are open.

A Transformer counts badly over long outputs, and a parser has to: each bracket that it opens is to be closed once. The
number of open brackets is known at each position from what was written, and a row of a table for it is added to what
the decoder's first layer reads. It is the height of the stack of Liu and Zhang (2017), of which the decoder of a
transition system sees more than this.
"""

import torch
from torch import Tensor, nn

from attendo.model.config import ModelConfig

MAX_DEPTH = 63
"""What is deeper is told as this; in CRAFT, QuestionBank and the Penn Treebank's sample 28 are open at most."""


class TreeDepth(nn.Module):
    """What the decoder is told of its depth.

    Args:
        config: of the model.
        tgt_vocab_size: ids of the target.
    """

    changes: Tensor
    """int64 `(tgt_vocab_size,)`: 1 for a symbol that opens a constituent, -1 for one that closes one, 0 for others."""

    def __init__(self, config: ModelConfig, tgt_vocab_size: int) -> None:
        super().__init__()
        self.depths = nn.Parameter(torch.empty(MAX_DEPTH + 1, config.d_model))
        nn.init.normal_(self.depths, std=config.d_model**-0.5)
        # Not saved: the vocabulary says it, and it is in every model folder.
        self.register_buffer("changes", torch.zeros(tgt_vocab_size, dtype=torch.int64), persistent=False)

    def know(self, changes: Tensor) -> None:
        """Tells it the vocabulary, see `changes`."""
        self.changes.copy_(changes)

    def written(self, tgt_in_ids: Tensor) -> Tensor:
        """How many constituents are open at each position, by what the decoder reads up to it, its own included.

        Args:
            tgt_in_ids: int64 `(..., tgt_len)`, the start first.

        Returns:
            int64, of the same shape; less than 0 where more were closed than opened.
        """
        return torch.where(tgt_in_ids >= 0, self.changes[tgt_in_ids.clamp(min=0)], 0).cumsum(dim=-1)

    def forward(self, depth: Tensor) -> Tensor:
        """What the decoder is told.

        Args:
            depth: int64 `(...)`, from `written`.

        Returns:
            `(..., d_model)`.
        """
        return nn.functional.embedding(depth.clamp(0, MAX_DEPTH), self.depths)
