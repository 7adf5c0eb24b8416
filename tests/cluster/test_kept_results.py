from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import Corpus

from attendo.cluster.kept_results import KeptResults
from attendo.text.corpora import CorpusConfig
from attendo.text.pair_rules import CleaningConfig
from attendo.text.parts import CorpusPart, corpus_parts, scan_file
from attendo.text.subwords.learning import learn_tokenizer
from attendo.text.subwords.tokenization import TokenizerConfig
from attendo.workflow.preparation.parts import (
    CleanTask,
    EncodeTask,
    SampleTask,
    clean_part,
    encode_part,
    sample_part,
)

CLEANING = CleaningConfig(max_tokens=30)


class Counting:
    """Workers that take two tasks at once, and note what they did."""

    def __init__(self, fails_at: int | None = None) -> None:
        self.done: list[Any] = []
        self._fails_at = fails_at

    def map(self, unit: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        remaining = iter(tasks)
        while some := list(islice(remaining, 2)):
            for task in some:
                if len(self.done) == self._fails_at:
                    raise KeyboardInterrupt
                self.done.append(task)
                yield task, unit(task)


@pytest.fixture
def parts(corpus: Corpus) -> list[CorpusPart]:
    config = CorpusConfig(name="mine", source=corpus.source.name, target=corpus.target.name)
    scanned = [scan_file(path) for path in config.paths(corpus.source.parent)]
    # So small a corpus is one part, which may be done again and again.
    return list(corpus_parts(config, scanned, part_bytes=1 << 20)) * 7


def tasks_of(unit: Callable[[Any], Any], parts: list[CorpusPart], folder: Path) -> list[Any]:
    if unit is clean_part:
        return [CleanTask(part=part, cleaning=CLEANING) for part in parts]
    if unit is sample_part:
        rows = [np.arange(number, 20) for number in range(len(parts))]
        return [SampleTask(part=part, cleaning=CLEANING, rows=row) for part, row in zip(parts, rows, strict=True)]
    text = ["one red dogs see us.", "two old birds hear here.", "some small kings see them."] * 9
    model = learn_tokenizer(text, TokenizerConfig(vocab_size=290), folder / "x.spm").serialized
    return [
        EncodeTask(
            part=part,
            cleaning=CLEANING,
            duplicates=np.arange(216) % (number + 2) == 0,
            source_model=model,
            target_model=model,
        )
        for number, part in enumerate(parts)
    ]


def same(one: object, other: object) -> bool:
    """Equal to the last bit, arrays and what holds them."""
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and one.dtype == other.dtype and np.array_equal(one, other)
    if hasattr(one, "__dataclass_fields__"):
        return type(one) is type(other) and all(
            same(getattr(one, key), getattr(other, key)) for key in one.__dataclass_fields__
        )
    return one == other


@pytest.mark.parametrize("unit", [clean_part, sample_part, encode_part])
def test_what_is_there_is_not_done_again(unit: Callable[[Any], Any], parts: list[CorpusPart], tmp_path: Path) -> None:
    tasks = tasks_of(unit, parts, tmp_path)
    expected = [unit(task) for task in tasks]
    kept = tmp_path / "kept"
    kept.mkdir()
    interrupted = Counting(fails_at=3)
    with pytest.raises(KeyboardInterrupt):
        list(KeptResults(interrupted, kept).map(unit, tasks))
    assert len(list(kept.iterdir())) == 3
    sorted(kept.iterdir())[1].unlink()  # as if that one had been slower than the next
    workers = Counting()
    found = list(KeptResults(workers, kept).map(unit, iter(tasks)))
    assert [task for task, _ in found] == tasks
    assert workers.done == [tasks[1], *tasks[3:]]
    assert all(same(result, wanted) for (_, result), wanted in zip(found, expected, strict=True))
    again = Counting()
    assert all(
        same(result, wanted)
        for (_, result), wanted in zip(KeptResults(again, kept).map(unit, tasks), expected, strict=True)
    )
    assert not again.done


def test_ids_of_another_vocabulary_are_not_taken(parts: list[CorpusPart], tmp_path: Path) -> None:
    [task] = tasks_of(encode_part, parts[:1], tmp_path)
    other = learn_tokenizer(["seven tall men"] * 9, TokenizerConfig(vocab_size=270), tmp_path / "y.spm")
    another = EncodeTask(
        part=task.part,
        cleaning=CLEANING,
        duplicates=task.duplicates,
        source_model=other.serialized,
        target_model=other.serialized,
    )
    list(KeptResults(Counting(), tmp_path).map(encode_part, [task]))
    workers = Counting()
    list(KeptResults(workers, tmp_path).map(encode_part, [another]))
    assert workers.done == [another]


def test_other_units_are_done_each_time(tmp_path: Path) -> None:
    for _ in range(2):
        workers = Counting()
        assert list(KeptResults(workers, tmp_path).map(abs, [-1, 2])) == [(-1, 1), (2, 2)]
        assert workers.done == [-1, 2]
    assert not list(tmp_path.iterdir())
