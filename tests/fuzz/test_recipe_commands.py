"""Recipes from a stranger through the command line: a status, a line for each problem, and not a file written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from attendo.cli.main import run

Printed = pytest.CaptureFixture[str]

MEGABYTE = 1 << 20
SECONDS, ROOM = 20, 768 * MEGABYTE
"""Of a processor, and of address space; 1 and 300 of them are what a start takes."""
FILES = '[[data.corpora]]\nname = "a"\nsource = "a.en"\ntarget = "a.de"\n'

HOSTILE: dict[str, str | bytes] = {
    "empty key": '"" = 1',
    "no TOML": "[model\nd_model = 3",
    "not UTF-8": b"name = '\xff'",
    "UTF-16": 'name = "x"\n'.encode("utf-16"),
    "zeros": b"\0" * 1000,
    "lists in lists": "x = " + "[" * 20_000,
    "tables in tables": "x = " + "{a=" * 20_000,
    "a key of many parts": "a." * 20_000 + "b = 1",
    "a header of many parts": "[" + "a." * 20_000 + "b]",
    "a number of many digits": "[model]\nd_model = " + "9" * 5000,
    "the same in base 16": "[model]\nstart = 0x" + "f" * 5000,
    "beyond 64 bits": "[training]\nseed = 99999999999999999999",
    "a name that leads elsewhere": f'name = "../../elsewhere"\n{FILES}',
    "a name of control characters": f'name = "a\\u001b[2J\\nb"\n{FILES}',
    "a folder that ends early": f'[data]\nfolder = "a\\u0000b"\n{FILES}',
    "a file of the same kind": '[[data.corpora]]\nname = "a"\ntsv = "a\\u0000b"',
    "no corpora": "[data]\nsource_language = 'en'",
    "no such corpora": FILES,
    "a folder for a corpus": FILES.replace("a.en", "."),
    "a model that leads nowhere": f'[training]\ninit_from = "/dev/null"\n{FILES}',
    "a model of no path": f'[training]\ninit_from = "a\\u0000b"\n{FILES}',
    "a model of a long path": f'[training]\ninit_from = "{"x/" * 3000}"\n{FILES}',
}
"""What no command can do anything with."""
NEED_CORPORA = ("no corpora", "no such corpora", "a folder for a corpus")

LARGE = {
    "keys": "".join(f"k{number}=1\n" for number in range(25_000)),
    "tables": "".join(f"[t{number}]\n" for number in range(25_000)),
    "corpora": "[[data.corpora]]\n" * 15_000,
    "numbers": "x = [" + "0," * 125_000 + "]",
    "tables in a list": "x = [" + "{a.b.c=1}," * 25_000 + "]",
    "dotted keys": "".join(f"a{number}.b.c.d.e.f.g=1\n" for number in range(11_000)),
    "a word": "[model]\npositions = '" + "x" * (MEGABYTE - 100) + "'",
    "quotes within quotes": 'x = """' + '\\"""' * 250_000,
    "too large": "#" * (64 * MEGABYTE),
}
"""What takes a careless reader minutes and gigabytes."""


def hold_refused(status: int, told: str, folder: Path) -> None:
    assert status == 1, told
    assert "Traceback" not in told
    assert told.count("attendo: error: ") == 1
    lines = told[told.index("attendo: error: ") :].splitlines()  # before it stands what was begun
    assert len(lines) <= 42
    assert max(map(len, lines)) < 9000, "a path may have 4096 bytes"
    assert list(folder.rglob("*")) == [folder / "hostile.toml"], "a command that refuses writes nothing"


@pytest.mark.parametrize("command", [["train", "--dry-run"], ["train"], ["prepare"]])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_recipe_is_refused(
    capsys: Printed, name: str, command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in NEED_CORPORA and "--dry-run" in command:
        pytest.skip("a dry run needs no corpora")
    monkeypatch.chdir(tmp_path)
    content = HOSTILE[name]
    Path("hostile.toml").write_bytes(content if isinstance(content, bytes) else content.encode())
    status = run([command[0], "hostile.toml", *command[1:]])
    printed = capsys.readouterr()
    hold_refused(status, printed.err, tmp_path)
    assert printed.out == ""


@pytest.mark.parametrize("name", LARGE)
def test_a_large_recipe_takes_little_time_and_memory(name: str, tmp_path: Path) -> None:
    (tmp_path / "hostile.toml").write_text(LARGE[name], encoding="utf-8")

    code = (
        "import resource, sys; from attendo.cli.main import run;"
        f"resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS}));"
        f"resource.setrlimit(resource.RLIMIT_AS, ({ROOM}, {ROOM}));"
        "sys.exit(run(sys.argv[1:]))"
    )
    finished = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, "recipe", "hostile.toml"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    hold_refused(finished.returncode, finished.stderr, tmp_path)


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        (["model.d_model=65536", "model.d_ff=1048576"], "GiB for weights, gradients and Adam"),
        (["model.num_layers=1000", "model.d_model=8192"], "GiB for weights, gradients and Adam"),
        (["model.num_layers=1000000000"], "model.num_layers = 1000000000 is too large; take 1000 or less"),
        (["tokenizer.vocab_size=1099511627776"], "tokenizer.vocab_size = 1099511627776 is too large"),
        (["training.threads=1099511627776"], "training.threads = 1099511627776 is above"),
    ],
)
def test_a_model_beyond_the_machine_is_counted_and_not_built(
    capsys: Printed, setting: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("hostile.toml").write_text("")
    status = run(["train", "hostile.toml", "--dry-run", *(part for each in setting for part in ("--set", each))])
    err = capsys.readouterr().err
    hold_refused(status, err, tmp_path)
    assert told in err


@pytest.mark.parametrize("kind", ["fifo", "device", "folder", "circle", "in a file", "long"])
def test_what_is_no_file_is_no_recipe(
    capsys: Printed, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("hostile.toml")
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    elif kind == "circle":
        path.symlink_to(path.name)
    else:
        path.touch()
    name = {"long": "x" * 5000, "in a file": f"{path}/hostile.toml"}.get(kind, str(path))
    for command in ("prepare", "train"):
        status = run([command, name])
        err = capsys.readouterr().err
        hold_refused(status, err, tmp_path)
        assert len(err.splitlines()) == 1, err
