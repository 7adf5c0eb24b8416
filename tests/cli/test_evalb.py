import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]

GOLD = "(TOP (S (NP (NN a)) (VP (VB b)) (. .)))"
OTHER = "(S (NP (NN a)) (VP (NN b)) (. .))"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Three trees; the first parse is right, the second has a wrong tag, the third is not there."""
    gold, test = tmp_path / "gold", tmp_path / "test"
    gold.write_text(f"{GOLD}\n" * 3)
    test.write_text(f"{GOLD}\n{OTHER}\n\n")
    return gold, test


def test_evalb_prints_what_evalb_prints(attendo: Command, files: tuple[Path, Path]) -> None:
    finished = attendo("evalb", *files)
    assert finished.status == 0
    lines = finished.out.split("\n")
    assert lines[3:7] == [
        "   1    3    0  100.00 100.00     3      3    3      0      2     2   100.00",
        "   2    3    0  100.00 100.00     3      3    3      0      2     1    50.00",
        "   3    3    2    0.00   0.00     0      0    0      0      0     0     0.00",
        "=" * 76,
    ]
    assert "Number of Skip  sentence  =      1" in lines
    assert "-- len<=40 --" in lines
    assert "1 of 3 sentences could not be compared" in finished.err
    assert "recall 66.67, precision 100.00, F1 80.00" in finished.err
    assert "-- Labels --" in attendo("evalb", *files, "--report").out


def test_json_has_it_all(attendo: Command, files: tuple[Path, Path]) -> None:
    finished = attendo("evalb", *files, "--json", "-c", "2")
    assert finished.status == 0
    found = json.loads(finished.out)
    assert (found["all"]["bracketing_fmeasure"], found["all"]["tagging_accuracy"]) == (100, 75)
    assert (found["short"]["cutoff_length"], found["short"]["sentences"]) == (2, 0)
    assert found["short"]["bracketing_fmeasure"] is None
    assert round(found["every_sentence"]["bracketing_recall"], 2) == 66.67
    assert found["every_sentence"]["labels"]["NP"]["gold"] == 3
    assert [sentence["status"] for sentence in found["sentences"]] == [0, 0, 2]
    assert found["parameters"]["delete_labels"][:2] == ["TOP", "-NONE-"]


def test_a_parameter_file_and_its_faults(attendo: Command, files: tuple[Path, Path], tmp_path: Path) -> None:
    parameters = tmp_path / "mine.prm"
    parameters.write_text("DEBUG 1\nLABELS 0\n")
    finished = attendo("evalb", *files, "-p", parameters)
    assert finished.status == 0
    assert "   2    3    0   75.00 100.00     3      4    3" in finished.out, "TOP is a bracket, . a word"
    assert "  0 : 1 : NN      a" in finished.out
    assert "line 2: 'LABELS' is no keyword" in finished.err
    assert attendo("evalb", *files, "-p", "no.prm").status == 1


def test_what_makes_the_figures_doubtful_is_told(attendo: Command, files: tuple[Path, Path], tmp_path: Path) -> None:
    gold = tmp_path / "raw"
    gold.write_text(f"( {OTHER} )\n(S (NN a)\n")
    finished = attendo("evalb", gold, files[1])
    assert finished.status == 1, "the files have 2 and 3 lines"
    assert finished.out.endswith("\n"), "and yet the summary is there"
    assert "-- len<=40 --" in finished.out
    assert "has 2 lines and" in finished.err
    assert "gold file that cannot be read: 1" in finished.err
    assert "of ( (S ...) ): 1; EVALB counts each" in finished.err


def test_it_stops_after_many_errors(attendo: Command, tmp_path: Path) -> None:
    gold, test = tmp_path / "gold", tmp_path / "test"
    gold.write_text(f"{GOLD}\n" * 20)
    test.write_text("(S (NN \x1b[2J))\n" * 20)
    finished = attendo("evalb", gold, test)
    assert finished.status == 1
    assert finished.out.count("\n") == 3 + 11
    assert "line 12: Length unmatch (2|1); these are 12 errors" in finished.err
    assert attendo("evalb", gold, test, "--max-error", "20").status == 0
    assert "\x1b" not in finished.err


def test_a_strangers_labels_do_not_command_the_terminal(attendo: Command, tmp_path: Path) -> None:
    (tmp_path / "gold").write_text("(S\x1b[2J (NN\x1b a))\n")
    (tmp_path / "mine.prm").write_text("DEBUG 1\n")
    finished = attendo("evalb", tmp_path / "gold", tmp_path / "gold", "--report", "-p", tmp_path / "mine.prm")
    assert finished.status == 0
    assert "S\ufffd[2J" in finished.out
    assert "\x1b" not in finished.out
