"""Restricted self-attention (Section 4, Table 1): each position sees r positions, in O(r n d) time and memory.

The queries are cut into blocks of neighbours. A block uses the keys from the first to the last that any of its queries
sees, and no others: no n x n matrix is made, neither logits nor a mask.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from attendo.model.attention import KeysValues, SelfAttention
from attendo.model.config import ModelConfig

FEWEST_QUERIES = 64
"""Minimum number of queries per block. Few rows make slow products; many have more keys that most of them do not attend
to."""


class RestrictedSelfAttention(SelfAttention):
    """Self-attention in which position i attends to the positions i - behind to i + ahead.

    It has the weights of `SelfAttention`, and its results equal those of `SelfAttention` with a band mask.

    Args:
        config: the architecture.
        behind: number of preceding positions that each position sees.
        ahead: number of following positions that each position sees; 0 in a decoder.
    """

    def __init__(self, config: ModelConfig, *, behind: int, ahead: int) -> None:
        super().__init__(config)
        self.behind, self.ahead = behind, ahead

    def context(self, query: Tensor, seen: KeysValues, mask: Tensor | None) -> Tensor:
        """Computes the heads' outputs, `(batch, num_heads, length, d_v)`.

        Args:
            query: `(batch, num_heads, length, d_k)`.
            seen: the keys and values of the same positions; for a single query, the last one, those that it may see.
            mask: boolean `(batch, 1, 1, length)`, True at tokens; None without padding. In a decoder it may be the
                causal one, `(1, 1, length, length)`: the window hides the following positions.
        """
        length = query.shape[2]
        if length == 1:
            return super().context(query, seen, None)
        tokens = self._tokens(mask)
        block = max(FEWEST_QUERIES, (self.behind + 1 + self.ahead) // 2)
        if length <= self.behind + block + self.ahead:
            return super().context(query, seen, self._window(length, tokens, query.device))
        return self._context_by_blocks(query, seen, tokens, block)

    def still_seen(self, past: KeysValues) -> KeysValues:
        """Returns the keys and values of earlier positions that the next position attends to."""
        first = max(0, past.keys.shape[2] - self.behind)
        return KeysValues(past.keys[:, :, first:], past.values[:, :, first:])

    def weights(self, query: Tensor, seen: KeysValues, mask: Tensor | None) -> Tensor:
        """Computes the weights for display, `(batch, num_heads, length, length)`, 0 outside of the window."""
        return super().weights(query, seen, self._window(query.shape[2], self._tokens(mask), query.device))

    def _tokens(self, mask: Tensor | None) -> Tensor | None:
        """Extracts from a mask the information beyond the window: the tokens, `(batch, 1, 1, length)`."""
        if mask is None or mask.shape[2] == 1:
            return mask
        assert self.ahead == 0, "a mask for each query of an encoder's restricted attention"
        return None

    def _window(self, length: int, tokens: Tensor | None, device: torch.device) -> Tensor:
        """Returns the window of some positions, boolean `(1 or batch, 1, length, length)`."""
        places = torch.arange(length, device=device)
        return self._visible(places[:, None], places, tokens)

    def _visible(self, own: Tensor, places: Tensor, is_token: Tensor | None) -> Tensor:
        """Whether queries at some positions see keys at others; the shapes broadcast.

        Each position sees itself, even padding: a query without visible keys would give NaN.
        """
        is_near = (places >= own - self.behind) & (places <= own + self.ahead)
        return is_near if is_token is None else is_near & (is_token | (places == own))

    def _context_by_blocks(self, query: Tensor, seen: KeysValues, tokens: Tensor | None, block: int) -> Tensor:
        """Computes `context` by blocks of queries, which attention treats as sentences."""
        batch, num_heads, length, _ = query.shape
        num_blocks = -(-length // block)
        filling = num_blocks * block - length
        span = self.behind + block + self.ahead

        def spans(values: Tensor) -> Tensor:
            """Entries of each block: `(batch, heads, length, size)` to `(batch * num_blocks, heads, span, size)`."""
            padded = F.pad(values, (0, 0, self.behind, filling + self.ahead))
            return padded.unfold(2, span, block).permute(0, 2, 1, 4, 3).flatten(0, 1)

        if tokens is None:
            tokens = torch.ones(1, 1, 1, length, dtype=torch.bool, device=query.device)
        first = torch.arange(0, num_blocks * block, block, device=query.device)[:, None, None]
        own = first + torch.arange(block, device=query.device)[:, None]
        places = first - self.behind + torch.arange(span, device=query.device)
        is_token = spans(tokens.transpose(-2, -1)).reshape(len(tokens), num_blocks, 1, span)
        mask = self._visible(own, places, is_token).expand(batch, num_blocks, block, span).reshape(-1, 1, block, span)
        queries = F.pad(query, (0, 0, 0, filling)).reshape(batch, num_heads, num_blocks, block, -1)
        queries = queries.transpose(1, 2).flatten(0, 1)
        found = super().context(queries, KeysValues(spans(seen.keys), spans(seen.values)), mask)
        found = found.reshape(batch, num_blocks, num_heads, block, -1).transpose(1, 2)
        return found.flatten(2, 3)[:, :, :length]
