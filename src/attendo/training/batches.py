"""The training pairs of a run, batch after batch, from any position of any epoch."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt

from attendo.errors import DataError
from attendo.model.batch import DistilledTokens, Ids
from attendo.text.augmentation import MAX_JOINED
from attendo.text.batching import BatchPlan, plan_epoch, sample_indices
from attendo.text.shards import PairShards, spans
from attendo.training.config import TrainingConfig
from attendo.training.passes.forward import Collate, TrainingBatch
from attendo.training.rewriting import Rewriting, RewritingTask, RewrittenLines
from attendo.workers import Workers, local_workers

_JOIN_STREAM, _WINDOW_STREAM = 2, 3  # distinct from those of `text.batching`
_WINDOW_LINES = 100_000
_PART_LINES = 10_000  # a whole number of them makes a window


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """The pairs of one update, as ids."""

    source: Sequence[Ids]
    target: Sequence[Ids]
    members: Sequence[npt.NDArray[np.int64]] = ()
    """For each row, the numbers of the corpora's pairs that it is made of, as arguments of `BatchStream.origin`; none
    for pairs that are of no corpus."""
    distilled: Sequence[bool] | npt.NDArray[np.bool_] = ()
    """For each row, whether it is learned from the teacher's probabilities; empty if none is."""

    def of_rows(self, rows: Sequence[int] | npt.NDArray[np.intp]) -> "Pairs":
        """Selects pairs, in the order of `rows`."""
        source, target = [self.source[i] for i in rows], [self.target[i] for i in rows]
        return Pairs(
            source=source,
            target=target,
            members=[self.members[i] for i in rows] if self.members else (),
            distilled=[bool(self.distilled[i]) for i in rows] if len(self.distilled) else (),
        )

    def pieces(self, max_tokens: int | None, collate: Collate) -> Iterator[TrainingBatch]:
        """The pairs as batches of at most `max_tokens` padded tokens a side, made by `collate`; a single one for None.

        A pair longer than `max_tokens` is a piece of its own.
        """
        longest = max(max(len(row) for row in rows) for rows in (self.source, self.target))
        size = len(self.source) if max_tokens is None else max(1, max_tokens // longest)
        for first in range(0, len(self.source), size):
            chosen = slice(first, first + size)
            target, distilled = self.target[chosen], self.distilled[chosen]
            batch = collate(self.source[chosen], target)
            if any(distilled):
                tokens = np.repeat(np.asarray(distilled, dtype=np.bool_), [len(row) for row in target])
                batch = replace(batch, distilled=DistilledTokens.of(tokens))
            yield batch


@dataclass(frozen=True, kw_only=True)
class Place:
    """A place in the endless sequence of a run's batches."""

    epoch: int = 0
    """The epoch, from 0."""
    batch: int = 0
    """Number of its batches that are done."""
    windows: int = 0
    """Number of its windows whose batches are all done, if lines are rewritten; they are not rewritten again after a
    resume."""
    window_batches: int = 0
    """Batches in those windows."""


class BatchStream:
    """Endless training data: the same batches for the same seed, from any starting place.

    Args:
        corpora: the shards of each corpus.
        weights: the number of times that each corpus' pairs occur in an epoch.
        config: has `max_tokens` and `seed`.
        rewriting: the changes of pairs; None uses the ids of the shards unchanged.
        kinds: a number for each corpus; only pairs of corpora with equal numbers are joined. None joins any pairs.
        workers: the workers that rewrite; None for the calling thread. They do not affect the batches.
        distilled: for each corpus whether its lines are learned from the teacher's probabilities; they are joined only
            with each other. None for no corpus.

    Raises:
        DataError: there are no pairs.
    """

    def __init__(
        self,
        corpora: Sequence[PairShards],
        weights: Sequence[float],
        config: TrainingConfig,
        rewriting: Rewriting | None = None,
        kinds: Sequence[int] | None = None,
        workers: Callable[[], AbstractContextManager[Workers]] | None = None,
        distilled: Sequence[bool] | None = None,
    ) -> None:
        self._sizes, self._weights = [len(corpus) for corpus in corpora], list(weights)
        if not sum(self._sizes):
            raise DataError("no pair to train on is left; see report.json and dropped.tsv beside the prepared shards")
        self._pairs = PairShards.join(corpora)
        self._config = config
        self._rewriting = rewriting
        self._workers = workers or partial(local_workers, 1)
        own = np.zeros(len(corpora), dtype=np.bool_) if distilled is None else np.array(distilled, dtype=np.bool_)
        self._distilled = np.repeat(own, self._sizes) if own.any() else None
        self._kinds = np.repeat(2 * (np.zeros(len(corpora)) if kinds is None else np.array(kinds)) + own, self._sizes)

    def plan(self, epoch: int) -> BatchPlan:
        """The batches of an epoch, counted from 0, as far as the shards' lengths tell: before any rewriting."""
        lines = self._lines(epoch)
        return self._plan(lines.source_lengths, lines.target_lengths, epoch)

    def from_place(self, place: Place) -> Generator[tuple[Place, Pairs]]:
        """Batches without end.

        Args:
            place: the first batch.

        Yields:
            The place after the pairs, and the pairs.
        """
        return self._unchanged(place) if self._rewriting is None else self._rewritten(place, self._rewriting)

    def origin(self, member: int) -> tuple[int, int]:
        """Returns the corpus of a pair and its number in it, both from 0.

        Args:
            member: a number from `Pairs.members`.
        """
        starts = np.concatenate([[0], np.cumsum(self._sizes)])
        corpus = int(np.searchsorted(starts, member, side="right")) - 1
        return corpus, member - int(starts[corpus])

    def _unchanged(self, place: Place) -> Generator[tuple[Place, Pairs]]:
        """Batches from the unchanged shards, read on demand."""
        epoch, done = place.epoch, place.batch
        while True:
            lines = self._lines(epoch)
            plan = self._plan(lines.source_lengths, lines.target_lengths, epoch)
            for number, batch in enumerate(plan.batches[done:], start=done + 1):
                members = lines.pairs[batch]
                pairs = Pairs(
                    source=[self._pairs.source(int(i)) for i in members],
                    target=[self._pairs.target(int(i)) for i in members],
                    members=list(members.reshape(-1, 1)),
                    distilled=self._are_distilled(members),
                )
                yield Place(epoch=epoch, batch=number), pairs
            epoch, done = epoch + 1, 0

    def _rewritten(self, place: Place, rewriting: Rewriting) -> Generator[tuple[Place, Pairs]]:
        """Batches of rewritten lines, a window of lines at a time batched by their new lengths.

        Rewriting each batch on demand would leave lines of unequal lengths in it: a third of it would be padding.
        """
        before, done = place.window_batches, place.batch
        parts: list[RewrittenLines] = []
        with self._workers() as workers:
            for part, rewritten in workers.map(_rewrite_part, self._parts(place, rewriting)):
                parts.append(rewritten)
                if part.whole is None:
                    continue
                if part.epoch > place.epoch:
                    done = 0
                if part.window == 0:
                    before = 0
                pairs = Pairs(
                    source=[row for rows in parts for row in rows.source.rows()],
                    target=[row for rows in parts for row in rows.target.rows()],
                    members=np.split(part.whole.pairs, part.whole.starts[1:-1]),
                    distilled=self._are_distilled(part.whole.pairs[part.whole.starts[:-1]]),
                )
                src_lengths, tgt_lengths = (
                    np.array([len(row) for row in side]) for side in (pairs.source, pairs.target)
                )
                plan = self._plan(src_lengths, tgt_lengths, part.epoch)
                for number, batch in enumerate(plan.batches, start=before + 1):
                    if number > done:
                        behind = Place(epoch=part.epoch, batch=number, windows=part.window, window_batches=before)
                        yield behind, pairs.of_rows(batch)
                before += len(plan.batches)
                parts = []

    def _parts(self, place: Place, rewriting: Rewriting) -> Iterator["_Part"]:
        """The parts of successive windows of lines, starting at a place."""
        for epoch in count(place.epoch):
            lines = self._lines(epoch)
            order = np.random.default_rng([self._config.seed, _WINDOW_STREAM, epoch]).permutation(len(lines))
            size = min(_PART_LINES, _WINDOW_LINES)
            for start in range(0, len(lines), size):
                window, behind = start // _WINDOW_LINES, start + size
                if epoch == place.epoch and window < place.windows:
                    continue
                chosen = lines.chosen(order[start:behind])
                source, target = self._pairs.rows(chosen.pairs)
                seed = np.random.SeedSequence([self._config.seed, epoch, start]).generate_state(1)[0]
                is_last = behind >= len(lines) or behind % _WINDOW_LINES == 0
                yield _Part(
                    epoch=epoch,
                    window=window,
                    whole=lines.chosen(order[window * _WINDOW_LINES : behind]) if is_last else None,
                    task=RewritingTask(
                        rewriting=rewriting, source=source, target=target, starts=chosen.starts, seed=int(seed)
                    ),
                )

    def _lines(self, epoch: int) -> "_Lines":
        """An epoch's lines, of one pair each or, if pairs are joined, of several."""
        seed = self._config.seed
        lines = _Lines.single(sample_indices(self._sizes, self._weights, seed, epoch), self._pairs)
        if self._rewriting is None or not self._rewriting.joined:
            return lines
        rng = np.random.default_rng([seed, _JOIN_STREAM, epoch])
        return lines.joined(self._rewriting.joined, self._rewriting.max_tokens, self._pairs, self._kinds, rng)

    def _are_distilled(self, pairs: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_] | tuple[()]:
        """Whether lines are distilled, given one pair of each; empty where no corpus is."""
        return () if self._distilled is None else self._distilled[pairs]

    def _plan(
        self, source_lengths: npt.NDArray[np.int64], target_lengths: npt.NDArray[np.int64], epoch: int
    ) -> BatchPlan:
        config = self._config
        return plan_epoch(source_lengths, target_lengths, max_tokens=config.max_tokens, seed=config.seed, epoch=epoch)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Part:
    """Lines of a window that one worker rewrites."""

    epoch: int
    window: int
    """The place of the window in the epoch, from 0."""
    whole: "_Lines | None"
    """All lines of the window, if this is its last part."""
    task: RewritingTask

    def __str__(self) -> str:
        """A name of the work, for messages."""
        return f"window {self.window + 1} of epoch {self.epoch + 1} of the training data"


def _rewrite_part(part: _Part) -> RewrittenLines:
    return part.task.rewriting.rewrite(part.task)


@dataclass(frozen=True)
class _Lines:
    """The lines of an epoch: which pairs each of them is made of, and its tokens with its one `</s>`."""

    pairs: npt.NDArray[np.int64]
    """Indices of pairs, line after line, `(num_pairs,)`."""
    starts: npt.NDArray[np.int64]
    """The beginning of each line's ids, and the end, `(num_lines + 1,)`."""
    source_lengths: npt.NDArray[np.int64]
    target_lengths: npt.NDArray[np.int64]

    @classmethod
    def of(cls, pairs: npt.NDArray[np.int64], starts: npt.NDArray[np.int64], shards: PairShards) -> "_Lines":
        """Lines of given pairs."""
        extra = np.diff(starts) - 1

        def lengths(of_pairs: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
            sums = np.add.reduceat(of_pairs[pairs].astype(np.int64), starts[:-1])
            return np.asarray(sums - extra, dtype=np.int64)

        return cls(pairs, starts, lengths(shards.source_lengths), lengths(shards.target_lengths))

    @classmethod
    def single(cls, pairs: npt.NDArray[np.int64], shards: PairShards) -> "_Lines":
        """Lines of one pair each."""
        return cls.of(pairs, np.arange(len(pairs) + 1, dtype=np.int64), shards)

    def joined(
        self, share: float, max_tokens: int, shards: PairShards, kinds: npt.NDArray[Any], rng: np.random.Generator
    ) -> "_Lines":
        """Puts a share of the pairs together, two to four of a kind in a line of at most `max_tokens` a side.

        Every pair stays in exactly one line.
        """
        order = rng.permutation(self.pairs)
        num_joined = round(share * len(order))
        order[:num_joined] = order[:num_joined][np.argsort(kinds[order[:num_joined]], kind="stable")]
        sizes = rng.integers(2, MAX_JOINED, size=num_joined // 2 + 1, endpoint=True)
        ends = np.cumsum(sizes)
        groups = np.concatenate([[0], ends[ends <= num_joined]])
        starts = np.concatenate([groups, np.arange(groups[-1] + 1, len(order) + 1)])
        drawn = _Lines.of(order, starts, shards)
        too_long = np.maximum(drawn.source_lengths, drawn.target_lengths) > max_tokens
        mixed = kinds[order[starts[:-1]]] != kinds[order[starts[1:] - 1]]
        # An invalid line is split again: each of its pairs is a start.
        is_start = np.repeat(too_long | mixed, np.diff(starts))
        is_start[starts[:-1]] = True
        return _Lines.of(order, np.append(np.flatnonzero(is_start), len(order)), shards)

    def __len__(self) -> int:
        """Counts the lines."""
        return len(self.starts) - 1

    def chosen(self, lines: npt.NDArray[np.int64]) -> "_Lines":
        """Selects lines."""
        sizes = np.diff(self.starts)[lines]
        return _Lines(
            self.pairs[spans(self.starts[lines], sizes)],
            np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)]),
            self.source_lengths[lines],
            self.target_lengths[lines],
        )
