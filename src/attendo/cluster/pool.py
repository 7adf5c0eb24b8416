"""Work in tasks that do not know each other, done by a cluster through Ray Data.

A task is a row of a dataset, in a block of its own, and its result another row. A machine that is lost costs the tasks
that it was at: Ray has them done again elsewhere, so a task must be one that may be done twice.
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
    """What of a machine one worker takes."""

    cpus: int
    """Processors."""
    gpus: int = 0
    """Graphics cards."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Outcome(Generic[ResultT]):
    """What became of a task."""

    result: ResultT | None = None
    error: AttendoError | None = None


class _Worker(Generic[TaskT, ResultT]):
    """An actor's state: the function that does tasks, made when the first one comes."""

    def __init__(self, opened: Callable[[], Callable[[TaskT], ResultT]]) -> None:
        self._opened = opened
        self._unit: Callable[[TaskT], ResultT] | None = None

    def __call__(self, rows: "pyarrow.Table") -> "pyarrow.Table":
        """Does the tasks of some rows."""
        return _done(self._do, rows)

    def _do(self, task: TaskT) -> ResultT:
        # Not in the constructor, whose errors Ray takes for its own and tries again.
        if self._unit is None:
            self._unit = self._opened()
        return self._unit(task)


def by_actors(
    opened: Callable[[], Callable[[TaskT], ResultT]], tasks: Sequence[TaskT], share: Share, *, num_actors: int
) -> Iterator[ResultT]:
    """Has tasks done by workers that are dear to start; yields results as they come, in no order.

    Where machines join later, there will be more workers.

    Args:
        opened: gives the function that does a task; called once a worker, where it works. Picklable.
        tasks: picklable, as are the results.
        share: of each worker.
        num_actors: workers at the start.

    Raises:
        AttendoError: a task cannot be done, or the cluster gave up.
    """
    import ray

    # The least size lets Ray end idle workers, which makes room for those of a lost machine; their tasks wait for them.
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
    """Has tasks done by any process of the cluster; yields each with its result, in their order.

    Args:
        unit: a function of a module, which takes one processor.
        tasks: picklable, as are the results; so many of them are taken at once, given out, and waited for.
        num_at_once: some for each processor of the cluster.

    Raises:
        AttendoError: a task cannot be done, or the cluster gave up.
    """
    remaining = iter(tasks)
    while some := list(islice(remaining, num_at_once)):
        dataset = _dataset([(unit, task) for task in some], preserve_order=True)
        done = dataset.map_batches(_call, batch_size=1, batch_format="pyarrow", num_cpus=1)
        yield from zip(some, _results(done), strict=True)


def _call(rows: "pyarrow.Table") -> "pyarrow.Table":
    """Calls units with their tasks."""
    return _done(_apply, rows)


def _apply(row: tuple[Callable[[Any], Any], Any]) -> Any:
    unit, task = row
    return unit(task)


def _dataset(tasks: Sequence[Any], *, preserve_order: bool = False) -> Any:
    """A dataset of a task a block."""
    import ray

    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = preserve_order
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    context.execution_no_progress_timeout_s = -1  # a task takes as long as it takes
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
        if isinstance(error, ray.exceptions.RayTaskError):  # of code that should have none: with its traceback
            raise
        raise AttendoError(f"the cluster failed ({error}); run the command again to continue") from error


def _done(unit: Callable[[TaskT], ResultT], rows: "pyarrow.Table") -> "pyarrow.Table":
    """Does the tasks of some rows; what users can cause comes back as a value, so that it stays one clear line."""
    import pyarrow

    outcomes: list[_Outcome[ResultT]] = []
    for row in rows.column("task"):
        try:
            outcomes.append(_Outcome(result=unit(pickle.loads(row.as_py()))))
        except AttendoError as error:
            outcomes.append(_Outcome(error=error))
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            reason = f"{where}{error.strerror or error} (on {socket.gethostname()})"
            outcomes.append(_Outcome(error=AttendoError(reason)))
    return pyarrow.table({"outcome": [pickle.dumps(outcome) for outcome in outcomes]})
