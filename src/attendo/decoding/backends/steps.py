"""Decoder steps in torch: a Transformer with its cache, and one without."""

from collections.abc import Sequence

import torch
from torch import Tensor

from attendo.decoding.backends.next_tokens import DenseNext
from attendo.decoding.step import Block, IntArray
from attendo.model.batch import causal_mask
from attendo.model.transformer import Transformer


class TransformerStep:
    """A step that computes one position at a time and keeps the earlier ones in the model's cache.

    Args:
        model: the model, in evaluation mode.
        src_ids: int64 `(sentences, src_len)`.
        src_mask: boolean `(sentences, 1, 1, src_len)`, or None without padding.
    """

    def __init__(self, model: Transformer, src_ids: Tensor, src_mask: Tensor | None) -> None:
        self._model = model
        self.start_id = model.config.start_id
        self._start_ids = torch.full_like(src_ids[:, 0], self.start_id)
        with torch.no_grad():
            memory = model.encode(src_ids, src_mask)
            self._cache = model.start_cache(memory, src_mask, model.words(memory, src_ids))
        self._hidden: Tensor | None = None
        self._before = self._cache.memory[-1].keys.new_zeros(1, model.config.d_model)

    def start(self) -> DenseNext:
        """Returns the first tokens' log-probabilities, a row per sentence."""
        return self._advance(self._start_ids)

    def advance(self, last_ids: IntArray) -> DenseNext:
        """Adds a token, int64 `(rows,)`, to each row; returns the next tokens' log-probabilities."""
        return self._advance(torch.from_numpy(last_ids).to(self._start_ids.device))

    def select(self, rows: IntArray) -> None:
        """Continues from other rows, int64 `(sentences, hypotheses)`."""
        chosen = torch.from_numpy(rows).to(self._start_ids.device)
        self._cache = self._cache.select(chosen.flatten(), rows.shape[1])

    @torch.no_grad()
    def draft(self, next_id: int) -> list[int]:
        """Proposes `draft_tokens` tokens to follow the next token."""
        following = torch.tensor([[next_id]], device=self._start_ids.device)
        hidden = self._before[:, None] if self._hidden is None else self._hidden[:, -1:]
        drafted = self._model.draft(hidden, following, self._cache.memory[-1], self._cache.src_mask)
        proposed: list[int] = self._model.propose(drafted[0, 0]).tolist()
        return proposed

    def block(self, ids: Sequence[int], eos_id: int) -> Block:
        """Adds a token and the proposals after it, and keeps those that are correct; see `DraftingStep`."""
        before = self._cache.length
        answers = self._extend(torch.tensor([ids], device=self._start_ids.device))
        values, best = answers.top_k(1)
        found = best[:, 0].tolist()
        kept = kept_of(ids, found, eos_id)
        assert self._hidden is not None
        self._cache, self._hidden = self._cache.first(before + kept), self._hidden[:, :kept]
        return Block(
            log_probs=values[:kept, 0].tolist(),
            ids=found[:kept],
            proposed=[] if found[kept - 1] == eos_id else self.draft(found[kept - 1]),
            last=answers.row(kept - 1),
        )

    def _advance(self, last_ids: Tensor) -> DenseNext:
        return self._extend(last_ids[:, None])

    # Not inference mode: a model may be validated here during training, and its tables must remain usable for
    # gradients.
    @torch.no_grad()
    def _extend(self, ids: Tensor) -> DenseNext:
        self._hidden, self._cache = self._model.extend(ids, self._cache)
        return DenseNext(self._model.project(self._hidden).flatten(0, 1).float().log_softmax(dim=-1))


def kept_of(ids: Sequence[int], best: Sequence[int], eos_id: int) -> int:
    """Counts the tokens of a block that are kept: the first, and the proposals up to the first wrong one.

    Args:
        ids: the block.
        best: the most probable token after each of them.
        eos_id: the id of `</s>`, after which nothing is kept.
    """
    kept = 1
    while kept < len(ids) and ids[kept] == best[kept - 1] != eos_id:
        kept += 1
    return kept


class RecomputingStep:
    """A step that recomputes all positions each time: slow, but simple enough to test the other steps against.

    Args:
        model: the model, in evaluation mode.
        src_ids: int64 `(sentences, src_len)`.
        src_mask: boolean `(sentences, 1, 1, src_len)`, or None without padding.
    """

    def __init__(self, model: Transformer, src_ids: Tensor, src_mask: Tensor | None) -> None:
        self._model = model
        with torch.no_grad():
            self._memory = model.encode(src_ids, src_mask)
            self._words = model.words(self._memory, src_ids)
        self._src_mask = src_mask
        self._written = torch.empty_like(src_ids[:, :0])

    def start(self) -> DenseNext:
        """Returns the first tokens' log-probabilities, a row per sentence."""
        return self._advance(torch.full_like(self._memory[:, 0, 0], self._model.config.start_id, dtype=torch.int64))

    def advance(self, last_ids: IntArray) -> DenseNext:
        """Adds a token, int64 `(rows,)`, to each row; returns the next tokens' log-probabilities."""
        return self._advance(torch.from_numpy(last_ids).to(self._written.device))

    def select(self, rows: IntArray) -> None:
        """Continues from other rows, int64 `(sentences, hypotheses)`."""
        chosen = torch.from_numpy(rows).flatten().to(self._written.device)
        self._written, self._memory = self._written[chosen], self._memory[chosen]
        self._src_mask = None if self._src_mask is None else self._src_mask[chosen]
        self._words = None if self._words is None else self._words[chosen]

    @torch.no_grad()
    def _advance(self, last_ids: Tensor) -> DenseNext:
        self._written = torch.cat((self._written, last_ids[:, None]), dim=1)
        tgt_mask = causal_mask(self._written.shape[1], last_ids.device)
        hidden = self._model.decode(self._written, tgt_mask, self._memory, self._src_mask, self._words)
        return DenseNext(self._model.project(hidden[:, -1]).float().log_softmax(dim=-1))
