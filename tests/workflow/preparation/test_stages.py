import gzip
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import attendo.text.parts
import attendo.workflow.preparation.stages
from attendo.errors import DataError
from attendo.text.corpora import CorpusConfig, DataConfig
from attendo.text.duplicates import DigestBuckets, RowSet
from attendo.workers import InProcess
from attendo.workflow.preparation.stages import CleaningResult, Preparation


def rows(numbers: list[int], total: int) -> RowSet:
    found = RowSet(total)
    found.add(np.array(numbers, dtype=np.int64))
    return found


def test_the_duplicates_of_each_part() -> None:
    cleaned = CleaningResult(part_rows=(3, 0, 9, 2), duplicates=rows([2, 3, 12], 14), in_valid=Counter())
    assert cleaned.num_kept == 11
    found = [np.flatnonzero(part).tolist() for part in cleaned.part_duplicates()]
    assert found == [[2], [], [0], [0]]


@given(
    part_rows=st.lists(st.integers(0, 6), min_size=1, max_size=5),
    duplicates=st.sets(st.integers(0, 29)),
    wanted=st.integers(1, 9),
    seed=st.integers(0, 99),
)
def test_the_sample_is_that_of_one_reading_of_all(
    part_rows: list[int], duplicates: set[int], wanted: int, seed: int
) -> None:
    total = sum(part_rows)
    repeated = sorted(row for row in duplicates if row < total)
    cleaned = CleaningResult(part_rows=tuple(part_rows), duplicates=rows(repeated, total), in_valid=Counter())
    kept = [row for row in range(total) if row not in repeated]
    # Knuth, The Art of Computer Programming, volume 2, algorithm S, over all rows.
    rng = random.Random(seed)
    expected: list[int] = []
    for number, row in enumerate(kept):
        if rng.random() * (len(kept) - number) < min(wanted, len(kept)) - len(expected):
            expected.append(row)

    with pytest.MonkeyPatch.context() as patch:
        work = Preparation(DataConfig(), Path(), Path(), InProcess(), None)
        patch.setattr(work, "_parts", lambda: iter(range(len(part_rows))))
        tasks = list(work._sample_tasks(cleaned, min(wanted, len(kept)), seed))
    starts = np.cumsum([0, *part_rows])
    found = [int(starts[number]) + row for number, task in enumerate(tasks) for row in task.rows.tolist()]
    assert found == expected
    assert len(found) == min(wanted, len(kept))


def test_a_file_that_changes_between_two_readings_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attendo.text.parts, "_BLOCK_BYTES", 64)
    monkeypatch.setattr(attendo.workflow.preparation.stages, "PART_BYTES", 256)
    (tmp_path / "a.tsv").write_text("".join(f"word {number}\tdrow {number}\n" for number in range(200)))
    (tmp_path / "out").mkdir()
    data = DataConfig(corpora=(CorpusConfig(name="a", tsv="a.tsv"),))
    work = Preparation(data, tmp_path, tmp_path / "out", InProcess(), None)
    work.scan()
    cleaned = work.clean(([], []))
    assert (cleaned.num_kept, len(cleaned.part_rows) > 5) == (200, True)
    assert list(work.corpus_files()) == ["a.tsv"]
    assert not list((tmp_path / "out").iterdir())
    with (tmp_path / "a.tsv").open("a") as file:
        file.write("late\tetal\n")
    with pytest.raises(DataError, match=r"a\.tsv: was written to while it was being prepared"):
        work.corpus_files()


@pytest.mark.parametrize(
    ("content", "num_buckets"),
    [
        (b"ka\tlo\n" * 99, 10),
        (b"ka\tlo\n" * 100, 11),
        (b"k\tl\n" * 100_000, 512),
        (gzip.compress(b"ka\tlo\n", mtime=0), None),
    ],
)
def test_there_are_buckets_for_all_pairs_there_can_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, num_buckets: int | None
) -> None:
    asked: list[int] = []

    class Buckets(DigestBuckets):
        def __init__(self, folder: Path, number: int) -> None:
            asked.append(number)
            super().__init__(folder, number)

    monkeypatch.setattr(attendo.workflow.preparation.stages, "DigestBuckets", Buckets)
    monkeypatch.setattr(attendo.workflow.preparation.stages, "_BUCKET_PAIRS", 10)
    (tmp_path / "a.tsv").write_bytes(content)
    data = DataConfig(corpora=(CorpusConfig(name="a", tsv="a.tsv"),))
    work = Preparation(data, tmp_path, tmp_path, InProcess(), None)
    work.scan()
    work.clean(([], []))
    # A byte that gzip makes of 1,032 (the deflate format's limit) is 516 lines of a letter, at most.
    assert asked == [min(512, 1 + 516 * len(content) // 10) if num_buckets is None else num_buckets]
