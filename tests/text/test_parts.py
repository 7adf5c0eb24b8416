import bz2
import gzip
import hashlib
import lzma
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

import attendo.text.files.formats
import attendo.text.parts
from attendo.errors import DataError
from attendo.text.corpora import CorpusConfig
from attendo.text.files.formats import RawPair
from attendo.text.pair_reading import read_corpus
from attendo.text.parts import FileRange, corpus_parts, scan_file

PAIR = CorpusConfig(name="a", source="a.en", target="a.de")
COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.compress,
}

# What a line may hold: nothing, a carriage return, bytes that are no UTF-8, more than the limit of the tests below.
LINE = st.lists(st.sampled_from([b"a", b"\r", b"\t", b"\xff", b"\0", "ü".encode(), b"x" * 9]), max_size=6).map(b"".join)


def in_parts(corpus: CorpusConfig, folder: Path, part_bytes: int) -> list[list[RawPair]]:
    scanned = [scan_file(path) for path in corpus.paths(folder)]
    parts = list(corpus_parts(corpus, scanned, part_bytes=part_bytes))
    assert sum(part.num_bytes for part in parts) == sum(path.stat().st_size for path in corpus.paths(folder))
    return [list(pickle.loads(pickle.dumps(part)).pairs()) for part in parts]


@settings(deadline=None)
@given(
    lines=st.lists(st.tuples(LINE, LINE), max_size=12),
    mark=st.booleans(),
    ended=st.tuples(st.booleans(), st.booleans()),
    part_bytes=st.integers(1, 60),
    block_bytes=st.integers(1, 40),
)
def test_the_parts_behind_each_other_are_the_corpus(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[tuple[bytes, bytes]],
    mark: bool,
    ended: tuple[bool, bool],
    part_bytes: int,
    block_bytes: int,
) -> None:
    folder = tmp_path_factory.mktemp("corpus")
    for side, name in enumerate(("a.en", "a.de")):
        text = b"\n".join(pair[side] for pair in lines)
        # An empty last line without an end is none, and a text with carriage returns and no line feed is refused.
        end = b"\n" if lines and (ended[side] or not lines[-1][side] or (b"\r" in text and b"\n" not in text)) else b""
        (folder / name).write_bytes((b"\xef\xbb\xbf" if mark and lines else b"") + text + end)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attendo.text.parts, "_BLOCK_BYTES", block_bytes)
        patch.setattr(attendo.text.files.formats, "MAX_LINE_BYTES", 16)
        parts = in_parts(PAIR, folder, part_bytes)
        assert [pair for part in parts for pair in part] == list(read_corpus(PAIR, folder))
    assert len([pair for part in parts for pair in part]) == len(lines)


@pytest.mark.parametrize("compressed", [[], ["a.en"], ["a.de"], ["a.en", "a.de"]])
@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
def test_a_compressed_file_is_given_out_in_parts_too(tmp_path: Path, kind: str, compressed: list[str]) -> None:
    for name in ("a.en", "a.de"):
        content = b"".join(b"%s %d\r\r\n" % (name.encode(), number) for number in range(500))
        (tmp_path / name).write_bytes(COMPRESSIONS[kind](content) if name in compressed else content)
    parts = in_parts(PAIR, tmp_path, part_bytes=1000)
    assert len(parts) >= 8 or not compressed
    assert [pair for part in parts for pair in part] == [
        RawPair(line=n + 1, source=b"a.en %d\r" % n, target=b"a.de %d\r" % n) for n in range(500)
    ]


def test_other_formats_are_cut_likewise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attendo.text.parts, "_BLOCK_BYTES", 64)
    (tmp_path / "a.tsv").write_bytes(b"".join(b"a %d\tb\n" % n if n % 7 else b"no tab\n" for n in range(100)))
    objects = b"".join(
        b'{"source": "s%d", "text": "t%d", "finished": true, "source_truncated": false}\n' % (n, n) for n in range(100)
    )
    (tmp_path / "a.jsonl").write_bytes(objects)
    for corpus in (
        CorpusConfig(name="a", tsv="a.tsv"),
        CorpusConfig(name="a", translations="a.jsonl"),
        CorpusConfig(name="a", back_translations="a.jsonl"),
    ):
        parts = in_parts(corpus, tmp_path, part_bytes=300)
        pairs = [pair for part in parts for pair in part]
        assert len(parts) >= 3
        assert pairs == list(read_corpus(corpus, tmp_path))
        assert [pair.line for pair in pairs] == list(range(1, 101))


def test_parts_are_about_as_large_as_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.en").write_bytes(b"short\n" * 200_000)
    (tmp_path / "a.de").write_bytes(b"a line that is longer\n" * 200_000)
    scanned = [scan_file(path) for path in PAIR.paths(tmp_path)]
    parts = list(corpus_parts(PAIR, scanned, part_bytes=1 << 20))
    assert [part.num_bytes for part in parts[:-1]] == pytest.approx([1 << 20] * (len(parts) - 1), rel=0.3)
    for name in ("a.en", "a.de"):
        content = (tmp_path / name).read_bytes()
        for part in parts:
            (found,) = [file for file in part.files if file.path.name == name]
            assert isinstance(found, FileRange)
            assert content[found.start : found.end].count(b"\n") == part.num_lines


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_a_part_has_no_more_lines_than_it_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compress: Callable[[bytes], bytes]
) -> None:
    # However short they are: what is kept of a line takes far more memory than the line.
    monkeypatch.setattr(attendo.text.parts, "_BLOCK_BYTES", 64)
    monkeypatch.setattr(attendo.text.parts, "_PART_LINES", 100)
    for name in ("a.en", "a.de"):
        (tmp_path / name).write_bytes(compress(b"a\n\n" * 1000))
    parts = in_parts(PAIR, tmp_path, part_bytes=1 << 20)
    assert [pair for part in parts for pair in part] == list(read_corpus(PAIR, tmp_path))
    most = max(map(len, parts))
    assert 100 <= most < 100 + 64, "a plain file is cut at its blocks"


def test_a_part_says_what_it_is(tmp_path: Path) -> None:
    for name in ("a.en", "a.de"):
        (tmp_path / name).write_bytes(b"one\ntwo\n")
    (part,) = corpus_parts(PAIR, [scan_file(path) for path in PAIR.paths(tmp_path)], part_bytes=1000)
    assert str(part) == f"lines 1 to 2 of {tmp_path / 'a.en'} and {tmp_path / 'a.de'}"


def test_a_scan_knows_each_line_and_the_checksum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attendo.text.parts, "_BLOCK_BYTES", 7)
    content = b"one\n\n\nfour\na line that is longer than blocks\nlast"
    (tmp_path / "text").write_bytes(content)
    scanned = scan_file(tmp_path / "text")
    assert (scanned.num_lines, scanned.size) == (6, len(content))
    assert scanned.sha256 == hashlib.sha256(content).hexdigest()
    starts = [0, *(place + 1 for place, byte in enumerate(content) if byte == 10), len(content)]
    assert [scanned.line_start(line) for line in range(7)] == starts


def test_an_empty_corpus_is_one_part_without_a_line(tmp_path: Path) -> None:
    for kind in (b"", gzip.compress(b"")):
        (tmp_path / "a.en").write_bytes(kind)
        (tmp_path / "a.de").write_bytes(b"")
        assert in_parts(PAIR, tmp_path, part_bytes=1000) == [[]]


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_unequal_numbers_of_lines_are_refused(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    (tmp_path / "a.en").write_bytes(compress(b"a\n" * 100))
    (tmp_path / "a.de").write_bytes(b"b\n" * 103)
    with pytest.raises(DataError, match=r"a\.en has 100 lines and .*a\.de has 103: line n of one must"):
        in_parts(PAIR, tmp_path, part_bytes=40)


def test_utf_16_is_refused_at_the_first_look(tmp_path: Path) -> None:
    (tmp_path / "a.en").write_bytes("one\ntwo\n".encode("utf-16"))
    with pytest.raises(DataError, match=r"a\.en: this is UTF-16 text"):
        scan_file(tmp_path / "a.en")
    with pytest.raises(DataError, match="there is no such file"):
        scan_file(tmp_path / "none")


@pytest.mark.parametrize("late", [b"x\n" * 50, b"x" * 100, b""])
def test_a_file_that_changes_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: bytes) -> None:
    monkeypatch.setattr(attendo.text.parts, "_BLOCK_BYTES", 8)
    for name in ("a.en", "a.de"):
        (tmp_path / name).write_bytes(b"abc\n" * 25)
    scanned = [scan_file(path) for path in PAIR.paths(tmp_path)]
    parts = list(corpus_parts(PAIR, scanned, part_bytes=100))
    (tmp_path / "a.en").write_bytes(late)
    with pytest.raises(DataError, match=r"a\.en: was written to while it was being prepared"):
        [list(part.pairs()) for part in parts]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attendo.text.parts, "_BLOCK_BYTES", 8)
    for name in ("a.en", "a.de"):
        (tmp_path / name).write_bytes(b"abc\n" * 25)
    scanned = [scan_file(path) for path in PAIR.paths(tmp_path)]
    (tmp_path / "a.de").unlink()
    os.mkfifo(tmp_path / "a.de")
    with pytest.raises(DataError, match=r"a\.de: was written to while it was being prepared"):
        list(corpus_parts(PAIR, scanned, part_bytes=20))


def test_a_file_of_another_compression_is_lines_like_any(tmp_path: Path) -> None:
    # Not one of the three: its bytes are cut at whatever line feeds they have.
    (tmp_path / "a.tsv").write_bytes(bz2.compress(b"a\tb\n" * 50))
    corpus = CorpusConfig(name="a", tsv="a.tsv")
    (part,) = in_parts(corpus, tmp_path, part_bytes=1 << 20)
    assert part == list(read_corpus(corpus, tmp_path))
