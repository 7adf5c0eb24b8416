"""What docs/treebanks.md shows runs, in its order, and prints what the page says."""

import re
from pathlib import Path

import pytest

from attendo.cli.main import run

_WITHOUT_MODEL = ("Compare trees as EVALB does", "Read treebanks", "Trees in Python")
PAGE = Path(__file__).parents[2] / "docs" / "treebanks.md"


def blocks(language: str) -> list[str]:
    """The blocks of these sections; tests/cli/test_parse.py and test_parsers_way.py there run those of parsing.md."""
    sections = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    text = "".join(section for section in sections if section.split("\n")[0] in _WITHOUT_MODEL)
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_commands_run(capsys: pytest.CaptureFixture[str]) -> None:
    tree = "(S (NP (NNP Ann)) (VP (VBD left)) (. .))\n"
    for name in ("gold.txt", "parses.txt"):
        Path(name).write_text(tree)
    Path("mine.prm").write_text("DELETE_LABEL .\n")
    [block] = blocks("sh")
    for line in block.splitlines():
        arguments = line.split("#")[0].split(">")[0].split()
        assert run(arguments[1:]) == 0, line
        assert "100.00" in (printed := capsys.readouterr().out) or '"f1": 100.0' in printed


def test_the_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    for block in blocks("python"):
        exec(compile(block, "treebanks.md", "exec"), {})
        promised = [line.split("  # ")[1] for line in block.splitlines() if "  # " in line]
        printed = capsys.readouterr().out.splitlines()
        assert [line for line in printed if line in promised] == promised
    assert Path("tree.svg").read_text(encoding="utf-8").count("<text") == 4 + 2 * 5
