"""The training pairs of a run, batch after batch, from any position of any epoch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from attendo.errors import DataError
from attendo.model.batch import Batch, Ids, collate
from attendo.text.batching import BatchPlan, plan_epoch, sample_indices
from attendo.text.shards import PairShards
from attendo.text.tokenization import Tokenizer
from attendo.training.config import TrainingConfig


@dataclass(frozen=True, kw_only=True)
class Segmentation:
    """How to cut the words anew each time a pair is met (BPE-dropout); a help where data is scarce."""

    source_tokenizer: Tokenizer
    target_tokenizer: Tokenizer
    dropout: float
    """The chance to skip a merge, above 0."""


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """The pairs of one update, as ids."""

    source: Sequence[Ids]
    target: Sequence[Ids]

    def pieces(self, max_tokens: int | None, start: int) -> Iterator[Batch]:
        """The pairs as batches of at most `max_tokens` padded tokens a side; all in one for None.

        A pair longer than `max_tokens` is a piece of its own.
        """
        longest = max(max(len(row) for row in rows) for rows in (self.source, self.target))
        size = len(self.source) if max_tokens is None else max(1, max_tokens // longest)
        for first in range(0, len(self.source), size):
            yield collate(self.source[first : first + size], self.target[first : first + size], start=start)


class BatchStream:
    """Endless training data: the same batches for the same seed, wherever one starts.

    Args:
        corpora: the shards of each corpus.
        weights: how often each corpus' pairs come in an epoch.
        config: has `max_tokens` and `seed`.
        segmentation: for BPE-dropout; None takes the ids as they lie in the shards.

    Raises:
        DataError: there is no pair at all.
    """

    def __init__(
        self,
        corpora: Sequence[PairShards],
        weights: Sequence[float],
        config: TrainingConfig,
        segmentation: Segmentation | None = None,
    ) -> None:
        self._sizes, self._weights = [len(corpus) for corpus in corpora], list(weights)
        if not sum(self._sizes):
            raise DataError("no pair to train on is left; see report.json and dropped.tsv beside the prepared shards")
        self._pairs = PairShards.join(corpora)
        self._config = config
        self._segmentation = segmentation

    def plan(self, epoch: int) -> BatchPlan:
        """The batches of an epoch, counted from 0."""
        seed = self._config.seed
        return plan_epoch(
            self._pairs.source_lengths,
            self._pairs.target_lengths,
            max_tokens=self._config.max_tokens,
            seed=seed,
            epoch=epoch,
            indices=sample_indices(self._sizes, self._weights, seed, epoch),
        )

    def from_position(self, epoch: int, batch: int) -> Iterator[tuple[int, int, Pairs]]:
        """Batches without end.

        Args:
            epoch: the first epoch, from 0.
            batch: batches of it to leave out, being done already.

        Yields:
            The position behind the pairs, an epoch and a number of its batches, and the pairs.
        """
        while True:
            batches = self.plan(epoch).batches
            for number in range(batch, len(batches)):
                indices = batches[number]
                source: Sequence[Ids] = [self._pairs.source(int(i)) for i in indices]
                target: Sequence[Ids] = [self._pairs.target(int(i)) for i in indices]
                yield epoch, number + 1, self._segmented(source, target, epoch, number)
            epoch, batch = epoch + 1, 0

    def _segmented(self, source: Sequence[Ids], target: Sequence[Ids], epoch: int, number: int) -> Pairs:
        if self._segmentation is None:
            return Pairs(source=source, target=target)
        cut, seed = (
            self._segmentation,
            int(np.random.SeedSequence([self._config.seed, epoch, number]).generate_state(1)[0]),
        )
        return Pairs(
            source=cut.source_tokenizer.resample([list(row) for row in source], cut.dropout, seed),
            target=cut.target_tokenizer.resample([list(row) for row in target], cut.dropout, seed ^ 1),
        )
