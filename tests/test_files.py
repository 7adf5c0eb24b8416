import hashlib
import json
from pathlib import Path

import pytest

from attendo.files import atomic_folder, atomic_path, sha256, write_json, write_text


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

    monkeypatch.setattr(Path, "rename", fail_on_the_new_one)
    with pytest.raises(PermissionError), atomic_folder(path) as temporary:
        write_text(temporary / "new.txt", "new")
    assert [file.name for file in path.iterdir()] == ["old.txt"]
    assert list(tmp_path.iterdir()) == [path]


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
