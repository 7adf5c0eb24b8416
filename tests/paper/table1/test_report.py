"""The page of Table 1 for measurements that nobody made, whose exponents and crossings are known."""

import io
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from attendo.evaluation.estimates import Line
from attendo.paper.experiment import StudyRequest
from attendo.paper.report import Picture, Report, Table
from attendo.paper.table1.findings import Exponent, Findings
from attendo.paper.table1.layers import LAYERS, Crossing, Layer, Operations, Sizes, layers_that_reach
from attendo.paper.table1.paths import Chain
from attendo.paper.table1.points import (
    PLANS,
    BytesAt,
    CrossingAt,
    GraphAt,
    Measurement,
    OperationsAt,
    Place,
    SecondsAt,
)
from attendo.paper.table1.report import outcomes, table1_report
from attendo.paper.table1.study import all_timed

PLAN = replace(PLANS["small"], timed_crossings=(16,), crossing_lengths=(8, 64, 512))
ORDER = StudyRequest(scale="small", folder=Path("page"), seeds=3, jobs=1, data=None, command="attendo reproduce table1")
PLACE = Place(machine="a processor, 2 cores", device="one thread of the processor", versions={"torch": "2.13.0"})


def seconds_of(layer: str, sizes: Sizes) -> float:
    """Self-attention takes n^2 d, recurrence 20 n d^2 microseconds: they meet at n = 20 d. The others take n k."""
    if layer == "self-attention":
        return 1e-6 * sizes.n**2 * sizes.d
    return 2e-5 * sizes.n * sizes.d**2 if layer == "recurrent" else 1e-3 * sizes.n * sizes.k


def peak_of(layer: str, sizes: Sizes) -> int:
    """Written weights: n^2; fused and all others n."""
    written = layer == "self-attention" and sizes.n <= 512
    return 4 * sizes.n**2 if written else 1024 * sizes.n


def made_up(path: Callable[[Layer, Sizes], int]) -> Iterator[Measurement]:
    for layer in LAYERS:
        swept = {sizes for name in "ndkr" for sizes in PLAN.sweep(layer, name, PLAN.counted_lengths)}
        for sizes in swept:
            projections = 8 * sizes.n * sizes.d**2 if layer.leaves_out_projections else 0
            counted = Operations(mixing=round(3 * layer.operations(sizes)), projections=projections)
            yield OperationsAt(layer=layer.name, sizes=sizes, operations=counted)
        for n in (4, 16, 64):
            sizes = Sizes(n=n, d=8, k=3, r=9)
            steps = n if layer.name == "recurrent" else 4
            yield GraphAt(
                layer=layer.name,
                sizes=sizes,
                chain=Chain(operations=5 * steps, products=steps),
                from_the_middle=path(layer, sizes),
                from_end_to_end=2 * path(layer, sizes),
                on_the_way=None if n == 64 else 7 * steps,
            )
        for sizes in {*PLAN.sweep(layer, "n", PLAN.memory_lengths), *PLAN.sweep(layer, "d", ())}:
            yield BytesAt(layer=layer.name, sizes=sizes, peak=peak_of(layer.name, sizes), place=PLACE)
    for name, sizes in all_timed(PLAN):
        for number, factor in ((1, 0.5), (2, 1.0), (3, 4.0)):
            took = factor * seconds_of(name, sizes)
            yield SecondsAt(layer=name, sizes=sizes, round=number, seconds=(took, took, 9 * took), place=PLACE)
    yield CrossingAt(crossing=Crossing(d=8, alone=11, with_projections=5))


def expected_path(layer: Layer, sizes: Sizes) -> int:
    return layers_that_reach(layer, sizes, sizes.n // 2)


@pytest.fixture(scope="module")
def report() -> Report:
    return table1_report(ORDER, PLAN, Findings.of(made_up(expected_path)))


def rows_of(report: Report, caption: str) -> list[tuple[str, ...]]:
    [table] = [
        block
        for section in report.sections
        for block in section.blocks
        if isinstance(block, Table) and block.caption.startswith(caption)
    ]
    return list(table.rows)


def test_what_holds_is_said_in_words(report: Report) -> None:
    text = " ".join(report.to_text().split())
    assert "self-attention (3 × n² d), recurrent (3 × n d²)" in text
    assert "separable-convolutional (3 × (k n d + n d²))" in text
    assert "Not so" not in text
    assert "whatever n is: self-attention (4), convolutional (4)" in text
    assert "More with n: recurrent (1.00 for each position)." in text
    assert "at n = 4 and n = 16: self-attention 28 and 28, recurrent 28 and 112" in text
    assert "meet at n = 11 for d = 8" in text
    assert "Measured times meet at n = 320 for d = 16; not up to n = 2,048 for d = 256" in text
    assert "recurrence takes 2.5 times as long (expected at about 5,120)" in text  # 20 x 256 / 2048
    assert "a processor, 2 cores" in text
    assert "torch 2.13.0" in text


def told(measurements: Iterable[Measurement]) -> str:
    return " ".join(outcomes(Findings.of(measurements), (), (), ()))


def test_a_path_that_is_not_the_formulas_is_told() -> None:
    text = told(made_up(lambda layer, sizes: expected_path(layer, sizes) + (layer.variable == "r")))
    assert "separable-convolutional. Not so: restricted-self-attention." in text


def test_work_that_is_not_the_formula_is_told() -> None:
    def measurements() -> Iterator[Measurement]:
        for one in made_up(expected_path):
            if isinstance(one, OperationsAt) and one.layer == "recurrent" and one.sizes.n > 256:
                one = replace(one, operations=Operations(mixing=2 * one.operations.mixing, projections=0))
            yield one

    text = told(measurements())
    assert "Not so: recurrent (3.00 to 6.00 × n d²)." in text


def test_exponents_are_those_that_were_made_up(report: Report) -> None:
    exponents = {(row[0], row[1]): row for row in rows_of(report, "Exponents of the counted operations")}
    assert exponents["self-attention", "n"][2:5] == ("as the formula", "2.00", "2.00 ± 0.00")
    assert exponents["restricted-self-attention", "r"][3] == "1.00"
    exponents = {(row[0], row[1]): row for row in rows_of(report, "Exponents of the time")}
    assert exponents["recurrent", "d"][2:5] == ("as the formula", "2.00", "2.00 ± 0.00")
    assert exponents["convolutional", "d"][2] == "slower"
    exponents = {(row[0], row[1]): row for row in rows_of(report, "Exponents of the memory")}
    written, fused = "self-attention, weights written out", "self-attention, fused"
    assert exponents[written, "n"][2:5] == ("as the formula", "2.00", "2.00 ± 0.00")
    assert (written, "d") in exponents
    assert (fused, "n") not in exponents, "one length has no exponent"
    assert exponents["recurrent", "n"][3:5] == ("1.00", "1.00 ± 0.00")
    assert exponents["recurrent", "d"][2:4] == ("", "")


def test_times_are_the_median_of_the_rounds_medians(report: Report) -> None:
    [row] = [row for row in rows_of(report, "Milliseconds") if row[:3] == ("self-attention", "128", "256")]
    took = 1e3 * 1e-6 * 128**2 * 256
    assert [float(cell) for cell in row[5:]] == pytest.approx([took, took / 2, 4 * took], rel=1e-3)


def test_the_json_has_all_of_it(report: Report) -> None:
    data = json.loads(json.dumps(report.data, allow_nan=False))
    assert {one["layer"] for one in data["operations"]} == {layer.name for layer in LAYERS}
    [crossing] = [one for one in data["timed_crossings"] if one["d"] == 16]
    assert crossing["measured"] == pytest.approx(320)
    [crossing] = [one for one in data["timed_crossings"] if one["d"] == 256]
    assert crossing["measured"] is None
    assert crossing["expected"] == pytest.approx(20 * 256)
    assert data["counted_crossings"] == [{"d": 8, "alone": 11, "with_projections": 5}]


def test_every_layer_is_in_every_picture(report: Report) -> None:
    pictures = {
        block.name: block for section in report.sections for block in section.blocks if isinstance(block, Picture)
    }
    assert set(pictures) == {"operations.png", "paths.png", "time.png", "memory.png", "crossing.png"}
    colours = ((0, 114, 178), (213, 94, 0), (0, 158, 115), (204, 121, 167), (230, 159, 0), (86, 180, 233))
    for name in ("operations.png", "paths.png", "time.png", "memory.png"):
        pixels = np.asarray(Image.open(io.BytesIO(pictures[name].png)).convert("RGB")).reshape(-1, 3)
        for colour in colours:
            assert (pixels == colour).all(axis=1).sum() > 20, (name, colour)
        assert pictures[name].alt


@pytest.mark.parametrize(
    ("slope", "half_width", "last", "verdict"),
    [
        (2.1, 0.5, 2.4, "as the formula"),
        (1.4, 0.1, 1.9, "as the formula in the end"),
        (1.4, 0.8, 1.4, "not told"),
        (1.4, 0.1, 1.5, "slower"),
        (2.6, 0.1, 2.7, "faster"),
        (1.4, None, 1.4, "slower"),
    ],
)
def test_verdicts(slope: float, half_width: float | None, last: float, verdict: str) -> None:
    found = Line(slope=slope, half_width=half_width, intercept=0.0, count=4)
    one = Exponent(layer="recurrent", variable="n", expected=2.0, found=found, last=last)
    assert one.verdict == verdict
    assert replace(one, expected=None).verdict == ""
