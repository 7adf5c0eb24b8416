"""The default number of threads of this process, and how OpenMP's threads wait for each other.

torch works with the threads of an OpenMP runtime. At the end of every parallel loop they wait for the slowest one, by
default actively: for about 5 ms (libgomp) or 200 ms (LLVM's and Intel's). If another program occupies the slowest
thread's core, the system could have moved that thread to a core that is busy only with waiting.
"""

import math
import os
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

OPENMP_SETTINGS: Mapping[str, str] = {"KMP_BLOCKTIME": "1"}
"""Milliseconds of waiting awake before a thread sleeps: for the runtimes of LLVM and Intel, which torch brings on macOS
and Windows. For libgomp, which it brings on Linux, see `workflow.machine.brief_waits`."""
_CHOICES = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")


def chooses_waiting(environment: Mapping[str, str]) -> bool:
    """Whether the user has chosen how OpenMP's threads wait.

    Args:
        environment: the environment of the process.
    """
    return any(name in environment and environment[name] != OPENMP_SETTINGS.get(name) for name in _CHOICES)


def set_up_openmp(environment: MutableMapping[str, str] = os.environ) -> None:
    """Makes OpenMP's threads sleep after a short wait, and limits their number to the cores this process may use.

    The runtime reads its environment when torch loads it, so this has no effect if torch is already loaded. Processes
    that this one starts inherit the settings.

    Args:
        environment: the environment of this process.
    """
    if "torch" in sys.modules:
        return
    if not chooses_waiting(environment):
        environment.update(OPENMP_SETTINGS)
    # The runtime knows of affinity itself, but not of a container's quota.
    if (cores := usable_cores()) < cores_by_affinity():
        environment.setdefault("OMP_NUM_THREADS", str(cores))


def openmp_advice(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> str | None:
    """Returns advice for a user whose process started OpenMP with its default way of waiting; otherwise None.

    Args:
        environment: the environment of this process.
        platform: the platform, as in `sys.platform`; on Linux nothing has to be set.
    """
    if platform == "linux" or "torch" not in sys.modules or chooses_waiting(environment):
        return None
    if environment.items() >= OPENMP_SETTINGS.items():
        return None
    return (
        "torch was loaded before attendo could choose how its threads wait, and beside other programs they wait awake, "
        "which costs much speed; import attendo first, or start Python with "
        + " ".join(f"{name}={value}" for name, value in OPENMP_SETTINGS.items())
    )


def usable_cores(proc: Path = Path("/proc/self"), root: Path = Path("/")) -> int:
    """Returns how many processors this process may use: those of its affinity, within its cgroups' quota, at least 1.

    Args:
        proc: the process' folder in Linux' `/proc`.
        root: the folder to which its mount points are relative.
    """
    return max(1, math.floor(min(cores_by_affinity(), cgroup_quota(proc, root))))


def cgroup_quota(proc: Path = Path("/proc/self"), root: Path = Path("/")) -> float:
    """Returns the processor time per second that the cgroups of this process allow; infinity if there is no limit.

    The limits of all enclosing cgroups apply, in version 2 (`cpu.max`) and in version 1 (`cpu.cfs_quota_us`), even if
    both are mounted.

    Args:
        proc: the process' folder in Linux' `/proc`.
        root: the folder to which its mount points are relative.
    """
    return min((_quota_of(folder) for folder in _cgroup_folders(proc, root)), default=math.inf)


def cores_by_affinity() -> int:
    """Returns the number of processors on which the system lets this process run."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def physical_cores(root: Path = Path("/")) -> int:
    """Returns the number of cores of the processors available to this process: two threads may share a core.

    Args:
        root: the folder of Linux' `/sys`; if the system does not report cores, every processor counts.
    """
    if not hasattr(os, "sched_getaffinity"):
        return cores_by_affinity()
    folder = root / "sys" / "devices" / "system" / "cpu"
    mine = os.sched_getaffinity(0)
    cores = {_read(folder / f"cpu{number}" / "topology" / "thread_siblings_list") for number in mine}
    return len(mine) if "" in cores else len(cores)


@dataclass(frozen=True)
class _Mount:
    """A mounted cgroup hierarchy."""

    subtree: PurePosixPath
    """The cgroup that its mount point shows; in a container that is seldom the hierarchy's root."""
    point: Path


def _cgroup_folders(proc: Path, root: Path) -> Iterator[Path]:
    """Yields the folders of the process' cgroups that could limit its processor time, and of the enclosing cgroups."""
    for controllers, path in _memberships(proc):
        mount = _mount_of(controllers, proc, root)
        if mount is None:
            continue
        try:
            inside = PurePosixPath(path).relative_to(mount.subtree)
        except ValueError:  # it is outside the visible hierarchy
            inside = PurePosixPath()
        folder = mount.point / inside
        yield folder
        for parent in folder.parents:
            if not parent.is_relative_to(mount.point):
                break
            yield parent


def _memberships(proc: Path) -> Iterator[tuple[str, str]]:
    """Yields the controllers of a hierarchy, empty for version 2, with the cgroup that the process is in."""
    for line in _read(proc / "cgroup").splitlines():
        parts = line.split(":", 2)
        if len(parts) == 3 and (not parts[1] or "cpu" in parts[1].split(",")):
            yield parts[1], parts[2]


def _mount_of(controllers: str, proc: Path, root: Path) -> _Mount | None:
    """Finds the mount point of a hierarchy; for the format see proc(5), `/proc/pid/mountinfo`."""
    for line in _read(proc / "mountinfo").splitlines():
        before, _, behind = line.partition(" - ")
        fields, kind = before.split(), behind.split()
        if len(fields) < 5 or len(kind) < 3:
            continue
        is_wanted = kind[0] == "cgroup" and "cpu" in kind[2].split(",") if controllers else kind[0] == "cgroup2"
        if is_wanted:
            return _Mount(PurePosixPath(_unescaped(fields[3])), root / _unescaped(fields[4]).lstrip("/"))
    return None


def _quota_of(folder: Path) -> float:
    """Returns one cgroup's limit in processors."""
    quota, _, period = _read(folder / "cpu.max").strip().partition(" ")
    if not quota:
        quota, period = _read(folder / "cpu.cfs_quota_us").strip(), _read(folder / "cpu.cfs_period_us").strip()
    with suppress(ValueError, ZeroDivisionError):
        share = int(quota) / int(period or "100000")
        return share if share > 0 else math.inf  # version 1 says -1 for none
    return math.inf  # version 2 says max for none; and there may be no such file


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""


def _unescaped(text: str) -> str:
    """A path of `mountinfo`, which has white space and backslashes as octal numbers."""
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text
