"""The progress of preparing and training, on standard error, for every command that does either."""

from types import TracebackType
from typing import TYPE_CHECKING, Self

from attendo.cli.progress import JobProgress, note

if TYPE_CHECKING:
    from attendo.training.hooks import Validation
    from attendo.training.meter import StepMetrics
    from attendo.training.position import Position
    from attendo.workflow.preparation.prepare import Progress


class RunReporter:
    """Shows the progress of a run on standard error: a bar on a terminal, otherwise plain lines.

    Args:
        quiet: show no progress and no validations; other messages may be warnings and are still shown.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._preparing: JobProgress | None = None
        self._training: JobProgress | None = None
        self._step = 0

    def message(self, text: str) -> None:
        """A line to read."""
        note(text)

    def preparing(self, progress: "Progress") -> None:
        """Updates the progress of the preparation."""
        if self._preparing is None:
            self._close()
            self._preparing = JobProgress(progress.stage, "MB", quiet=self._quiet).__enter__()
        self._preparing.update(progress.done_bytes / 1e6, label=progress.stage, total=progress.total_bytes / 1e6)

    def training(self, metrics: "StepMetrics", max_steps: int) -> None:
        """Updates the progress of training after a step; a step not after the last one belongs to another training."""
        if self._training is None or metrics.step <= self._step:
            self._close()
            self._training = JobProgress(
                "training", "steps", max_steps, first=metrics.step - 1, quiet=self._quiet
            ).__enter__()
        figures = (
            f"loss {metrics.loss:.3f}, {metrics.target_tokens_per_s:,.0f} tokens/s, "
            f"learning rate {metrics.learning_rate:.2e}, epoch {metrics.epoch + 1}"
        )
        self._training.update(metrics.step, note=figures)
        self._step = metrics.step

    def validated(self, position: "Position", validation: "Validation", is_best: bool) -> None:
        """A validation is done."""
        if self._quiet:
            return
        figures = (("BLEU", validation.bleu), ("F1", validation.f1))
        score = "".join(f", {name} {value:.2f}" for name, value in figures if value is not None)
        best = ", the best so far" if is_best else f"; the best is of step {position.best_step:,}"
        perplexity = f"{validation.perplexity:.3f}" if validation.perplexity < 1e6 else f"{validation.perplexity:.3g}"
        text = f"step {position.step:,}: validation perplexity {perplexity}{score}{best}"
        if self._training is None:
            note(text)
        else:
            self._training.say(text)

    def _close(self) -> None:
        for bar in (self._preparing, self._training):
            if bar is not None:
                bar.__exit__(None, None, None)
        self._preparing = self._training = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._close()
