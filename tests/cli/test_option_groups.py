"""Options in groups: they are the command's as any others are, in the order that is wanted; and no function is long."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

import attendo.cli
from attendo.cli.option_groups import option_names, with_groups

MAX_BODY_LINES = 60
MAX_PARAMETERS = 8


@dataclass(frozen=True)
class Size:
    """Two options."""

    width: Annotated[int, typer.Option("--width", "-w")] = 3
    height: Annotated[int, typer.Option("--tall")] = 4


@pytest.fixture
def app() -> typer.Typer:
    """A command with a group between two options of its own."""
    app = typer.Typer()

    @app.command()
    @with_groups({"last": "width"}, size=Size)
    def draw(first: str = "a", *, size: Size, last: str = "z") -> None:
        print(first, size.width, size.height, last)

    return app


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [([], "a 3 4 z"), (["-w", "5", "--last", "y", "--first", "b"], "b 5 4 y"), (["--tall", "7"], "a 3 7 z")],
)
def test_a_group_s_options_arrive_in_the_group(app: typer.Typer, arguments: list[str], printed: str) -> None:
    result = CliRunner().invoke(app, arguments)

    assert (result.exit_code, result.output.strip()) == (0, printed)


def test_help_lists_them_in_the_order_of_the_parameters_but_for_those_that_follow_another(app: typer.Typer) -> None:
    help_text = CliRunner().invoke(app, ["--help"], env={"TERM": "dumb", "NO_COLOR": "1"}).output

    assert re.findall(r"--(first|width|last|tall)\b", help_text) == ["first", "width", "last", "tall"]


def test_a_group_s_options_have_the_names_of_the_command_line() -> None:
    assert option_names(Size) == {"width": "--width", "height": "--tall"}


def _functions() -> list[tuple[str, int, int]]:
    """Each function of the command line with the lines of its body and the number of its parameters."""
    found = []
    for path in sorted(Path(attendo.cli.__path__[0]).glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                parameters = [argument.arg for argument in arguments if argument.arg != "self"]
                lines = (node.end_lineno or 0) - node.body[0].lineno + 1
                found.append((f"{path.name}: {node.name}", lines, len(parameters)))
    return found


def test_no_function_of_the_command_line_is_long_or_has_many_parameters() -> None:
    functions = _functions()

    assert len(functions) > 100  # they were found
    assert [name for name, lines, _ in functions if lines > MAX_BODY_LINES] == []
    assert [name for name, _, parameters in functions if parameters > MAX_PARAMETERS] == []


def test_no_help_has_brackets_that_would_be_read_as_a_style() -> None:
    texts = [
        (path.name, text.value)
        for path in sorted(Path(attendo.cli.__path__[0]).glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.keyword) and node.arg == "help"
        for text in ast.walk(node.value)
        if isinstance(text, ast.Constant) and isinstance(text.value, str)
    ]

    assert len(texts) > 100  # they were found
    assert [each for each in texts if re.search(r"\[[a-z/#@]", each[1])] == []
