#!/usr/bin/env python
"""Sets the line numbers of the links in docs/paper.md; --check only compares.

A link's text names what it leads to, `model.attention.MultiHeadAttention.heads` for code and `base.toml: warmup_steps`
for a key of a shipped recipe; a title in quotes is a part of the very line that is meant within it:

    [`model.attention.scaled_dot_product_attention`](../src/attendo/model/attention.py#L43 "softmax(dim=-1)")
"""

import ast
import re
import sys
from pathlib import Path

PROJECT = Path(__file__).parent.parent
PAGE = PROJECT / "docs" / "paper.md"
PACKAGE = Path("src/attendo")

_LINK = re.compile(r'\[`(?P<name>[^`]+)`\]\((?P<path>\.\./src/[^)#\s]+)(?:#L\d+)?(?: "(?P<part>[^"]+)")?\)')


def main() -> int:
    text = PAGE.read_text(encoding="utf-8")
    try:
        correct = with_lines(text)
    except LookupError as error:
        print(f"docs/paper.md: {error.args[0]}", file=sys.stderr)
        return 1
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(correct, encoding="utf-8")
    elif text != correct:
        print("docs/paper.md: links lead to other lines than they name; run scripts/paper_links.py", file=sys.stderr)
        return 1
    return 0


def with_lines(text: str) -> str:
    """A page with every link at the line that it names.

    Raises:
        LookupError: it names something that is not there.
    """
    return _LINK.sub(lambda found: _link(found["name"], found["part"]), text)


def _link(name: str, part: str | None) -> str:
    path, first, last = located(name)
    lines = (PROJECT / path).read_text(encoding="utf-8").splitlines()
    line = first
    if part is not None:
        fitting = [number for number in range(first, last + 1) if part in lines[number - 1]]
        if not fitting:
            raise LookupError(f"{name} has no line with {part!r} any more")
        line = fitting[0]
    title = "" if part is None else f' "{part}"'
    return f"[`{name}`](../{path.as_posix()}#L{line}{title})"


def located(name: str) -> tuple[Path, int, int]:
    """Where something is: its file in the project, and its first and last line, from 1.

    Args:
        name: `model.attention.SelfAttention.project`, below the package; or `base.toml: training.warmup_steps`.

    Raises:
        LookupError: there is no such thing.
    """
    if ": " in name:
        return _recipe_key(*name.split(": "))
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        path = PACKAGE.joinpath(*parts[:length]).with_suffix(".py")
        if (PROJECT / path).is_file():
            source = (PROJECT / path).read_text(encoding="utf-8")
            if length == len(parts):
                return path, 1, len(source.splitlines())
            return path, *_definition(ast.parse(source), parts[length:], name)
    raise LookupError(f"{name}: no module of the package")


def _definition(module: ast.Module, names: list[str], whole: str) -> tuple[int, int]:
    body: list[ast.stmt] = module.body
    for name in names:
        found = [statement for statement in body if name in _names(statement)]
        if not found:
            raise LookupError(f"{whole}: no {name} there any more")
        last = found[-1]
        body = last.body if isinstance(last, ast.ClassDef) else []
    assert last.end_lineno is not None
    return last.lineno, last.end_lineno


def _names(statement: ast.stmt) -> list[str]:
    """What a statement defines."""
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case ast.Assign(targets=targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
    return []


def _recipe_key(recipe: str, key: str) -> tuple[Path, int, int]:
    path = PACKAGE / "recipes" / recipe
    if not (PROJECT / path).is_file():
        raise LookupError(f"{recipe}: no such recipe")
    *sections, last = key.split(".")
    header = ""
    for number, line in enumerate((PROJECT / path).read_text(encoding="utf-8").splitlines(), start=1):
        if found := re.match(r"\[+([\w.]+)\]+", line):
            header = found[1]
        elif re.match(rf"{re.escape(last)}\s*=", line) and header == ".".join(sections):
            return path, number, number
    raise LookupError(f"{recipe}: has no {key} any more")


if __name__ == "__main__":
    sys.exit(main())
