import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import cast

import pytest

from attendo.decoding.config import GuardName
from attendo.decoding.lines.translation import Counts
from attendo.errors import DataError
from attendo.workflow.translation.part_files import PartRecord, PartsFolder, added, copied, since


def guards(**lines: int) -> Counter[GuardName]:
    return cast("Counter[GuardName]", Counter(lines))


def record(content: bytes, lines: int = 1) -> PartRecord:
    return PartRecord(
        num_bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        kernel="torch",
        counts=Counts(lines=lines, guards=guards(casing=1)),
    )


@pytest.fixture
def folder(tmp_path: Path) -> PartsFolder:
    found = PartsFolder.beside(tmp_path / "out.txt")
    found.path.mkdir()
    return found


def test_parts_become_the_output_in_their_order(folder: PartsFolder, tmp_path: Path) -> None:
    contents = {2: b"e\n", 0: b"a\nb\n", 1: b""}
    for number, content in contents.items():
        folder.write(number, content, record(content))
    assert not list(folder.path.glob(".*"))
    records = folder.done(3)
    assert records == {number: record(content) for number, content in contents.items()}
    folder.join(records, tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_bytes() == b"a\nb\ne\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


def test_only_whole_parts_are_there(folder: PartsFolder) -> None:
    for number in range(6):
        folder.write(number, b"x\n", record(b"x\n"))
    folder.record(0).unlink()  # killed between the two files
    folder.text(1).unlink()
    folder.text(2).write_bytes(b"x")
    folder.record(3).write_text('{"num_bytes": 2, "kern', encoding="utf-8")
    folder.record(4).write_text('{"num_bytes": 2}', encoding="utf-8")
    assert list(folder.done(6)) == [5]
    assert list(folder.done(5)) == []


def test_a_part_that_changed_is_no_output(folder: PartsFolder, tmp_path: Path) -> None:
    folder.write(0, b"x\n", record(b"x\n"))
    records = folder.done(1)
    folder.text(0).write_bytes(b"x\nx\n")
    with pytest.raises(DataError, match=r"000000\.txt: is not as it was written; remove it, and start again"):
        folder.join(records, tmp_path / "out.txt")
    assert not (tmp_path / "out.txt").exists()
    assert folder.text(0).exists()


def test_a_folder_that_is_not_mounted_is_not_made(tmp_path: Path) -> None:
    folder = PartsFolder.beside(tmp_path / "elsewhere" / "out.txt")
    with pytest.raises(FileNotFoundError):
        folder.write(0, b"x\n", record(b"x\n"))
    assert not list(tmp_path.iterdir())


def test_the_manifest_refuses_another_translation(folder: PartsFolder) -> None:
    folder.claim({"search": {"beam_size": 4}, "dtype": None})
    folder.claim({"dtype": None, "search": {"beam_size": 4}})
    with pytest.raises(DataError, match=r"out\.txt\.parts: holds parts of another output, with another search; "):
        folder.claim({"search": {"beam_size": 5}, "dtype": None})
    with pytest.raises(DataError, match="with another search, device; "):
        folder.claim({"search": {"beam_size": 5}, "device": "cpu"})
    folder.manifest.write_text(json.dumps([1]), encoding="utf-8")
    with pytest.raises(DataError, match=r"manifest\.json: is not a manifest of attendo; remove "):
        folder.claim({})


def test_counts_add_up() -> None:
    first = Counts(lines=3, empty=1, target_tokens=10, guards=guards(casing=2))
    before = copied(first)
    first.lines += 4
    first.target_tokens += 7
    first.guards.update(["casing", "sentences"])
    gained = since(before, first)
    assert gained == Counts(lines=4, target_tokens=7, guards=guards(casing=1, sentences=1))
    assert added([before, gained]) == first
    assert added([]) == Counts()
