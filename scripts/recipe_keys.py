#!/usr/bin/env python
"""Writes docs/recipes.md, every key of a recipe with its default, and the settings in docs/serving.md, from the source.

With --check it only compares.
"""

import ast
import inspect
import json
import sys
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

from attendo.recipe import SECTIONS
from attendo.serving.config import ServingConfig
from attendo.text.corpora import CorpusConfig

OUTPUT = Path(__file__).parent.parent / "docs" / "recipes.md"
SERVING = OUTPUT.with_name("serving.md")
SERVING_MARK = "<!-- From here on written by scripts/recipe_keys.py from the source; change the docstrings there. -->\n"

HEAD = """# Recipes

<!-- Written by scripts/recipe_keys.py from the source; change the docstrings there, then run it. -->

A recipe is a TOML file that describes a run. `attendo recipe` lists those that come with attendo, `attendo recipe tiny`
prints one to copy, and `attendo recipe tiny --resolved` shows all keys with their values. Keys that a recipe leaves out
have the defaults below, which are the paper's where the paper gives a value.

- Any value can be changed for one run: `--set training.max_steps=500`, `--set data.corpora.NAME.weight=2`.
- Paths are relative to `data.folder`, and `data.folder` to the recipe's own folder; for a recipe that comes with
  attendo, to the folder in which you start the command.
- To remove a limit that the default sets, write `"none"`, since TOML has no null value.
- If no default is given below, the key is not set by default; `None` in a description means the same.
- An unknown key stops the run before any work; the message names the most similar known key.

Besides the sections there are two keys: `name`, the name of the run (default: the file's name), and `task`:
`"translate"`, or `"parse"` for trees ([parsing](parsing.md)).
"""


def main() -> int:
    texts = {OUTPUT: HEAD + "".join(section_text(name, kind) for name, kind in tables()), SERVING: serving_text()}
    if "--check" in sys.argv[1:]:
        other = [path.name for path, text in texts.items() if not path.exists() or path.read_text("utf-8") != text]
        if other:
            print(f"{', '.join(other)}: not what the source says; run scripts/recipe_keys.py", file=sys.stderr)
        return bool(other)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return 0


def serving_text() -> str:
    """docs/serving.md with the settings behind the mark."""
    written, mark, _ = SERVING.read_text(encoding="utf-8").partition(SERVING_MARK)
    assert mark, f"{SERVING.name} has lost its mark"
    kinds = get_type_hints(ServingConfig)
    return written + mark + "".join(section_text(f"[{item.name}]", kinds[item.name]) for item in fields(ServingConfig))


def tables() -> list[tuple[str, type]]:
    """Every table of a recipe by its header, in order."""
    found: list[tuple[str, type]] = []
    for name, kind in SECTIONS.items():
        found.append((f"[{name}]", kind))
        if name == "data":
            found.append(("[[data.corpora]] and [data.valid]", CorpusConfig))
        for item in fields(kind):
            default = item.default if item.default_factory is MISSING else item.default_factory()
            if is_dataclass(default):
                found.append((f"[{name}.{item.name}]", type(default)))
    return found


def section_text(header: str, kind: type) -> str:
    """A section's table: key, default, what it is."""
    lines = ["", f"## {header}", "", "| key | default | |", "|---|---|---|"]
    documented, hints = docstrings(kind), get_type_hints(kind)
    for item in fields(kind):
        if is_dataclass(item.default) or any(is_dataclass(part) for part in parts_of(hints[item.name])):
            continue  # a table of its own
        text = documented[item.name].replace("|", "\\|")
        choices = [f'`"{part}"`' for part in parts_of(hints[item.name]) if isinstance(part, str)]
        if len(choices) > 1:
            text += f" One of {', '.join(choices)}."
        lines.append(f"| `{item.name}` | {default_text(item)} | {text} |")
    return "\n".join(lines) + "\n"


def parts_of(annotation: Any) -> list[Any]:
    """All types and literal values within an annotation."""
    return [annotation, *(part for argument in get_args(annotation) for part in parts_of(argument))]


def default_text(item: "Field[Any]") -> str:
    """A field's default as TOML writes it."""
    value = item.default if item.default_factory is MISSING else item.default_factory()
    assert value is not MISSING, f"{item.name} has no default"
    if value is None or value == {}:
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, str):
        return f'`"{value}"`'
    return f"`{json.dumps(value)}`" if isinstance(value, tuple) else f"`{value}`"


def docstrings(kind: type) -> dict[str, str]:
    """The string below each field, on one line."""
    (definition,) = ast.parse(inspect.getsource(kind)).body
    assert isinstance(definition, ast.ClassDef)
    found: dict[str, str] = {}
    for statement, following in zip(definition.body, definition.body[1:], strict=False):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            assert isinstance(following, ast.Expr), f"{kind.__name__}.{statement.target.id} has no docstring"
            assert isinstance(following.value, ast.Constant)
            found[statement.target.id] = " ".join(str(following.value.value).split())
    return found


if __name__ == "__main__":
    sys.exit(main())
