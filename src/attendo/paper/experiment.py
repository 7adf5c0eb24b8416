"""What is asked of every table, figure and study of the paper, and what each gives back."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import torch

from attendo.paper.report import Report
from attendo.threads import usable_cores
from attendo.workflow.preparation.prepare import Progress

Scale = Literal["tiny", "small", "paper"]

ShouldStop = Callable[[], bool]
"""Whether the user wants to stop; asked now and then."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """How an experiment is wanted."""

    scale: Scale
    """`tiny`: seconds, to see it work; `small`: what a laptop can do; `paper`: full size."""
    folder: Path
    """For all that is kept, and the page."""
    seeds: int
    """How many times each thing that depends on chance is done."""
    jobs: int
    """Processes side by side."""
    data: Path | None
    """The folder of the corpora; None for the experiment's own choice."""
    command: str
    """That does the same again, for the page."""
    runs: tuple[str, ...] = ()
    """Further run folders that Table 2 counts the cost of, each with its devices where they are not this machine's; or
    the models that Figures 3 to 5 look at."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What an experiment came to."""

    report: Report | None
    """None where nothing can be said yet."""
    interrupted: bool = False
    """Whether it was stopped; the same command goes on."""
    failures: tuple[str, ...] = ()
    """What did not work, a line each."""


@dataclass(frozen=True, kw_only=True)
class Stopped:
    """In place of a measurement: the user has stopped it."""


def usual_jobs() -> int:
    """Processes side by side where nobody says how many: one a GPU, or a core where there is none."""
    return torch.cuda.device_count() or usable_cores()


class Reporter(Protocol):
    """Receives the progress of an experiment."""

    def message(self, text: str) -> None:
        """A line to read."""

    def preparing(self, progress: Progress) -> None:
        """How far the preparation of data is."""

    def running(self, done: int, total: int, note: str) -> None:
        """How many of all parts are done (updates, measurements, rows of a forecast), and what is running."""


class Experiment(Protocol):
    """A table, figure or study of the paper, as the command asks for it."""

    @property
    def unit(self) -> str:
        """What its progress is counted in."""

    def reproduce(self, order: Order, reporter: Reporter, should_stop: ShouldStop, /) -> Outcome:
        """Does what is not done yet, and writes the page.

        Args:
            order: how it is wanted.
            reporter: who is told.
            should_stop: asked now and then; what runs is saved then.
        """

    def forecast(self, order: Order, reporter: Reporter, /) -> Report:
        """Says what it will come to."""


@dataclass(frozen=True, kw_only=True)
class OwnExperiment:
    """An experiment with a way of its own."""

    unit: str
    """What its progress is counted in."""
    reproduce: Callable[[Order, Reporter, ShouldStop], Outcome]
    """Does what is not done yet, and writes the page."""
    forecast: Callable[[Order, Reporter], Report]
    """Says what it will come to."""
