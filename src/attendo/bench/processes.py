"""A trainer in a process of its own, which waits for its pipe and computes nothing while another one has its turn."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self

from attendo.bench.trainers import serving
from attendo.bench.trainers.serving import Job, PairBatch
from attendo.errors import AttendoError

_PACKAGE = "attendo.bench.trainers"
_GRACE_S = 10.0
"""Seconds that a process has to end by itself after its pipe is closed."""


class TrainerError(AttendoError):
    """A trainer's process could not be started, or has ended."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """The updates that a process made in its turn."""

    seconds: float
    losses: tuple[float, ...]
    """Loss of each update in nats per target token, in order."""


class TrainerProcess:
    """A trainer in a process of its own; a context manager that ends the process.

    Args:
        module: name of the trainer's module in `bench.trainers`.
        job: the model to train and how.
        batches: the batches, which `train` refers to by index.
        python: the Python of another environment; None for this one.
        environment: environment variables in addition to those of this process.

    Raises:
        TrainerError: the trainer cannot be built; the message has the last line that it wrote.
    """

    def __init__(
        self,
        module: str,
        job: Job,
        batches: Sequence[PairBatch],
        *,
        python: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._name = module
        self._folder = TemporaryDirectory(prefix="attendo-bench-")
        self._errors = Path(self._folder.name) / "errors.txt"
        threads = {"OMP_NUM_THREADS": str(job.threads), "MKL_NUM_THREADS": str(job.threads)}
        options: dict[str, Any] = {}
        command = [sys.executable, "-P", "-m", f"{_PACKAGE}.{module}"]
        if python is not None:
            copy_trainers(Path(self._folder.name))
            command = [python, "-m", f"{_PACKAGE}.{module}"]
            options["cwd"] = self._folder.name  # where -m looks first
        try:
            with self._errors.open("wb") as errors:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env={**os.environ, **threads, **(environment or {})},
                    text=True,
                    start_new_session=True,  # Ctrl-C reaches the bench alone, which ends its trainers itself
                    **options,
                )
        except OSError as error:
            self._folder.cleanup()
            raise TrainerError(f"{module}: {command[0]} cannot be started ({error.strerror})") from error
        try:
            built = self._ask(asdict(job))
            self.num_parameters: int = built["parameters"]
            self.versions: dict[str, str] = built["versions"]
            self._ask({"batches": [asdict(batch) for batch in batches]})
        except BaseException:
            self.close(at_once=True)
            raise

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def train(self, batches: Sequence[int], *, fast_products: bool) -> Group:
        """Makes the process train on some batches, one update each.

        Args:
            batches: indices into the batches that the process was given.
            fast_products: whether float32 products run through oneDNN.

        Raises:
            TrainerError: the process has ended, or failed.
        """
        answer = self._ask({"batches": list(batches), "fast_products": fast_products})
        return Group(seconds=answer["seconds"], losses=tuple(answer["losses"]))

    def close(self, *, at_once: bool = False) -> None:
        """Ends the process.

        Args:
            at_once: whether to end it without waiting for its current computation.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(OSError):  # the process may have ended
            self._process.stdin.close()
        try:
            self._process.wait(0 if at_once else _GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._folder.cleanup()

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):  # then the process has written the reason
            print(json.dumps(question), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise TrainerError(f"{self._name}: {self._last_words()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _last_words(self) -> str:
        status = self._process.wait()
        lines = self._errors.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        if status < 0:
            return f"ended by signal {-status} (9 may be for lack of memory)"
        return lines[-1] if lines else f"ended with status {status}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close(at_once=kind is not None)


def copy_trainers(folder: Path) -> None:
    """Copies the trainers, and nothing else of attendo, to a folder, for an environment that has no attendo."""
    source = Path(serving.__file__).parent
    package = folder.joinpath(*_PACKAGE.split("."))
    package.mkdir(parents=True)
    for parent in (package.parent.parent, package.parent):
        (parent / "__init__.py").touch()
    for module in source.glob("*.py"):
        copyfile(module, package / module.name)
