"""A study: rows of recipes, each trained with several seeds by `attendo train`, and what came of each.

DIR/prepared/             the data, prepared once for all rows    DIR/logs/ROW-seed-N.log   what a run has said
DIR/runs/ROW-seed-N/      a run folder like any other             DIR/.lock                 which process is at it
DIR/runs/ROW-seed-N/result.json    what came of it: this run is done
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
    """A row with a seed."""

    row: str
    seed: int
    recipe: Recipe
    """As it trains, with its seed."""

    @property
    def name(self) -> str:
        """That of its folder."""
        return f"{self.row}-seed-{self.seed}"


@dataclass(frozen=True, kw_only=True)
class StudyOutcome(Generic[ResultT]):
    """What a sitting of a study came to."""

    results: tuple[ResultT, ...]
    """Of all runs that are done, those of earlier sittings too, in the study's order."""
    failures: Mapping[str, str]
    """Of the runs that ended without a result, by their names: the name and what went wrong, a line each."""
    interrupted: bool


def plan_runs(rows: Mapping[str, Recipe], seeds: Sequence[int]) -> tuple[Run, ...]:
    """Every row with every seed: all rows with the first seed first, so that what is done is soon a whole table.

    Args:
        rows: recipes by the rows' names.
        seeds: of the initial weights, the batches and dropout.
    """
    return tuple(
        Run(row=row, seed=seed, recipe=replace(recipe, training=replace(recipe.training, seed=seed)))
        for seed in seeds
        for row, recipe in rows.items()
    )


class Study(Generic[ResultT]):
    """Runs in a folder, trained by processes side by side.

    Args:
        folder: the study's own.
        runs: what to train.
        kind: of their results: translators' or parsers'.
        data: gives a run's.
        jobs: processes side by side.
        threads: processor threads of each.

    Raises:
        ModelError: a folder of a run holds another one.
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
            _check_is(self.run_folder(run), run)

    def run_folder(self, run: Run) -> Path:
        """Where a run is."""
        return self._folder / "runs" / run.name

    def train(
        self,
        reporter: Reporter,
        should_stop: Callable[[], bool],
        finished: Callable[[Sequence[ResultT]], object],
    ) -> StudyOutcome[ResultT]:
        """Trains what is not done yet; what was interrupted goes on.

        A run that fails is told of at the end, and the others go on. When it is to stop, all running ones are told to,
        and are saved.

        Args:
            reporter: who is told.
            should_stop: asked twice a second.
            finished: told all results so far whenever another run is done.

        Raises:
            ModelError: another process is at this study.
            OSError: the folder cannot be written to.
        """
        with alone(self._folder):
            for run in self._runs:
                # None: not done, or of another version, and the run folder has all of it.
                if (found := kept(self.run_folder(run) / RESULT, TypeAdapter(self._kind))) is not None:
                    self._results[run.name] = found
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
                        if self._take_in(run, failure, reporter, is_stopping=is_stopping):
                            finished(self._found())
                    self._tell(processes, reporter)
                    time.sleep(_POLL_S if processes.runs else 0)
            finally:
                processes.kill()
        is_left = len(self._results) + len(self._failures) < len(self._runs)
        return StudyOutcome(results=self._found(), failures=dict(self._failures), interrupted=is_left)

    def _start(self, run: Run, processes: "_Processes") -> None:
        folder = self.run_folder(run)
        if not (folder / "recipe.toml").is_file():
            start_run(run.recipe, folder, self._data(run).folder)
        processes.start(run, folder)

    def _take_in(self, run: Run, failure: str | None, reporter: Reporter, *, is_stopping: bool) -> bool:
        """Keeps the result of a run that has ended; False where it has none."""
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

    def _found(self) -> tuple[ResultT, ...]:
        return tuple(self._results[run.name] for run in self._runs if run.name in self._results)

    def _tell(self, processes: "_Processes", reporter: Reporter) -> None:
        total = done = 0
        shares = []
        running = [run.name for run in processes.runs]
        for run in self._runs:
            steps = run.recipe.training.max_steps
            total += steps
            if run.name in self._results:
                done += steps
            elif run.name in running:
                made = steps_made(self.run_folder(run))
                done += made
                shares.append(f"{run.name} {made / steps:.0%}")
        note = f"{len(self._results)} of {len(self._runs)} runs done"
        if self._failures:
            note += f", {len(self._failures)} failed"
        reporter.running(done, total, f"{note}; {', '.join(shares)}" if shares else note)


class _Processes:
    """`attendo train` for each of some runs, each in a process and a process group of its own.

    Of its own, because a terminal's Ctrl-C goes to a whole group, and a second signal would end a run unsaved.
    """

    def __init__(self, logs: Path, threads: int, gpus: Sequence[str]) -> None:
        self._logs, self._threads, self._gpus = logs, threads, gpus
        self._running: dict[str, tuple[Run, int, subprocess.Popen[bytes]]] = {}

    @property
    def runs(self) -> list[Run]:
        """Those that are running."""
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
        """The runs whose process has ended since, and why where it failed."""
        for run, _, process in list(self._running.values()):
            status = process.poll()
            if status is not None:
                del self._running[run.name]
                yield run, None if status == 0 else self._why(run, status)

    def stop(self) -> None:
        """Has all save and end."""
        for _, _, process in self._running.values():
            process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Ends all at once; their last checkpoints stay whole."""
        for _, _, process in self._running.values():
            process.kill()
            process.wait()

    def _why(self, run: Run, status: int) -> str:
        lines = self._log(run).read_text(encoding="utf-8", errors="replace").splitlines()
        if lines and lines[-1].startswith(_ERROR):
            return lines[-1].removeprefix(_ERROR)
        how = f"by signal {-status} (9 may be for lack of memory)" if status < 0 else f"with status {status}"
        return f"ended {how}; see {self._log(run)}"

    def _log(self, run: Run) -> Path:
        return self._logs / f"{run.name}.log"


def visible_gpus() -> list[str]:
    """The GPUs that this process may use, as `CUDA_VISIBLE_DEVICES` names them."""
    named = [name.strip() for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name.strip()]
    count = torch.cuda.device_count()
    return named[:count] if named else [str(number) for number in range(count)]


def _check_is(folder: Path, run: Run) -> None:
    if (folder / "recipe.toml").is_file() and load_recipe(str(folder)) != run.recipe:
        raise ModelError(
            f"{folder}: holds a run of another recipe than this study's, as of another scale or version; name another "
            "folder with -o, or remove it"
        )
