"""Progress of learning from corrections, on standard error."""

from types import TracebackType

from attendo.cli.progress import JobProgress
from attendo.cli.reporter import RunReporter


class LearningProgress(RunReporter):
    """Shows trainings as `RunReporter` does, and translations with the time left.

    Args:
        quiet: show neither progress nor messages.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        super().__init__(quiet=quiet)
        self._is_quiet = quiet
        self._label = ""
        self._translating: JobProgress | None = None

    def message(self, text: str) -> None:
        """Prints a message, unless the command is quiet."""
        if not self._is_quiet:
            super().message(text)

    def translating(self, label: str, done: int, total: int) -> None:
        """Updates the count of translated lines of a text."""
        if self._translating is None or label != self._label:
            self._end_translating()
            self._close()
            self._label = label
            self._translating = JobProgress(f"translating, {label}", "lines", total, quiet=self._is_quiet).__enter__()
        self._translating.update(done)
        if done == total:
            self._end_translating()

    def _end_translating(self) -> None:
        if self._translating is not None:
            self._translating.__exit__(None, None, None)
        self._translating = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end_translating()
        super().__exit__(kind, error, traceback)
