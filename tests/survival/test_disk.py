"""Disks that fail under a run: one clear line, the checkpoint before it whole, and going on comes to the same."""

import itertools
import json
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.survival.chains import Chains, Uninterrupted
from tests.survival.disk_server import FULL, GONE, READ_ONLY
from tests.survival.run_state import NOTHING, Whole, final_state, what_is_whole
from tests.survival.sittings import Ended, Fate
from tests.survival.small_disks import Disk, DiskServer, can_mount

from attendo.workflow.runs.run_folder import run_lock

Reference = Callable[..., Uninterrupted]
PAGE = 4096


@pytest.fixture(scope="module")
def server(chains: Chains, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DiskServer]:
    if not can_mount(tmp_path_factory.mktemp("probe")):
        pytest.skip("unshare cannot mount a disk here")
    with DiskServer(chains.folder) as server:
        yield server


@pytest.fixture
def make_disk(server: DiskServer, tmp_path: Path) -> Callable[..., Disk]:
    """Mounts a disk of so many bytes."""

    def make_disk(num_bytes: int = 1 << 24) -> Disk:
        path = tmp_path / f"disk {len(list(tmp_path.iterdir()))}"
        path.mkdir()
        return Disk(path, server, num_bytes)

    return make_disk


def sit(server: DiskServer, disk: Disk, recipe: str, fate: Fate | None = None) -> Ended:
    what = ["--resume"] if (disk.seen / "recipe.toml").is_file() else [f"{recipe}.toml"]
    return server.sit(disk.run, "train", *what, "-o", disk.run, fate=fate)


def check_one_clear_line(ended: Ended, disk: Disk, why: str) -> str:
    """Exit status 1, and one error that names a file of the run folder, and why; gives the file's name."""
    assert ended.statuses == (1,), ended.told
    assert "Traceback" not in ended.told, ended.told
    (line,) = re.findall(r"^attendo: error: (.*)$", ended.told, re.MULTILINE)
    assert line.startswith(str(disk.run)), line
    assert re.search(why, line), line
    assert ended.told.splitlines()[-2:][0].startswith("attendo: error: "), f"it is not the last: {ended.told}"
    return re.sub(r"^/?checkpoints/", "", line.removeprefix(str(disk.run)).split(":")[0])


def check_nothing_lost(disk: Disk, before: Whole = NOTHING) -> Whole:
    now = what_is_whole(disk.seen)
    assert not now.lost_since(before)
    return now


def check_it_goes_on(server: DiskServer, disk: Disk, reference: Uninterrupted) -> None:
    ended = sit(server, disk, reference.recipe)
    assert ended.statuses == (0,), ended.told
    differences = final_state(disk.seen).differences(reference.state)
    assert not differences, "\n".join([*differences, ended.told])
    verified = server.sit(disk.run, "info", disk.run, "--verify")
    assert verified.statuses == (0,), verified.told


def fail_at(
    server: DiskServer, disk: Disk, reference: Uninterrupted, operation: int, failure: int, why: str
) -> str | None:
    """Has a disk fail before an operation, then goes on; gives the file that is named, None where it needed none."""
    ended = sit(server, disk, reference.recipe, Fate(operation=operation, number=failure))
    named = None
    print(f"operation {operation}:\n{ended.told}")
    if ended.statuses != (0,):
        named = check_one_clear_line(ended, disk, why)
        check_nothing_lost(disk)
        drafts = list(disk.seen.rglob(".tmp-*"))
        assert not drafts or failure == READ_ONLY, "a process that ends by itself leaves no draft where it can"
    if failure == READ_ONLY and "[disk fails before" in ended.told:
        disk.make_writable()
    disk.make_room()
    check_it_goes_on(server, disk, reference)
    return named


def spread(operations: int, number: int) -> list[int]:
    """So many operations of a run: the first ones, which begin it, and others at random."""
    return [*range(1, 5), *sorted(random.Random(1).sample(range(5, operations + 1), number))]


@pytest.mark.parametrize(("failure", "why"), [(FULL, "No space left"), (READ_ONLY, "Read-only file system")])
def test_a_disk_that_is_full_or_read_only_in_mid_run(
    server: DiskServer, make_disk: Callable[..., Disk], uninterrupted: Reference, failure: int, why: str
) -> None:
    reference = uninterrupted("plain")
    named = [
        fail_at(server, make_disk(), reference, operation, failure, why)
        for operation in spread(reference.operations, 4)
    ]
    assert len([name for name in named if name]) > 5, named


@pytest.mark.slow
@pytest.mark.parametrize(("failure", "why"), [(FULL, "No space left"), (READ_ONLY, "Read-only file system")])
@pytest.mark.parametrize("recipe", ["plain", "rewritten"])
def test_a_disk_that_fails_at_every_operation(
    server: DiskServer, make_disk: Callable[..., Disk], uninterrupted: Reference, recipe: str, failure: int, why: str
) -> None:
    reference = uninterrupted(recipe)
    named = {
        fail_at(server, make_disk(), reference, operation, failure, why)
        for operation in range(1, reference.operations + 1)
    }
    names = {re.sub(r"\d+", "N", name) for name in named if name}
    assert names >= {"/metrics.jsonl", "/run.json", "/recipe.toml", "/model/config.json"}, names


def test_disks_of_several_sizes(server: DiskServer, make_disk: Callable[..., Disk], uninterrupted: Reference) -> None:
    """From one page, which holds no run folder, to nearly what a run takes; each time it is made a little larger."""
    reference = uninterrupted("plain")
    disk, before, named = make_disk(PAGE), NOTHING, []
    for pages in (1, 3, 10, 30, 60, 90, 120, 150, 180):
        disk.make_room(pages * PAGE)
        ended = sit(server, disk, "plain")
        if ended.statuses == (0,):
            break
        named.append(check_one_clear_line(ended, disk, "No space left"))
        before = check_nothing_lost(disk, before)
    assert len(set(named)) > 3, named
    disk.make_room()
    check_it_goes_on(server, disk, reference)


def test_a_run_folder_that_is_removed_in_mid_run(
    server: DiskServer, make_disk: Callable[..., Disk], uninterrupted: Reference
) -> None:
    reference = uninterrupted("plain")
    for operation in spread(reference.operations, 5)[4:]:
        disk = make_disk()
        ended = sit(server, disk, "plain", Fate(operation=operation, number=GONE))
        check_one_clear_line(ended, disk, "No such file|the run folder is gone")
        assert not disk.seen.exists(), f"it is not made again: {ended.told}"


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 1
    path.write_bytes(content)


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.fixture(scope="module")
def stopped(chains: Chains, uninterrupted: Reference) -> Path:
    """A run that is stopped behind its third regular checkpoint, of `plain`, while it makes the updates of the next."""
    run = chains.folder / "stopped"
    reference = uninterrupted("plain")
    for operation in range(reference.operations // 2, reference.operations):
        shutil.rmtree(run, ignore_errors=True)
        ended = chains.server.sit(run, "train", "plain.toml", "-o", run, fate=Fate(operation=operation))
        assert ended.was_killed
        if sorted(path.name for path in run.glob("checkpoints/step-*"))[-1] == "step-00000012":
            return run
    raise AssertionError("the run was never there")


def go_on(chains: Chains, stopped: Path, tear: Callable[[Path], object]) -> tuple[Path, Ended]:
    """Tears a copy of the stopped run, under the same name, and goes on with it."""
    run = chains.folder / "torn"
    shutil.rmtree(run, ignore_errors=True)
    shutil.copytree(stopped, run)
    tear(run)
    return run, chains.server.sit(run, "train", "--resume", "-o", run)


TEARS = (truncate, flip, empty, Path.unlink)
TORN_FILES = ("weights.safetensors", "checksums.json", "state.json", "training.safetensors")


def one_tear_a_file() -> list[Any]:
    """All pairs, of which those that are not slow have each file and each tear once.

    What a tear of each file is called is tested without runs in `tests/checkpoint/test_run_checkpoints.py`.
    """
    quick = set(zip(TORN_FILES, TEARS, strict=True))
    return [
        pytest.param(*pair, marks=() if pair in quick else pytest.mark.slow)
        for pair in itertools.product(TORN_FILES, TEARS)
    ]


@pytest.mark.parametrize(("file", "tear"), one_tear_a_file())
def test_a_torn_last_checkpoint(
    chains: Chains, uninterrupted: Reference, stopped: Path, file: str, tear: Callable[[Path], object]
) -> None:
    name = "step-00000012"
    run, ended = go_on(chains, stopped, lambda run: tear(run / "checkpoints" / name / file))
    assert ended.statuses == (0,), ended.told
    (said,) = re.findall(r"^.*; set aside as .*$", ended.told, re.MULTILINE)
    assert said.startswith(f"{run / 'checkpoints' / name}/{file if (tear, file) != (flip, 'checksums.json') else ''}")
    assert said.endswith(f"set aside as torn-{name}")
    assert "resuming at step 8 from step-00000008" in ended.told
    shutil.rmtree(run / "checkpoints" / f"torn-{name}")
    differences = final_state(run).differences(uninterrupted("plain").state)
    assert not differences, "\n".join([*differences, ended.told])


def test_a_torn_checkpoint_in_the_window_of_the_average(
    chains: Chains, uninterrupted: Reference, stopped: Path
) -> None:
    torn = "checkpoints/step-00000008/weights.safetensors"
    run, ended = go_on(chains, stopped, lambda run: flip(run / torn))
    assert ended.statuses == (0,), ended.told
    shutil.rmtree(run / "checkpoints" / "torn-step-00000008", ignore_errors=True)
    assert f"{run / torn}: differs from its checksum; it was changed or is torn; set aside as" in ended.told
    assert "resuming at step 12 from step-00000012" in ended.told
    weights = {
        name: digest
        for name, digest in final_state(run).checkpoints.items()
        if re.fullmatch(r"checkpoints/step-\d+/(weights|training).safetensors", name)
    }
    expected = uninterrupted("plain").state.checkpoints
    assert all(expected.get(name, digest) == digest for name, digest in weights.items()), "training knows no averages"
    assert len(weights.keys() & expected.keys()) > 3
    description = json.loads((run / "model" / "config.json").read_text())
    assert description["training"]["valid"]["bleu"] > 0


def test_two_processes_on_one_run_folder(chains: Chains, uninterrupted: Reference, stopped: Path) -> None:
    with run_lock(stopped):
        before = {path: path.read_bytes() for path in stopped.rglob("*") if path.is_file()}
        refused = chains.server.sit(stopped, "train", "--resume", "-o", stopped)
        assert refused.statuses == (1,)
        pattern = rf"attendo: error: {re.escape(str(stopped))}: in use by process \d+ on .* already; wait until"
        assert re.search(pattern, refused.told), refused.told
        assert {path: path.read_bytes() for path in stopped.rglob("*") if path.is_file()} == before
    run = chains.folder / "contended"
    command = [sys.executable, "-m", "attendo", "train", "plain.toml", "-o", run]
    first = subprocess.Popen([*map(str, command)], cwd=chains.folder, stderr=subprocess.PIPE, text=True)
    try:
        while not list(run.glob("checkpoints/step-*")):
            assert first.poll() is None
            time.sleep(0.01)
        first.send_signal(signal.SIGSTOP)
        refused = chains.server.sit(run, "train", "--resume", "-o", run)
        first.send_signal(signal.SIGCONT)
        assert refused.statuses == (1,)
        assert f"{run}: in use by process {first.pid} on " in refused.told
        told = first.communicate(timeout=300)[1]
        assert first.returncode == 0, told
    finally:
        first.kill()
        first.communicate()
    differences = final_state(run).differences(uninterrupted("plain").state)
    assert not differences, differences
