"""Runs independent tasks on a cluster with Ray Data.

Each task is a row of a dataset, in a block of its own, and its result is a row too. If a machine is lost, Ray repeats
its unfinished tasks elsewhere, so tasks must be safe to run twice.
"""

import pickle
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from attendo.errors import AttendoError

if TYPE_CHECKING:
    import pyarrow

TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")


@dataclass(frozen=True, kw_only=True)
class Share:
    """The share of a machine's resources that one worker takes."""

    cpus: int
    """Number of processors."""
    gpus: int = 0
    """Number of GPUs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Outcome(Generic[ResultT]):
    """The result of a task, or its error."""

    result: ResultT | None = None
    error: AttendoError | None = None


class _Worker(Generic[TaskT, ResultT]):
    """The state of an actor: the function that does tasks, created at the first task."""

    def __init__(self, opened: Callable[[], Callable[[TaskT], ResultT]]) -> None:
        self._opened = opened
        self._unit: Callable[[TaskT], ResultT] | None = None

    def __call__(self, rows: "pyarrow.Table") -> "pyarrow.Table":
        """Does the tasks of the rows."""
        return _done(self._do, rows)

    def _do(self, task: TaskT) -> ResultT:
        # Not in the constructor, as Ray takes errors there for its own and retries.
        if self._unit is None:
            self._unit = self._opened()
        return self._unit(task)


def by_actors(
    opened: Callable[[], Callable[[TaskT], ResultT]], tasks: Sequence[TaskT], share: Share, *, num_actors: int
) -> Iterator[ResultT]:
    """Runs tasks in workers that are expensive to start; yields results in order of completion.

    If machines join later, there will be more workers.

    Args:
        opened: returns the function that does a task; called once in each worker, on its machine. Picklable.
        tasks: the tasks, picklable like their results.
        share: the resources of each worker.
        num_actors: number of workers at the start.

    Raises:
        AttendoError: a task cannot be done, or the cluster failed.
    """
    import ray

    # With this minimum Ray may end idle workers, which makes room for replacing the workers of a lost machine.
    pool = ray.data.ActorPoolStrategy(min_size=1, initial_size=max(1, min(num_actors, len(tasks))))
    dataset = _dataset(tasks).map_batches(
        _Worker,
        fn_constructor_args=(opened,),
        batch_size=1,
        batch_format="pyarrow",
        compute=pool,
        num_cpus=share.cpus,
        num_gpus=share.gpus,
    )
    yield from _results(dataset)


def by_tasks(
    unit: Callable[[TaskT], ResultT], tasks: Iterable[TaskT], *, num_at_once: int
) -> Iterator[tuple[TaskT, ResultT]]:
    """Runs tasks in any process of the cluster; yields each task with its result, in the order of the tasks.

    Args:
        unit: a module-level function, which takes one processor.
        tasks: the tasks, picklable like their results.
        num_at_once: number of tasks that are distributed and waited for at once, several per processor of the cluster.

    Raises:
        AttendoError: a task cannot be done, or the cluster failed.
    """
    remaining = iter(tasks)
    while batch := list(islice(remaining, num_at_once)):
        dataset = _dataset([(unit, task) for task in batch], preserve_order=True)
        done = dataset.map_batches(_call, batch_size=1, batch_format="pyarrow", num_cpus=1)
        yield from zip(batch, _results(done), strict=True)


def _call(rows: "pyarrow.Table") -> "pyarrow.Table":
    """Calls the units of the rows with their tasks."""
    return _done(_apply, rows)


def _apply(row: tuple[Callable[[Any], Any], Any]) -> Any:
    unit, task = row
    return unit(task)


def _dataset(tasks: Sequence[Any], *, preserve_order: bool = False) -> Any:
    """Returns a dataset with one task per block."""
    import ray

    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = preserve_order
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    context.execution_no_progress_timeout_s = -1  # tasks may take any time
    return ray.data.from_items([{"task": pickle.dumps(task)} for task in tasks], override_num_blocks=len(tasks))


def _results(dataset: Any) -> Iterator[Any]:
    import ray

    try:
        for row in dataset.iter_rows():
            outcome: _Outcome[Any] = pickle.loads(row["outcome"])
            if outcome.error is not None:
                raise outcome.error
            yield outcome.result
    except ray.exceptions.RayError as error:
        if isinstance(
            error, ray.exceptions.RayTaskError
        ):  # a bug in the task's code, which is raised with its traceback
            raise
        raise AttendoError(f"the cluster failed ({error}); run the command again to continue") from error


def _done(unit: Callable[[TaskT], ResultT], rows: "pyarrow.Table") -> "pyarrow.Table":
    """Does the tasks of the rows; errors that users can cause are returned as values, so that they stay one line."""
    import pyarrow

    outcomes: list[_Outcome[ResultT]] = []
    for row in rows.column("task"):
        try:
            outcomes.append(_Outcome(result=unit(pickle.loads(row.as_py()))))
        except AttendoError as error:
            outcomes.append(_Outcome(error=error))
        except OSError as error:
            prefix = f"{error.filename}: " if error.filename else ""
            reason = f"{prefix}{error.strerror or error} (on {socket.gethostname()})"
            outcomes.append(_Outcome(error=AttendoError(reason)))
    return pyarrow.table({"outcome": [pickle.dumps(outcome) for outcome in outcomes]})
