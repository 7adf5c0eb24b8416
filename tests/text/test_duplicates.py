from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attendo.text.duplicates import DigestBuckets, HeldOut, RowSet, as_digests, folded, pair_digest, repeated_rows

Pairs = list[tuple[str, str]]


def flags(folder: Path, pairs: Pairs, num_buckets: int, at_once: int) -> list[bool]:
    """Which pairs came before, when they are added some at a time."""
    buckets = DigestBuckets(folder / "digests", num_buckets)
    repeated = RowSet()
    for start in range(0, len(pairs), at_once):
        added = pairs[start : start + at_once]
        repeated.grow(len(added))
        repeated.add(buckets.add(as_digests(pair_digest(*pair) for pair in added)))
    assert buckets.num_rows == len(pairs)
    assert len(buckets.paths) <= num_buckets
    for path in buckets.paths:
        rows = repeated_rows(path)
        assert rows.tolist() == sorted(rows.tolist())
        repeated.add(rows)
    found = [bool(flag) for flag in repeated.between(0, len(pairs))]
    assert len(repeated) == sum(found)
    return found


def by_a_set(pairs: Pairs) -> list[bool]:
    return [pair in pairs[:number] for number, pair in enumerate(pairs)]


@settings(deadline=None)
@given(
    pairs=st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc"))),
    num_buckets=st.integers(1, 5),
    at_once=st.integers(1, 9),
)
def test_all_but_the_first_of_equal_pairs_are_found(
    tmp_path_factory: pytest.TempPathFactory, pairs: Pairs, num_buckets: int, at_once: int
) -> None:
    assert flags(tmp_path_factory.mktemp("digests"), pairs, num_buckets, at_once) == by_a_set(pairs)


def test_the_sides_are_not_run_together() -> None:
    assert (
        len({pair_digest("a b", "c"), pair_digest("a", "b c"), pair_digest("a ", "b c"), pair_digest("c", "a b")}) == 4
    )


def test_digests_that_share_a_half_are_two(tmp_path: Path) -> None:
    halves = [(1, 1), (1, 2), (2, 1), (1, 1), (1, 2)]
    buckets = DigestBuckets(tmp_path / "digests", 3)
    for number in range(5):
        assert not len(buckets.add(np.array(halves[number : number + 1], dtype=np.uint64)))
    assert sorted(row for path in buckets.paths for row in repeated_rows(path)) == [3, 4]
    assert DigestBuckets(tmp_path / "others", 3).add(np.array(halves, dtype=np.uint64)).tolist() == [3, 4]


def test_what_repeats_without_end_takes_no_room(tmp_path: Path) -> None:
    buckets = DigestBuckets(tmp_path / "digests", 1)
    for start in range(0, 100_000, 10_000):
        repeated = buckets.add(as_digests([pair_digest("a", "b")] * 10_000))
        assert repeated.tolist() == list(range(start + 1, start + 10_000))
    (bucket,) = buckets.paths
    assert bucket.stat().st_size == 10 * 24  # two halves of a digest and a row for each time that some came
    assert repeated_rows(bucket).tolist() == list(range(10_000, 100_000, 10_000))


def test_many_pairs_in_several_buckets(tmp_path: Path) -> None:
    pairs = [(str(number % 400_000), "x") for number in range(600_000)]
    assert flags(tmp_path, pairs, num_buckets=7, at_once=50_000) == [False] * 400_000 + [True] * 200_000


@given(sizes=st.lists(st.integers(0, 30)), step=st.integers(1, 5))
def test_a_set_that_grows_keeps_its_rows(sizes: list[int], step: int) -> None:
    found, total = RowSet(), 0
    for size in sizes:
        found.grow(size)
        found.add(np.array([row for row in range(total, total + size) if row % step == 0], dtype=np.int64))
        total += size
    assert found.between(0, total).tolist() == [row % step == 0 for row in range(total)]


@given(rows=st.sets(st.integers(0, 40)), start=st.integers(0, 41), size=st.integers(0, 41))
def test_a_set_of_rows_is_a_set(rows: set[int], start: int, size: int) -> None:
    found = RowSet(41)
    for part in (sorted(rows)[::2], sorted(rows)[1::2]):  # two times, with rows of one byte in both
        found.add(np.array(part, dtype=np.int64))
    stop = min(41, start + size)
    assert found.between(start, stop).tolist() == [row in rows for row in range(start, stop)]
    assert len(found) == len(rows)


def test_a_set_of_rows_takes_a_bit_for_each() -> None:
    rows = RowSet(8_000_000)
    rows.add(np.arange(0, 8_000_000, 3))
    assert rows._bits.nbytes == 1_000_000
    assert rows.between(7_999_990, 8_000_000).tolist() == [row % 3 == 0 for row in range(7_999_990, 8_000_000)]


def test_near_duplicates_have_one_digest() -> None:
    first = ("Open the file number 12 in the editor.", "Öffnen Sie die Datei Nummer 12 im Editor.")
    other = ("open the file, number 7, in the  Editor", "Öffnen Sie die Datei (Nummer 7) im Editor!")
    assert pair_digest(*first, near=True) == pair_digest(*other, near=True)
    assert pair_digest(*first) != pair_digest(*other)
    assert pair_digest(*first, near=True) != pair_digest(
        first[0], "Öffnen Sie den Ordner Nummer 12 im Editor.", near=True
    )


def test_texts_of_few_letters_are_no_near_duplicates() -> None:
    assert folded("Nineteen letters 7 abc") == "Nineteen letters 7 abc", "they are 18"
    assert folded("Twenty letters 7, abcdefg!") == "twentylettersabcdefg", "they are 20"
    assert pair_digest("Open", "Öffnen", near=True) != pair_digest("Open…", "Öffnen …", near=True)


def test_the_validation_set_is_found_among_others() -> None:
    pairs = [("a", "b"), ("c", "d"), ("a", "b"), ("x", "y"), (" c", "d")]
    digests = as_digests(pair_digest(*pair) for pair in pairs)
    valid = (["a ", "c", "none"], ["b", " d", "none"])
    once = HeldOut(valid, once=True)
    assert (once.count(digests), once.count(digests)) == (2, 0)  # a repeated pair is dropped, and counts no more
    always = HeldOut(valid, once=False)
    assert (always.count(digests), always.count(digests)) == (3, 3)
    assert HeldOut(([], []), once=True).count(digests) == 0
