"""Downloads against a local server that breaks off, changes its mind and lies."""

import hashlib
import random
import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.workflow.datasets.wmt_server import FileServer, served

from attendo.errors import DataError
from attendo.workflow.datasets import download
from attendo.workflow.datasets.download import Checksum, Progress, fetch, mirrored

CONTENT = random.Random(1).randbytes(900_000)
CHECKSUM = Checksum(algorithm="sha256", digits=hashlib.sha256(CONTENT).hexdigest(), origin="as published")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    monkeypatch.setattr(download, "_WAITS_S", (0.01, 0.01))
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "a.tgz").write_bytes(CONTENT)
    with served(tmp_path / "site") as server:
        yield server


def ignored(progress: Progress) -> None:
    pass


def test_a_file_arrives_whole_and_tells_how_far_it_is(files: FileServer, tmp_path: Path) -> None:
    told: list[Progress] = []
    path = tmp_path / "archives" / "a.tgz"
    fetch(f"{files.url}/a.tgz", path, CHECKSUM, told.append)
    assert path.read_bytes() == CONTENT
    assert [path.name for path in path.parent.iterdir()] == ["a.tgz"]
    assert told[0] == Progress(stage="a.tgz", done_bytes=0, total_bytes=len(CONTENT))
    assert told[-1].done_bytes == len(CONTENT)
    assert [one.done_bytes for one in told] == sorted(one.done_bytes for one in told)


def test_a_broken_line_is_taken_up_where_it_broke(files: FileServer, tmp_path: Path) -> None:
    files.break_after += [300_000, 300_000]
    told: list[Progress] = []
    fetch(f"{files.url}/a.tgz", tmp_path / "a.tgz", CHECKSUM, told.append)
    assert (tmp_path / "a.tgz").read_bytes() == CONTENT
    assert [asked for _, asked in files.requests] == ["", "bytes=300000-", "bytes=600000-"]
    assert {one.first_bytes for one in told} == {0, 300_000, 600_000}


class Stopped(Exception):
    """What a signal raises."""


def test_a_download_that_was_stopped_goes_on_in_the_next_call(files: FileServer, tmp_path: Path) -> None:
    def stop(progress: Progress) -> None:
        if progress.done_bytes > 400_000:
            raise Stopped

    path = tmp_path / "a.tgz"
    with pytest.raises(Stopped):
        fetch(f"{files.url}/a.tgz", path, CHECKSUM, stop)
    assert not path.exists()
    arrived = (tmp_path / "a.tgz.part").stat().st_size
    assert 400_000 < arrived < len(CONTENT)
    fetch(f"{files.url}/a.tgz", path, CHECKSUM, ignored)
    assert path.read_bytes() == CONTENT
    assert files.requests[-1] == ("a.tgz", f"bytes={arrived}-")


def test_a_file_that_changed_meanwhile_is_fetched_anew(files: FileServer, tmp_path: Path) -> None:
    files.break_after += [300_000, 0, 0]
    with pytest.raises(DataError, match="the connection broke after 300,000 of 900,000 bytes"):
        fetch(f"{files.url}/a.tgz", tmp_path / "a.tgz", None, ignored)
    changed = CONTENT[::-1]
    (files.folder / "a.tgz").write_bytes(changed)
    fetch(f"{files.url}/a.tgz", tmp_path / "a.tgz", None, ignored)
    assert (tmp_path / "a.tgz").read_bytes() == changed


def test_without_a_version_nothing_is_put_together(files: FileServer, tmp_path: Path) -> None:
    files.with_tags = False
    files.break_after += [300_000]
    fetch(f"{files.url}/a.tgz", tmp_path / "a.tgz", CHECKSUM, ignored)
    assert [asked for _, asked in files.requests] == ["", ""]
    assert (tmp_path / "a.tgz").read_bytes() == CONTENT


def test_what_had_arrived_whole_is_not_fetched_again(files: FileServer, tmp_path: Path) -> None:
    # As after a kill while the checksum was made: all of it lies there under its temporary name.
    files.break_after += [300_000, 0, 0]
    with pytest.raises(DataError):
        fetch(f"{files.url}/a.tgz", tmp_path / "a.tgz", CHECKSUM, ignored)
    (tmp_path / "a.tgz.part").write_bytes(CONTENT)
    fetch(f"{files.url}/a.tgz", tmp_path / "a.tgz", CHECKSUM, ignored)
    assert files.requests[-1] == ("a.tgz", "bytes=900000-")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tgz", "site"]


@pytest.mark.parametrize("algorithm", ["sha256", "md5"])
def test_another_file_than_expected_is_refused_and_removed(files: FileServer, tmp_path: Path, algorithm: str) -> None:
    digits = hashlib.new(algorithm, b"another").hexdigest()
    other = Checksum(algorithm="md5" if algorithm == "md5" else "sha256", digits=digits, origin="as published")
    found = hashlib.new(algorithm, CONTENT).hexdigest()
    with pytest.raises(DataError, match=rf"/a.tgz: the file has {algorithm} {found}, not {digits}, as published"):
        fetch(f"{files.url}/a.tgz", tmp_path / "a.tgz", other, ignored)
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_busy_server_is_asked_again(files: FileServer, tmp_path: Path) -> None:
    files.statuses += [503, 429]
    fetch(f"{files.url}/a.tgz", tmp_path / "a.tgz", CHECKSUM, ignored)
    assert len(files.requests) == 3
    files.statuses += [503, 503, 503]
    with pytest.raises(DataError, match=r"cannot be fetched \(HTTP 503 Service Unavailable\); try again later"):
        fetch(f"{files.url}/a.tgz", tmp_path / "b.tgz", CHECKSUM, ignored)


def test_a_missing_file_is_told_at_once(files: FileServer, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"/b.tgz: cannot be fetched \(HTTP 404 Not Found\)"):
        fetch(f"{files.url}/b.tgz", tmp_path / "b.tgz", None, ignored)
    assert len(files.requests) == 1


def test_a_server_that_is_not_there_is_told_at_once(tmp_path: Path) -> None:
    with socket.socket() as unused:  # a port that nobody listens at
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/a.tgz"
        with pytest.raises(DataError, match=r"cannot be fetched \(.*refused\); .* --mirror"):
            fetch(url, tmp_path / "a.tgz", None, ignored)


def test_a_full_disk_is_told_before_anything_is_written(
    files: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=1000))
    with pytest.raises(DataError, match=r"0\.00 GB of http.* are missing and 0\.00 GB are free; make room"):
        fetch(f"{files.url}/a.tgz", tmp_path / "a.tgz", None, ignored)
    assert not (tmp_path / "a.tgz.part").exists()


def test_addresses_at_a_mirror() -> None:
    url = "https://www.statmt.org/wmt13/test.tgz"
    assert mirrored(url, None) == url
    assert mirrored(url, "http://localhost:8000/wmt/") == "http://localhost:8000/wmt/www.statmt.org/wmt13/test.tgz"
    with pytest.raises(DataError, match="--mirror ftp://host: give an address that begins with http"):
        mirrored(url, "ftp://host")
