"""The processes that train one model together, started by torchrun: their ranks and communication.

They communicate over two channels: a group over gloo for a few numbers in main memory every update, so that nothing
waits for a GPU, and torchrun's key-value store for waiting and for errors, which works when the group is broken
already.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.distributed.distributed_c10d import PrefixStore, Store
from torch.distributed.rendezvous import rendezvous

from attendo.errors import AttendoError

_PATIENCE = timedelta(hours=12)
"""Time that the others wait while the first process validates; lost processes are noticed by torchrun, not by this
limit."""
_POLL_S = 0.1


class LostProcessError(Exception):
    """Another process has ended or cannot be reached; if it could report the reason, it has."""


@dataclass(frozen=True, kw_only=True)
class Processes:
    """This process and the others of a training; `Processes()` is a single process."""

    rank: int = 0
    """Number of this process, from 0 to `size - 1`."""
    size: int = 1
    """Number of processes on all machines."""
    local_rank: int = 0
    """Number of this process on its machine, which is the number of its GPU."""
    restarts: int = 0
    """Number of times torchrun has restarted the processes of this machine after losing one."""
    launch: str = ""
    """The name of torchrun's launch, the same after such a start; empty if it has none."""
    store: Store | None = None
    """torchrun's key-value store; None for a single process."""
    control: dist.ProcessGroup | None = None
    """Group for a few numbers in main memory."""
    saving: dist.ProcessGroup | None = None
    """Group for checkpoints, which another thread writes at the same time."""

    @property
    def is_main(self) -> bool:
        """Whether this is the process that prepares, validates, writes logs and reports to the user."""
        return self.rank == 0

    def largest(self, *values: float) -> list[float]:
        """The maximum of each value over all processes, the same for all; must be called by all."""
        return self._reduced(values, dist.ReduceOp.MAX)

    def sums(self, *values: float) -> list[float]:
        """The sum of each value over all processes, the same for all; must be called by all."""
        return self._reduced(values, dist.ReduceOp.SUM)

    def of_main(self, values: Sequence[float]) -> list[float]:
        """Returns the first process's values on all processes; the others pass equally many, which are ignored."""
        if self.control is None:
            return list(values)
        found = torch.tensor(values, dtype=torch.float64)
        with _told_as_lost():
            dist.broadcast(found, src=0, group=self.control)
        return [float(value) for value in found]

    def main_first(self, key: str, work: Callable[[], str]) -> str:
        """Runs work in the first process while the others wait without a time limit.

        Args:
            key: names the work; no other has the same.
            work: the function to call; it may raise.

        Returns:
            The result of `work`, on all processes.

        Raises:
            LostProcessError: in the others, when the first one has failed.
        """
        if self.store is None:
            return work()
        if self.is_main:
            text = work()
            self.store.set(self._key(key), text)
            return text
        # Polling, unlike waiting in the store, lets signals and errors through.
        with _told_as_lost():
            while not self.store.check([self._key(key)]):
                if self.store.check([self._key("error")]):
                    raise LostProcessError
                time.sleep(_POLL_S)
            return str(self.store.get(self._key(key)), "utf-8")

    def is_first_to_fail(self) -> bool:
        """Announces that this process ends with an error; True for the first one, which reports it to the user."""
        if self.store is None:
            return True
        try:
            return int(self.store.add(self._key("error"), 1)) == 1
        except RuntimeError:  # the store is gone: its process has ended, and with it the information
            return True

    def _key(self, key: str) -> str:
        return f"attendo/{key}"

    def _reduced(self, values: Sequence[float], operation: dist.ReduceOp.RedOpType) -> list[float]:
        if self.control is None:
            return list(values)
        found = torch.tensor(values, dtype=torch.float64)
        with _told_as_lost():
            dist.all_reduce(found, operation, group=self.control)
        return [float(value) for value in found]


@contextmanager
def connected() -> Iterator[Processes]:
    """Joins the processes started by torchrun, by its environment variables; a single process without them.

    GPUs communicate over NCCL, CPUs over gloo.

    Raises:
        AttendoError: the variables are not all there.
        LostProcessError: the others cannot be reached.
    """
    size, restarts = int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))
    launch = os.environ.get("TORCHELASTIC_RUN_ID", "none").removeprefix("none")  # its name for launches without one
    if size == 1:
        yield Processes(restarts=restarts, launch=launch)
        return
    if missing := [name for name in ("RANK", "MASTER_ADDR", "MASTER_PORT") if name not in os.environ]:
        raise AttendoError(f"WORLD_SIZE is {size}, but {' and '.join(missing)} not set; start with torchrun")
    with _told_as_lost():
        store, rank, size = next(rendezvous("env://"))
        backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
        if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
            # The store outlives the processes: values of earlier ones must not be found.
            store = PrefixStore(f"start-{restarts}", store)
        dist.init_process_group(backend, store=PrefixStore("group", store), rank=rank, world_size=size)
        control, saving = (dist.new_group(backend="gloo", timeout=_PATIENCE) for _ in range(2))
    yield Processes(
        rank=rank,
        size=size,
        local_rank=int(os.environ.get("LOCAL_RANK", "0")),
        restarts=restarts,
        launch=launch,
        store=store,
        control=control,
        saving=saving,
    )
    dist.destroy_process_group()  # not after an error: that would wait for processes that no longer exist


def is_loss_of_process(error: BaseException) -> bool:
    """Whether an error is torch's report that another process has ended."""
    # gloo's errors have no type of their own.
    return isinstance(error, RuntimeError) and (isinstance(error, dist.DistError) or "gloo" in str(error))


@contextmanager
def _told_as_lost() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        raise LostProcessError(str(error)) from error
