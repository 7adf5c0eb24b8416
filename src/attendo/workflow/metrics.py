"""A run's figures as they come: `metrics.jsonl`, and TensorBoard's files where the recipe asks for them."""

import json
from pathlib import Path
from typing import Any, Protocol

from attendo.errors import RecipeError
from attendo.files import write_text


class _ScalarWriter(Protocol):
    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> None: ...

    def flush(self) -> None: ...


class MetricsLog:
    """Where the figures of a run go.

    Args:
        run: the run folder.
        resumed_at: the step the run goes on from. What was written for later steps is left out: it will come again.
        tensorboard: whether to write TensorBoard's files too.

    Raises:
        RecipeError: TensorBoard is asked for and not installed.
    """

    def __init__(self, run: Path, resumed_at: int, *, tensorboard: bool) -> None:
        self.path = run / "metrics.jsonl"
        self._cut(resumed_at)
        self._writer = _open_tensorboard(run / "tensorboard", resumed_at) if tensorboard else None

    def append(self, record: dict[str, Any]) -> None:
        """Writes one line: `kind`, `step`, and figures."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        if self._writer is not None:
            for key, value in record.items():
                if key not in ("kind", "step") and isinstance(value, int | float):
                    self._writer.add_scalar(f"{record['kind']}/{key}", value, record["step"])
            self._writer.flush()

    def _cut(self, step: int) -> None:
        if not self.path.exists():
            return
        kept = []
        for line in self.path.read_text(encoding="utf-8").splitlines():
            try:
                record = json.loads(line)
            except ValueError:  # the last line of a run that was killed while it wrote
                continue
            if record["step"] <= step:
                kept.append(line + "\n")
        write_text(self.path, "".join(kept))


def _open_tensorboard(folder: Path, resumed_at: int) -> _ScalarWriter:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise RecipeError(
            "training.tensorboard = true needs TensorBoard: pip install 'attendo[tensorboard]', or set it to false"
        ) from error
    writer: _ScalarWriter = SummaryWriter(folder, purge_step=resumed_at + 1)
    return writer
