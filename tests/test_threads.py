"""How many threads a process takes: made-up cgroup trees as the kernel's documentation has them, and real processes."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from attendo.threads import (
    OPENMP_SETTINGS,
    cgroup_quota,
    chooses_waiting,
    openmp_advice,
    physical_cores,
    set_up_openmp,
    usable_cores,
)

# proc(5): ID, parent, device, root within the hierarchy, mount point, options, " - ", type, source, super options.
V2 = "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
V1 = (
    "30 25 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
    "31 25 0:28 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
)
V1_IN_DOCKER = "31 25 0:28 /docker/4f2a /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n"


def make_tree(root: Path, memberships: str, mounts: str, files: dict[str, str]) -> Path:
    """A machine's `/proc/self` and its cgroups below a folder; gives the former."""
    proc = root / "proc" / "self"
    proc.mkdir(parents=True)
    (proc / "cgroup").write_text(memberships)
    (proc / "mountinfo").write_text(f"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n{mounts}")
    for name, content in files.items():
        path = root / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return proc


@pytest.mark.parametrize(
    ("memberships", "mounts", "files", "quota"),
    [
        ("0::/\n", V2, {"cpu.max": "150000 100000\n"}, 1.5),
        ("0::/\n", V2, {"cpu.max": "max 100000\n"}, math.inf),
        ("0::/\n", V2, {}, math.inf),  # the root of a machine has no such file
        # The limit of a slice holds for the services in it.
        (
            "0::/a.slice/b.service\n",
            V2,
            {"a.slice/b.service/cpu.max": "max 100000", "a.slice/cpu.max": "50000 20000"},
            2.5,
        ),
        ("0::/a/b\n", V2, {"a/b/cpu.max": "300000 100000", "a/cpu.max": "400000 100000"}, 3),
        ("0::/a\n", V2, {"other/cpu.max": "100000 100000"}, math.inf),
        # systemd-run -p CPUQuota=20%
        ("0::/run.service\n", V2, {"run.service/cpu.max": "20000 100000"}, 0.2),
        (
            "5:cpuset:/\n4:cpu,cpuacct:/jobs\n1:name=systemd:/\n",
            V1,
            {"cpu,cpuacct/jobs/cpu.cfs_quota_us": "250000\n", "cpu,cpuacct/jobs/cpu.cfs_period_us": "100000\n"},
            2.5,
        ),
        (
            "4:cpu,cpuacct:/\n",
            V1,
            {"cpu,cpuacct/cpu.cfs_quota_us": "-1", "cpu,cpuacct/cpu.cfs_period_us": "100000"},
            math.inf,
        ),
        # docker run --cpus 1.5 on version 1: the path is that of the host, the mount shows the container's own cgroup.
        (
            "4:cpu,cpuacct:/docker/4f2a\n",
            V1_IN_DOCKER,
            {"cpu,cpuacct/cpu.cfs_quota_us": "150000", "cpu,cpuacct/cpu.cfs_period_us": "100000"},
            1.5,
        ),
        # A path outside of what is mounted here.
        ("0::/../other\n", V2, {"cpu.max": "200000 100000"}, 2),
        # Both versions at once, as systemd's hybrid mode has them: the smaller limit holds.
        (
            "4:cpu,cpuacct:/\n0::/\n",
            V1 + V2,
            {
                "cpu.max": "400000 100000",
                "cpu,cpuacct/cpu.cfs_quota_us": "300000",
                "cpu,cpuacct/cpu.cfs_period_us": "100000",
            },
            3,
        ),
        ("0::/\n", V2, {"cpu.max": "nonsense\n"}, math.inf),
        ("nonsense\n", "nonsense\n", {}, math.inf),
    ],
)
def test_the_quota_of_a_cgroup(
    memberships: str, mounts: str, files: dict[str, str], quota: float, tmp_path: Path
) -> None:
    proc = make_tree(tmp_path, memberships, mounts, files)
    assert cgroup_quota(proc, tmp_path) == quota


def test_without_cgroups_there_is_no_quota(tmp_path: Path) -> None:
    assert cgroup_quota(tmp_path / "proc" / "self", tmp_path) == math.inf


@pytest.mark.parametrize(("quota", "cores"), [("20000", 1), ("199999", 1), ("100000", 1), ("9900000", None)])
def test_cores_are_those_of_the_affinity_at_most_the_quotas(quota: str, cores: int | None, tmp_path: Path) -> None:
    proc = make_tree(tmp_path, "0::/\n", V2, {"cpu.max": f"{quota} 100000"})
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    assert usable_cores(proc, tmp_path) == (cores or min(allowed, 99))


def test_the_floor_of_a_quota(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(16)), raising=False)
    proc = make_tree(tmp_path, "0::/\n", V2, {"cpu.max": "350000 100000"})
    assert usable_cores(proc, tmp_path) == 3


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity")
def test_a_pinned_process_takes_the_cores_it_is_pinned_to() -> None:
    code = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); from attendo.threads import *"
    finished = subprocess.run(
        [sys.executable, "-c", f"{code}; print(usable_cores())"], check=True, capture_output=True, text=True
    )
    assert finished.stdout == "1\n"


def test_a_users_own_choice_stays() -> None:
    for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"):
        assert chooses_waiting({name: "7", "PATH": "/bin"})
    assert not chooses_waiting({"OMP_NUM_THREADS": "4"})
    assert not chooses_waiting(OPENMP_SETTINGS)  # as a process that attendo has started finds them


def without_settings() -> dict[str, str]:
    """This process's environment, less all that chooses how OpenMP's threads wait, or how many they are."""
    own = {"OMP_WAIT_POLICY", "OMP_NUM_THREADS", "GOMP_SPINCOUNT", *OPENMP_SETTINGS}
    return {name: value for name, value in os.environ.items() if name not in own}


@pytest.mark.skipif(sys.platform != "linux", reason="libgomp is Linux's")
@pytest.mark.parametrize(("chosen", "spins"), [({}, "300000"), ({"GOMP_SPINCOUNT": "123"}, "123")])
def test_libgomp_is_left_as_it_is(chosen: dict[str, str], spins: str) -> None:
    # OMP_DISPLAY_ENV is OpenMP's own: the runtime itself writes what it has understood, when torch loads it.
    environment = {**without_settings(), **chosen, "OMP_DISPLAY_ENV": "VERBOSE"}
    code = "from attendo.cli.main import main; import sys; sys.argv = ['attendo', 'info', '--json']; main()"
    finished = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
    assert f"GOMP_SPINCOUNT = '{spins}'" in finished.stderr


def test_processes_inherit_the_settings() -> None:
    code = (
        "import json, os, subprocess, sys, attendo; attendo.load\n"
        "print(subprocess.run([sys.executable, '-c', 'import json, os; print(json.dumps(dict(os.environ)))'],"
        " capture_output=True, text=True, check=True).stdout)"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code], env=without_settings(), check=True, capture_output=True, text=True
    )
    assert json.loads(finished.stdout).items() >= OPENMP_SETTINGS.items()


def test_where_torch_runs_already_nothing_is_set_and_the_way_out_is_named() -> None:
    environment: dict[str, str] = {}
    set_up_openmp(environment)  # this process has torch
    assert environment == {}
    advice = openmp_advice(environment, platform="darwin")
    assert advice is not None
    assert "import attendo first" in advice
    assert "KMP_BLOCKTIME=1" in advice
    assert openmp_advice({"OMP_WAIT_POLICY": "passive"}, platform="darwin") is None
    assert openmp_advice(OPENMP_SETTINGS, platform="darwin") is None
    assert openmp_advice({}, platform="linux") is None  # `brief_waits` needs no setting


def test_two_processors_of_one_core_count_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 4}, raising=False)
    for number, siblings in ((0, "0,4"), (1, "1,5"), (4, "0,4"), (5, "1,5")):
        folder = tmp_path / "sys" / "devices" / "system" / "cpu" / f"cpu{number}" / "topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(f"{siblings}\n")
    assert physical_cores(tmp_path) == 2
    assert physical_cores(tmp_path / "nowhere") == 3
