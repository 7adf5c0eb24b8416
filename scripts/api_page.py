#!/usr/bin/env python
"""Writes docs/api.md, every public name with its signature, defaults and docstring, from the source.

With --check it only compares.
"""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, get_overloads, is_typeddict

import attendo
from attendo.decoding.config import SearchConfig

OUTPUT = Path(__file__).parent.parent / "docs" / "api.md"

HEAD = """# The Python interface

<!-- Written by scripts/api_page.py from the source; change the docstrings there, then run it. -->

Every name that `import attendo` offers. [translating.md](translating.md#in-python), [parsing.md](parsing.md) and
[serving.md](serving.md) have examples. A mistake in data, settings or files is an `attendo.AttendoError`, whose message
names it and the way out; a value of a wrong type is a `TypeError`. The package has type hints throughout.
"""

SECTIONS = ("Args", "Returns", "Yields", "Raises")
"""Of a docstring in Google style."""
_HEADER = re.compile(rf"^({'|'.join(SECTIONS)}):$")
_ITEM = re.compile(r"^(\*{0,2}\w+): (.*)$")


def main() -> int:
    text = page()
    if "--check" in sys.argv[1:]:
        same = OUTPUT.exists() and OUTPUT.read_text("utf-8") == text
        if not same:
            print(f"{OUTPUT.name}: not what the source says; run scripts/api_page.py", file=sys.stderr)
        return not same
    OUTPUT.write_text(text, encoding="utf-8")
    return 0


def page() -> str:
    """The whole page."""
    names = [name for name in attendo.__all__ if name != "__version__"]
    order = sorted(names, key=lambda name: (name != "load", name != "Engine", name.lower()))
    contents = ", ".join(f"[`{name}`](#{anchor(name)})" for name in order)
    parts = [HEAD, f"{contents}, `__version__` (the version, a `str`).\n"]
    parts += [entry(name, getattr(attendo, name)) for name in order]
    return "\n".join(parts)


def anchor(name: str) -> str:
    """The link that GitHub gives a heading."""
    return f"attendo{name}".lower()


def entry(name: str, thing: Any) -> str:
    """All about a public name."""
    lines = [f"## attendo.{name}", ""]
    if not inspect.isclass(thing):
        return "\n".join([*lines, *signatures(thing, name), *docstring(thing)])
    if is_typeddict(thing):
        return "\n".join([*lines, *docstring(thing), *keys_of(thing)])
    if issubclass(thing, Exception):
        lines += [f"An exception; its base is `{thing.__mro__[1].__name__}`.", ""]
    elif thing is not attendo.Engine:  # which load makes
        lines += signatures(thing, name)
    lines += docstring(thing)
    lines += attributes_of(thing)
    for method_name, method in methods_of(thing):
        lines += [f"### {name}.{method_name}", "", *signatures(method, method_name), *docstring(method)]
    return "\n".join(lines)


def signatures(thing: Callable[..., Any], name: str) -> list[str]:
    """How something is called, each overload by itself."""
    overloads = get_overloads(thing) if inspect.isfunction(thing) else []
    found = [signature(each, name) for each in overloads or [thing]]
    return ["```python", *found, "```", ""]


def signature(thing: Callable[..., Any], name: str) -> str:
    """Name, parameters, defaults and result."""
    written, result = annotations(thing)
    parameters: list[str] = []
    for parameter in inspect.signature(thing).parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and "*" not in parameters:
            parameters.append("*")
        mark = "**" if parameter.kind is inspect.Parameter.VAR_KEYWORD else ""
        text = f"{mark}{parameter.name}: {written[parameter.name]}"
        parameters.append(text if parameter.default is parameter.empty else f"{text} = {shown(parameter.default)}")
    returns = f" -> {result}" if result else ""
    name = f"async {name}" if inspect.iscoroutinefunction(thing) else name
    line = f"{name}({', '.join(parameters)}){returns}"
    if len(line) <= 110:
        return line
    return f"{name}(\n" + "".join(f"    {each},\n" for each in parameters) + f"){returns}"


def annotations(thing: Callable[..., Any]) -> tuple[dict[str, str], str]:
    """The types of parameters and result as the source writes them, which does not depend on the version of Python."""
    if inspect.isclass(thing) and (is_dataclass(thing) or issubclass(thing, tuple)):
        bases = [base for base in reversed(thing.__mro__) if base.__module__.startswith("attendo")]
        fields = [written_attributes(base, documented=False) for base in bases]
        return {name: hint for each in fields for name, (hint, _) in each.items()}, ""
    made = thing.__init__ if inspect.isclass(thing) else thing
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(made))).body
    assert isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef))
    given = definition.args
    every = [*given.args, *given.kwonlyargs, *([given.kwarg] if given.kwarg else [])]
    written = {each.arg: unquoted(each.annotation) for each in every if each.annotation is not None}
    is_class = inspect.isclass(thing) or definition.returns is None
    return written, "" if is_class else unquoted(definition.returns)


def unquoted(annotation: ast.expr | None) -> str:
    """A type as the source writes it; where all of it is in quotation marks, without them."""
    assert annotation is not None
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value
    return re.sub(r"'(\w+)'", r"\1", text) if "Literal" not in (text := ast.unparse(annotation)) else text


def shown(default: object) -> str:
    """A default as one writes it."""
    return "..." if re.match("<(function|factory)", text := repr(default)) else text


def docstring(thing: Any) -> list[str]:
    """A docstring as Markdown: its sections as lists."""
    lines: list[str] = []
    section = ""
    for line in (inspect.getdoc(thing) or "").splitlines():
        header = _HEADER.match(line)
        if header:
            section = header[1]
            lines += [f"**{section}**", ""]
        elif section and line.startswith("    "):
            item = _ITEM.match(line.strip()) if not line.startswith("     ") else None
            if item and section in ("Args", "Raises"):
                lines.append(f"- `{item[1]}`: {item[2]}")
            elif section in ("Args", "Raises"):
                lines.append(f"  {line.strip()}")
            else:
                lines.append(line.strip())
        else:
            section = section if not line else ""
            lines.append(line)
    return [*lines, ""]


def keys_of(kind: type) -> list[str]:
    """The keys of `SearchSettings`, documented at the fields of `SearchConfig`."""
    documented = written_attributes(SearchConfig)
    lines = ["| key | type | |", "|---|---|---|"]
    for key, (hint, _) in written_attributes(kind, documented=False).items():
        lines.append(f"| `{key}` | {cell(hint)} | {documented[key][1]} |")
    return [*lines, ""]


def attributes_of(kind: type) -> list[str]:
    """Attributes and properties as a table: name, type, what it is."""
    rows = []
    for name, hint, text in public_attributes(kind):
        rows.append(f"| `{name}` | {cell(hint)} | {text} |")
    return ["| attribute | type | |", "|---|---|---|", *rows, ""] if rows else []


def public_attributes(kind: type) -> Iterator[tuple[str, str, str]]:
    """Documented attributes of a class and its bases: fields, what `__init__` sets, and properties."""
    seen: set[str] = set()
    for base in (each for each in reversed(kind.__mro__) if each.__module__.startswith("attendo")):
        for name, (hint, text) in written_attributes(base).items():
            if name not in seen and not name.startswith("_"):
                seen.add(name)
                yield name, hint, text
        for name, value in vars(base).items():
            if isinstance(value, property) and not name.startswith("_") and name not in seen:
                seen.add(name)
                text = " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())
                assert value.fget is not None
                yield name, annotations(value.fget)[1], text


def written_attributes(kind: type, *, documented: bool = True) -> dict[str, tuple[str, str]]:
    """Fields of a class and annotated attributes of its `__init__`, with type and the docstring below each.

    Args:
        kind: the class.
        documented: whether those without a docstring are left out.
    """
    definition = class_definition(kind)
    bodies = [definition.body]
    bodies += [item.body for item in definition.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"]
    found: dict[str, tuple[str, str]] = {}
    for body in bodies:
        for statement, following in zip(body, [*body[1:], ast.Pass()], strict=True):
            if not isinstance(statement, ast.AnnAssign):
                continue
            target = statement.target
            name = target.id if isinstance(target, ast.Name) else getattr(target, "attr", "")
            text = (
                getattr(getattr(following, "value", None), "value", None) if isinstance(following, ast.Expr) else None
            )
            if isinstance(text, str) or not documented:
                found[name] = unquoted(statement.annotation), " ".join((text or "").split())
    return found


def class_definition(kind: type) -> ast.ClassDef:
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(definition, ast.ClassDef)
    return definition


def methods_of(kind: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Public methods, those of the class itself first, in the order of the source."""
    seen: set[str] = set()
    for base in (each for each in kind.__mro__ if each.__module__.startswith("attendo")):
        for name, value in vars(base).items():
            function = getattr(value, "__func__", value)
            if inspect.isfunction(function) and not name.startswith("_") and name not in seen:
                seen.add(name)
                yield name, function


def cell(text: str) -> str:
    """Code for a cell of a table."""
    return f"`{text}`".replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
