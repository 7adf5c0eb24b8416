"""`attendo serve` and `attendo keys` on the command line; the server itself is tested in tests/serving."""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from attendo.cli.main import run
from attendo.serving.access.keys import read_keys


def test_keys_are_made_listed_and_revoked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "keys.json"
    limits = ["--requests-per-minute", "60", "--characters-per-month", "500000", "--days", "30"]
    assert run(["keys", "add", str(path), "Ada Lovelace", *limits]) == 0
    made = capsys.readouterr()
    assert re.fullmatch(r"att_[A-Za-z0-9_-]{43}\n", made.out)
    key = read_keys(path).find(made.out.strip())
    assert key is not None
    assert (key.name, key.requests_per_minute, key.characters_per_month) == ("Ada Lovelace", 60, 500_000)
    assert key.expires is not None
    assert run(["keys", "list", str(path)]) == 0
    listed = capsys.readouterr().out
    assert key.id in listed
    assert "Ada Lovelace" in listed
    assert made.out.strip() not in listed
    assert run(["keys", "revoke", str(path), "nothing"]) == 1
    assert key.id in capsys.readouterr().err
    assert run(["keys", "revoke", str(path), key.id]) == 0
    assert read_keys(path).keys == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "no such model"),
        (["--set", "server.prot=1"], "server.prot"),
        (["--set", "limits.n_best=99"], "needs a beam"),
        (["--config", "nowhere.toml"], "nowhere.toml"),
        (["--keys", "nowhere.json"], "nowhere.json"),
        (["en-de", "en-de"], "two models are called en-de"),
    ],
)
def test_what_cannot_be_meant_is_told_in_a_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["serve", *arguments, "--port", "0"]) == 1
    assert message in capsys.readouterr().err.splitlines()[-1]


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    hidden = "import sys; sys.modules['fastapi'] = sys.modules['uvicorn'] = None; sys.argv[0] = 'attendo'\n"
    code = hidden + "from attendo.cli.main import run; sys.exit(run(['serve']))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment
    )
    assert finished.returncode == 1
    assert finished.stderr.splitlines()[-1].endswith('pip install "attendo[serve]"')


def test_a_port_that_is_taken_is_told(model_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert run(["serve", str(model_folder), "--port", str(taken.getsockname()[1])]) == 1
    assert "cannot listen on this address" in capsys.readouterr().err.splitlines()[-1]


def test_help_imports_nothing_of_it() -> None:
    code = (
        "import sys; from attendo.cli.main import run; run(['serve', '--help']); "
        "sys.exit(any(name in sys.modules for name in ('fastapi', 'uvicorn', 'torch', 'prometheus_client')))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0
