import bz2
import gzip
import json
import lzma
import os
import shutil
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from attendo.errors import DataError
from attendo.text.files.formats import (
    MAX_LINE_BYTES,
    HeldLines,
    LineReader,
    RawPair,
    is_compressed,
    read_line_pairs,
    read_translations,
    read_tsv,
)

COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.compress,
}


def lines(path: Path) -> list[bytes]:
    with LineReader(path) as reader:
        return list(reader)


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_the_end_of_each_line_is_known(tmp_path: Path, compression: str) -> None:
    path = write(tmp_path / "text", COMPRESSIONS[compression](b"a\r\nb\n\r\n\nc\r\r\nd\r"))
    with LineReader(path) as reader:
        assert [(line, reader.line_end) for line in reader] == [
            (b"a", b"\r\n"),
            (b"b", b"\n"),
            (b"", b"\r\n"),
            (b"", b"\n"),
            (b"c\r", b"\r\n"),
            (b"d\r", b""),
        ]


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("text", [b"a\rb\rc", b"a\rb\r", b"a\r" * (5 << 20)])
def test_carriage_returns_alone_are_refused(tmp_path: Path, compression: str, text: bytes) -> None:
    path = write(tmp_path / "text", COMPRESSIONS[compression](text))
    with pytest.raises(DataError, match=r"text: holds carriage returns and no line feed, .*: tr '\\r' '\\n' < OLD > N"):
        LineReader(path)


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"\n", [b""]),
        (b"a", [b"a"]),
        (b"a\n", [b"a"]),
        (b"a\n\n", [b"a", b""]),
        (b"a\r\nb\r\n", [b"a", b"b"]),
        (b"a\rb\nc", [b"a\rb", b"c"]),
        (b"a\r\r\nb\r", [b"a\r", b"b\r"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", [b"a", b"\xef\xbb\xbfb"]),
        (b"\xef\xbb\xbf", [b""]),
        (b"a\0b\n\xff\xfe\n", [b"a\0b", b"\xff\xfe"]),
        # U+2028, U+2029, U+0085, \x0b, \x0c and \x1c end a line for str.splitlines, not for us.
        ("a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\nh".encode(), ["a\u2028b\u2029c\x85d\x0be\x0cf\x1cg".encode(), b"h"]),
    ],
)
def test_only_a_line_feed_ends_a_line(tmp_path: Path, compression: str, content: bytes, expected: list[bytes]) -> None:
    # No suffix: what a file is, its first bytes say.
    assert lines(write(tmp_path / "text", COMPRESSIONS[compression](content))) == expected


@given(content=st.lists(st.binary(max_size=20).filter(lambda line: b"\n" not in line and not line.endswith(b"\r"))))
def test_every_line_comes_back(tmp_path_factory: pytest.TempPathFactory, content: list[bytes]) -> None:
    path = tmp_path_factory.mktemp("lines") / "text"
    # A first line keeps random bytes from being a byte order mark or a compressed file's magic.
    path.write_bytes(b"".join(line + b"\n" for line in [b"first", *content]))
    assert lines(path) == [b"first", *content]


@pytest.mark.parametrize("length", [MAX_LINE_BYTES - 1, MAX_LINE_BYTES, MAX_LINE_BYTES + 1, 3 * MAX_LINE_BYTES])
@pytest.mark.parametrize("end", [b"\n", b""])
def test_a_huge_line_is_cut_and_shifts_nothing(tmp_path: Path, length: int, end: bytes) -> None:
    path = write(tmp_path / "text", b"a\n" + b"x" * length + (b"\nb" + end if end else b""))
    first, huge, *rest = lines(path)
    assert (first, rest) == (b"a", [b"b"] if end else [])
    assert len(huge) == min(length, MAX_LINE_BYTES + 1)


def test_a_bomb_is_read_in_bounded_pieces(tmp_path: Path) -> None:
    content = bytes(50_000_000) + b"\nb\n"
    first, second = lines(write(tmp_path / "text.zst", zstandard.compress(content)))
    assert len(first) == MAX_LINE_BYTES + 1
    assert second == b"b"


@pytest.mark.parametrize("compression", ["gz", "bz2", "xz", "zst"])
def test_a_file_cut_off_is_an_error(tmp_path: Path, compression: str) -> None:
    content = COMPRESSIONS[compression](b"".join(b"line %d\n" % number for number in range(30_000)))
    path = write(tmp_path / f"text.{compression}", content[: len(content) // 2])
    with pytest.raises(DataError, match=rf"text\.{compression}: cannot be read after line \d+ .*is it complete"):
        lines(path)


def test_several_frames_are_one_text(tmp_path: Path) -> None:
    for name, compress in COMPRESSIONS.items():
        assert lines(write(tmp_path / name, compress(b"a\nb") + compress(b"c\nd\n"))) == [b"a", b"bc", b"d"]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_other_encodings_are_named(tmp_path: Path, encoding: str) -> None:
    path = write(tmp_path / "text", "\ufeffHallo\n".encode(encoding))
    name = encoding[:6].upper()
    with pytest.raises(DataError, match=rf"text: this is {name} text; convert it first: iconv -f {name} -t UTF-8"):
        lines(path)


@pytest.mark.parametrize("compression", ["gz", "bz2", "xz", "zst"])
def test_what_follows_a_frame_and_is_none_is_an_error(tmp_path: Path, compression: str) -> None:
    # lzma.LZMAFile passes over it: a bit that flipped in the head of the second of two would lose all of its lines.
    whole = COMPRESSIONS[compression](b"a\n" * 1000)
    path = write(tmp_path / "text", whole + bytes([whole[0] ^ 1]) + whole[1:])
    with pytest.raises(DataError, match=r"text: cannot be read after line \d+ .*is it complete"):
        lines(path)


@pytest.mark.parametrize(("compression", "padding"), [("gz", 3), ("xz", 4), ("xz", 2048)])
def test_padding_between_and_behind_frames_is_none_of_the_text(tmp_path: Path, compression: str, padding: int) -> None:
    # RFC 1952 has none, but tapes do, and gzip takes it; .xz has "stream padding", four zero bytes or a multiple.
    frame = COMPRESSIONS[compression](b"a\n") + bytes(padding)
    assert lines(write(tmp_path / "text", frame * 2)) == [b"a", b"a"]


def test_bz2_is_known_by_its_blocks_and_not_by_its_letters(tmp_path: Path) -> None:
    assert lines(write(tmp_path / "text", b"BZh9 is how a bz2 file begins.\nAnd this?\n")) == [
        b"BZh9 is how a bz2 file begins.",
        b"And this?",
    ]
    assert lines(write(tmp_path / "empty.bz2", bz2.compress(b""))) == []


@pytest.mark.skipif(shutil.which("bzip2") is None, reason="needs the bzip2 program")
def test_what_the_bzip2_program_writes_is_read(tmp_path: Path) -> None:
    content = b"".join(b"line %d\n" % number for number in range(200_000))  # more than a block of 100 kB
    path = write(tmp_path / "text", content)
    subprocess.run(["bzip2", "-1", path], check=True)
    assert lines(tmp_path / "text.bz2") == content.split(b"\n")[:-1]


def test_a_bz2_file_with_a_flipped_bit_is_an_error(tmp_path: Path) -> None:
    content = bytearray(bz2.compress(b"".join(b"line %d\n" % number for number in range(1000))))
    content[len(content) // 2] ^= 4
    with pytest.raises(DataError, match=r"text\.bz2: cannot be read after line \d+ .*is it complete"):
        lines(write(tmp_path / "text.bz2", bytes(content)))


def test_a_bz2_bomb_is_read_in_bounded_pieces(tmp_path: Path) -> None:
    content = bytes(50_000_000) + b"\nb\n"
    first, second = lines(write(tmp_path / "text.bz2", bz2.compress(content)))
    assert (len(first), second) == (MAX_LINE_BYTES + 1, b"b")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp037"])
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_lines_of_an_encoding_that_ends_them_otherwise_come_as_utf8(
    tmp_path: Path, encoding: str, compression: str
) -> None:
    # U+0A0A and U+0D0A have the bytes of line ends in UTF-16; cp037 (EBCDIC) has none of ASCII's letters.
    wide = "" if encoding == "cp037" else " \u0a0a\u0d0a \U0001f600"
    text = f"Grüß Gott{wide}\r\n\nlast"
    path = write(tmp_path / "text", COMPRESSIONS[compression](text.encode(encoding)))
    with LineReader(path, encoding=encoding) as reader:
        assert [line.decode() for line in reader] == [f"Grüß Gott{wide}", "", "last"]


def test_what_is_not_in_its_encoding_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "text", "one\ntwo\n".encode("utf-16-le")[:-1])
    with (
        pytest.raises(DataError, match=r"text: is not utf-16-le behind line 1 .*; correct encoding, or the file"),
        LineReader(path, encoding="utf-16-le") as reader,
    ):
        list(reader)


def test_an_xz_file_that_claims_gigabytes_is_refused(tmp_path: Path) -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 20}]
    small = lzma.compress(b"a\n", lzma.FORMAT_XZ, filters=filters)
    # A block's header, behind the 12 bytes of the stream's: size, flags, filter 0x21, size of its properties,
    # and these, of which 40 is a dictionary of 4 GB; padding and a CRC32 follow (the .xz file format, 3.1).
    header = small[12:20]
    assert header[2:4] == b"\x21\x01"
    forged = header[:4] + b"\x28" + header[5:]
    path = write(tmp_path / "text.xz", small[:12] + forged + zlib.crc32(forged).to_bytes(4, "little") + small[24:])
    with pytest.raises(DataError, match=r"text.xz: cannot be read after line 0 \(Memory usage limit exceeded\)"):
        lines(path)


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.txt: there is no such file"):
        LineReader(tmp_path / "none.txt")
    with pytest.raises(DataError, match=r"is a folder; name a file in it"):
        LineReader(tmp_path)
    (tmp_path / "gone").symlink_to(tmp_path / "none.txt")
    with pytest.raises(DataError, match=r"gone: is a link to a file that is not there"):
        LineReader(tmp_path / "gone")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_and_a_device_are_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(DataError, match=rf"{path}: is a pipe or a device, .* write what comes from it to a file"):
            LineReader(path)


def test_line_pairs_are_numbered_from_one(tmp_path: Path) -> None:
    with (
        LineReader(write(tmp_path / "source", b"a\n\nc")) as source,
        LineReader(write(tmp_path / "target", b"x\r\ny\r\nz\r\n")) as target,
    ):
        assert list(read_line_pairs(source, target)) == [
            RawPair(line=1, source=b"a", target=b"x"),
            RawPair(line=2, source=b"", target=b"y"),
            RawPair(line=3, source=b"c", target=b"z"),
        ]


@pytest.mark.parametrize(("num_source", "num_target"), [(3, 2), (2, 3), (0, 1), (1, 0), (7, 2)])
def test_unequal_files_are_refused_with_both_counts(tmp_path: Path, num_source: int, num_target: int) -> None:
    with (
        LineReader(write(tmp_path / "source", b"a\n" * num_source)) as source,
        LineReader(write(tmp_path / "target", b"b\n" * num_target)) as target,
        pytest.raises(DataError, match=rf"source has {num_source} lines and .*target has {num_target}:"),
    ):
        list(read_line_pairs(source, target))


def test_tsv_ignores_further_columns_and_marks_a_line_without_a_tab(tmp_path: Path) -> None:
    with LineReader(write(tmp_path / "pairs.tsv", b"a\tb\nc\nd\te\tCC-BY\t1\n\tf\ng\t\n")) as reader:
        assert list(read_tsv(reader)) == [
            RawPair(line=1, source=b"a", target=b"b"),
            RawPair(line=2, source=b"c", target=None),
            RawPair(line=3, source=b"d", target=b"e"),
            RawPair(line=4, source=b"", target=b"f"),
            RawPair(line=5, source=b"g", target=b""),
        ]


def translation(**changes: Any) -> bytes:
    """A line of `attendo translate --json`, as docs/translating.md has it."""
    found: dict[str, Any] = {"source": "Grüß dich.", "source_truncated": False, "text": "Hello.", "score": -0.5}
    return json.dumps({**found, "log_prob": -1.5, "finished": True, "tokens": ["▁Hello", "."], **changes}).encode()


@pytest.mark.parametrize("back", [False, True])
def test_translations_are_read_both_ways(tmp_path: Path, back: bool) -> None:
    content = [
        translation(),
        translation(finished=False),
        translation(source_truncated=True),
        translation(text="", finished=False),
        translation(source="", text=""),
        translation(text="two\r\nlines"),
        b"Hello.",
        b"",
        b'["source", "text"]',
        b'{"source": "Hallo."}',
        translation(source=None),
        translation(text="\ud800"),  # JSON can spell half of a surrogate pair
        b"[" * 100_000,
        translation(source="x" * MAX_LINE_BYTES),
    ]
    path = write(tmp_path / "t.jsonl", b"".join(line + b"\n" for line in content))
    with LineReader(path) as reader:
        pairs = list(read_translations(reader, back=back))
    assert [pair.line for pair in pairs] == list(range(1, len(content) + 1))
    assert [pair.fault for pair in pairs] == [
        None, "unfinished", "unfinished", None, None, None, *["no_json"] * 7, "too_long"
    ]  # fmt: skip
    sides = [(pair.target, pair.source) if back else (pair.source, pair.target) for pair in pairs]
    german = "Grüß dich.".encode()
    assert sides[:3] == [(german, b"Hello.")] * 3
    assert sides[3:6] == [(german, b""), (b"", b""), (german, b"two  lines")]


def test_a_range_of_a_file_is_read_alone(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"\xef\xbb\xbfone\r\n\xef\xbb\xbftwo\n\xff\xfethree\nfour")
    with LineReader(path, start=0, end=8) as reader:
        assert list(reader) == [b"one"]
    # What a file begins with means nothing within it.
    with LineReader(path, start=8, end=23, first_line=2) as reader:
        assert [(reader.num_lines, line) for line in reader] == [(2, b"\xef\xbb\xbftwo"), (3, b"\xff\xfethree")]
    with LineReader(path, start=23, end=27, first_line=4) as reader:
        assert (list(reader), reader.num_lines) == ([b"four"], 4)
    with LineReader(path, start=8, end=8, first_line=2) as reader:
        assert (list(reader), reader.num_lines) == ([], 1)


def test_held_lines_are_read_like_those_of_a_file(tmp_path: Path) -> None:
    held = HeldLines(tmp_path / "a.tsv", [b"a\tb", b"c\r\td"], first_line=7)
    assert list(read_tsv(held)) == [
        RawPair(line=7, source=b"a", target=b"b"),
        RawPair(line=8, source=b"c\r", target=b"d"),
    ]
    assert held.num_lines == 8


def test_the_content_says_what_is_compressed(tmp_path: Path) -> None:
    for name, content, compressed in (
        ("a.gz", b"plain", False),
        ("a.txt", gzip.compress(b""), True),
        ("b.txt", lzma.compress(b""), True),
        ("c.txt", zstandard.compress(b""), True),
        ("d.txt", b"", False),
    ):
        (tmp_path / name).write_bytes(content)
        assert is_compressed(tmp_path / name) is compressed
