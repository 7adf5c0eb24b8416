"""`attendo prepare` killed with SIGKILL, at random moments and before each change it makes, and given again."""

import gzip
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")

SERVER = Path(__file__).with_name("preparing.py")
KILLED = -9
Answer = dict[str, Any]
Preparing = Callable[..., Answer]


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recipe of two corpora, one of them compressed, with bad lines and duplicates, in some ten parts."""
    folder = tmp_path_factory.mktemp("corpora")
    rng = random.Random(5)
    words = ["".join(rng.choices("aeiou", k=1) + rng.choices("klmnprst", k=rng.randint(1, 4))) for _ in range(300)]
    lines = [" ".join(rng.choices(words, k=rng.randint(1, 12))) for _ in range(6000)]
    lines += ["", *lines[:500], "x" * 2500]
    (folder / "a.src").write_text("".join(f"{line}\n" for line in lines))
    (folder / "a.tgt").write_text("".join(f"{line[::-1]}\n" for line in lines))
    rows = [f"{line}\t{line.upper()}\n" for line in [*lines[:300], *(f"{line} and" for line in lines[:2000])]]
    (folder / "b.tsv.gz").write_bytes(gzip.compress("".join([*rows, "no tab\n"]).encode()))
    (folder / "mine.toml").write_text(
        "[[data.corpora]]\nname = 'a'\nsource = 'a.src'\ntarget = 'a.tgt'\n"
        "[[data.corpora]]\nname = 'b'\ntsv = 'b.tsv.gz'\n[tokenizer]\nvocab_size = 400\n"
    )
    return folder


@pytest.fixture(scope="module")
def preparing(corpora: Path) -> Iterator[Preparing]:
    """Has the corpora prepared in a folder: `preparing(folder, workers, **fate)`."""
    command = [sys.executable, "-W", "error", str(SERVER)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as server:
        requests, answers = server.stdin, server.stdout
        assert requests is not None
        assert answers is not None

        def preparing(folder: Path, workers: int, **fate: float) -> Answer:
            arguments = ["prepare", str(corpora / "mine.toml"), "-o", "ready", "--workers", str(workers)]
            requests.write(json.dumps({"arguments": arguments, "cwd": str(folder), **fate}) + "\n")
            answer: Answer = json.loads(answers.readline())
            return answer

        yield preparing
        requests.close()


@pytest.fixture(scope="module")
def undisturbed(
    preparing: Preparing, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, Any], dict[int, Answer]]:
    """What is prepared if nothing happens, and the answers, by the number of workers."""
    answers = {}
    for workers in (1, 3):
        folder = tmp_path_factory.mktemp("undisturbed")
        answers[workers] = preparing(folder, workers)
        assert answers[workers]["status"] == 0, answers[workers]["told"]
    return contents(folder / "ready"), answers


def contents(folder: Path) -> dict[str, Any]:
    """Every file of a prepared folder; the report without its seconds, the manifest without the report's checksum."""
    found: dict[str, Any] = {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
    report, manifest = json.loads(found["report.json"]), json.loads(found["manifest.json"])
    del report["seconds"], manifest["files"]["report.json"]
    return {**found, "report.json": report, "manifest.json": manifest}


def goes_on(preparing: Preparing, folder: Path, workers: int, whole: dict[str, Any]) -> None:
    """Gives the command again: the same bytes, and nothing left behind."""
    drafts = [path.name for path in folder.iterdir() if path.name != ".lock-ready"]
    assert all(name.startswith(".tmp-") or name == "ready" for name in drafts), drafts
    again = preparing(folder, workers)
    assert again["status"] == 0, again["told"]
    assert contents(folder / "ready") == whole
    assert sorted(path.name for path in folder.iterdir()) == [".lock-ready", "ready"]


def killed_at_a_moment(preparing: Preparing, folder: Path, workers: int, after_s: float) -> None:
    """Kills it then, or earlier if it was done by then: how fast it is differs from one time to the next."""
    while True:
        ended = preparing(folder, workers, after_s=after_s)
        assert ended["outlived_s"] < 100, f"what it had started was there {ended['outlived_s']:.1f} s after it"
        if ended["status"] == KILLED:
            return
        assert ended["status"] == 0, (after_s, ended["told"])
        shutil.rmtree(folder / "ready")
        after_s /= 2


def killed_at_moments(
    preparing: Preparing, undisturbed: tuple[dict[str, Any], Any], folder: Path, seeds: range, workers: int
) -> None:
    whole, answers = undisturbed
    for seed in seeds:
        if (folder / "ready").exists():  # killed behind its last change, or gone on with
            assert contents(folder / "ready") == whole
            shutil.rmtree(folder / "ready")
        after_s = random.Random(f"moment {seed}").uniform(0, answers[workers]["seconds"])
        killed_at_a_moment(preparing, folder, workers, after_s)
        if seed % 2:  # and now and then killed twice
            goes_on(preparing, folder, workers, whole)
    goes_on(preparing, folder, workers, whole)


def test_killed_at_a_few_moments(preparing: Preparing, undisturbed: Any, tmp_path: Path) -> None:
    killed_at_moments(preparing, undisturbed, tmp_path, range(2), workers=3)


@pytest.mark.slow
def test_killed_at_thirty_moments(preparing: Preparing, undisturbed: Any, tmp_path: Path) -> None:
    killed_at_moments(preparing, undisturbed, tmp_path, range(2, 33), workers=3)


def killed_before_changes(preparing: Preparing, undisturbed: Any, tmp_path: Path, step: int) -> None:
    whole, answers = undisturbed
    num_operations = answers[1]["operations"]
    assert num_operations > 50
    for operation in range(1, num_operations + 1, step):
        folder = tmp_path / str(operation)
        folder.mkdir()
        ended = preparing(folder, 1, operation=operation)
        assert ended["status"] == KILLED, (operation, ended["told"])
        if (folder / "ready").exists():  # put in its place, and killed behind that
            assert contents(folder / "ready") == whole
        goes_on(preparing, folder, 1, whole)


def test_killed_before_some_changes_of_the_disk(preparing: Preparing, undisturbed: Any, tmp_path: Path) -> None:
    killed_before_changes(preparing, undisturbed, tmp_path, step=47)


@pytest.mark.slow
def test_killed_before_each_change_of_the_disk(preparing: Preparing, undisturbed: Any, tmp_path: Path) -> None:
    killed_before_changes(preparing, undisturbed, tmp_path, step=1)
