"""Systems that take the time they are told to: what comes out can be worked out by hand."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import pytest

from attendo.bench.compare import Measurement, Setting, agreement, make_rows, make_settings, measure
from attendo.bench.systems import System, TimedTranslation
from attendo.bench.work import Sentence, Work
from attendo.decoding.backends.native_model import Dtype

SETTING = Setting(beam=1, batch=2, sentences=4)


def measurement(
    system: str, dtype: str, layout: str, seconds: float, setting: Setting = SETTING, agreeing: float = 1.0
) -> Measurement:
    return Measurement(
        system=system,
        dtype=dtype,
        layout=layout,
        kernel="k",
        setting=setting,
        seconds=seconds,
        tokens=40,
        agreement=agreeing,
    )


def test_rows_are_medians_and_their_ratios_to_the_best_layout_of_the_type() -> None:
    measurements = [
        measurement("attendo", "int8", "2x1", seconds)  # 4, 8 and 2 sentences/s
        for seconds in (1.0, 0.5, 2.0)
    ]
    measurements += [measurement("ctranslate2", "int8", "1x2", 4.0), measurement("ctranslate2", "int8", "2x1", 2.0)]
    measurements += [measurement("ctranslate2", "float32", "2x1", 0.1)]
    rows = {(row.system, row.dtype, row.layout): row for row in make_rows(measurements)}
    ours = rows["attendo", "int8", "2x1"]
    assert (ours.sentences_per_s, ours.slowest, ours.fastest, ours.repetitions) == (4.0, 2.0, 8.0, 3)
    assert (ours.tokens_per_s, ours.sentences, ours.beam, ours.batch) == (40.0, 4, 1, 2)
    assert (ours.ratio, ours.ratio_to) == (2.0, "ctranslate2 int8 2x1")
    assert rows["ctranslate2", "int8", "1x2"].ratio == 0.5
    assert rows["ctranslate2", "int8", "2x1"].ratio == 1.0


def test_a_type_that_the_bar_lacks_is_compared_with_its_float32() -> None:
    measurements = [
        measurement("attendo", "bfloat16", "2x1", 1.0),
        measurement("ctranslate2", "float32", "1x2", 2.0),
        measurement("ctranslate2", "float32", "2x1", 4.0),
        measurement("ctranslate2", "int8", "2x1", 0.1),
    ]
    ours = make_rows(measurements)[0]
    assert (ours.ratio, ours.ratio_to) == (2.0, "ctranslate2 float32 1x2")


def test_without_the_bar_there_is_no_ratio() -> None:
    (row,) = make_rows([measurement("attendo", "int8", "2x1", 1.0)])
    assert (row.ratio, row.ratio_to) == (None, None)


def test_settings_do_not_mix() -> None:
    other = Setting(beam=4, batch=2, sentences=4)
    rows = make_rows(
        [measurement("attendo", "int8", "1x1", 1.0), measurement("ctranslate2", "int8", "1x1", 1.0, setting=other)]
    )
    assert [(row.beam, row.ratio) for row in rows] == [(1, None), (4, 1.0)]


def test_agreement_counts_whole_sentences() -> None:
    assert agreement([(1, 2), (3,), (4,), (9,)], [(1, 2), (3, 3), (4,)]) == pytest.approx(2 / 3)
    assert agreement([], []) == 0.0


def test_every_worker_has_a_batch_unless_told_otherwise() -> None:
    found = make_settings([1, 4], [1, 32], threads=3)
    assert [(one.beam, one.batch, one.sentences) for one in found] == [
        (1, 1, 6),
        (1, 32, 96),
        (4, 1, 6),
        (4, 32, 96),
    ]
    assert {one.sentences for one in make_settings([1], [1, 32], threads=3, sentences=5)} == {5}


@dataclass
class Told:
    """A system that copies its sources, says it took a tenth of a second for each, and writes down its calls."""

    name: str
    calls: list[tuple[str, int]]
    dtype: Dtype = "float32"
    kernel: str = "a pencil"
    seen: list[tuple[int, int]] = field(default_factory=list)
    LAYOUT: ClassVar[str] = "1x1"

    def layout(self, sentences: int, batch: int) -> str:
        return self.LAYOUT

    def translate(self, sources: Sequence[Sentence], *, beam: int, batch: int) -> TimedTranslation:
        self.calls.append((self.name, len(sources)))
        self.seen.append((beam, batch))
        return TimedTranslation(seconds=0.1 * len(sources), ids=[source[:-1] for source in sources])


def test_systems_take_turns(tiny_work: Work) -> None:
    calls: list[tuple[str, int]] = []
    told: list[str] = []
    systems: list[System] = [Told("a", calls), Told("b", calls), Told("c", calls)]
    reference = [source[:-1] for source in tiny_work.sources[:3]] + [()]
    found = list(
        measure(
            systems,
            tiny_work,
            [SETTING],
            repetitions=2,
            reference=lambda beam: reference,
            progress=told.append,
            pause_s=0,
        )
    )
    assert calls == [
        *(("a", 2), ("b", 2), ("c", 2)),  # a batch each, which warms up and does not count
        *(("a", 4), ("b", 4), ("c", 4)),
        *(("b", 4), ("c", 4), ("a", 4)),  # another one first, lest the order favour one
    ]
    assert [one.system for one in found] == ["a", "b", "c", "b", "c", "a"]
    assert {(one.seconds, one.tokens, one.agreement) for one in found} == {(0.4, 24, 0.75)}
    assert told[0] == "beam 1, batch 2, reference"
    assert told[-1] == "beam 1, batch 2, repetition 2"
