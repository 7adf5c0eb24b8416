"""Every command with --output: what it refuses to write, at once, and what it leaves as it is."""

import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from tests.cli.conftest import Command

from attendo.cli.main import application

ATTENDO = [sys.executable, "-m", "attendo"]
SENTENCE = "The house is small.\n"
TRANSLATION = "Das Haus ist klein.\n"

# Where an argument names a model, a run or a recipe, there is none of that name: what is said of the output is said
# before anything else is looked at. FILE is replaced by a file with a sentence, RUN by a folder that looks like a run.
FILE_COMMANDS = {
    "translate": "translate nothing FILE",
    "parse": "parse nothing FILE --input words",
    "evaluate": "evaluate nothing --source FILE --reference FILE",
    "calibrate": "calibrate nothing --source FILE --reference FILE",
    "attention": "attention nothing Hello",
    "plot": "plot nothing",
    "bench train": "bench train",
    "draw architecture": "draw architecture nothing",
    "draw multi-head": "draw multi-head nothing",
    "draw positions": "draw positions nothing",
    "draw schedule": "draw schedule nothing",
    "draw pieces": "draw pieces nothing text",
}
FOLDER_COMMANDS = {
    "average": "average RUN --last 5",
    "export": "export en-de --format attendo",
    "import": "import RUN",
    "learn": "learn en-de --corrections FILE",
    "prepare": "prepare RECIPE",
    "train": "train RECIPE",
    "demo": "demo",
    "data get": "data get wmt14-en-de",
    "reproduce": "reproduce figure1 --scale tiny",
}


def _commands(group: Any, names: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, (*names, name))
        else:
            yield " ".join((*names, name)), command


def test_all_commands_with_an_output_are_here() -> None:
    commands = _commands(typer.main.get_command(application()))
    found = {name for name, command in commands if any("--output" in each.opts for each in command.params)}
    assert found == FILE_COMMANDS.keys() | FOLDER_COMMANDS.keys()


@pytest.fixture
def line(tmp_path: Path, recipe_path: Path) -> Callable[[str], list[str]]:
    (tmp_path / "sentence").write_text(SENTENCE)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}")
    replaced = {"FILE": str(tmp_path / "sentence"), "RECIPE": str(recipe_path), "RUN": str(tmp_path / "run")}
    return lambda command: [replaced.get(word, word) for word in command.split()]


@pytest.mark.parametrize("name", FILE_COMMANDS)
def test_a_file_that_cannot_be_written_is_refused_at_once(
    name: str, attendo: Command, line: Callable[[str], list[str]], tmp_path: Path
) -> None:
    (tmp_path / "folder.svg").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "loop.svg").symlink_to("loop.svg")
    for output, message in (
        (tmp_path / "folder.svg", f"{tmp_path}/folder.svg: is a folder; name a file"),
        (tmp_path / "file" / "x.svg", f"{tmp_path}/file: is not a folder, so {tmp_path}/file/x.svg cannot be written"),
        (tmp_path / "loop.svg", f"{tmp_path}/loop.svg: is a symbolic link that leads back to itself"),
    ):
        finished = attendo(*line(FILE_COMMANDS[name]), "-o", output)
        assert (finished.status, finished.out) == (1, "")
        assert finished.err.startswith(f"attendo: error: {message}")
        assert finished.err.count("\n") == 1


@pytest.mark.parametrize("name", [name for name in FILE_COMMANDS if name not in ("bench train", "draw multi-head")])
def test_a_missing_folder_of_a_file_is_told_and_not_made_in_vain(
    name: str, attendo: Command, line: Callable[[str], list[str]], tmp_path: Path
) -> None:
    finished = attendo(*line(FILE_COMMANDS[name]), "-o", tmp_path / "new" / "deep" / "x.svg")
    assert finished.status == 1, "there is no model"
    assert finished.err.startswith(f"{tmp_path}/new/deep: does not exist and will be created\nattendo: error: ")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", FOLDER_COMMANDS)
def test_a_folder_that_cannot_be_made_is_refused_at_once(
    name: str, attendo: Command, line: Callable[[str], list[str]], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("mine")
    for output, message in (
        (tmp_path / "file", f"{tmp_path}/file: is a file; name a folder\n"),
        (tmp_path / "file" / "x", f"{tmp_path}/file: is not a folder, so {tmp_path}/file/x cannot be written"),
    ):
        finished = attendo(*line(FOLDER_COMMANDS[name]), "-o", output)
        assert (finished.status, finished.out) == (1, "")
        assert finished.err.startswith(f"attendo: error: {message}")
        assert finished.err.count("\n") == 1
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("name", FOLDER_COMMANDS)
def test_a_folder_that_holds_something_else_is_refused_at_once(
    name: str, linked: bool, attendo: Command, line: Callable[[str], list[str]], tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for mine in ("config.json", "README.md"):  # as a model has them
        (folder / mine).write_text("mine")
    (tmp_path / "link").symlink_to("folder")
    finished = attendo(*line(FOLDER_COMMANDS[name]), "-o", tmp_path / "link" if linked else folder)
    assert (finished.status, finished.out) == (1, "")
    assert finished.err.splitlines()[-1].startswith(f"attendo: error: {tmp_path}/{'link' if linked else 'folder'}: ")
    assert "--force" in finished.err
    assert "README.md" in finished.err
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"config.json": "mine", "README.md": "mine"}
    assert (tmp_path / "link").is_symlink()


def test_a_model_is_exported_again_and_what_was_added_is_kept(attendo: Command, tmp_path: Path) -> None:
    (tmp_path / "sentences").write_text(SENTENCE)
    what = ("de-en", "--format", "attendo", "--threads", 1, "--sentences", tmp_path / "sentences")
    export = ("export", *what, "-o", tmp_path / "new" / "model")
    finished = attendo(*export)
    assert finished.status == 0, finished.err
    assert finished.err.startswith(f"{tmp_path}/new: does not exist and will be created\n")
    assert attendo(*export).status == 0, "the same once more"
    (tmp_path / "new" / "model" / "notes.txt").write_text("mine")
    refused = attendo(*export)
    assert refused.status == 1
    assert "has files added or changed since it was made (notes.txt)" in refused.err
    forced = attendo(*export, "--force")
    assert forced.status == 0
    assert f"replaced what {tmp_path}/new/model held: .made-by.json, README.md, checksums.json" in forced.err
    assert not (tmp_path / "new" / "model" / "notes.txt").exists()


def test_a_study_s_folder_is_not_another_s(attendo: Command, tmp_path: Path) -> None:
    study = ("reproduce", "figure2", "--scale", "tiny", "-o", tmp_path / "study")
    assert attendo(*study).status == 0
    assert attendo(*study).status == 0, "goes on"
    refused = attendo("reproduce", "figure1", "--scale", "tiny", "-o", tmp_path / "study")
    assert refused.status == 1
    assert refused.err.endswith(
        "study: holds figure2 at the scale tiny; name another folder with -o, or write into this one with --force\n"
    )
    assert "figure2" in (tmp_path / "study" / "index.md").read_text()


def test_work_beside_what_is_there_takes_force_and_is_told(attendo: Command, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    finished = attendo("reproduce", "figure2", "--scale", "tiny", "-o", tmp_path, "--force")
    assert finished.status == 0
    assert finished.err.startswith(f"writing into {tmp_path}, which holds: mine\n")
    assert (tmp_path / "mine").read_text() == "mine"


def test_keys_go_into_a_file_whose_folder_is_made(attendo: Command, tmp_path: Path) -> None:
    finished = attendo("keys", "add", tmp_path / "new" / "keys.json", "me")
    assert finished.status == 0
    assert finished.err.startswith(f"{tmp_path}/new: does not exist and will be created\n")
    assert "me" in attendo("keys", "list", tmp_path / "new" / "keys.json").out
    os.mkfifo(tmp_path / "fifo")
    refused = attendo("keys", "add", tmp_path / "fifo", "me")
    assert refused.err == f"attendo: error: {tmp_path}/fifo: keys are kept in a regular file; name another\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fifo", "new"]


def test_drawings_are_not_strewn_beside_a_device(attendo: Command, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    finished = attendo("parse", "nothing", "--format", "svg", "-o", tmp_path / "fifo")
    assert finished.status == 2
    assert "drawings are files" in finished.err
    assert [path.name for path in tmp_path.iterdir()] == ["fifo"]


def translate(path: Path, output: object, more: str = "") -> subprocess.CompletedProcess[str]:
    """Translates a sentence as a user does, in a shell, in the folder `path`."""
    (path / "sentence").write_text(SENTENCE)
    command = f'"{sys.executable}" -m attendo translate en-de sentence --threads 1 -o {output} {more}'
    finished = subprocess.run(command, shell=True, check=True, capture_output=True, text=True, cwd=path, timeout=300)
    assert "translated 1 line " in finished.stderr
    return finished


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make a device")
def test_translating_into_a_device_leaves_it_one(tmp_path: Path) -> None:
    try:
        os.mknod(tmp_path / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("no device may be made here")
    translate(tmp_path, "null")
    assert stat.S_ISCHR((tmp_path / "null").lstat().st_mode)


def test_translating_into_a_fifo(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with subprocess.Popen(["cat", tmp_path / "fifo"], stdout=subprocess.PIPE, text=True) as reader:
        translate(tmp_path, "fifo")
        assert reader.communicate()[0] == TRANSLATION
    assert stat.S_ISFIFO((tmp_path / "fifo").lstat().st_mode)


def test_translating_into_standard_output_that_is_appended_to_a_file(tmp_path: Path) -> None:
    (tmp_path / "all").write_text("before\n")
    number = (tmp_path / "all").stat().st_ino
    translate(tmp_path, "/dev/stdout", ">> all")
    assert (tmp_path / "all").read_text() == f"before\n{TRANSLATION}"
    assert (tmp_path / "all").stat().st_ino == number


def test_translating_into_a_pipe(tmp_path: Path) -> None:
    assert translate(tmp_path, "/dev/stdout", "| tr a-z A-Z").stdout == TRANSLATION.upper()


def test_translating_into_a_link(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "target").chmod(0o640)
    (tmp_path / "link").symlink_to("target")
    translate(tmp_path, "link")
    assert (tmp_path / "target").read_text() == TRANSLATION
    assert stat.S_IMODE((tmp_path / "target").stat().st_mode) == 0o640
    assert (tmp_path / "link").is_symlink()


def test_a_closed_descriptor_is_an_error_at_once() -> None:
    finished = subprocess.run(
        [*ATTENDO, "translate", "nothing", "-o", "/dev/fd/9"], check=False, capture_output=True, text=True, input=""
    )
    assert finished.returncode == 1
    assert finished.stderr == "attendo: error: /dev/fd/9: is not open for writing; redirect it, as in 9> FILE\n"
