"""What of a user's folders a command may replace, and beside what it may write."""

import json
import os
import stat
from pathlib import Path

import pytest

from attendo.errors import DataError, ModelError
from attendo.files import write_text
from attendo.output_folders import (
    RECORD,
    Origin,
    check_begun,
    check_output_folder,
    check_replaceable,
    made_folder,
)


@pytest.fixture
def origin(tmp_path: Path) -> Origin:
    (tmp_path / "run").mkdir()
    return Origin(command="average", source=tmp_path / "run", options={"last": 5})


def make(output: Path, origin: Origin, text: str = "new", *, force: bool = False) -> None:
    with made_folder(output, origin, force=force) as draft:
        write_text(draft / "inner" / "weights", text)


def files(folder: Path) -> dict[str, str]:
    """The texts of a folder, without the record."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.name != RECORD)
    return {path.relative_to(folder).as_posix(): path.read_text() for path in found}


def test_the_same_command_writes_its_folder_again(origin: Origin, tmp_path: Path) -> None:
    make(tmp_path / "model", origin, "old")
    make(tmp_path / "model", origin, "new")
    assert files(tmp_path / "model") == {"inner/weights": "new"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "run"]
    assert str(tmp_path) not in (tmp_path / "model" / RECORD).read_text(), "a model may be passed on"


def test_an_empty_folder_is_filled_and_keeps_its_mode(origin: Origin, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir(mode=0o750)
    make(tmp_path / "model", origin)
    assert files(tmp_path / "model") == {"inner/weights": "new"}
    assert stat.S_IMODE((tmp_path / "model").stat().st_mode) == 0o750


def test_what_the_command_did_not_make_is_refused_and_kept(origin: Origin, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    for name in "abcdef":
        write_text(folder / name, "mine")
    message = (
        rf"^{folder}: holds something that `attendo average` did not make \(a, b, c, d and 2 more\); name another "
        "folder, or replace all of it with --force$"
    )
    with pytest.raises(ModelError, match=message):
        make(folder, origin)
    assert files(folder) == dict.fromkeys("abcdef", "mine")
    make(folder, origin, force=True)
    assert files(folder) == {"inner/weights": "new"}


@pytest.mark.parametrize("change", ["added", "edited", "link", "folder"])
def test_what_was_changed_since_is_refused_and_kept(change: str, origin: Origin, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    make(folder, origin, "old")
    name = {"edited": "inner/weights"}.get(change, "mine")
    match change:
        case "link":
            (folder / name).symlink_to("inner")
        case "folder":
            (folder / name).mkdir()
        case _:
            (folder / name).write_text("mine")
    message = (
        rf"model: has files added or changed since it was made \({name}\); name another folder, or replace .* --force"
    )
    with pytest.raises(ModelError, match=message):
        check_replaceable(folder, origin)
    with pytest.raises(ModelError, match=message):
        make(folder, origin)
    assert os.path.lexists(folder / name)


def test_what_was_added_while_the_folder_was_made_is_kept(origin: Origin, tmp_path: Path) -> None:
    make(tmp_path / "model", origin, "old")
    with (
        pytest.raises(ModelError, match=r"added or changed since it was made \(notes\)"),
        made_folder(tmp_path / "model", origin),
    ):
        write_text(tmp_path / "model" / "notes", "mine")
    assert files(tmp_path / "model") == {"inner/weights": "old", "notes": "mine"}


def test_what_another_command_made_is_refused(origin: Origin, tmp_path: Path) -> None:
    make(tmp_path / "model", origin)
    for other in (
        Origin(command="export", source=origin.source, options=origin.options),
        Origin(command="average", source=tmp_path / "another run", options=origin.options),
        Origin(command="average", source=origin.source, options={"last": 20}),
    ):
        with pytest.raises(ModelError, match="was made by `attendo average` of something else or with other options;"):
            check_replaceable(tmp_path / "model", other)


@pytest.mark.parametrize(
    "record", ["", "[]", '{"files": 1}', '{"files": {}}', json.dumps({"files": {}, "command": [1]})]
)
def test_a_record_that_is_none_allows_nothing(record: str, origin: Origin, tmp_path: Path) -> None:
    write_text(tmp_path / "model" / RECORD, record)
    with pytest.raises(ModelError, match="--force"):
        check_replaceable(tmp_path / "model", origin)


def test_a_link_stays_and_its_folder_is_judged(origin: Origin, tmp_path: Path) -> None:
    (tmp_path / "big disk").mkdir()
    (tmp_path / "model").symlink_to("big disk")
    make(tmp_path / "model", origin)
    assert (tmp_path / "model").is_symlink()
    assert files(tmp_path / "big disk") == {"inner/weights": "new"}
    write_text(tmp_path / "big disk" / "mine", "mine")
    with pytest.raises(ModelError, match=r"added or changed since it was made \(mine\)"):
        make(tmp_path / "model", origin)
    (tmp_path / "dangling").symlink_to(Path("missing") / "folder")
    assert check_output_folder(tmp_path / "dangling") == tmp_path / "missing"
    make(tmp_path / "dangling", origin)
    assert files(tmp_path / "missing" / "folder") == {"inner/weights": "new"}
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(ModelError, match=r"loop: is a symbolic link that leads back to itself; remove it, or name"):
        make(tmp_path / "loop", origin)


def test_what_is_needed_is_not_replaced_even_by_force(
    origin: Origin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home" / "me"
    work = tmp_path / "work" / "here"
    for folder in (home, work):
        write_text(folder / "mine", "mine")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(work)
    for output, needed in (
        (tmp_path / "home", "your home folder"),
        (Path(), "the folder you are in"),
        (Path(".."), "the folder you are in"),
        (origin.source, f"{origin.source}"),
    ):
        with pytest.raises(ModelError, match=rf"is {needed}, or a folder around it, and is not replaced; name another"):
            make(output, origin, force=True)
    assert (files(home), files(work)) == ({"mine": "mine"}, {"mine": "mine"})


def test_a_folder_that_cannot_be_made_is_found_out_without_making_it(origin: Origin, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ModelError, match=rf"^{tmp_path}/file: is a file; name a folder$"):
        check_output_folder(tmp_path / "file")
    with pytest.raises(
        DataError, match=r"file: is not a folder, so .*file/model cannot be written; name another place"
    ):
        check_output_folder(tmp_path / "file" / "model")
    assert check_output_folder(tmp_path / "runs" / "mine") == tmp_path / "runs"
    assert check_output_folder(tmp_path / "mine") is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "run"]


def test_a_folder_to_work_in_is_empty_or_was_begun(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    check_begun(folder, "demo", ("run",))
    for left in (".lock", ".tmp-7-report.html"):  # of processes that were killed at once
        write_text(folder / left, "")
    check_begun(folder, "demo", ("run",))
    write_text(folder / "mine", "mine")
    message = (
        rf"^{folder}: holds something else than `attendo demo` writes \(mine\); name another folder, or write into "
        "this one with --force$"
    )
    with pytest.raises(ModelError, match=message):
        check_begun(folder, "demo", ("run",))
    check_begun(folder, "demo", ("run",), force=True)
    (folder / "run").mkdir()
    check_begun(folder, "demo", ("run",))
