"""Archives of the layouts that WMT's have; SGML against sacreBLEU's own reading."""

import gzip
import hashlib
import tarfile
import tracemalloc
from pathlib import Path
from typing import Any, Literal

import pytest
from sacrebleu.dataset.fake_sgml import FakeSGMLDataset
from tests.workflow.datasets.wmt_server import as_lines, as_sgm, write_archive

from attendo.errors import DataError
from attendo.workflow.datasets.download import Progress
from attendo.workflow.datasets.extraction import WrittenFile, extract
from attendo.workflow.datasets.origins import Archive, TextLocation

# A line feed ends a line and nothing else does: not U+2028, not U+0085, no carriage return within.
ENGLISH = "One\u2028line.\n\nTwo\u0085of them.\r\nThree\n".encode()
GERMAN = "Eine\rZeile.\n \nZwei.\n\xff\n".encode("latin-1")


def ignored(progress: Progress) -> None:
    pass


def located(members: tuple[str, str], format: Literal["lines", "sgm"] = "lines") -> TextLocation:
    archive = Archive(url="http://example.org/a.tgz", checksum=None, bytes=None)
    return TextLocation(name="train.x", archive=archive, members=members, format=format)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize(("name", "stem"), [("a.tgz", ""), ("a.tgz", "./training/"), ("a.tar", "un/")])
def test_lines_come_out_as_they_are_and_are_counted(tmp_path: Path, name: str, stem: str) -> None:
    members = {f"{stem}x.de": GERMAN, f"{stem}x.cs": b"jine\n", f"{stem}x.en": ENGLISH}
    write_archive(tmp_path / name, members)
    told: list[Progress] = []
    wanted = (f"{stem}x.en".removeprefix("./"), f"{stem}x.de".removeprefix("./"))
    source, target = extract(located(wanted), tmp_path / name, tmp_path / "out", ("en", "de"), told.append)
    for written, content in ((source, ENGLISH), (target, GERMAN)):
        assert (tmp_path / "out" / written.name).read_bytes() == content
        assert written == WrittenFile(
            name=written.name, lines=4, bytes=len(content), sha256=hashlib.sha256(content).hexdigest()
        )
        assert written.is_at(tmp_path / "out")
    assert (source.name, target.name) == ("train.x.en", "train.x.de")
    assert told[-1].stage == "unpacking train.x"
    assert told[-1].total_bytes == (tmp_path / name).stat().st_size


def test_compressed_members_come_out_decompressed(tmp_path: Path) -> None:
    write_archive(tmp_path / "a.tar", {"x.en.gz": gzip.compress(ENGLISH), "x.de.gz": gzip.compress(GERMAN)})
    extract(located(("x.en.gz", "x.de.gz")), tmp_path / "a.tar", tmp_path / "out", ("en", "de"), ignored)
    assert (tmp_path / "out" / "train.x.en").read_bytes() == ENGLISH


def test_a_last_line_without_an_end_is_a_line(tmp_path: Path) -> None:
    write_archive(tmp_path / "a.tgz", {"x.en": b"one\ntwo", "x.de": b"eins\nzwei\n"})
    source, _ = extract(located(("x.en", "x.de")), tmp_path / "a.tgz", tmp_path, ("en", "de"), ignored)
    assert (source.lines, (tmp_path / "train.x.en").read_bytes()) == (2, b"one\ntwo\n")


def test_segments_are_those_that_sacrebleu_reads(tmp_path: Path) -> None:
    lines = ["A & B &amp; C", "two\u00a0  spaces\tand a tab", "<b>1 < 2</b>", "", "a </seg> within", "x\u2028y"]
    sgm = as_sgm(lines, "en") + b' <seg id="9">not at the start</seg>\n<seg id="10">no end\n'
    (tmp_path / "x.sgm").write_bytes(sgm)
    theirs: Any = FakeSGMLDataset("any", data=[], md5=[], langpairs={})
    theirs._convert_format(str(tmp_path / "x.sgm"), str(tmp_path / "x.txt"))
    write_archive(tmp_path / "a.tgz", {"test/x.sgm": sgm, "test/y.sgm": sgm})
    source, target = extract(
        located(("test/x.sgm", "test/y.sgm"), "sgm"), tmp_path / "a.tgz", tmp_path, ("en", "de"), ignored
    )
    assert (tmp_path / source.name).read_bytes() == (tmp_path / "x.txt").read_bytes()
    assert source.lines == target.lines == 7


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({"x.en": b"one\n"}, r"a.tgz: has no x.de; is it what http://example.org/a.tgz should be\?"),
        ({"x.en": b"one\ntwo\n", "x.de": b"eins\n"}, r"x.en has 2 lines and x.de has 1, so they do not translate"),
    ],
)
def test_what_is_not_two_sides_of_a_text_leaves_nothing(tmp_path: Path, members: dict[str, bytes], told: str) -> None:
    write_archive(tmp_path / "a.tgz", members)
    with pytest.raises(DataError, match=told):
        extract(located(("x.en", "x.de")), tmp_path / "a.tgz", tmp_path, ("en", "de"), ignored)
    assert names(tmp_path) == {"a.tgz"}


def test_broken_archives_leave_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.tgz"
    lines = as_lines([f"{number} {number**7}" for number in range(20_000)])
    write_archive(path, {"x.en": lines, "x.de": lines})
    whole = path.read_bytes()
    flipped = whole[:9000] + bytes([whole[9000] ^ 255]) + whole[9001:]
    for content in (whole[: len(whole) // 3], b"<html>moved</html>", flipped, b""):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"a.tgz: (cannot be unpacked|has no)"):
            extract(located(("x.en", "x.de")), path, tmp_path, ("en", "de"), ignored)
        assert names(tmp_path) == {"a.tgz"}


def test_a_broken_member_is_told(tmp_path: Path) -> None:
    write_archive(tmp_path / "a.tar", {"x.en.gz": gzip.compress(ENGLISH)[:-9], "x.de.gz": gzip.compress(GERMAN)})
    with pytest.raises(DataError, match=r"a.tar: cannot be unpacked"):
        extract(located(("x.en.gz", "x.de.gz")), tmp_path / "a.tar", tmp_path, ("en", "de"), ignored)
    write_archive(tmp_path / "a.tgz", {"x.sgm": b'<seg id="1">\xff</seg>\n', "y.sgm": b""})
    with pytest.raises(DataError, match=r"a.tgz: x.sgm: line 1 is not UTF-8"):
        extract(located(("x.sgm", "y.sgm"), "sgm"), tmp_path / "a.tgz", tmp_path, ("en", "de"), ignored)
    assert names(tmp_path) == {"a.tar", "a.tgz"}


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("mine\n")
    with tarfile.open(tmp_path / "a.tgz", "w:gz") as tar:
        for name in ("x.en", "x.de"):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, str(tmp_path / "secret")
            tar.addfile(link)
    with pytest.raises(DataError, match=r"has no x.en and no x.de"):
        extract(located(("x.en", "x.de")), tmp_path / "a.tgz", tmp_path, ("en", "de"), ignored)


@pytest.mark.parametrize("name", ["../x.en", "/x.en", "x.en/../../x.en", "a/../x.en"])
def test_no_member_is_written_outside_of_the_folder(tmp_path: Path, name: str) -> None:
    # What is written is called as the dataset is, whatever the archive says.
    (tmp_path / "in").mkdir()
    write_archive(tmp_path / "in" / "a.tgz", {name: b"one\n", "x.de": b"eins\n"})
    with pytest.raises(DataError, match=r"has no x.en"):
        extract(located(("x.en", "x.de")), tmp_path / "in" / "a.tgz", tmp_path / "in", ("en", "de"), ignored)
    extract(located((name, "x.de")), tmp_path / "in" / "a.tgz", tmp_path / "in", ("en", "de"), ignored)
    assert names(tmp_path) == {"in"}
    assert names(tmp_path / "in") == {"a.tgz", "train.x.en", "train.x.de"}


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE])
def test_what_is_no_file_in_an_archive_is_none_of_it(tmp_path: Path, kind: bytes) -> None:
    with tarfile.open(tmp_path / "a.tgz", "w:gz") as tar:
        for name in ("x.en", "x.de"):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "../../etc/hostname"
            tar.addfile(member)
    with pytest.raises(DataError, match=r"has no x.en and no x.de"):
        extract(located(("x.en", "x.de")), tmp_path / "a.tgz", tmp_path, ("en", "de"), ignored)
    assert names(tmp_path) == {"a.tgz"}


def head(kind: bytes, size: int, name: str = "x.en") -> bytes:
    """The head of a member, as tarfile writes it."""
    member = tarfile.TarInfo(name)
    member.type, member.size = kind, size
    return member.tobuf(tarfile.GNU_FORMAT)


@pytest.mark.parametrize(
    ("start", "problem"),
    [
        *(
            (head(kind, 1 << 31), "the head of a member claims 2,147,483,648 bytes")
            for kind in (b"L", b"K", b"x", b"g")
        ),
        (head(b"0", -1024), "the head of a member claims -1,024 bytes"),
        (head(b"S", 0), "a member has holes"),
        (
            head(b"x", 1024) + b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n".ljust(1024, b"\0") + head(b"0", 9),
            "a member has holes",
        ),
    ],
)
def test_an_archive_that_would_fill_the_memory_is_refused(tmp_path: Path, start: bytes, problem: str) -> None:
    # Behind the head, as much as an endless long name would be read from.
    (tmp_path / "a.tgz").write_bytes(gzip.compress(start + bytes(100 << 20), compresslevel=1))
    tracemalloc.start()
    with pytest.raises(DataError, match=rf"a.tgz: cannot be unpacked \({problem}\)"):
        extract(located(("x.en", "x.de")), tmp_path / "a.tgz", tmp_path, ("en", "de"), ignored)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 << 20
    assert names(tmp_path) == {"a.tgz"}


def test_a_test_set_of_one_endless_line_is_refused(tmp_path: Path) -> None:
    write_archive(tmp_path / "a.tgz", {"x.sgm": b'<seg id="1">' + bytes(1 << 20), "y.sgm": b""})
    with pytest.raises(DataError, match=r"a.tgz: x.sgm: line 1 is longer than 1 MB; is this a test set\?"):
        extract(located(("x.sgm", "y.sgm"), "sgm"), tmp_path / "a.tgz", tmp_path, ("en", "de"), ignored)


def test_an_entity_is_text_and_nothing_else(tmp_path: Path) -> None:
    # Test sets are read line by line, not as XML: nothing is looked up, nothing grows.
    bomb = b'<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;"><!ENTITY c SYSTEM "file:///etc/hostname">]>\n'
    write_archive(tmp_path / "a.tgz", dict.fromkeys(("x.sgm", "y.sgm"), bomb + b'<seg id="1">&b; &c;</seg>\n'))
    extract(located(("x.sgm", "y.sgm"), "sgm"), tmp_path / "a.tgz", tmp_path, ("en", "de"), ignored)
    assert (tmp_path / "train.x.en").read_bytes() == b"&b; &c;\n"


def test_a_changed_file_is_noticed(tmp_path: Path) -> None:
    write_archive(tmp_path / "a.tgz", {"x.en": b"one\n", "x.de": b"eins\n"})
    source, _ = extract(located(("x.en", "x.de")), tmp_path / "a.tgz", tmp_path, ("en", "de"), ignored)
    for content in (b"One\n", b"one", None):
        if content is None:
            (tmp_path / source.name).unlink()
        else:
            (tmp_path / source.name).write_bytes(content)
        assert not source.is_at(tmp_path)
