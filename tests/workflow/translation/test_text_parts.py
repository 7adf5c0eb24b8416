import gzip
from pathlib import Path

import pytest

from attendo.errors import DataError
from attendo.workflow.translation.text_parts import TextFiles, TextPart, cut, read_part, scan_texts

MARK = b"\xef\xbb\xbf"
# A mark at the start is none of the text, but one before the third line is; U+2028 ends no line.
TEXT = MARK + "one\r\ntwo \u2028 and\n".encode() + MARK + b"three\n\n" + b"five\n\xf0\x9f\x98\x80 six"
LINES = ["one\r\n", "two \u2028 and\n", "\ufeffthree\n", "\n", "five\n", "\U0001f600 six"]


def parts_of(files: TextFiles, folder: Path, part_lines: int) -> list[TextPart]:
    return cut(scan_texts(files, folder), part_lines)


@pytest.mark.parametrize("part_lines", [1, 2, 3, 5, 6, 7])
def test_the_parts_are_the_lines(tmp_path: Path, part_lines: int) -> None:
    source = tmp_path / "text.txt"
    source.write_bytes(TEXT)
    parts = parts_of(TextFiles(source=source), tmp_path, part_lines)
    assert [part.first_line for part in parts] == list(range(1, 7, part_lines))
    assert [part.number for part in parts] == list(range(len(parts)))
    assert [line for part in parts for line, _ in read_part(part)] == LINES
    assert [path.name for path in tmp_path.iterdir()] == ["text.txt"]


def test_a_compressed_text_is_unpacked_once(tmp_path: Path) -> None:
    source, folder = tmp_path / "text.gz", tmp_path / "parts"
    source.write_bytes(gzip.compress(TEXT))
    folder.mkdir()
    for _ in range(2):
        parts = parts_of(TextFiles(source=source), folder, 4)
        assert [line for part in parts for line, _ in read_part(part)] == LINES
    assert len(list(folder.iterdir())) == 1
    source.write_bytes(gzip.compress(b"another\n"))
    [part] = parts_of(TextFiles(source=source), folder, 4)
    assert [line for line, _ in read_part(part)] == ["another\n"]


def test_an_empty_text_has_no_parts(tmp_path: Path) -> None:
    source = tmp_path / "text.txt"
    source.write_bytes(b"")
    assert parts_of(TextFiles(source=source), tmp_path, 4) == []


def test_constraints_are_those_of_their_lines(tmp_path: Path) -> None:
    source, prefixes, words = (tmp_path / name for name in ("text.txt", "prefixes.txt", "words.txt"))
    source.write_text("a\nb\nc\n", encoding="utf-8")
    prefixes.write_text("\nIm\n\n", encoding="utf-8")
    words.write_text("Haus\tHof\n\n\t Tor\n", encoding="utf-8")
    files = TextFiles(source=source, target_prefixes=prefixes, forced_words=words)
    read = [pair for part in parts_of(files, tmp_path, 2) for pair in read_part(part)]
    assert [line for line, _ in read] == ["a\n", "b\n", "c\n"]
    assert [constraints.target_prefix for _, constraints in read] == ["", "Im", ""]
    assert [constraints.forced_words for _, constraints in read] == [("Haus", "Hof"), (), (" Tor",)]


def test_what_is_wrong_is_told_before_the_work(tmp_path: Path) -> None:
    source, words = tmp_path / "text.txt", tmp_path / "words.txt"
    with pytest.raises(DataError, match=r"text\.txt: there is no such file"):
        scan_texts(TextFiles(source=source), tmp_path)
    source.write_bytes(b"a\nb\n\xfcber\n")
    with pytest.raises(DataError, match=r"text\.txt: line 3 is not UTF-8 at its byte 1"):
        scan_texts(TextFiles(source=source), tmp_path)
    source.write_bytes(b"a\nb\n")
    words.write_bytes(b"a\n")
    with pytest.raises(
        DataError, match=r"words\.txt: has 1 lines, but .*text\.txt has 2; line n of it belongs to line n of the text"
    ):
        scan_texts(TextFiles(source=source, forced_words=words), tmp_path)


def test_a_text_that_changes_is_noticed(tmp_path: Path) -> None:
    source = tmp_path / "text.txt"
    source.write_bytes(b"aaaa\nbb\ncc\n")
    last = parts_of(TextFiles(source=source), tmp_path, 2)[1]
    for changed in (b"aaaa\nbb\n\xfc\xfc\n", b"a\na\na\na\na\na\n", b"aaaa\nbb\n"):
        source.write_bytes(changed)
        with pytest.raises(DataError, match=r"text\.txt: was written to while it was being translated"):
            read_part(last)
