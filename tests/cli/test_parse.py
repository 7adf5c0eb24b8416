"""`attendo parse`, and what docs/parsing.md says of it; the parser is that of tests/tiny_parser.py."""

import gzip
import io
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.tiny_parser import trees

from attendo.cli.main import run
from attendo.cli.parse import summary
from attendo.parsing.treebank import parse_tree, read_treebank
from attendo.parsing.writing import from_json, pretty
from attendo.workflow.engines.parse import ParseCounts
from attendo.workflow.engines.translate import load

pytest.importorskip("nltk")

Command = Callable[..., Any]

PAGE = Path(__file__).parents[2] / "docs" / "parsing.md"
TEXT = "She sees the old dog.\n\nThe man can't sleep (a cat).\n"
WORDS = [
    ["She", "sees", "the", "old", "dog", "."],
    [],
    ["The", "man", "ca", "n't", "sleep", "(", "a", "cat", ")", "."],
]
GOLD = trees(6, seed=5)


@pytest.fixture
def expected(parser_folder: Path) -> list[str]:
    """The trees of the text, as the library finds them."""
    found = load(parser_folder).parse_n_best(WORDS)
    return [str(parse.tree) if parse.n_best else "" for parse in found]


def test_a_line_in_a_line_out(attendo: Command, parser_folder: Path, expected: list[str]) -> None:
    finished = attendo("parse", parser_folder, stdin=TEXT.encode())
    assert finished.status == 0
    assert finished.out.split("\n") == [*expected, ""]
    first, second, end = finished.err.split("\n")
    assert re.fullmatch(r"parsed 2 sentences in [\d.]+ s \([\d.]+ s of it parsing, [\d.,]+ sentences/s\)", first)
    assert (second, end) == ("without words, and empty in the output: 1", "")


def test_from_file_to_file(attendo: Command, parser_folder: Path, expected: list[str], tmp_path: Path) -> None:
    source, output = tmp_path / "sentences.txt.gz", tmp_path / "new" / "trees.txt"
    source.write_bytes(gzip.compress(TEXT.encode()))
    finished = attendo("parse", parser_folder, source, "-o", output, "--threads", "1", "--set", "search.window_lines=1")
    assert (finished.status, finished.out) == (0, "")
    assert output.read_text(encoding="utf-8").split("\n") == [*expected, ""]


def test_words_and_tagged_words(attendo: Command, parser_folder: Path, expected: list[str]) -> None:
    lines = "\n".join(" ".join(words) for words in WORDS) + "\n"
    assert attendo("parse", parser_folder, "--input", "words", stdin=lines.encode()).out.split("\n") == [*expected, ""]
    finished = attendo("parse", parser_folder, "--input", "tagged", stdin=b"the/VBD dog/XYZ left/NN\n\nit/PRP dog\n")
    first, empty, bad, end = finished.out.split("\n")
    assert (parse_tree(first).words, parse_tree(first).tags) == (("the", "dog", "left"), ("VBD", "XYZ", "NN"))
    assert (empty, bad, end) == ("", "", "")
    assert finished.status == 1
    assert "line 3 was not parsed: word 2, 'dog', has no tag; write it as word/TAG\n" in finished.err


def test_n_best_and_scores_have_columns(attendo: Command, parser_folder: Path) -> None:
    parses = load(parser_folder, search={"n_best": 2}).parse_n_best(WORDS)
    finished = attendo("parse", parser_folder, "--n-best", "2", "--scores", stdin=TEXT.encode())
    rows = [line.split("\t") for line in finished.out.removesuffix("\n").split("\n")]
    assert [row[0] for row in rows] == ["1", "1", "2", "3", "3"]
    assert rows[2] == ["2", "", "", ""]
    found = [each for parse in parses for each in parse.n_best]
    filled = [row for row in rows if row[0] != "2"]
    assert [row[3] for row in filled] == [str(each.tree) for each in found]
    assert [float(row[1]) for row in filled] == pytest.approx([each.score for each in found], abs=1e-3)
    assert [float(row[2]) for row in filled] == pytest.approx([each.log_prob for each in found], abs=1e-3)
    finished = attendo("parse", parser_folder, "--scores", "--length-penalty", "1", stdin=TEXT.encode())
    rows = [line.split("\t") for line in finished.out.removesuffix("\n").split("\n")]
    assert [len(row) for row in rows] == [3, 3, 3]
    assert float(rows[0][0]) > float(rows[0][1]), "a penalty makes a mean of the log-probability"


def test_indented(attendo: Command, parser_folder: Path, expected: list[str], tmp_path: Path) -> None:
    finished = attendo("parse", parser_folder, "--format", "pretty", stdin=TEXT.encode())
    first, last = (pretty(parse_tree(line)) for line in (expected[0], expected[2]))
    assert finished.out == f"{first}\n\n\n{last}\n\n"
    output = tmp_path / "trees.txt"
    options = ["--format", "pretty", "--n-best", "2", "--scores", "-o", output]
    assert attendo("parse", parser_folder, *options, stdin=TEXT.encode()).status == 0
    assert output.read_text().startswith("# 1: score -")
    assert len(read_treebank([output]).trees) == 4, "headings are comments of treebanks"


def test_json_has_all_of_a_sentence_in_a_line(attendo: Command, parser_folder: Path) -> None:
    text = (TEXT + "dogs left \u2028 x.\n").encode() + b"\xff\n"
    finished = attendo("parse", parser_folder, "--format", "json", "--n-best", "2", stdin=text)
    rows = [json.loads(line) for line in finished.out.split("\n")[:-1]]
    assert [row["number"] for row in rows] == [1, 2, 3, 4, 5]
    assert [row["words"] for row in rows] == [*WORDS, ["dogs", "left", "x", "."], []]
    for row in (rows[0], rows[2], rows[3]):
        assert {key: row[key] for key in row["n_best"][0]} == row["n_best"][0]
        assert len(row["n_best"]) == 2
        assert row["problem"] is None
        for found in row["n_best"]:
            assert from_json({"words": row["words"], **found}).spans == parse_tree(found["tree"]).spans
            assert found["score"] == found["log_prob"] < 0
            assert found["faults"] == []
    assert (rows[1]["problem"], rows[1]["tree"], rows[1]["n_best"]) == ("no words", None, [])
    assert rows[4]["problem"].startswith("character 1 is a byte that is not UTF-8")
    assert rows[4].keys() == rows[0].keys()
    assert finished.status == 1
    assert len(finished.out.splitlines()) == 5, "U+2028 is escaped"


def test_drawings(attendo: Command, parser_folder: Path, tmp_path: Path) -> None:
    options = ["--format", "svg", "-o", tmp_path / "new" / "cat.svg"]
    assert attendo("parse", parser_folder, *options, stdin=TEXT.encode()).status == 0
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["cat-3.svg", "cat.svg"]
    drawn = ElementTree.parse(tmp_path / "new" / "cat-3.svg").getroot()
    assert drawn.get("aria-label") == f"Tree of: {' '.join(WORDS[2])}"
    options = ["--format", "svg", "-o", tmp_path / "more" / "x", "--n-best", "2"]
    assert attendo("parse", parser_folder, *options, stdin=b"it left\n").status == 0
    assert sorted(path.name for path in (tmp_path / "more").iterdir()) == ["x-1-1.svg", "x-1-2.svg"]


def test_what_cannot_be_parsed_is_told_and_the_rest_is_there(
    attendo: Command, parser_folder: Path, expected: list[str], tmp_path: Path
) -> None:
    lines = TEXT.encode().splitlines(keepends=True)
    text = b"".join([lines[0], b"the " * 50 + b"\n", b"\n", b"sch\xf6n\n", lines[2], b"x" * 9999 + b"\n", b"\x1b[2J x"])
    output = tmp_path / "trees.txt"
    finished = attendo("parse", parser_folder, "-o", output, "--set", "search.max_source_tokens=45", stdin=text)
    assert finished.status == 1
    found = output.read_text(encoding="utf-8").split("\n")
    assert (found[0], found[4]) == (expected[0], expected[2])
    assert [bool(line) for line in found] == [True, False, False, False, True, False, True, False]
    assert parse_tree(found[6]).words == ("\x1b", "[", "2J", "x")
    assert "line 2 was not parsed: too long: 50 tokens, more than 45; raise search.max_source_tokens\n" in finished.err
    assert "line 4 was not parsed: character 4 is a byte that is not UTF-8" in finished.err
    assert "line 6 was not parsed: too long: 9,999 characters, more than 45 tokens can be\n" in finished.err
    assert "without words, and empty in the output: 1\n" in finished.err
    assert "not parsed, and empty in the output: 3\n" in finished.err


def test_a_treebank_is_parsed_again(attendo: Command, parser_folder: Path, tmp_path: Path) -> None:
    bank, gold, output = tmp_path / "bank.mrg", tmp_path / "gold.txt", tmp_path / "parses.txt"
    bad = "( (S (NP (NN cat\n\n"
    bank.write_text(f"( {GOLD[0]} )\n\n{bad}" + "".join(f"( {tree} )\n" for tree in GOLD[1:]))
    command = ["parse", parser_folder, bank, "--input", "trees", "--gold", gold]
    finished = attendo(*command, "-o", output)
    assert finished.status == 1
    assert "tree 2 was not parsed: line 3: not closed before " in finished.err
    lines = gold.read_text().split("\n")
    assert lines == [str(GOLD[0]), "", *map(str, GOLD[1:]), ""]
    parsed = output.read_text().split("\n")
    assert parsed[0] == str(load(parser_folder).parse([GOLD[0].words])[0])
    scored = attendo("evalb", gold, output, "--json")
    assert scored.status == 0
    assert len(json.loads(scored.out)["sentences"]) == 7
    assert json.loads(scored.out)["all"]["bracketing_fmeasure"] > 60
    finished = attendo(*command, "--gold-tags", "-o", output)
    assert [parse_tree(line).tags for line in output.read_text().split("\n") if line] == [tree.tags for tree in GOLD]
    finished = attendo("parse", parser_folder, "--input", "trees", stdin=bank.read_bytes())
    assert finished.out.split("\n") == parsed


def test_free_search_says_what_it_mended(attendo: Command, parser_folder: Path) -> None:
    text = "".join(" ".join(tree.words) + "\n" for tree in GOLD)
    options = ["--input", "words", "--unconstrained", "--beam-size", "1", "--format", "json"]
    finished = attendo("parse", parser_folder, *options, stdin=text.encode())
    assert finished.status == 0
    rows = [json.loads(line) for line in finished.out.splitlines()]
    assert [tuple(row["words"]) for row in rows] == [tree.words for tree in GOLD]
    mended = [row for row in rows if row["faults"]]
    kinds = sorted({fault["kind"] for row in mended for fault in row["faults"]})
    share = f"{len(mended)} of 6 ({len(mended) / 6:.2%})"
    assert f"invalid trees that were repaired: {share}" in finished.err
    assert all(kind in finished.err for kind in kinds)


def test_the_summary() -> None:
    counts = ParseCounts(sentences=1012, empty=2, failed=10, mended=25)
    counts.faults.update({"not closed": 20, "words missing": 7})
    assert summary(counts, 5.0, 2.0) == [
        "parsed 1,000 sentences in 5.0 s (2.0 s of it parsing, 500 sentences/s)",
        "invalid trees that were repaired: 25 of 1,000 (2.50%); sentences by fault: not closed 20, words missing 7",
        "without words, and empty in the output: 2",
        "not parsed, and empty in the output: 10",
    ]
    none = ParseCounts(sentences=1)
    assert len(summary(none, 2.0, 1.0)) == 1
    assert summary(none, 2.0, 1.0, unconstrained=True)[1] == "invalid trees that were repaired: 0 of 1 (0.00%)"


def test_each_command_names_the_other(
    attendo: Command, parser_folder: Path, model_folder: Path, tmp_path: Path
) -> None:
    output = tmp_path / "output.txt"
    finished = attendo("translate", parser_folder, "-o", output, stdin=b"it left\n")
    assert (finished.status, finished.out) == (1, "")
    told = "attendo: error: this model parses sentences and does not translate; use `attendo parse`, or `parse` in "
    assert finished.err == f"{told}Python\n"
    finished = attendo("parse", model_folder, "-o", output, stdin=b"it left\n")
    assert (finished.status, finished.out) == (1, "")
    told = "attendo: error: this model translates and does not parse; use `attendo translate`, or `translate` in "
    assert finished.err == f"{told}Python\n"
    assert not output.exists()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["nowhere.txt"], "nowhere.txt: "),
        (["--n-best", "9"], "search.n_best = 9 is more than beam_size = 4 can hold; take beam_size = 9 or more"),
        (["--set", "search.beam=3"], "--set: search.beam = 3: there is no such key; did you mean search.beam_size?"),
        (["--ensemble", "nowhere"], "nowhere: no such model or run folder"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    attendo: Command, parser_folder: Path, options: list[str], problem: str
) -> None:
    finished = attendo("parse", parser_folder, *options, stdin=b"it left\n")
    assert (finished.status, finished.out) == (1, "")
    assert problem in finished.err
    assert finished.err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--gold", "gold.txt"], "goes with --input trees"),
        (["--input", "words", "--gold-tags"], "goes with --input trees"),
        (["--format", "svg"], "drawings need --output NAME.svg"),
        (["--format", "xml"], "is not one of"),
        (["--input", "conll"], "is not one of"),
    ],
)
def test_wrong_usage(attendo: Command, options: list[str], problem: str) -> None:
    finished = attendo("parse", "nowhere", *options)
    assert (finished.status, finished.out) == (2, "")
    assert problem in finished.err


def test_without_nltk_words_can_be_parsed(
    attendo: Command, parser_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attendo.workflow.extras.find_spec", lambda name: None if name == "nltk" else find_spec(name))
    finished = attendo("parse", "nowhere", stdin=b"it left\n")
    assert finished.status == 1
    assert finished.err == 'attendo: error: nltk: not installed, and needed here; pip install "attendo[parse]"\n'
    assert attendo("parse", parser_folder, "--input", "words", stdin=b"it left\n").status == 0


def test_a_pause_of_the_input_brings_what_is_there(parser_folder: Path) -> None:
    command = subprocess.Popen(
        [sys.executable, "-m", "attendo.cli.main", "parse", str(parser_folder), "--input", "words"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert command.stdin is not None
    assert command.stdout is not None
    for _ in range(2):  # the second line is only written when the first one's tree has come
        command.stdin.write(b"it left\n")
        command.stdin.flush()
        assert command.stdout.readline().startswith(b"(")
    command.stdin.close()
    command.stdout.close()
    assert command.wait(timeout=300) == 0


# --- docs/parsing.md --------------------------------------------------------------------------------------------------


def blocks(language: str) -> list[str]:
    """Those of the section that takes a parser."""
    [section] = re.findall(
        r"^## Parse sentences\n(.*?)^## ", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    return re.findall(rf"```{language}\n(.*?)```", section, flags=re.DOTALL)


def test_the_commands_of_the_page_run(
    parser_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sentences.txt").write_text(TEXT)
    Path("sentences.txt.gz").write_bytes(gzip.compress(TEXT.encode()))
    Path("words.txt").write_text("it left .\n")
    Path("tagged.txt").write_text("The/DT dog/NN ./.\n")
    Path("wsj.mrg").write_text("".join(f"( {tree} )\n" for tree in GOLD))
    lines = [line.split(" #")[0].strip() for block in blocks("sh") for line in block.splitlines()]
    assert len(lines) > 10
    for line in lines:
        command, *redirected = re.split(r"\s([<>])\s", line)
        if "<" in redirected:
            text = io.TextIOWrapper(io.BytesIO(Path(redirected[redirected.index("<") + 1]).read_bytes()))
            monkeypatch.setattr("sys.stdin", text)
        given = [str(parser_folder) if part in ("MODEL", "OTHER") else part for part in command.split()[1:]]
        status = run(given)
        printed = capsys.readouterr()
        assert status == 0, f"{line}\n{printed.err}"
        if "-o" not in given:
            assert printed.out, line
    assert {path.name for path in tmp_path.glob("*.svg")} == {"tree.svg", "tree-3.svg"}
    assert Path("gold.txt").read_text() == "".join(f"{tree}\n" for tree in GOLD)


def test_the_python_of_the_page_runs(
    parser_folder: Path, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    library, in_spacy = blocks("python")
    exec(compile(library, "parsing.md", "exec"), {"MODEL": parser_folder})
    first, *others = capsys.readouterr().out.splitlines()
    assert parse_tree(first).words == ("She", "sees", "the", "old", "dog", ".")
    # A line of words and three trees a sentence, and one for the empty sentence; then a line each.
    assert [line.startswith("-") for line in others[:-4]] == [False, *[True] * 3] * 3 + [False]
    assert "('dogs', 'left') None" in others
    assert others[-1] == "None"
    pytest.importorskip("spacy")
    pytest.importorskip("attendo.spacy.component")  # an installed attendo is found without
    exec(compile(in_spacy, "parsing.md", "exec"), {"MODEL": str(parser_folder)})
    printed = capsys.readouterr().out.splitlines()
    assert parse_tree(printed[0]).words == ("She", "sees", "the", "old", "dog", ".")


def test_the_surest_trees_are_a_treebank(attendo: Command, parser_folder: Path, tmp_path: Path) -> None:
    lines = "".join(" ".join(tree.words) + "\n" for tree in GOLD)
    parses = load(parser_folder).parse_n_best([tree.words for tree in GOLD])
    mean = {str(parse.tree): parse.n_best[0].log_prob / (len(parse.n_best[0].symbols) + 1) for parse in parses}
    expected = sorted(mean, key=lambda tree: -mean[tree])[:3]
    output = tmp_path / "automatic.trees"
    asked = ["--input", "words", "--keep", "0.5", "-o", output]
    finished = attendo("parse", parser_folder, *asked, stdin=lines.encode())
    assert finished.status == 0
    assert "kept 3 of 6 trees, log-probability" in finished.err
    assert [str(tree) for tree in read_treebank([output]).trees] == [tree for tree in mean if tree in expected]
    attendo("parse", parser_folder, *asked, "--scores", stdin=lines.encode())
    assert output.read_text().count("\n# ") == 3
    for wrong in (["--keep", "0.5"], [*asked, "--format", "json"], [*asked, "--n-best", "2"], [*asked, "--keep", "2"]):
        refused = attendo("parse", parser_folder, *wrong, stdin=b"it left\n")
        assert (refused.status, "--keep" in refused.err) == (2, True)
