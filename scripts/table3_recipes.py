#!/usr/bin/env python
"""Writes src/attendo/recipes/table3/ROW.toml, the recipe base with each row's changes; --check only compares."""

import re
import sys
from pathlib import Path

from attendo.paper.table3.study import BASE, ROWS, Row, Value, described
from attendo.recipe import shipped_recipe_text

FOLDER = Path(__file__).parent.parent / "src" / "attendo" / "recipes" / "table3"
BIG_STEPS = 300_000


def main() -> int:
    texts = {FOLDER / f"{row.name}.toml": recipe_text(row) for row in ROWS}
    if "--check" not in sys.argv[1:]:
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
        return 0
    others = [path.name for path, text in texts.items() if not path.exists() or path.read_text("utf-8") != text]
    if others:
        print(f"{', '.join(others)}: not base.toml with the row's changes; run {Path(__file__).name}", file=sys.stderr)
    return 1 if others else 0


def recipe_text(row: Row) -> str:
    """The shipped recipe `base` with a row's changes in it, its first line saying what it is."""
    _, _, text = shipped_recipe_text("base").partition("\n")
    place = f"row {row.group}" if row.group else "the base row"
    for key, value in row.changes.items():
        text = changed(text, key, value, f"Table 3, {place}")
    if row.name == "big":
        text = changed(text, "max_steps", BIG_STEPS, "Section 5.2: three and a half days on eight P100")
    text = changed(text, "average_last", 1, "Table 3 averages nothing")
    what = f", {described(row)}" if row is not BASE else ""
    figures = f"perplexity {row.perplexity:.2f} and BLEU {row.bleu:.1f} on newstest2013"
    return f"# Table 3, {place}{what}: {figures} in the paper.\n{text}"


def changed(text: str, key: str, value: Value, why: str) -> str:
    """Puts a value in the place of a key's, or a new key at the end of the section `model`."""
    assignment = f'{key} = "{value}"' if isinstance(value, str) else f"{key} = {value}"
    line = f"{assignment:<33} # {why}"
    text, count = re.subn(rf"^{key} = .*$", line, text, flags=re.MULTILINE)
    return text if count else text.replace("\n\n[training]", f"\n{line}\n\n[training]")


if __name__ == "__main__":
    sys.exit(main())
