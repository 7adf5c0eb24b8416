"""The machines of a cluster, and checks that they have the same attendo and see the same files."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeVar

import attendo
from attendo.errors import AttendoError

_MAX_COMPARED_BYTES = 1 << 20

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, kw_only=True)
class Node:
    """A machine of the cluster that was alive at the time of the query."""

    id: str
    address: str
    """Address of the machine, for messages."""
    cpus: int
    """Number of processors that the cluster may use on the machine."""
    gpus: int
    """Number of GPUs that the cluster may use on the machine."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedFile:
    """A file as the machine that started the work sees it."""

    path: Path
    size: int
    """Size in bytes."""
    sha256: str
    """SHA-256 of a file of at most 1 MiB; empty for a larger one, of which only the size is compared."""

    @classmethod
    def of(cls, path: Path) -> Self:
        """Describes a file of this machine.

        Raises:
            OSError: the file cannot be read.
        """
        size = path.stat().st_size
        small = size <= _MAX_COMPARED_BYTES
        return cls(path=path, size=size, sha256=hashlib.sha256(path.read_bytes()).hexdigest() if small else "")


def alive_nodes() -> list[Node]:
    """Returns the machines of the connected cluster that are alive."""
    import ray

    return [
        Node(
            id=node["NodeID"],
            address=node["NodeManagerAddress"],
            cpus=int(node["Resources"].get("CPU", 0)),
            gpus=int(node["Resources"].get("GPU", 0)),
        )
        for node in ray.nodes()
        if node["Alive"]
    ]


def watched(results: Iterable[ResultT], report: Callable[[str], None]) -> Iterator[ResultT]:
    """Yields the results of a cluster, and reports when the number of its machines changes."""
    before = len(alive_nodes())
    for result in results:
        now = len(alive_nodes())
        if now < before:
            report(f"{now} machines, {before - now} fewer than before: what a lost one was at is done again elsewhere")
        elif now > before:
            report(f"{now} machines, {now - before} more than before")
        before = now
        yield result


def check_nodes(nodes: Sequence[Node], files: Sequence[SharedFile]) -> None:
    """Makes sure that every machine has this version of attendo and sees the same files.

    Args:
        nodes: the machines to check, in parallel.
        files: the files, which have to lie on storage that all machines mount under the same path.

    Raises:
        AttendoError: a machine cannot do the work; the message names all problems.
    """
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    ask = ray.remote(num_cpus=0, max_retries=0)(problems_here)
    answers = [
        ask.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node_id=node.id, soft=False)).remote(
            attendo.__version__, tuple(files)
        )
        for node in nodes
    ]
    problems = []
    for node, answer in zip(nodes, answers, strict=True):
        try:
            problems += [f"{node.address}: {problem}" for problem in ray.get(answer)]
        except ray.exceptions.RayError as error:
            reason = str(error).strip().split("\n")[-1]
            problems.append(f"{node.address}: cannot run attendo {attendo.__version__} ({reason}); install it there")
    if problems:
        raise AttendoError("not every machine of the cluster can be used: " + "; ".join(problems))


def problems_here(version: str, files: Sequence[SharedFile]) -> list[str]:
    """Returns the problems of the machine that this runs on; empty if it can do the work.

    Args:
        version: the version of attendo on the machine that started the work.
        files: the files as seen by that machine.
    """
    problems = []
    if attendo.__version__ != version:
        problems.append(f"has attendo {attendo.__version__}, but here it is {version}; install the same one")
    for file in files:
        try:
            own = SharedFile.of(file.path)
        except OSError as error:
            problems.append(
                f"does not see {file.path} ({error.strerror}); input, model and output have to lie on storage that "
                "all machines mount under the same path"
            )
            continue
        if own != file:
            problems.append(f"sees another {file.path} than the one here; mount the same storage under this path")
    return problems
