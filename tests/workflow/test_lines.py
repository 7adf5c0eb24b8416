import gzip
from pathlib import Path

import pytest

from attendo.errors import DataError
from attendo.text.formats import MAX_LINE_BYTES
from attendo.workflow.lines import count_lines, line_pairs_from, lines_from, read_pairs


def test_only_line_feeds_end_lines(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes("a\u2028b\x0bc\r\n\nd\x85e".encode())
    assert list(lines_from(path)) == ["a\u2028b\x0bc", "", "d\x85e"]
    assert count_lines(path) == 3


def test_compressed_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "text.gz"
    path.write_bytes(gzip.compress("ä\nb\n".encode()))
    assert list(lines_from(path)) == ["ä", "b"]


def test_what_is_not_text_is_refused_by_line(tmp_path: Path) -> None:
    path = tmp_path / "latin"
    path.write_bytes(b"ok\nsch\xf6n\n")
    with pytest.raises(DataError, match=r"latin: line 2 is not UTF-8 at its byte 4; convert the text"):
        list(lines_from(path))
    path.write_bytes(b"x" * (MAX_LINE_BYTES + 1))
    with pytest.raises(DataError, match=r"latin: line 1 is longer than 4 MB; is this text\?"):
        list(lines_from(path))


def test_pairs_of_unequal_length_are_refused(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_text("a\nb\n")
    target.write_text("A\n")
    with pytest.raises(DataError, match=r"source has 2 lines and .*target has 1"):
        list(line_pairs_from(source, target))
    target.write_text("A\nB\n")
    assert read_pairs(source, target) == (["a", "b"], ["A", "B"])
    source.write_text("")
    target.write_text("")
    with pytest.raises(DataError, match=r"no line at all, so there is nothing to do"):
        read_pairs(source, target)
