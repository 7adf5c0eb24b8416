from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attendo.errors import DataError
from attendo.text.shards import PairShards, ShardWriter, TokenRows, id_dtype

Pairs = list[tuple[list[int], list[int]]]

ANY = (1 << 32, 1 << 32)
"""Vocabularies of which every id that a shard can have is one."""


def write(folder: Path, corpus: str, pairs: Pairs, vocab_size: int = 100, shard_pairs: int = 1_000_000) -> list[Path]:
    with ShardWriter(folder, corpus, vocab_size, shard_pairs) as writer:
        for src_ids, tgt_ids in pairs:
            writer.add(src_ids, tgt_ids)
    return writer.paths


def read(shards: PairShards) -> Pairs:
    return [(shards.source(i).tolist(), shards.target(i).tolist()) for i in range(len(shards))]


IDS = st.lists(st.integers(0, 99), min_size=1, max_size=5)


@settings(deadline=None)
@given(pairs=st.lists(st.tuples(IDS, IDS), max_size=9), shard_pairs=st.integers(1, 4))
def test_pairs_come_back(tmp_path_factory: pytest.TempPathFactory, pairs: Pairs, shard_pairs: int) -> None:
    folder = tmp_path_factory.mktemp("shards")
    paths = write(folder, "a", pairs, shard_pairs=shard_pairs)
    shards = PairShards.open(folder, "a", ANY)
    assert read(shards) == pairs
    assert shards.source_lengths.tolist() == [len(source) for source, _ in pairs]
    assert shards.target_lengths.tolist() == [len(target) for _, target in pairs]
    assert sorted(paths) == sorted(folder.iterdir())
    assert len(paths) == 4 * max(1, -(-len(pairs) // shard_pairs))


@settings(deadline=None)
@given(
    pairs=st.lists(st.tuples(IDS, IDS), max_size=12),
    shard_pairs=st.integers(1, 4),
    at_once=st.integers(1, 7),
    vocab_size=st.sampled_from([100, 70_000]),
)
def test_many_pairs_at_once_give_the_files_that_one_by_one_gives(
    tmp_path_factory: pytest.TempPathFactory, pairs: Pairs, shard_pairs: int, at_once: int, vocab_size: int
) -> None:
    folder = tmp_path_factory.mktemp("shards")
    write(folder / "one", "a", pairs, vocab_size, shard_pairs)
    with ShardWriter(folder / "many", "a", vocab_size, shard_pairs) as writer:
        for start in range(0, len(pairs), at_once):
            some = pairs[start : start + at_once]
            sides = [TokenRows.of([pair[side] for pair in some], id_dtype(vocab_size)) for side in (0, 1)]
            writer.extend(*sides)
    contents = [{path.name: path.read_bytes() for path in (folder / way).iterdir()} for way in ("one", "many")]
    assert contents[0] == contents[1]


def test_corpora_are_joined_behind_each_other(tmp_path: Path) -> None:
    write(tmp_path, "a", [([1, 0], [2, 0]), ([3, 0], [0])], shard_pairs=1)
    write(tmp_path, "b", [([4, 4, 0], [5, 0])])
    joined = PairShards.join([PairShards.open(tmp_path, "a", ANY), PairShards.open(tmp_path, "b", ANY)])
    assert read(joined) == [([1, 0], [2, 0]), ([3, 0], [0]), ([4, 4, 0], [5, 0])]
    assert joined.source_lengths.tolist() == [2, 2, 3]
    for outside in (-1, 3):
        with pytest.raises(IndexError, match=f"pair {outside} of 3"):
            joined.source(outside)
    assert len(PairShards.join([])) == 0
    # Any of them at once, in any order and more than once.
    source, target = joined.rows(np.array([2, 0, 2, 1]))
    assert [row.tolist() for row in source.rows()] == [[4, 4, 0], [1, 0], [4, 4, 0], [3, 0]]
    assert [row.tolist() for row in target.rows()] == [[5, 0], [2, 0], [5, 0], [0]]
    assert source.lengths.tolist() == [3, 2, 3, 2]


def test_lengths_are_not_looked_up_before_they_are_asked_for(tmp_path: Path) -> None:
    write(tmp_path, "a", [([1, 2, 0], [3, 0])])
    shards = PairShards.join([PairShards.open(tmp_path, "a", ANY)])
    assert len(shards) == 1
    assert not {"source_lengths", "target_lengths"} & vars(shards).keys()
    assert (shards.source_lengths.tolist(), shards.target_lengths.tolist()) == ([3], [2])
    assert shards.source_lengths is shards.source_lengths


def test_a_name_that_begins_another_is_not_confused(tmp_path: Path) -> None:
    write(tmp_path, "a", [([1], [1])])
    write(tmp_path, "a-00001", [([2], [2])])
    assert read(PairShards.open(tmp_path, "a", ANY)) == [([1], [1])]


def test_the_files_are_plain_npy_of_the_width_the_vocabulary_needs(tmp_path: Path) -> None:
    write(tmp_path, "a", [([65535, 0], [1, 0])], vocab_size=65536)
    write(tmp_path, "b", [([65536, 0], [1, 0])], vocab_size=65537)
    narrow, wide = np.load(tmp_path / "a-00000.source_ids.npy"), np.load(tmp_path / "b-00000.source_ids.npy")
    assert (narrow.dtype, narrow.tolist()) == (np.uint16, [65535, 0])
    assert (wide.dtype, wide.tolist()) == (np.uint32, [65536, 0])
    offsets = np.load(tmp_path / "a-00000.target_offsets.npy")
    assert (offsets.dtype, offsets.tolist()) == (np.int64, [0, 2])


def test_ids_are_mapped_not_read(tmp_path: Path) -> None:
    write(tmp_path, "a", [([1, 2, 0], [3, 0])])
    base = PairShards.open(tmp_path, "a", ANY).source(0).base
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)


def test_an_id_too_large_for_the_width_is_not_wrapped_around(tmp_path: Path) -> None:
    with pytest.raises(OverflowError):
        write(tmp_path, "a", [([65536], [1])])


@pytest.mark.parametrize("part", ["source_ids", "source_offsets", "target_ids", "target_offsets"])
def test_a_missing_or_torn_file_is_named(tmp_path: Path, part: str) -> None:
    write(tmp_path, "a", [([1, 2, 0], [3, 0])] * 50)
    path = tmp_path / f"a-00000.{part}.npy"
    content = path.read_bytes()
    for torn in (content[:-3], content[:60], b""):
        path.write_bytes(torn)
        with pytest.raises(DataError, match=rf"a-00000\.{part}\.npy: .*prepare the data again"):
            PairShards.open(tmp_path, "a", ANY)
    path.unlink()
    with pytest.raises(DataError, match=rf"a-00000\.{part}\.npy: a token shard is missing"):
        PairShards.open(tmp_path, "a", ANY)


def test_files_of_different_shards_do_not_fit(tmp_path: Path) -> None:
    write(tmp_path, "a", [([1, 0], [2, 0])])
    write(tmp_path, "b", [([1, 1, 0], [2, 0]), ([1, 0], [2, 0])])
    (tmp_path / "b-00000.target_offsets.npy").replace(tmp_path / "a-00000.target_offsets.npy")
    with pytest.raises(DataError, match="the four files do not fit together"):
        PairShards.open(tmp_path, "a", ANY)


@pytest.mark.parametrize("side", ["source", "target"])
def test_an_id_that_is_none_of_the_vocabulary_is_named(tmp_path: Path, side: str) -> None:
    good, bad = ([99, 0], [100, 3, 0])
    write(tmp_path, "a", [(good, good), (bad, good) if side == "source" else (good, bad)], vocab_size=101)
    assert read(PairShards.open(tmp_path, "a", (101, 101)))[1] != (good, good)
    shards = PairShards.open(tmp_path, "a", (100, 101) if side == "source" else (101, 100))
    assert getattr(shards, side)(0).tolist() == good
    with pytest.raises(DataError, match=rf"a-00000\.{side}_ids\.npy: has the id 100, but the vocabulary ends at 99"):
        getattr(shards, side)(1)
    with pytest.raises(DataError, match=rf"a-00000\.{side}_ids\.npy: has the id 100, but the vocabulary ends at 99"):
        shards.rows(np.array([0, 1]))


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize(
    ("offsets", "bad_row"),
    [([0, 5, 3, 6], 1), ([0, -2, 3, 6], 0), ([0, 2**40, 3, 6], 0), ([0, 3, 3, 6], 1), ([0, 3, -(2**62), 6], 1)],
)
def test_offsets_that_do_not_rise_are_named(tmp_path: Path, side: str, offsets: list[int], bad_row: int) -> None:
    write(tmp_path, "a", [([1, 0], [2, 0])] * 3)
    np.save(tmp_path / f"a-00000.{side}_offsets.npy", np.array(offsets, dtype=np.int64))
    shards = PairShards.open(tmp_path, "a", ANY)
    with pytest.raises(DataError, match=rf"a-00000\.{side}_offsets\.npy: its offsets do not rise"):
        getattr(shards, side)(bad_row)
    with pytest.raises(DataError, match=rf"a-00000\.{side}_offsets\.npy: its offsets do not rise"):
        getattr(shards, f"{side}_lengths")


@pytest.mark.parametrize("offsets", [[1, 2, 4, 6], [0, 2, 4, 5], [0, 2, 4, 7], []])
def test_offsets_that_do_not_span_the_ids_do_not_fit(tmp_path: Path, offsets: list[int]) -> None:
    write(tmp_path, "a", [([1, 0], [2, 0])] * 3)
    np.save(tmp_path / "a-00000.source_offsets.npy", np.array(offsets, dtype=np.int64))
    with pytest.raises(DataError, match="the four files do not fit together"):
        PairShards.open(tmp_path, "a", ANY)


@pytest.mark.parametrize(
    "array",
    [
        np.array([1, 0], dtype=np.int64),
        np.array([1, 0], dtype=np.float32),
        np.array([1, 0], dtype=">u2"),
        np.array([[1, 0]], dtype=np.uint16),
        np.array(1, dtype=np.uint16),
        np.array([None, {}], dtype=object),
    ],
)
def test_an_array_of_another_kind_is_refused(tmp_path: Path, array: np.ndarray[Any, Any]) -> None:
    write(tmp_path, "a", [([1, 0], [2, 0])])
    np.save(tmp_path / "a-00000.source_ids.npy", array, allow_pickle=True)
    with pytest.raises(DataError, match=r"a-00000\.source_ids\.npy: a token shard is missing or torn"):
        PairShards.open(tmp_path, "a", ANY)


def test_a_header_that_claims_more_than_the_file_has_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a-00000.source_ids.npy"
    terabytes = "{'descr': '<u2', 'fortran_order': False, 'shape': (1000000000000,), }"
    for header in (terabytes, "-" * 9000 + "1", "(" * 9000, "-" * 100 + "1", "(" * 100):
        write(tmp_path, "a", [([1, 0], [2, 0])])
        path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(4))
        with pytest.raises(DataError, match=r"a token shard is missing or torn \(.*\); prepare"):
            PairShards.open(tmp_path, "a", ANY)
    np.savez(tmp_path / "several.npz", a=np.zeros(2))
    path.write_bytes((tmp_path / "several.npz").read_bytes())  # which numpy.load would open as an archive
    with pytest.raises(DataError, match="a token shard is missing or torn"):
        PairShards.open(tmp_path, "a", ANY)


def test_a_name_is_no_path(tmp_path: Path) -> None:
    write(tmp_path, "a", [([1, 0], [2, 0])])
    (tmp_path / "shards").mkdir()
    for name in ("../a", str(tmp_path / "a"), "", "."):
        with pytest.raises(DataError, match="is no name of a corpus"):
            PairShards.open(tmp_path / "shards", name, ANY)
