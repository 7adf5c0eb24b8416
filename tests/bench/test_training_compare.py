"""Processes that take the time they are told to: what comes out can be worked out by hand."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from attendo.bench.processes import Group, TrainerError
from attendo.bench.trainers.serving import PairBatch
from attendo.bench.training_compare import Contender, Measurement, Switch, first_losses, make_rows, measure
from attendo.bench.training_work import SHAPES, TrainingWork

PAIRS = PairBatch(source=[[5, 0]], target=[[5, 6, 0], [7, 0]])


def work(name: str, batches: int) -> TrainingWork:
    return TrainingWork(
        name="equal" if name == "equal" else "unequal", batches=(PAIRS,) * batches, description="five tokens a batch"
    )


@dataclass
class Told:
    """Says it took a second a batch, and writes its turns down; its process ends at the turn it is told to."""

    name: str
    turns: list[tuple[str, tuple[int, ...], bool]]
    ends_at: int | None = None
    seen: list[int] = field(default_factory=list)

    def train(self, batches: Sequence[int], *, fast_products: bool) -> Group:
        if self.ends_at == len(self.seen):
            raise TrainerError(f"{self.name}: out of breath")
        self.seen.append(len(batches))
        self.turns.append((self.name, tuple(batches), fast_products))
        return Group(seconds=float(len(batches)), losses=tuple(9.0 - place for place in batches))


def contender(process: Told, switch: Switch = "installed") -> Contender:
    return Contender(system=process.name, dtype="float32", switch=switch, process=process)


def test_systems_take_turns() -> None:
    turns: list[tuple[str, tuple[int, ...], bool]] = []
    a, b = Told("a", turns), Told("b", turns)
    told: list[str] = []
    found = list(
        measure(
            [contender(a), contender(b), contender(b, "onednn")],
            SHAPES["small"],
            [work("equal", 2), work("unequal", 1)],
            repetitions=2,
            progress=told.append,
            pause_s=0,
        )
    )
    equal, unequal = (0, 1), (2,)
    assert turns == [
        *(("a", equal, False), ("b", equal, False), ("b", equal, True)),  # warm-up
        *(("a", equal, False), ("b", equal, False), ("b", equal, True)),
        *(("b", equal, False), ("b", equal, True), ("a", equal, False)),  # another one first
        *(("a", unequal, False), ("b", unequal, False), ("b", unequal, True)),
        *(("a", unequal, False), ("b", unequal, False), ("b", unequal, True)),
        *(("b", unequal, False), ("b", unequal, True), ("a", unequal, False)),
    ]
    assert [one.warm_up for one in found] == 2 * [*3 * [True], *6 * [False]]
    assert {(one.batches, one.seconds, one.tokens) for one in found} == {("equal", 2.0, 10), ("unequal", 1.0, 5)}
    assert told[0] == "small float32, equal batches, warm-up: a"
    assert told[-1] == "small float32, unequal batches, repetition 2: a"


def test_the_rest_goes_on_when_one_ends() -> None:
    turns: list[tuple[str, tuple[int, ...], bool]] = []
    a, b = Told("a", turns), Told("b", turns, ends_at=3)
    failed: list[str] = []
    found = list(
        measure(
            [contender(a), contender(b), contender(b, "onednn")],
            SHAPES["small"],
            [work("equal", 1)],
            repetitions=3,
            failed=lambda one, error: failed.append(f"{one.switch}: {error}"),
            pause_s=0,
        )
    )
    assert failed == ["onednn: b: out of breath"]  # its process is the other's too
    assert [one.system for one in found] == ["a", "b", "b", "a", "b", "a", "a"]


def measurement(
    system: str,
    seconds: float,
    switch: Switch = "installed",
    *,
    dtype: str = "float32",
    batches: str = "equal",
    losses: tuple[float, ...] = (),
    warm_up: bool = False,
) -> Measurement:
    return Measurement(
        system=system,
        dtype=dtype,
        switch=switch,
        model="small",
        batches=batches,
        seconds=seconds,
        tokens=100,
        losses=losses,
        warm_up=warm_up,
    )


def test_rows_are_medians_and_their_ratios_to_the_best_peers() -> None:
    measurements = [measurement("attendo", 50.0, warm_up=True)]
    measurements += [measurement("attendo", seconds) for seconds in (1.0, 0.5, 2.0)]  # 100, 200 and 50 tokens/s
    measurements += [measurement("torch", 4.0), measurement("torch", 2.0, "onednn"), measurement("torch", 1.6, "mkl")]
    measurements += [measurement("eole", 2.5), measurement("eole", 2.0, "onednn")]
    measurements += [measurement("torch", 0.1, dtype="bfloat16"), measurement("torch", 0.1, batches="unequal")]
    rows = {(row.system, row.switch, row.dtype, row.batches): row for row in make_rows(measurements)}
    ours = rows["attendo", "installed", "float32", "equal"]
    assert (ours.tokens_per_s, ours.slowest, ours.fastest, ours.repetitions) == (100.0, 50.0, 200.0, 3)
    assert (ours.ratio, ours.ratio_to) == (2.5, "eole")  # 40 tokens/s
    assert (ours.ratio_switched, ours.ratio_switched_to) == (1.6, "torch mkl")  # 62.5 tokens/s
    assert rows["torch", "installed", "float32", "equal"].ratio == pytest.approx(25 / 40)
    low = rows["torch", "installed", "bfloat16", "equal"]
    assert (low.ratio, low.ratio_switched, low.ratio_switched_to) == (1.0, None, None)


def test_without_peers_there_is_no_ratio() -> None:
    (row,) = make_rows([measurement("attendo", 1.0)])
    assert (row.ratio, row.ratio_to, row.ratio_switched, row.ratio_switched_to) == (None, None, None, None)


def test_first_losses_are_those_of_the_batches_that_came_first() -> None:
    found = first_losses(
        [
            measurement("attendo", 1.0, losses=(9.0, 8.0), warm_up=True),
            measurement("torch", 1.0, losses=(9.5, 9.0), warm_up=True),
            measurement("torch", 1.0, "onednn", losses=(8.5, 8.0), warm_up=True),
            measurement("torch", 1.0, "mkl", losses=(9.5, 9.0), warm_up=True),
            measurement("attendo", 1.0, losses=(7.0, 6.0)),
            measurement("attendo", 1.0, losses=(5.0,), batches="unequal"),
        ],
        3,
    )
    assert [(one.system, one.losses) for one in found] == [("attendo", (9.0, 8.0, 7.0)), ("torch", (9.5, 9.0, 8.5))]
