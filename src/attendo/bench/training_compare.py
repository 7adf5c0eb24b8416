"""Training systems by turns, so that a machine that slows down slows them all, and ratios of their medians."""

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
"""Between two turns: the threads of the one before may still be spinning, waiting for more work."""

Switch = Literal["installed", "onednn", "mkl"]
SWITCHES: dict[Switch, str] = {
    "installed": "as installed",
    "onednn": "oneDNN's float32 products",
    "mkl": "MKL told that the processor is Intel's",
}
"""What makes a peer's float32 products faster without a change to the peer, and what a table calls it."""


class Turns(Protocol):
    """Who makes updates when asked to: a `TrainerProcess`."""

    def train(self, batches: Sequence[int], *, fast_products: bool) -> Group:
        """An update for each of some batches."""


@dataclass(frozen=True, kw_only=True)
class Contender:
    """A system in one type, with its products switched one way."""

    system: str
    dtype: str
    switch: Switch
    process: Turns
    """Several contenders of one system share it, with its model."""


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
    """Target tokens without padding."""
    losses: tuple[float, ...]
    """Nats a target token of each update."""
    warm_up: bool
    """Does not count as speed."""


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
    """Target tokens, without padding, of whole updates."""
    slowest: float
    """In the slowest repetition."""
    fastest: float
    """And in the fastest."""
    ratio: float | None
    """Of `tokens_per_s` to that of the best peer as installed, in the same type; None where none was measured."""
    ratio_to: str | None
    """That peer."""
    ratio_switched: float | None
    """To the best peer with any switch."""
    ratio_switched_to: str | None
    """That peer and its switch."""


@dataclass(frozen=True, kw_only=True)
class FirstLosses:
    """How a system began to learn."""

    system: str
    dtype: str
    model: str
    losses: tuple[float, ...]
    """Nats a target token of its first updates, label smoothing counted; the same batches for every system."""


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
    """Has every contender make updates, group of updates by group.

    Args:
        contenders: in the first repetition's order; each repetition starts with another one.
        shape: of all their models.
        works: batches, which the processes were given behind each other.
        repetitions: of each.
        progress: told before each turn what comes now.
        failed: told of a contender that has dropped out, with all that share its process.
        pause_s: seconds between two turns.

    Yields:
        Each measurement when it has been made, the warm-up's too.
    """
    left, start = list(contenders), 0
    for work in works:
        places = range(start, start + len(work.batches))
        start = places.stop
        for repetition in range(-1, repetitions):  # the first is the warm-up
            first = max(repetition, 0) % max(len(left), 1)
            for one in (*left[first:], *left[:first]):
                if one not in left:
                    continue  # its process has ended
                turn = "warm-up" if repetition < 0 else f"repetition {repetition + 1}"
                progress(f"{shape.name} {one.dtype}, {work.name} batches, {turn}: {one.system}")
                time.sleep(pause_s)
                try:
                    group = one.process.train(places, fast_products=one.switch == "onednn")
                except TrainerError as error:
                    failed(one, error)
                    left = [other for other in left if other.process is not one.process]
                    continue
                yield Measurement(
                    system=one.system,
                    dtype=one.dtype,
                    switch=one.switch,
                    model=shape.name,
                    batches=work.name,
                    seconds=group.seconds,
                    tokens=work.num_tokens,
                    losses=group.losses,
                    warm_up=repetition < 0,
                )


def make_rows(measurements: Iterable[Measurement]) -> list[Row]:
    """Measurements of the same thing as one row each, in the order of their first appearance, with ratios."""
    groups: dict[_Key, list[float]] = {}
    for one in measurements:
        if not one.warm_up:
            key = _Key(one.model, one.batches, one.dtype, one.system, one.switch)
            groups.setdefault(key, []).append(one.tokens / one.seconds)
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
    """The losses of each system's first updates, all on the batches that came first.

    Args:
        measurements: in the order they were made.
        count: the most of each.
    """
    series: dict[tuple[str, str, str], list[float]] = {}
    first_batches: dict[str, str] = {}
    for one in measurements:
        batches = first_batches.setdefault(one.model, one.batches)
        # MKL's switch has a process, and so a model, of its own.
        if one.batches == batches and one.switch != "mkl":
            series.setdefault((one.model, one.dtype, one.system), []).extend(one.losses)
    return [
        FirstLosses(model=model, dtype=dtype, system=system, losses=tuple(losses[:count]))
        for (model, dtype, system), losses in series.items()
    ]
