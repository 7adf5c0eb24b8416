"""The machines of a cluster, and whether they can do the work: the same attendo, and the same files."""

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
    """A machine of the cluster, alive when it was asked for."""

    id: str
    address: str
    """For people."""
    cpus: int
    """Processors that the cluster may use there."""
    gpus: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedFile:
    """A file as the machine that started the work sees it."""

    path: Path
    size: int
    """Bytes."""
    sha256: str
    """Of the content of a small file; empty for a large one, of which only the size is compared."""

    @classmethod
    def of(cls, path: Path) -> Self:
        """Looks at a file.

        Raises:
            OSError: it cannot be read.
        """
        size = path.stat().st_size
        small = size <= _MAX_COMPARED_BYTES
        return cls(path=path, size=size, sha256=hashlib.sha256(path.read_bytes()).hexdigest() if small else "")


def alive_nodes() -> list[Node]:
    """Returns the machines of the cluster that one is connected to."""
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
        nodes: those to ask, all at once.
        files: which have to lie on storage that all of them mount under the same path.

    Raises:
        AttendoError: one of them cannot do the work; all problems are in one message.
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
    """Says what is wrong on the machine that this runs on; nothing, if it can do the work.

    Args:
        version: of attendo, that the work was started with.
        files: as they were seen there.
    """
    problems = []
    if attendo.__version__ != version:
        problems.append(f"has attendo {attendo.__version__}, but here it is {version}; install the same one")
    for file in files:
        try:
            found = SharedFile.of(file.path)
        except OSError as error:
            problems.append(
                f"does not see {file.path} ({error.strerror}); input, model and output have to lie on storage that "
                "all machines mount under the same path"
            )
            continue
        if found != file:
            problems.append(f"sees another {file.path} than the one here; mount the same storage under this path")
    return problems
