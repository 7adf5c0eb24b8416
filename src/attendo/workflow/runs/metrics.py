"""Writes a run's metrics as they arise: `metrics.jsonl`, and TensorBoard's files if the recipe enables them."""

import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from attendo.errors import RecipeError
from attendo.files import flush_to_disk, naming, write_bytes
from attendo.reading import require_regular


class _ScalarWriter(Protocol):
    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> None: ...

    def flush(self) -> None: ...

    def close(self) -> None: ...


class MetricsLog:
    """The log of a run's metrics.

    Args:
        run: the run folder.
        resumed_at: the step from which the run continues. Lines for later steps are dropped, since these are repeated.
        tensorboard: whether to write TensorBoard's files too.
        validation_due: whether the validation of `resumed_at` is repeated as well.

    Attributes:
        bad_lines: number of lines dropped because they cannot be read, not counting a last line cut off by a kill.

    Raises:
        RecipeError: TensorBoard is enabled and not installed.
        OSError: the file cannot be read or written; it names it.
    """

    def __init__(self, run: Path, resumed_at: int, *, tensorboard: bool, validation_due: bool = False) -> None:
        self.path = run / "metrics.jsonl"
        self.bad_lines = 0
        self._folder = run / "tensorboard" if tensorboard else None
        self._writer: _ScalarWriter | None = None
        self.back_to(resumed_at, validation_due=validation_due)

    def append(self, record: dict[str, Any]) -> None:
        """Writes one line: `kind`, `step`, and figures; numbers that are not finite become null.

        Raises:
            OSError: the disk is full, or the run folder is gone; it names the file.
        """
        with naming(self.path), self.path.open("ab") as file:
            file.write(_line(record))
        if self._writer is None or self._folder is None:
            return
        with naming(self._folder):
            for key, value in record.items():
                if key not in ("kind", "step") and isinstance(value, int | float):
                    self._writer.add_scalar(f"{record['kind']}/{key}", value, record["step"])
            self._writer.flush()

    def flush(self) -> None:
        """Flushes the lines so far to the disk itself, so that a checkpoint is never ahead of them.

        Raises:
            OSError: the disk is full, or the run folder is gone; it names the file.
        """
        if self.path.exists():
            flush_to_disk(self.path)
            flush_to_disk(self.path.parent)

    def back_to(self, step: int, *, validation_due: bool) -> None:
        """Drops the lines of steps after this one, to which the run goes back.

        Args:
            step: the last step to keep.
            validation_due: drop its validation too.

        Raises:
            OSError: the file cannot be read or written; it names it.
        """
        if os.path.lexists(self.path):
            with naming(self.path):
                require_regular(self.path)
                content = self.path.read_bytes()
            kept = b"".join(self._kept(content, step, validation_due=validation_due))
            if kept != content:
                write_bytes(self.path, kept)
        if self._folder is None:
            return
        with naming(self._folder):
            if self._writer is not None:
                self._writer.close()
            self._writer = _open_tensorboard(self._folder, step)

    def _kept(self, content: bytes, last_step: int, *, validation_due: bool) -> Iterator[bytes]:
        for line in content.splitlines(keepends=True):
            try:
                record = parse_record(line)
            except ValueError:
                self.bad_lines += line.endswith(b"\n")  # others are partial lines of a killed process
                continue
            step, comes_again = record["step"], validation_due and record["kind"] == "valid"
            if step < last_step or (step == last_step and not comes_again):
                yield _line(record)


def parse_record(line: bytes) -> dict[str, Any]:
    """Reads one line of metrics.jsonl.

    Raises:
        ValueError: it has no `kind` and `step`.
    """
    try:
        record: dict[str, Any] = json.loads(line)
        if isinstance(record["kind"], str) and isinstance(record["step"], int):
            return record
    except (TypeError, KeyError, RecursionError):
        pass
    raise ValueError("no line of metrics")


def _line(record: dict[str, Any]) -> bytes:
    finite = {
        key: None if isinstance(value, float) and not math.isfinite(value) else value for key, value in record.items()
    }
    return (json.dumps(finite) + "\n").encode()


def _open_tensorboard(folder: Path, resumed_at: int) -> _ScalarWriter:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise RecipeError(
            "training.tensorboard = true needs TensorBoard: pip install 'attendo[tensorboard]', or set it to false"
        ) from error
    writer: _ScalarWriter = SummaryWriter(folder, purge_step=resumed_at + 1)
    return writer
