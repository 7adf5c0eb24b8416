import gzip
from pathlib import Path

import pytest

from attendo.errors import DataError
from attendo.parsing.evalb.brackets import SentenceScore
from attendo.parsing.evalb.files import Evaluation, evaluate_files
from attendo.parsing.evalb.parameters import EvalbParameters

TREE = "(S (A (P a)) (B (Q b)))"
BAD = "(S (A (P x)) (B (Q b)))"


def compared(tmp_path: Path, gold: bytes, test: bytes, max_error: int = 10) -> tuple[list[SentenceScore], Evaluation]:
    (tmp_path / "gold").write_bytes(gold)
    (tmp_path / "test").write_bytes(test)
    scores: list[SentenceScore] = []
    parameters = EvalbParameters(max_error=max_error)
    return scores, evaluate_files(tmp_path / "gold", tmp_path / "test", parameters, scores.append)


def lines(*texts: str) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()


def test_compressed_files_other_line_ends_and_marks(tmp_path: Path) -> None:
    test = b"\xef\xbb\xbf" + f"{TREE}\r\n{TREE}".encode()
    scores, evaluation = compared(tmp_path, gzip.compress(lines(TREE, TREE)), test)
    assert [(score.number, score.matched) for score in scores] == [(1, 3), (2, 3)]
    assert evaluation.problem is None


@pytest.mark.parametrize(("num_gold", "num_test"), [(3, 2), (2, 3), (2, 0), (0, 2)])
def test_files_of_different_length_are_compared_as_far_as_they_go(tmp_path: Path, num_gold: int, num_test: int) -> None:
    scores, evaluation = compared(tmp_path, lines(*[TREE] * num_gold), lines(*[TREE] * num_test))
    assert len(scores) == min(num_gold, num_test)
    assert evaluation.problem is not None
    assert f"has {num_gold} lines" in evaluation.problem
    assert f"has {num_test}, so that the figures are of the first {len(scores)} alone" in evaluation.problem


@pytest.mark.parametrize(
    ("gold", "test", "message"),
    [
        (b"", b"", "no line at all"),
        (lines(TREE, TREE), f"{TREE}\n(S caf\xe9)\n".encode("latin1"), "test: line 2 is not UTF-8 at its byte 7"),
        (b"(" * (5 << 20), lines(TREE), "gold: line 1 is longer than 4 MB"),
        (TREE.encode("utf-16"), lines(TREE), "UTF-16"),
        (gzip.compress(lines(TREE), mtime=0)[:-9], lines(TREE), "cannot be read"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, gold: bytes, test: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        compared(tmp_path, gold, test)


def test_it_stops_where_evalb_stops(tmp_path: Path) -> None:
    """At the error after MAX_ERROR and one more, before that sentence's row."""
    gold, test = lines(*[TREE] * 10), lines(TREE, *[BAD] * 9)
    with pytest.raises(DataError, match=r"line 6: Words unmatch \(a\|x\); these are 5 errors, .* MAX_ERROR = 3"):
        compared(tmp_path, gold, test, max_error=3)
    scores, _ = compared(tmp_path, gold, test, max_error=8)
    assert len(scores) == 10
