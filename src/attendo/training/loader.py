"""The batches of the coming updates, made by a thread while the model works on the present batch."""

import queue
import threading
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Generic, Self, TypeVar

import numpy as np

from attendo.errors import DataError
from attendo.text.subwords.tokenization import EOS_ID
from attendo.training.batches import BatchStream, Pairs, Place
from attendo.training.passes.forward import Collate, TrainingBatch
from attendo.training.position import Position

_AHEAD = 4
"""Updates that are made ready; ids are small compared with activations."""

Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True)
class LoadedUpdate:
    """The data that a process needs for one update."""

    place: Place
    """Place after this update."""
    pieces: tuple[TrainingBatch, ...]
    """This process' share of the pairs; empty if there are fewer pairs than processes."""
    num_tokens: int
    """Target tokens of the whole update, over all processes."""
    num_pairs: int
    """Pairs of this process' share."""
    longest: int
    """Number of tokens of the longest sentence in this process' share; 0 if the share is empty."""


def load_updates(
    stream: BatchStream, position: Position, max_tokens_at_once: int | None, collate: Collate, rank: int, size: int
) -> Generator[LoadedUpdate]:
    """A process' share of successive updates, without end.

    Args:
        stream: the batches of all processes together.
        position: the start, and the batches to skip.
        max_tokens_at_once: maximum number of tokens of a piece, as in the recipe.
        collate: makes a batch of pairs.
        rank: the number of this process.
        size: the number of processes.

    Raises:
        DataError: all batches of an epoch are skipped.
    """
    skipped = frozenset(position.skipped)
    found_in = position.epoch
    with closing(stream.from_place(position.place)) as batches:
        for place, pairs in batches:
            if (place.epoch, place.batch) in skipped:
                if place.epoch > found_in + 1:
                    raise DataError(
                        "every batch of the data made training diverge; see skipped.jsonl in the run folder"
                    )
                continue
            found_in = place.epoch
            own = share(pairs, rank, size)
            yield LoadedUpdate(
                place=place,
                pieces=tuple(own.pieces(max_tokens_at_once, collate)) if own.source else (),
                num_tokens=sum(len(row) for row in pairs.target),
                num_pairs=len(own.source),
                longest=max((max(len(row) for row in rows) for rows in (own.source, own.target) if rows), default=0),
            )


def share(pairs: Pairs, rank: int, size: int) -> Pairs:
    """A process' share of an update's pairs, balanced by tokens; the shares together are the pairs, each once.

    The pairs are dealt by decreasing length, in alternating directions, so that two shares differ by fewer tokens than
    the longest pair has. Rows are views of the shards' files: those of other shares are not read.
    """
    if size == 1:
        return pairs
    lengths = np.array([len(source) + len(target) for source, target in zip(pairs.source, pairs.target, strict=True)])
    order = np.argsort(-lengths, kind="stable")
    turn = np.arange(len(order)) % (2 * size)
    own = np.sort(order[(turn == rank) | (turn == 2 * size - 1 - rank)])
    return pairs.of_rows(own)


def idle_piece(collate: Collate) -> TrainingBatch:
    """Returns a batch for a process without pairs, so that it takes part in the update: a pair that counts 0 tokens."""
    return replace(collate([[EOS_ID]], [[EOS_ID]]), num_tokens=0)


class Prefetched(Generic[Item]):
    """A context manager and an iterator over another iterator's items, which a thread prefetches.

    The order is kept; an error of the other iterator is raised in place of its item. After the block the thread has
    ended, and the iterator is closed.

    Args:
        items: the generator to read; nothing else may read it.
        ahead: maximum number of waiting items.
    """

    def __init__(self, items: Generator[Item], ahead: int = _AHEAD) -> None:
        self._items = items
        self._made: queue.SimpleQueue[tuple[Item] | BaseException] = queue.SimpleQueue()
        self._room = threading.Semaphore(ahead)
        self._is_closed = False
        self._thread = threading.Thread(target=self._work, name="attendo-loader", daemon=True)

    def _work(self) -> None:
        try:
            while True:
                self._room.acquire()
                if self._is_closed:
                    return
                self._made.put((next(self._items),))
        except BaseException as error:  # passed on to the consumer; also when there are no more items
            self._made.put(error)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Item:
        """The next item, waiting for it where need be."""
        item = self._made.get()
        if isinstance(item, BaseException):
            self._made.put(item)  # and again for any further call
            raise item
        self._room.release()
        return item[0]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._is_closed = True
        self._room.release()
        self._thread.join()
        self._items.close()
