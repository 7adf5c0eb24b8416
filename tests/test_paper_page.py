"""docs/paper.md: its links lead to the lines that they name, and nothing of the paper is left out."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from attendo.cli.reproduce import RESULTS

PROJECT = Path(__file__).parent.parent
SCRIPT = PROJECT / "scripts" / "paper_links.py"
PAGE = PROJECT / "docs" / "paper.md"
LINK = re.compile(r'\[`([^`]+)`\]\((\S+)#L(\d+)(?: "([^"]+)")?\)')


def test_the_lines_are_those_that_the_script_sets() -> None:
    finished = subprocess.run([sys.executable, SCRIPT, "--check"], check=False, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr


def test_each_link_leads_to_a_line_with_what_it_names() -> None:
    links = LINK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(links) == PAGE.read_text(encoding="utf-8").count("](../src/")
    for name, path, line, part in links:
        there = (PAGE.parent / path).read_text(encoding="utf-8").splitlines()[int(line) - 1]
        own = re.split(r"[.: ]+", name)[-1]
        wanted = re.escape(part) if part else rf"\b{own}\b"
        if not part and path.endswith(
            f"/{name.replace('.', '/')}.py"
        ):  # a whole module: its first line says what it is
            assert line == "1", name
            wanted = '^"""'
        assert re.search(wanted, there), f"{name} leads to {there!r}"


def test_everything_of_the_paper_is_there() -> None:
    rows = [line.split("|")[1] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    told = " ".join(rows)
    sections = ["3.1", "3.2.1", "3.2.2", "3.2.3", "3.3", "3.4", "3.5", "5.1", "5.2", "5.3", "5.4", "6.1", "6.2", "6.3"]
    for kind, numbers in {
        "Section": sections,
        "Equation": ["1", "2", "3"],
        "Table": ["1", "2", "3", "4"],
        "Figure": ["1", "2"],
    }.items():
        for number in numbers:
            assert re.search(rf"{kind} {re.escape(number)}\b", told), f"{kind} {number}"
    assert "Figures 3, 4 and 5" in told


def test_each_result_has_its_command_and_each_command_its_result() -> None:
    named = set(re.findall(r"attendo reproduce ([\w-]+)", PAGE.read_text(encoding="utf-8")))
    assert named == set(RESULTS)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("model.attention.no_such_function", "no_such_function"),
        ("no_such_module.function", "no module"),
        ("base.toml: training.no_such_key", "no_such_key"),
        ("base.toml: model.max_steps", "max_steps"),
    ],
)
def test_what_is_gone_is_told(name: str, problem: str) -> None:
    with pytest.raises(LookupError, match=problem):
        runpy.run_path(str(SCRIPT))["located"](name)


def test_a_line_that_is_gone_is_told() -> None:
    text = '[`model.batch.causal_mask`](../src/attendo/model/batch.py#L1 "no such code")'
    with pytest.raises(LookupError, match="no such code"):
        runpy.run_path(str(SCRIPT))["with_lines"](text)


def test_a_line_that_has_moved_is_followed() -> None:
    text = "[`model.attention`](../src/attendo/model/attention.py#L99)"
    assert (
        runpy.run_path(str(SCRIPT))["with_lines"](text) == "[`model.attention`](../src/attendo/model/attention.py#L1)"
    )
