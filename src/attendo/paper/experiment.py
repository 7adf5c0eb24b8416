"""What is asked of every table, figure and study of the paper, and what each gives back."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import torch

from attendo.paper.report import Report
from attendo.threads import usable_cores
from attendo.workflow.prepare import Progress

Scale = Literal["tiny", "small", "paper"]


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


def usual_jobs() -> int:
    """Processes side by side where nobody says how many: one a GPU, or a core where there is none."""
    return torch.cuda.device_count() or usable_cores()


class Reporter(Protocol):
    """Who is told how an experiment goes."""

    def message(self, text: str) -> None:
        """A line to read."""

    def preparing(self, progress: Progress) -> None:
        """How far the preparation of data is."""

    def running(self, done: int, total: int, note: str) -> None:
        """How many of all parts are done (updates, measurements, rows of a forecast), and what is running."""
