import gzip
import os
from pathlib import Path
from threading import Thread

import pytest

from attendo.decoding.constraints.line_constraints import Constraints
from attendo.errors import DataError
from attendo.text.files.formats import MAX_LINE_BYTES
from attendo.workflow.input_files import count_lines
from attendo.workflow.lines import ended_lines_from, line_pairs_from, lines_from, read_pairs, with_constraints


def test_only_line_feeds_end_lines(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes("a\u2028b\x0bc\r\n\nd\x85e".encode())
    assert list(lines_from(path)) == ["a\u2028b\x0bc", "", "d\x85e"]
    assert list(ended_lines_from(path)) == ["a\u2028b\x0bc\r\n", "\n", "d\x85e"]
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


def test_constraints_lie_beside_the_lines(tmp_path: Path) -> None:
    prefixes, words = tmp_path / "prefixes", tmp_path / "words"
    prefixes.write_text("Das \n\nEin\n")
    words.write_text("rot\tzum Beispiel\n\t\n\n")
    lines, constraints = with_constraints(["a", "b", "c"], prefixes, words)
    assert constraints is not None
    assert list(zip(lines, constraints, strict=True)) == [
        ("a", Constraints(target_prefix="Das ", forced_words=("rot", "zum Beispiel"))),
        ("b", Constraints()),
        ("c", Constraints(target_prefix="Ein")),
    ]
    lines, constraints = with_constraints(["a", "b"], None, None)
    assert (list(lines), constraints) == (["a", "b"], None)


@pytest.mark.parametrize(
    ("count", "problem"),
    [
        (
            4,
            r"words: has 3 lines, but the text more; line n of it belongs to line n of the text; "
            r"leave a line empty if there is nothing to give",
        ),
        (2, r"words: has more than the 2 lines that were translated; line n of it belongs to line n of the text"),
    ],
)
def test_constraints_for_more_or_fewer_lines_are_refused(tmp_path: Path, count: int, problem: str) -> None:
    words = tmp_path / "words"
    words.write_text("rot\n" * 3)
    lines, constraints = with_constraints(["a"] * count, None, words)
    assert constraints is not None
    with pytest.raises(DataError, match=problem):
        list(zip(lines, constraints, strict=True))
    with pytest.raises(DataError, match=r"nowhere"):
        with_constraints([], tmp_path / "nowhere", None)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_constraints_from_a_named_pipe_are_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    Thread(target=pipe.write_bytes, args=(b"Das\n",)).start()
    lines, constraints = with_constraints(["a"], pipe, None)
    assert constraints is not None
    assert list(zip(lines, constraints, strict=True)) == [("a", Constraints(target_prefix="Das"))]
