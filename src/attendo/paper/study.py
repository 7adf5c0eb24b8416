"""A study: rows of recipes, each trained with several seeds by `attendo train`, and the result of each run.

DIR/prepared/             the data, prepared once for all rows    DIR/logs/ROW-seed-N.log   the output of a run
DIR/runs/ROW-seed-N/      a run folder like any other             DIR/.lock                 one process at a time
DIR/runs/ROW-seed-N/result.json    the result of a run, which marks it as done
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Generic

import torch
from pydantic import TypeAdapter

from attendo.errors import ModelError
from attendo.files import write_json
from attendo.paper.experiment import Reporter
from attendo.paper.run_results import ResultT, read_run, steps_made
from attendo.paper.study_folder import alone, kept
from attendo.recipe import Recipe, load_recipe
from attendo.text.prepared import PreparedData
from attendo.workflow.runs.run_folder import start_run

RESULT = "result.json"

_POLL_S = 0.5
_ERROR = "attendo: error: "


@dataclass(frozen=True, kw_only=True)
class Run:
    """A row trained with one seed."""

    row: str
    seed: int
    recipe: Recipe
    """Recipe of the run, including its seed."""

    @property
    def name(self) -> str:
        """The name of the run's folder."""
        return f"{self.row}-seed-{self.seed}"


@dataclass(frozen=True, kw_only=True)
class StudyOutcome(Generic[ResultT]):
    """The outcome of one session of a study."""

    results: tuple[ResultT, ...]
    """Results of all finished runs, including those of earlier sessions, in the study's order."""
    failures: Mapping[str, str]
    """One line with the name and the error of each run that ended without a result, by the run's name."""
    interrupted: bool
    """Whether some runs have neither a result nor a failure."""


def plan_runs(rows: Mapping[str, Recipe], seeds: Sequence[int]) -> tuple[Run, ...]:
    """Returns the runs of every row with every seed, all rows with the first seed first, to complete a table early.

    Args:
        rows: recipes by the rows' names.
        seeds: seeds of the initial weights, the batches and dropout.
    """
    return tuple(
        Run(row=row, seed=seed, recipe=replace(recipe, training=replace(recipe.training, seed=seed)))
        for seed in seeds
        for row, recipe in rows.items()
    )


class Study(Generic[ResultT]):
    """Runs in a folder, trained by parallel processes.

    Args:
        folder: folder of the study.
        runs: the runs to train.
        kind: type of their results: translators' or parsers'.
        data: returns the prepared data of a run.
        jobs: number of parallel processes.
        threads: number of processor threads of each process.

    Raises:
        ModelError: the folder of a run holds a run with another recipe.
    """

    def __init__(
        self,
        folder: Path,
        runs: Sequence[Run],
        kind: type[ResultT],
        data: Callable[[Run], PreparedData],
        *,
        jobs: int,
        threads: int,
    ) -> None:
        self._folder, self._runs, self._kind, self._data = folder, runs, kind, data
        self._jobs, self._threads = jobs, threads
        self._results: dict[str, ResultT] = {}
        self._failures: dict[str, str] = {}
        for run in runs:
            _check_same_recipe(self.run_folder(run), run)

    def run_folder(self, run: Run) -> Path:
        """Returns the folder of a run."""
        return self._folder / "runs" / run.name

    def train(
        self,
        reporter: Reporter,
        should_stop: Callable[[], bool],
        finished: Callable[[Sequence[ResultT]], object],
    ) -> StudyOutcome[ResultT]:
        """Trains the runs that are not done yet, and resumes those that were interrupted.

        A run that fails does not stop the others; its failure is part of the outcome. When `should_stop` returns True,
        all running ones are saved and stopped.

        Args:
            reporter: receives the progress.
            should_stop: called twice a second.
            finished: called with all results so far whenever another run is done.

        Raises:
            ModelError: another process is working on this study.
            OSError: the folder cannot be written to.
        """
        with alone(self._folder):
            for run in self._runs:
                # None: not done, or written by another version; read_run can read it again from the run folder.
                if (result := kept(self.run_folder(run) / RESULT, TypeAdapter(self._kind))) is not None:
                    self._results[run.name] = result
            waiting = [run for run in self._runs if run.name not in self._results]
            processes = _Processes(self._folder / "logs", self._threads, visible_gpus())
            is_stopping = False
            try:
                while processes.runs or (waiting and not is_stopping):
                    if not is_stopping and should_stop():
                        is_stopping = True
                        processes.stop()
                    while waiting and not is_stopping and len(processes.runs) < self._jobs:
                        self._start(waiting.pop(0), processes)
                    for run, failure in processes.ended():
                        if self._record_end(run, failure, reporter, is_stopping=is_stopping):
                            finished(self._results_so_far())
                    self._report_progress(processes, reporter)
                    time.sleep(_POLL_S if processes.runs else 0)
            finally:
                processes.kill()
        is_incomplete = len(self._results) + len(self._failures) < len(self._runs)
        return StudyOutcome(results=self._results_so_far(), failures=dict(self._failures), interrupted=is_incomplete)

    def _start(self, run: Run, processes: "_Processes") -> None:
        folder = self.run_folder(run)
        if not (folder / "recipe.toml").is_file():
            start_run(run.recipe, folder, self._data(run).folder)
        processes.start(run, folder)

    def _record_end(self, run: Run, failure: str | None, reporter: Reporter, *, is_stopping: bool) -> bool:
        """Records the result or the failure of a run that has ended; False if it has no result."""
        folder = self.run_folder(run)
        if failure is None:
            try:
                result = read_run(self._kind, folder, run.row, run.seed, self._data(run), threads=self._threads)
                write_json(folder / RESULT, asdict(result))
            except (ModelError, OSError) as error:
                failure = str(error)
            else:
                self._results[run.name] = result
                reporter.message(f"{run.name}: {result.to_text()}")
                return True
        if not is_stopping:
            self._failures[run.name] = f"{run.name}: {failure}"
            reporter.message(f"{run.name} failed, the others go on: {failure}")
        return False

    def _results_so_far(self) -> tuple[ResultT, ...]:
        return tuple(self._results[run.name] for run in self._runs if run.name in self._results)

    def _report_progress(self, processes: "_Processes", reporter: Reporter) -> None:
        total = done = 0
        shares = []
        running = [run.name for run in processes.runs]
        for run in self._runs:
            steps = run.recipe.training.max_steps
            total += steps
            if run.name in self._results:
                done += steps
            elif run.name in running:
                steps_done = steps_made(self.run_folder(run))
                done += steps_done
                shares.append(f"{run.name} {steps_done / steps:.0%}")
        note = f"{len(self._results)} of {len(self._runs)} runs done"
        if self._failures:
            note += f", {len(self._failures)} failed"
        reporter.running(done, total, f"{note}; {', '.join(shares)}" if shares else note)


class _Processes:
    """The `attendo train` processes of the runs in progress, each in its own process group.

    A terminal sends Ctrl-C to a whole process group, and a second signal would end a run before it is saved.
    """

    def __init__(self, logs: Path, threads: int, gpus: Sequence[str]) -> None:
        self._logs, self._threads, self._gpus = logs, threads, gpus
        self._running: dict[str, tuple[Run, int, subprocess.Popen[bytes]]] = {}

    @property
    def runs(self) -> list[Run]:
        """The runs in progress."""
        return [run for run, _, _ in self._running.values()]

    def start(self, run: Run, folder: Path) -> None:
        self._logs.mkdir(parents=True, exist_ok=True)
        slot = min(set(range(len(self._running) + 1)) - {slot for _, slot, _ in self._running.values()})
        gpu = {"CUDA_VISIBLE_DEVICES": self._gpus[slot % len(self._gpus)]} if self._gpus else {}
        with self._log(run).open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "attendo", "train", "--resume", "--output", str(folder)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "OMP_NUM_THREADS": str(self._threads), **gpu},
                start_new_session=True,
            )
        self._running[run.name] = (run, slot, process)

    def ended(self) -> Iterator[tuple[Run, str | None]]:
        """Yields the runs whose process has ended since the last call, each with its error message or None."""
        for run, _, process in list(self._running.values()):
            status = process.poll()
            if status is not None:
                del self._running[run.name]
                yield run, None if status == 0 else self._failure_reason(run, status)

    def stop(self) -> None:
        """Asks all processes to save and end."""
        for _, _, process in self._running.values():
            process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kills all processes; their last checkpoints stay intact."""
        for _, _, process in self._running.values():
            process.kill()
            process.wait()

    def _failure_reason(self, run: Run, status: int) -> str:
        lines = self._log(run).read_text(encoding="utf-8", errors="replace").splitlines()
        if lines and lines[-1].startswith(_ERROR):
            return lines[-1].removeprefix(_ERROR)
        how = f"by signal {-status} (9 may be for lack of memory)" if status < 0 else f"with status {status}"
        return f"ended {how}; see {self._log(run)}"

    def _log(self, run: Run) -> Path:
        return self._logs / f"{run.name}.log"


def visible_gpus() -> list[str]:
    """The GPUs that this process may use, as values for `CUDA_VISIBLE_DEVICES`."""
    named = [name.strip() for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name.strip()]
    count = torch.cuda.device_count()
    return named[:count] if named else [str(number) for number in range(count)]


def _check_same_recipe(folder: Path, run: Run) -> None:
    if (folder / "recipe.toml").is_file() and load_recipe(str(folder)) != run.recipe:
        raise ModelError(
            f"{folder}: holds a run of another recipe than this study's, as of another scale or version; name another "
            "folder with -o, or remove it"
        )
