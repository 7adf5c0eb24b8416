import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.workflow.datasets.wmt_server import (
    FileServer,
    as_lines,
    put_mtdata_in_place,
    sentences,
    served,
    write_wmt14,
)

Command = Callable[..., Any]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    put_mtdata_in_place(tmp_path / "packages", monkeypatch)
    write_wmt14(tmp_path / "site", monkeypatch)
    monkeypatch.chdir(tmp_path)
    with served(tmp_path / "site") as server:
        yield server


def test_the_list_needs_neither_network_nor_mtdata(attendo: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attendo.workflow.extras.find_spec", lambda name: None)
    finished = attendo("data", "get", "--list")
    assert finished.status == 0
    assert "wmt14-en-de: WMT 2014, English to German" in finished.out
    assert "  train.giga             22,520,400 pairs  10^9 French-English corpus" in finished.out


def test_a_dry_run_fetches_nothing(attendo: Command, files: FileServer) -> None:
    finished = attendo("data", "get", "wmt14-en-de", "--dry-run")
    assert finished.status == 0
    first, *_, last = finished.out.splitlines()
    assert first.startswith("wmt14-en-de/train.europarl.*: training/europarl-v7.de-en.en and ")
    assert "from http://www.statmt.org/wmt13/training-parallel-europarl-v7.tgz" in first
    assert first.endswith("sha256 known")
    assert last.endswith("from https://statmt.org/wmt14/test-full.tgz, md5 known")
    assert files.requests == []
    assert not Path("wmt14-en-de").exists()


def test_a_dataset_goes_into_a_folder_of_its_name_with_an_account(attendo: Command, files: FileServer) -> None:
    finished = attendo("data", "get", "wmt14-en-de", "--mirror", files.url)
    assert finished.status == 0, finished.err
    assert Path("wmt14-en-de/train.europarl.de").read_bytes() == as_lines(sentences("parliament", 60, "de"))
    header, *rows, total = finished.out.splitlines()
    assert header.split() == ["text", "pairs", "source", "MB", "target", "MB"]
    assert [row.split()[:2] for row in rows] == [
        ["train.europarl", "60"],
        ["train.common-crawl", "60"],
        ["train.news-commentary", "60"],
        ["newstest2013", "6"],
        ["newstest2014", "6"],
    ]
    assert total.split()[-1] == "180"
    assert "training-parallel-europarl-v7.tgz, 0 MB" in finished.err
    assert "wmt14-en-de: complete; ATTRIBUTION.md has its origin" in finished.err
    again = attendo("data", "get", "wmt14-en-de", "--mirror", files.url)
    assert again.out == finished.out
    assert "verifying train.europarl" in again.err
    assert "there; will be verified" in attendo("data", "get", "wmt14-en-de", "--dry-run").out


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        ([], 2, "give the name of a dataset, or --list"),
        (["wmt15"], 1, "wmt15: no dataset of this name is known; take one of wmt14-en-de, wmt14-en-fr"),
        (["wmt14-en-de", "--mirror", "elsewhere"], 1, "--mirror elsewhere: give an address that begins with http"),
        (["wmt14-en-de", "--mirror", "SERVER/nowhere"], 1, "europarl-v7.tgz: cannot be fetched (HTTP 404 Not Found)"),
    ],
)
def test_wrong_ways_to_ask(attendo: Command, files: FileServer, arguments: list[str], status: int, told: str) -> None:
    finished = attendo("data", "get", *(argument.replace("SERVER", files.url) for argument in arguments))
    assert finished.status == status
    assert told in finished.err
    assert finished.out == ""


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_what_had_arrived(tmp_path: Path, files: FileServer, sent: signal.Signals, status: int) -> None:
    files.pause_after.append(500)
    command = subprocess.Popen(
        [sys.executable, "-m", "attendo", "data", "get", "wmt14-en-de", "--mirror", files.url],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    part = tmp_path / "wmt14-en-de" / "archives" / "training-parallel-europarl-v7.tgz.part"
    deadline = time.monotonic() + 300
    while not files.paused.is_set() and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.2)
    command.send_signal(sent)
    out, err = command.communicate(timeout=300)
    files.go_on.set()
    assert (command.returncode, out) == (status, b""), err
    assert b"Traceback" not in err
    assert part.is_file()
    assert not part.with_suffix("").exists()
