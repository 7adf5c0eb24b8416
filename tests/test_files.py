"""Files and folders that appear whole or not at all: replaced, refused, and written by processes that are killed."""

import errno
import hashlib
import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.faults import killed_at, no_file_above

import attendo.files
from attendo.files import (
    atomic_folder,
    atomic_path,
    flush_to_disk,
    locked,
    recover,
    remove_folder,
    sha256,
    short_name,
    write_json,
    write_text,
)

BY_TWO_RENAMES = [False, True]
"""Where the file system exchanges two folders at once, as that of this machine does, and where it cannot."""


def test_atomic_path_replaces_the_file_only_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.txt"
    write_text(path, "old")
    with atomic_path(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
        assert temporary.suffix == ".txt"
    assert path.read_text() == "new"
    assert list(path.parent.iterdir()) == [path]


def test_atomic_path_leaves_the_old_file_when_writing_fails(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_text(path, "old")

    def write_half() -> None:
        with atomic_path(path) as temporary:
            temporary.write_text("ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_atomic_folder_replaces_the_whole_folder(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    write_text(path / "old.txt", "old")
    with atomic_folder(path) as temporary:
        write_text(temporary / "inner" / "new.txt", "new")
        assert (path / "old.txt").exists()
    assert [file.relative_to(path).as_posix() for file in path.rglob("*.txt")] == ["inner/new.txt"]
    assert list(tmp_path.iterdir()) == [path]


def test_atomic_folder_leaves_the_old_folder_when_filling_fails(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    write_text(path / "old.txt", "old")

    def fill_half() -> None:
        with atomic_folder(path) as temporary:
            write_text(temporary / "new.txt", "new")
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        fill_half()
    assert [file.name for file in path.iterdir()] == ["old.txt"]
    assert list(tmp_path.iterdir()) == [path]


def test_atomic_folder_puts_the_old_folder_back_when_the_last_step_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "folder"
    write_text(path / "old.txt", "old")
    rename = Path.rename

    def fail_on_the_new_one(self: Path, target: Path) -> Path:
        if self.name.startswith(".tmp-"):
            raise PermissionError("no")
        return rename(self, target)

    monkeypatch.setattr(attendo.files, "_exchange", lambda one, other: False)
    monkeypatch.setattr(Path, "rename", fail_on_the_new_one)
    with pytest.raises(PermissionError), atomic_folder(path) as temporary:
        write_text(temporary / "new.txt", "new")
    assert [file.name for file in path.iterdir()] == ["old.txt"]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("by_two_renames", BY_TWO_RENAMES)
def test_a_killed_process_leaves_a_whole_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_two_renames: bool
) -> None:
    if by_two_renames:
        monkeypatch.setattr(attendo.files, "_exchange", lambda one, other: False)
    old = {"a.json": '"old"', "only old": "x"}
    new = {"a.json": '"new"\n', "b": "new"}

    def fill() -> None:
        with atomic_folder(path) as draft:
            write_json(draft / "a.json", "new")
            (draft / "b").write_text("new")

    found = []
    for number in range(1000):
        path = tmp_path / str(number) / "folder"
        for name, text in old.items():
            write_text(path / name, text)
        if not killed_at(number, fill):
            break
        was_there = path.exists()
        assert was_there or by_two_renames, f"killed at {number}, nothing is there"
        recover(path.parent)
        assert list(path.parent.iterdir()) == [path], f"killed at {number}, drafts are left"
        found.append({file.name: file.read_text() for file in path.iterdir()})
        assert found[-1] in (old, new), f"killed at {number}, the folder is half of one and half of the other"
    assert number >= 15, "there are that many operations at the least"
    assert found[0] == old
    assert found[-1] == new, "the last of them remove the old one"


def test_a_killed_process_leaves_no_half_of_a_removed_folder(tmp_path: Path) -> None:
    for number in range(100):
        path = tmp_path / str(number) / "folder"
        for name in "abc":
            write_text(path / name, "x")
        if not killed_at(number, lambda: remove_folder(path)):  # noqa: B023  # called at once
            break
        assert not path.exists() or len(list(path.iterdir())) == 3
        recover(path.parent)
        assert list(path.parent.iterdir()) in ([], [path])
    assert number >= 4, "there are that many operations at the least"
    assert not path.exists()


def test_recover_leaves_alone_what_is_another_name_s_and_what_is_no_draft(tmp_path: Path) -> None:
    for name in (".tmp-7-mine", ".tmp-8-other", ".old-9-other", ".old-9-there", ".tmp-file", "there", ".hidden"):
        write_text(tmp_path / name / "x", name)
    recover(tmp_path, "mine")
    assert not (tmp_path / ".tmp-7-mine").exists()
    assert (tmp_path / ".tmp-8-other").exists()
    recover(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"other", "there", ".hidden"}
    assert (tmp_path / "other" / "x").read_text() == ".old-9-other"
    assert (tmp_path / "there" / "x").read_text() == "there"
    recover(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["a" * 251 + ".txt", "ü" * 125 + ".html"], ids=["255 bytes", "255 bytes of UTF-8"])
def test_the_longest_names_are_written_and_recovered(tmp_path: Path, name: str) -> None:
    assert len(name.encode()) == 255
    file, folder = tmp_path / "files" / name, tmp_path / "folders" / name
    write_text(file, "old")
    with atomic_path(file) as draft:
        assert draft.suffix == file.suffix
        draft.write_text("new")
    assert file.read_text() == "new"
    for _ in range(2):
        with atomic_folder(folder) as draft:
            (draft / "x").touch()
    folder.rename(folder.with_name(f".old-7-{short_name(name, len('.tmp-4194304-'))}"))
    recover(folder.parent, name)
    assert [file.parent.name for file in folder.parent.glob("*/x")] == [name]
    assert short_name(name, 5) != short_name("b" + name[1:], 5), "the digest tells them apart"


def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    write_text(tmp_path / "elsewhere" / "x", "x")
    (tmp_path / "folder").symlink_to(tmp_path / "elsewhere")
    with atomic_folder(tmp_path / "folder") as draft:
        (draft / "new").touch()
    assert not (tmp_path / "folder").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere", "folder"]
    assert (tmp_path / "elsewhere" / "x").exists()


def test_an_error_of_a_full_disk_names_the_file(tmp_path: Path) -> None:
    def fails(name: str, number: int = errno.EFBIG) -> Any:
        # What the command line prints of it.
        return pytest.raises(OSError, check=lambda e: (e.filename, e.errno) == (str(tmp_path / name), number))

    with no_file_above(10):
        with fails("a.txt"):
            write_text(tmp_path / "a.txt", "more than 10")
        with fails("b.txt"), atomic_path(tmp_path / "b.txt") as draft:
            draft.write_text("more than 10")
        with fails("c"), atomic_folder(tmp_path / "c") as draft:
            (draft / "x").write_text("more than 10")
        with fails("c/x.json"), atomic_folder(tmp_path / "c") as draft:
            write_json(draft / "x.json", "more than 10")
    with fails("c/d/x", errno.ENOENT), atomic_folder(tmp_path / "c") as draft:
        (draft / "d" / "x").write_text("its folder is missing")
    with pytest.raises(OSError, match="of a socket") as caught, atomic_path(tmp_path / "d"):
        raise OSError(errno.EPIPE, "of a socket")
    assert caught.value.filename is None, "it is not of the file that is written"
    (tmp_path / "file").touch()
    with fails("file/x", errno.ENOTDIR):
        flush_to_disk(tmp_path / "file" / "x")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_lock_is_one_process_s_until_it_ends(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    child = os.fork()
    if child == 0:
        with locked(lock):
            (tmp_path / "has it").touch()
            time.sleep(60)
        os._exit(0)
    try:
        while not (tmp_path / "has it").exists():
            time.sleep(0.001)
        with pytest.raises(BlockingIOError, match=f"in use by process {child} on "), locked(lock):
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    with locked(lock), pytest.raises(BlockingIOError, match=f"in use by process {os.getpid()} on "), locked(lock):
        pass
    with pytest.raises(OSError, match="of the block") as caught, locked(lock):
        raise OSError(errno.EIO, "of the block")
    assert caught.value.filename is None
    with no_file_above(0), pytest.raises(OSError, match="too large") as full, locked(tmp_path / "another"):
        pass
    assert full.value.filename == str(tmp_path / "another")
    with locked(lock):
        assert lock.read_text().count("\n") == 1


def test_a_file_system_without_locks_is_no_objection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(number: int) -> Callable[..., None]:
        def flock(*arguments: object) -> None:
            raise OSError(number, os.strerror(number))

        return flock

    monkeypatch.setattr("fcntl.flock", refuse(errno.ENOLCK))
    with locked(tmp_path / "lock"):
        pass
    monkeypatch.setattr("fcntl.flock", refuse(errno.EIO))
    with pytest.raises(OSError, match="lock") as caught, locked(tmp_path / "lock"):
        pass
    assert caught.value.errno == errno.EIO


def test_write_text_keeps_line_ends_and_all_characters(tmp_path: Path) -> None:
    write_text(tmp_path / "a.txt", "ä\r\n\u2028\n")
    assert (tmp_path / "a.txt").read_bytes() == b"\xc3\xa4\r\n\xe2\x80\xa8\n"


def test_write_json_is_read_back_and_refuses_nan(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"ü": [1, None, 0.5]})
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == {"ü": [1, None, 0.5]}
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "a.json", {"a": float("nan")})
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == {"ü": [1, None, 0.5]}


def test_sha256_is_that_of_the_standard(tmp_path: Path) -> None:
    (tmp_path / "abc").write_bytes(b"abc")
    # The first example of FIPS 180-2, appendix B.1.
    assert sha256(tmp_path / "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert hashlib.sha256(b"abc").hexdigest() == sha256(tmp_path / "abc")
