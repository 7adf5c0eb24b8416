"""Whether a folder is whole, and what is said where it is not."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest

from attendo.checkpoint.checksums import verify_folder
from attendo.errors import ModelError


def test_checksums_say_size_and_sha256(folder: Path) -> None:
    content = json.loads((folder / "checksums.json").read_text())
    card = (folder / "README.md").read_bytes()
    assert content["README.md"] == {"bytes": len(card), "sha256": hashlib.sha256(card).hexdigest()}


def test_checksums_without_sizes_still_verify(folder: Path) -> None:
    files = [path for path in folder.iterdir() if path.name != "checksums.json"]
    sums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    (folder / "checksums.json").write_text(json.dumps(sums))
    assert verify_folder(folder) == []
    (folder / "README.md").write_text("# other\n")
    assert verify_folder(folder) == [f"{folder / 'README.md'}: differs from its checksum; it was changed or is torn"]


def test_a_changed_byte_is_found(folder: Path) -> None:
    content = bytearray((folder / "source.spm").read_bytes())
    content[100] ^= 1
    (folder / "source.spm").write_bytes(content)
    assert verify_folder(folder) == [f"{folder / 'source.spm'}: differs from its checksum; it was changed or is torn"]


def test_a_file_that_would_be_read_must_be_known(folder: Path) -> None:
    shutil.copy(folder / "source.spm", folder / "target.spm")
    (folder / "my notes.txt").touch()  # which nobody reads
    (problem,) = verify_folder(folder)
    assert problem.startswith(f"{folder / 'target.spm'}: checksums.json does not know it")


def test_a_link_out_of_the_folder_is_not_followed(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "README.md"
    (folder / "README.md").rename(outside)
    (folder / "README.md").symlink_to(outside)
    (problem,) = verify_folder(folder)
    assert problem.startswith(f"{folder / 'README.md'}: cannot be read (is a link to {outside}, outside its folder")


def test_checksums_are_read_from_no_other_folder(folder: Path, tmp_path: Path) -> None:
    (folder / "checksums.json").rename(tmp_path / "elsewhere.json")
    (folder / "checksums.json").symlink_to(tmp_path / "elsewhere.json")
    (problem,) = verify_folder(folder)
    assert problem.startswith(
        f"{folder / 'checksums.json'}: cannot be read (is a link to {tmp_path / 'elsewhere.json'}"
    )


@pytest.mark.parametrize("name", ["README.md", "checksums.json"])
def test_a_pipe_is_not_waited_for(folder: Path, name: str) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)
    (problem,) = verify_folder(folder)
    assert problem.startswith(f"{folder / name}: cannot be read (is not a regular file")


def test_what_is_told_of_a_stranger_s_list_is_bounded(folder: Path) -> None:
    content = json.loads((folder / "checksums.json").read_text())
    names = {f"{number}{'x' * 2000}": "y" for number in range(1000)}
    (folder / "checksums.json").write_text(json.dumps(content | names))
    problems = verify_folder(folder)
    assert problems[-1] == f"{folder}: and 980 more files"
    assert sum(map(len, problems)) < 10_000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "holds no checksums"),
        ("{", "cannot be read"),
        ("", "cannot be read"),
        ('{"README.md": 3}', r"README\.md: checksums\.json says nothing of it that can be compared"),
        ('{"README.md": {"bytes": 7}}', r"README\.md: checksums\.json says nothing of it that can be compared"),
        ('{"README.md": {"bytes": "x", "sha256": "y"}}', r"README\.md: checksums\.json says nothing of it that can be"),
        ('{"README.md": {"bytes": 8, "sha256": "y"}}', r"README\.md: has 7 bytes, not 8"),
        ('{"a\\u001b[2J": "y"}', r"a\ufffd\[2J: missing"),
        ('{"../../etc": "y"}', r"etc: missing"),
        ('{"": "y"}', r"a model: cannot be read \(is a folder\)"),
        ("[" * 100_000, r"checksums\.json: cannot be read \(it is nested more than"),
        ("{}", r"config\.json: checksums\.json does not know it"),
    ],
)
def test_broken_checksums(folder: Path, content: str, message: str) -> None:
    (folder / "checksums.json").write_text(content)
    with pytest.raises(ModelError, match=message):
        raise ModelError("\n".join(verify_folder(folder)))
