"""The interface of every table, figure and study of the paper: options, outcome and progress reports."""

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
"""Returns whether the user wants to stop; called at intervals."""


@dataclass(frozen=True, kw_only=True)
class StudyRequest:
    """The options of an experiment."""

    scale: Scale
    """`tiny`: takes seconds and shows that it works; `small`: fits a laptop; `paper`: full size."""
    folder: Path
    """Folder of the kept results and the page."""
    seeds: int
    """Number of repetitions of everything that depends on chance, each with its own seed."""
    jobs: int
    """Number of parallel processes."""
    data: Path | None
    """Folder of the corpora; None for the experiment's default."""
    command: str
    """Command that repeats the experiment, shown on the page."""
    runs: tuple[str, ...] = ()
    """For Table 2, additional run folders whose cost is counted, each with its devices if they are not this machine's;
    for Table 4, trained parsers to test instead of training; for Figures 3 to 5, the models to analyse."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The outcome of an experiment."""

    report: Report | None
    """The page; None if there is nothing to report yet."""
    interrupted: bool = False
    """Whether the experiment was stopped; the same command resumes it."""
    failures: tuple[str, ...] = ()
    """Error messages, one line each."""


@dataclass(frozen=True, kw_only=True)
class Stopped:
    """Returned in place of a measurement that the user has stopped."""


def usual_jobs() -> int:
    """The default number of parallel processes: one per GPU, or one per usable core if there is no GPU."""
    return torch.cuda.device_count() or usable_cores()


class Reporter(Protocol):
    """Receives the progress of an experiment."""

    def message(self, text: str) -> None:
        """Shows a line of text."""

    def preparing(self, progress: Progress) -> None:
        """Reports the progress of the data preparation."""

    def running(self, done: int, total: int, note: str) -> None:
        """Reports the number of finished parts (updates, measurements, rows of a forecast) and what is running."""


class Experiment(Protocol):
    """A table, figure or study of the paper that the command can run."""

    @property
    def unit(self) -> str:
        """The unit that its progress is counted in, such as `updates`."""

    def reproduce(self, request: StudyRequest, reporter: Reporter, should_stop: ShouldStop, /) -> Outcome:
        """Runs everything that is not done yet, and writes the page.

        Args:
            request: the options.
            reporter: receives the progress.
            should_stop: called at intervals; once it returns True, running work is saved and stopped.
        """

    def forecast(self, request: StudyRequest, reporter: Reporter, /) -> Report:
        """Returns a forecast of the work and of the time that it takes."""


@dataclass(frozen=True, kw_only=True)
class OwnExperiment:
    """An experiment that consists of two functions, for those that are not a study of rows."""

    unit: str
    """The unit that its progress is counted in, such as `updates`."""
    reproduce: Callable[[StudyRequest, Reporter, ShouldStop], Outcome]
    """Runs everything that is not done yet, and writes the page."""
    forecast: Callable[[StudyRequest, Reporter], Report]
    """Returns a forecast of the work and of the time that it takes."""
