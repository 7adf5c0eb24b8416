"""The training pairs of a run, batch after batch, from any position of any epoch."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from attendo.errors import DataError
from attendo.model.batch import Ids
from attendo.text.augmentation import MAX_JOINED, Augmentation, AugmentationConfig
from attendo.text.batching import BatchPlan, plan_epoch, sample_indices
from attendo.text.shards import PairShards
from attendo.text.subwords.tokenization import EOS_ID, Tokenizer
from attendo.training.config import TrainingConfig
from attendo.training.passes.forward import Collate, TrainingBatch

_JOIN_STREAM, _WINDOW_STREAM = 2, 3  # beside those of `text.batching`
_WINDOW_LINES = 100_000


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """The pairs of one update, as ids."""

    source: Sequence[Ids]
    target: Sequence[Ids]
    members: Sequence[npt.NDArray[np.int64]] = ()
    """For each row the numbers of the corpora's pairs that it is made of, as `BatchStream.origin` takes them; none for
    pairs that are of no corpus."""

    def of_rows(self, rows: Sequence[int] | npt.NDArray[np.intp]) -> "Pairs":
        """Some of the pairs, in the order of `rows`."""
        source, target = [self.source[i] for i in rows], [self.target[i] for i in rows]
        return Pairs(source=source, target=target, members=[self.members[i] for i in rows] if self.members else ())

    def pieces(self, max_tokens: int | None, collate: Collate) -> Iterator[TrainingBatch]:
        """The pairs as batches of at most `max_tokens` padded tokens a side, made by `collate`; all in one for None.

        A pair longer than `max_tokens` is a piece of its own.
        """
        longest = max(max(len(row) for row in rows) for rows in (self.source, self.target))
        size = len(self.source) if max_tokens is None else max(1, max_tokens // longest)
        for first in range(0, len(self.source), size):
            yield collate(self.source[first : first + size], self.target[first : first + size])


class Rewriting:
    """The way pairs change each time they occur: by augmentation of their text, or by BPE-dropout.

    Args:
        source_tokenizer: the tokenizer of the sources.
        target_tokenizer: the tokenizer of the targets.
        dropout: the probability of skipping a merge; 0 for the usual pieces.
        augmentation: the changes of the text.
        max_tokens: maximum number of tokens of a side; pairs are joined only up to it, and a line that would grow
            longer is taken unchanged from the shards.
        source_tags: words that may stand before a source; they stay as they are, and first in their line.
        target_symbols: whether targets are symbols, which have one segmentation only.
    """

    def __init__(
        self,
        source_tokenizer: Tokenizer,
        target_tokenizer: Tokenizer,
        *,
        dropout: float,
        augmentation: AugmentationConfig,
        max_tokens: int,
        source_tags: Sequence[str] = (),
        target_symbols: bool = False,
    ) -> None:
        self._tags = [f"{tag} " for tag in source_tags]
        self.joined, self.max_tokens = augmentation.joined, max_tokens
        self._tokenizers = source_tokenizer, target_tokenizer
        self._dropouts = dropout, 0.0 if target_symbols else dropout
        symbols = [symbol for symbol in source_tokenizer.placeholders if symbol in target_tokenizer.placeholders]
        self._augment = Augmentation(augmentation, symbols)

    def rewrite(self, source: Sequence[Sequence[Ids]], target: Sequence[Sequence[Ids]], seed: int) -> Pairs:
        """Rewrites the lines of a batch for one occurrence.

        Args:
            source: for each line the sources of its pairs, each with `</s>`.
            target: for each line the targets of its pairs, each with `</s>`.
            seed: equal arguments give equal pairs.
        """
        rng = random.Random(seed)
        changed = []
        for sources, targets in zip(source, target, strict=True):
            tags, texts = zip(*(self._untagged(self._tokenizers[0].decode(ids)) for ids in sources), strict=True)
            its_target = " ".join(self._tokenizers[1].decode(ids) for ids in targets)
            its_source, its_target = self._augment(" ".join(texts), its_target, rng)
            changed.append((tags[0] + its_source, its_target))
        sides = (
            tokenizer.encode_sampled([pair[side] for pair in changed], dropout, seed ^ side)
            for side, (tokenizer, dropout) in enumerate(zip(self._tokenizers, self._dropouts, strict=True))
        )
        rows = [
            pair if max(map(len, pair)) <= self.max_tokens else (_chained(source[line]), _chained(target[line]))
            for line, pair in enumerate(zip(*sides, strict=True))
        ]
        source_rows, target_rows = ([np.array(row[side], dtype=np.int32) for row in rows] for side in (0, 1))
        return Pairs(source=source_rows, target=target_rows)

    def _untagged(self, source: str) -> tuple[str, str]:
        """The tag before a source, with its space, and the source; an empty tag where there is none."""
        tag = next((tag for tag in self._tags if source.startswith(tag)), "")
        return tag, source[len(tag) :]


def _chained(parts: Sequence[Ids]) -> list[int]:
    """The ids of several sentences as of one line, with one `</s>`."""
    return [*(int(i) for part in parts for i in part[:-1]), EOS_ID]


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
    """Endless training data: the same batches for the same seed, wherever one starts.

    Args:
        corpora: the shards of each corpus.
        weights: how often each corpus' pairs come in an epoch.
        config: has `max_tokens` and `seed`.
        rewriting: how pairs change; None takes the ids as they lie in the shards.
        kinds: a number for each corpus; only pairs of corpora with equal ones are joined. None joins all with all.

    Raises:
        DataError: there is no pair at all.
    """

    def __init__(
        self,
        corpora: Sequence[PairShards],
        weights: Sequence[float],
        config: TrainingConfig,
        rewriting: Rewriting | None = None,
        kinds: Sequence[int] | None = None,
    ) -> None:
        self._sizes, self._weights = [len(corpus) for corpus in corpora], list(weights)
        if not sum(self._sizes):
            raise DataError("no pair to train on is left; see report.json and dropped.tsv beside the prepared shards")
        self._pairs = PairShards.join(corpora)
        self._config = config
        self._rewriting = rewriting
        self._kinds = np.repeat(np.zeros(len(corpora)) if kinds is None else np.array(kinds), self._sizes)

    def plan(self, epoch: int) -> BatchPlan:
        """The batches of an epoch, counted from 0, as far as the shards' lengths tell: before any rewriting."""
        return self._plan(self._lines(epoch), epoch)

    def from_place(self, place: Place) -> Iterator[tuple[Place, Pairs]]:
        """Batches without end.

        Args:
            place: the first batch.

        Yields:
            The place behind the pairs, and the pairs.
        """
        return self._unchanged(place) if self._rewriting is None else self._rewritten(place, self._rewriting)

    def origin(self, member: int) -> tuple[int, int]:
        """Returns the corpus of a pair and its number in it, both from 0.

        Args:
            member: from `Pairs.members`.
        """
        starts = np.concatenate([[0], np.cumsum(self._sizes)])
        corpus = int(np.searchsorted(starts, member, side="right")) - 1
        return corpus, member - int(starts[corpus])

    def _unchanged(self, place: Place) -> Iterator[tuple[Place, Pairs]]:
        """Batches as they lie in the shards, read when they are asked for."""
        epoch, done = place.epoch, place.batch
        while True:
            lines = self._lines(epoch)
            for number, batch in enumerate(self._plan(lines, epoch).batches[done:], start=done + 1):
                members = lines.pairs[batch]
                pairs = Pairs(
                    source=[self._pairs.source(int(i)) for i in members],
                    target=[self._pairs.target(int(i)) for i in members],
                    members=list(members.reshape(-1, 1)),
                )
                yield Place(epoch=epoch, batch=number), pairs
            epoch, done = epoch + 1, 0

    def _rewritten(self, place: Place, rewriting: Rewriting) -> Iterator[tuple[Place, Pairs]]:
        """Batches of rewritten lines, a window of lines at a time batched by their new lengths.

        Rewriting a batch when it is asked for would leave lines of unequal lengths in it: a third of it, padding.
        """
        epoch, windows, before, done = place.epoch, place.windows, place.window_batches, place.batch
        while True:
            lines = self._lines(epoch)
            for start in self._window_starts(lines)[windows:]:
                rows, plan = self._window(lines, epoch, start, rewriting)
                for number, batch in enumerate(plan.batches, start=before + 1):
                    if number > done:
                        behind = Place(epoch=epoch, batch=number, windows=windows, window_batches=before)
                        yield behind, rows.of_rows(batch)
                windows, before = windows + 1, before + len(plan.batches)
            epoch, windows, before, done = epoch + 1, 0, 0, 0

    @staticmethod
    def _window_starts(lines: "_Lines") -> range:
        return range(0, len(lines), _WINDOW_LINES)

    def _window(self, lines: "_Lines", epoch: int, start: int, rewriting: Rewriting) -> tuple[Pairs, BatchPlan]:
        """The lines of an epoch's window, rewritten, and the batches of them."""
        order = np.random.default_rng([self._config.seed, _WINDOW_STREAM, epoch]).permutation(len(lines))
        members = [lines.members(int(line)) for line in order[start : start + _WINDOW_LINES]]
        pairs = rewriting.rewrite(
            [[self._pairs.source(int(i)) for i in of_line] for of_line in members],
            [[self._pairs.target(int(i)) for i in of_line] for of_line in members],
            seed=int(np.random.SeedSequence([self._config.seed, epoch, start]).generate_state(1)[0]),
        )
        lengths = [np.array([len(row) for row in side]) for side in (pairs.source, pairs.target)]
        plan = plan_epoch(*lengths, max_tokens=self._config.max_tokens, seed=self._config.seed, epoch=epoch)
        return Pairs(source=pairs.source, target=pairs.target, members=members), plan

    def _lines(self, epoch: int) -> "_Lines":
        """An epoch's lines, of one pair or, where pairs are joined, of several."""
        seed = self._config.seed
        lines = _Lines.single(sample_indices(self._sizes, self._weights, seed, epoch), self._pairs)
        if self._rewriting is None or not self._rewriting.joined:
            return lines
        rng = np.random.default_rng([seed, _JOIN_STREAM, epoch])
        return lines.joined(self._rewriting.joined, self._rewriting.max_tokens, self._pairs, self._kinds, rng)

    def _plan(self, lines: "_Lines", epoch: int) -> BatchPlan:
        return plan_epoch(
            lines.source_lengths,
            lines.target_lengths,
            max_tokens=self._config.max_tokens,
            seed=self._config.seed,
            epoch=epoch,
        )


@dataclass(frozen=True)
class _Lines:
    """The lines of an epoch: which pairs each of them is made of, and its tokens with its one `</s>`."""

    pairs: npt.NDArray[np.int64]
    """Indices of pairs, line after line, `(num_pairs,)`."""
    starts: npt.NDArray[np.int64]
    """Where each line's ids begin, and the end, `(num_lines + 1,)`."""
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
        """A line a pair."""
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
        # A line that may not be falls apart again: each of its pairs is a start.
        is_start = np.repeat(too_long | mixed, np.diff(starts))
        is_start[starts[:-1]] = True
        return _Lines.of(order, np.append(np.flatnonzero(is_start), len(order)), shards)

    def __len__(self) -> int:
        """Counts the lines."""
        return len(self.starts) - 1

    def members(self, line: int) -> npt.NDArray[np.int64]:
        """The pairs of a line."""
        return self.pairs[self.starts[line] : self.starts[line + 1]]
