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


def tables(text: str) -> list[list[list[str]]]:
    """Every table of a page as rows of cells; a | within code or behind a backslash ends no cell (GitHub's rules)."""
    found: list[list[list[str]]] = []
    is_table = False
    for line in text.splitlines():
        if line.startswith("|"):
            if not is_table:
                found.append([])
            cells = re.sub(r"\\\|", " ", line).strip()
            found[-1].append([cell.strip() for cell in cells.strip("|").split("|")])
        is_table = line.startswith("|")
    return found


def misshapen(text: str) -> list[str]:
    """The rows of a page's tables that have another number of cells than their header, or two claims."""
    problems = []
    for header, _, *rows in tables(text):
        for cells in rows:
            claims = re.findall(r"\b(?:Section|Equation|Table|Figures?) \d", cells[0])
            is_claim = header[0] != "in the paper" or bool(claims)
            elsewhere = [cell for cell in cells[1:] if re.match(r"(?:Section|Equation|Table|Figures?) \d", cell)]
            if len(cells) != len(header) or not is_claim or elsewhere or not cells[0]:
                problems.append(" | ".join(cells)[:80])
    return problems


def test_each_row_has_the_cells_of_its_header() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert len(tables(text)) == 6
    assert misshapen(text) == []


def test_each_result_has_one_row_that_names_it_first() -> None:
    (results,) = (rows for rows in tables(PAGE.read_text(encoding="utf-8")) if rows[0][0] == "result")
    named = [re.fullmatch(r"`attendo reproduce ([\w-]+)`", row[0]) for row in results[2:]]
    assert all(named), "the first cell is the command, and nothing beside it"
    names = [found[1] for found in named if found]
    assert sorted(names) == sorted(RESULTS)
    for row in results[2:]:
        (page,) = re.findall(r"\]\((paper/\S+)\)", row[1])
        assert (PAGE.parent / page).is_file()


def test_a_row_that_is_spliced_into_another_is_told() -> None:
    page = PAGE.read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    figure, result = (
        next(row for row in rows if row.startswith(start)) for start in ("| Figure 1:", "| `attendo repr")
    )
    cells = figure.split(" | ")
    spliced = page.replace(figure, " | ".join([*cells[:-1], result.strip("| "), "", "\n"]) + f"| {cells[-1]}")
    assert len(misshapen(spliced)) == 2


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
