"""Shares of an update, and the thread that makes updates ready."""

import threading
import time
from collections.abc import Generator
from pathlib import Path

import numpy as np
import pytest

from attendo.model.batch import Batch, collate
from attendo.text.shards import PairShards, ShardWriter
from attendo.training.batches import BatchStream, Pairs, Place
from attendo.training.config import TrainingConfig
from attendo.training.loader import Prefetched, idle_piece, load_updates, share
from attendo.training.position import Position


def drawn_pairs(number: int) -> Pairs:
    rng = np.random.default_rng(number)
    rows = [[[number] * size for size in rng.integers(1, 40, number)] for _ in range(2)]
    return Pairs(source=rows[0], target=rows[1])


@pytest.mark.parametrize("size", [1, 2, 3, 8])
@pytest.mark.parametrize("number", [1, 2, 7, 8, 100])
def test_shares_are_all_pairs_once_and_balanced(number: int, size: int) -> None:
    pairs = drawn_pairs(number)
    shares = [share(pairs, rank, size) for rank in range(size)]

    def keys(part: Pairs) -> list[tuple[int, int]]:
        return [(id(source), id(target)) for source, target in zip(part.source, part.target, strict=True)]

    assert sorted(key for part in shares for key in keys(part)) == sorted(keys(pairs))
    for part in shares:
        assert keys(part) == [key for key in keys(pairs) if key in keys(part)], "they stay in order"
    tokens = [sum(map(len, part.source)) + sum(map(len, part.target)) for part in shares]
    longest = max(len(source) + len(target) for source, target in zip(pairs.source, pairs.target, strict=True))
    assert max(tokens) - min(tokens) <= longest


def test_a_share_by_hand() -> None:
    # By falling length 9 8 5 4 2 go to processes 0 1 1 0 0.
    pairs = Pairs(source=[[0] * size for size in (1, 3, 5, 2, 4)], target=[[0] * size for size in (1, 2, 4, 2, 4)])
    assert [len(row) for row in share(pairs, 0, 2).source] == [1, 5, 2]
    assert [len(row) for row in share(pairs, 1, 2).source] == [3, 4]


def test_updates_of_two_processes_are_the_stream_divided(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    with ShardWriter(tmp_path, "pairs", vocab_size=50) as writer:
        for _ in range(40):
            source, target = (rng.integers(2, 50, rng.integers(1, 9)).tolist() for _ in range(2))
            writer.add([*source, 0], [*target, 0])
    config = TrainingConfig(max_tokens=30, seed=5)
    stream = BatchStream([PairShards.open(tmp_path, "pairs", (1 << 16, 1 << 16))], [1.0], config)

    def rows(piece: object) -> list[tuple[int, ...]]:
        assert isinstance(piece, Batch)
        return [tuple(ids[tokens].tolist()) for ids, tokens in zip(piece.tgt_ids, piece.tgt_tokens, strict=True)]

    loaders = [load_updates(stream, Position(batch=2), 10, collate, rank, 2) for rank in range(2)]
    for place, pairs in stream.from_place(Place(batch=2)):
        parts = [next(loader) for loader in loaders]
        assert {part.place for part in parts} == {place}
        whole = [tuple(int(i) for i in row) for row in pairs.target]
        assert sorted(row for part in parts for piece in part.pieces for row in rows(piece)) == sorted(whole)
        assert {part.num_tokens for part in parts} == {sum(map(len, whole))}
        if place.epoch == 2:
            break


def test_an_idle_piece_counts_for_nothing() -> None:
    piece = idle_piece(collate)
    assert piece.num_tokens == 0
    assert isinstance(piece, Batch)
    assert piece.src_ids.shape == piece.tgt_ids.shape == (1, 1)


def loader_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "attendo-loader"]


def test_prefetched_items_keep_their_order_and_are_made_ahead() -> None:
    made: list[int] = []

    def items() -> Generator[int]:
        for number in range(100):
            made.append(number)
            yield number

    with Prefetched(items(), ahead=3) as prefetched:
        assert next(prefetched) == 0
        waited_until = time.monotonic() + 120
        while len(made) < 4 and time.monotonic() < waited_until:
            time.sleep(0.001)
        time.sleep(0.05)  # it would go on now, if it did not wait
        assert made == [0, 1, 2, 3], "three wait behind the one that was taken"
        assert list(prefetched) == list(range(1, 100))
        with pytest.raises(StopIteration):
            next(prefetched)
    assert not loader_threads()


def test_an_error_comes_where_its_item_would() -> None:
    def items() -> Generator[int]:
        yield 1
        yield 2
        raise ValueError("torn")

    with Prefetched(items()) as prefetched:
        assert [next(prefetched), next(prefetched)] == [1, 2]
        for _ in range(2):
            with pytest.raises(ValueError, match="torn"):
                next(prefetched)


def test_the_thread_ends_with_the_block_whatever_happens() -> None:
    def endless() -> Generator[int]:
        while True:
            yield 0

    def interrupted() -> None:
        with Prefetched(endless()) as prefetched:
            next(prefetched)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not loader_threads()
    with Prefetched(endless()):
        pass
    assert not loader_threads()
