"""The interface for reporting the progress of a run."""

from typing import Protocol

from attendo.training.hooks import Validation
from attendo.training.meter import StepMetrics
from attendo.training.position import Position
from attendo.workflow.preparation.prepare import Progress
from attendo.workflow.preparation.prepared_data import PreparationReporter


class Reporter(PreparationReporter, Protocol):
    """Receives the progress of a run."""

    def training(self, metrics: StepMetrics, max_steps: int) -> None:
        """Called after each update."""

    def validated(self, position: Position, validation: Validation, is_best: bool) -> None:
        """A validation is done."""


class Silence:
    """A `Reporter` for all processes but the first, which reports for all."""

    def message(self, text: str) -> None:
        """Ignores a message; the first process reports."""

    def preparing(self, progress: Progress) -> None:
        """Ignores progress; the first process reports."""

    def training(self, metrics: StepMetrics, max_steps: int) -> None:
        """Ignores progress; the first process reports."""

    def validated(self, position: Position, validation: Validation, is_best: bool) -> None:
        """Ignores a validation; the first process reports."""
