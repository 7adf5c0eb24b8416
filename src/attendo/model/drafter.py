"""A drafter: proposes the tokens after the next one, all at once, for the model to verify in one passage.

Stern et al. (2018, "Blockwise Parallel Decoding for Deep Autoregressive Models") give the decoder further heads, each
for a token further ahead. Here the proposals are rows of one small layer, whose input is the decoder's output at its
last position and the next token, and which attends to the source with the keys and values of the decoder's last layer.
So it costs less than a layer of the decoder, and reading a source costs nothing more.
"""

import torch
from torch import Tensor, nn

from attendo.model.attention import KeysValues, MemoryAttention
from attendo.model.config import ModelConfig
from attendo.model.layers import AddAndNorm, FeedForward

CANDIDATES = 6
"""Number of most probable tokens of each proposal, from which one is chosen when the token before it is known."""


class Drafter(nn.Module):
    """Proposes `draft_tokens` tokens after the next one.

    Args:
        config: the architecture of the model that it drafts for.
        vocab_size: number of target ids.
    """

    shortlist: nn.Parameter
    """float32 `(min(draft_vocabulary, vocab_size),)`: the ids that are proposed, whole numbers that are not trained; so
    they are saved, averaged and loaded with the weights."""

    def __init__(self, config: ModelConfig, vocab_size: int) -> None:
        super().__init__()
        ids = torch.arange(min(config.draft_vocabulary, vocab_size), dtype=torch.float32)
        self.shortlist = nn.Parameter(ids, requires_grad=False)
        self.joined = nn.Linear(2 * config.d_model, config.d_model)
        self.places = nn.Parameter(torch.randn(config.draft_tokens, config.d_model) * config.d_model**-0.5)
        self.joined_norm = AddAndNorm(config)
        self.attention = MemoryAttention(config)
        self.attention_norm = AddAndNorm(config)
        self.feed_forward = FeedForward(config)
        self.feed_forward_norm = AddAndNorm(config)
        self.beside = nn.Linear(2 * config.d_model, config.d_model)
        self.adjustment = nn.Linear(config.d_model, config.d_model)

    @property
    def ids(self) -> Tensor:
        """The ids of the shortlist, int64."""
        return self.shortlist.detach().long()

    def forward(self, hidden: Tensor, following: Tensor, seen: KeysValues, src_mask: Tensor | None) -> Tensor:
        """The states from which the projection to the shortlist computes logits.

        Args:
            hidden: the decoder's output at some positions, `(batch, length, d_model)`.
            following: embeddings, times sqrt(d_model), of the next tokens, of the same shape.
            seen: the memory's keys and values for the last layer of the decoder.
            src_mask: boolean `(batch, 1, 1, src_len)`, True at tokens; None without padding.

        Returns:
            `(batch, length, draft_tokens, d_model)`.
        """
        batch, length, d_model = hidden.shape
        joined = self.joined(torch.cat((hidden, following), dim=2))
        rows = self.joined_norm(self.places.expand(batch, length, -1, -1), joined[:, :, None])
        rows = rows.reshape(batch, -1, d_model)
        rows = self.attention_norm(rows, self.attention(rows, seen, src_mask))
        drafted: Tensor = self.feed_forward_norm(rows, self.feed_forward(rows))
        return drafted.view(batch, length, -1, d_model)

    def adjusted(self, drafted: Tensor, before: Tensor) -> Tensor:
        """Adjusts the state of a proposal to the one before it.

        Args:
            drafted: states from `forward`, `(..., d_model)`.
            before: embeddings, times sqrt(d_model), of the token proposed before each, of the same shape.
        """
        adjustment: Tensor = self.adjustment(torch.relu(self.beside(torch.cat((drafted, before), dim=-1))))
        return drafted + adjustment
