"""Training systems in turns, so that a machine that slows down slows them all, and the ratios of their medians."""

import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from attendo.bench.processes import Group, TrainerError
from attendo.bench.training_work import ModelShape, TrainingWork

OURS = "attendo"
"""The system that is measured; all others are its peers."""
PAUSE_S = 0.1
"""Pause between two turns, in seconds: the threads of the previous one may still be spinning, waiting for more work."""

Switch = Literal["installed", "onednn", "mkl"]
SWITCHES: dict[Switch, str] = {
    "installed": "as installed",
    "onednn": "oneDNN's float32 products",
    "mkl": "MKL told that the processor is Intel's",
}
"""Ways to make a peer's float32 products faster without changing the peer, and their names in a table."""


class Turns(Protocol):
    """The interface of what makes updates on request: a `TrainerProcess`."""

    def train(self, batches: Sequence[int], *, fast_products: bool) -> Group:
        """Makes an update on each of some batches."""


@dataclass(frozen=True, kw_only=True)
class Contender:
    """A system in one type, with one setting of its float32 products."""

    system: str
    dtype: str
    switch: Switch
    process: Turns
    """The process, which may be shared by several contenders of one system, with its model."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One turn of one contender."""

    system: str
    dtype: str
    switch: Switch
    model: str
    batches: str
    seconds: float
    tokens: int
    """Number of target tokens, without padding."""
    losses: tuple[float, ...]
    """Loss of each update in nats per target token."""
    warm_up: bool
    """Whether this was a warm-up, which does not count for the speed."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One contender on one kind of batches: medians over the repetitions."""

    system: str
    dtype: str
    switch: Switch
    model: str
    batches: str
    repetitions: int
    tokens_per_s: float
    """Target tokens per second, without padding, over whole updates."""
    slowest: float
    """Target tokens per second in the slowest repetition."""
    fastest: float
    """Target tokens per second in the fastest repetition."""
    ratio: float | None
    """`tokens_per_s` divided by that of the best peer as installed, in the same type; None if none was measured."""
    ratio_to: str | None
    """Name of that peer."""
    ratio_switched: float | None
    """`tokens_per_s` divided by that of the best peer with a switch; None if none was measured."""
    ratio_switched_to: str | None
    """Name of that peer, and its switch."""


@dataclass(frozen=True, kw_only=True)
class FirstLosses:
    """The losses with which a system began to learn."""

    system: str
    dtype: str
    model: str
    losses: tuple[float, ...]
    """Loss in nats per target token of its first updates, with label smoothing; every system has the same batches."""


def measure(
    contenders: Sequence[Contender],
    shape: ModelShape,
    works: Sequence[TrainingWork],
    *,
    repetitions: int,
    progress: Callable[[str], None] = lambda label: None,
    failed: Callable[[Contender, TrainerError], None] = lambda contender, error: None,
    pause_s: float = PAUSE_S,
) -> Iterator[Measurement]:
    """Measures every contender on every group of batches, several times.

    Args:
        contenders: the contenders in the order of the first repetition; each repetition starts with the next one.
        shape: shape of the model, which all of them train.
        works: groups of batches, which the processes were given in this order.
        repetitions: number of repetitions of each measurement.
        progress: called before each turn with a label for it.
        failed: called with a contender that has failed and its error; all that share its process drop out with it.
        pause_s: seconds between two turns.

    Yields:
        Each measurement as soon as it has been made, warm-ups included.
    """
    remaining, start = list(contenders), 0
    for work in works:
        indices = range(start, start + len(work.batches))
        start = indices.stop
        for repetition in range(-1, repetitions):  # the first is the warm-up
            first = max(repetition, 0) % max(len(remaining), 1)
            for contender in (*remaining[first:], *remaining[:first]):
                if contender not in remaining:
                    continue  # its process has ended
                turn = "warm-up" if repetition < 0 else f"repetition {repetition + 1}"
                progress(f"{shape.name} {contender.dtype}, {work.name} batches, {turn}: {contender.system}")
                time.sleep(pause_s)
                try:
                    group = contender.process.train(indices, fast_products=contender.switch == "onednn")
                except TrainerError as error:
                    failed(contender, error)
                    remaining = [other for other in remaining if other.process is not contender.process]
                    continue
                yield Measurement(
                    system=contender.system,
                    dtype=contender.dtype,
                    switch=contender.switch,
                    model=shape.name,
                    batches=work.name,
                    seconds=group.seconds,
                    tokens=work.num_tokens,
                    losses=group.losses,
                    warm_up=repetition < 0,
                )


def make_rows(measurements: Iterable[Measurement]) -> list[Row]:
    """Returns a row with ratios for each contender, model and kind of batches, in order of their first appearance."""
    groups: dict[_Key, list[float]] = {}
    for measurement in measurements:
        if not measurement.warm_up:
            key = _Key(
                measurement.model, measurement.batches, measurement.dtype, measurement.system, measurement.switch
            )
            groups.setdefault(key, []).append(measurement.tokens / measurement.seconds)
    medians = {key: statistics.median(rates) for key, rates in groups.items()}
    return [_row(key, rates, medians) for key, rates in groups.items()]


@dataclass(frozen=True)
class _Key:
    model: str
    batches: str
    dtype: str
    system: str
    switch: Switch


def _row(key: _Key, rates: Sequence[float], medians: Mapping[_Key, float]) -> Row:
    peers = [
        other for other in medians
        if other.system != OURS and (other.model, other.batches, other.dtype) == (key.model, key.batches, key.dtype)
    ]  # fmt: skip
    installed = max((other for other in peers if other.switch == "installed"), key=medians.__getitem__, default=None)
    switched = max((other for other in peers if other.switch != "installed"), key=medians.__getitem__, default=None)
    return Row(
        system=key.system,
        dtype=key.dtype,
        switch=key.switch,
        model=key.model,
        batches=key.batches,
        repetitions=len(rates),
        tokens_per_s=medians[key],
        slowest=min(rates),
        fastest=max(rates),
        ratio=None if installed is None else medians[key] / medians[installed],
        ratio_to=None if installed is None else installed.system,
        ratio_switched=None if switched is None else medians[key] / medians[switched],
        ratio_switched_to=None if switched is None else f"{switched.system} {switched.switch}",
    )


def first_losses(measurements: Iterable[Measurement], count: int) -> list[FirstLosses]:
    """Returns the losses of each system's first updates, all on the kind of batches that came first.

    Args:
        measurements: the measurements in the order in which they were made.
        count: maximum number of losses per system.
    """
    series: dict[tuple[str, str, str], list[float]] = {}
    first_batches: dict[str, str] = {}
    for measurement in measurements:
        batches = first_batches.setdefault(measurement.model, measurement.batches)
        # A contender with MKL's switch has a process, and thus a model, of its own.
        if measurement.batches == batches and measurement.switch != "mkl":
            series.setdefault((measurement.model, measurement.dtype, measurement.system), []).extend(measurement.losses)
    return [
        FirstLosses(model=model, dtype=dtype, system=system, losses=tuple(losses[:count]))
        for (model, dtype, system), losses in series.items()
    ]
