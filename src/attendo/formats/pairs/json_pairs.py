"""JSON lines as pairs: two fields of the object on each line."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from attendo.errors import DataError
from attendo.formats.pairs.selection import Selection
from attendo.text.files.formats import MAX_LINE_BYTES, LineReader, RawPair

_WITHIN = ("", "translation.")
"""Objects in which fields are searched by default: the object itself, or as in Hugging Face's data sets."""


def read_json_pairs(path: Path, selection: Selection, *, fields: Sequence[str] = ()) -> Iterator[RawPair]:
    """Yields the pairs of a file of JSON objects, one per line; other lines have the fault `no_json`.

    Args:
        path: the file.
        selection: the wanted pairs; its languages name the fields if `fields` does not.
        fields: the names of the source and target fields; a dot leads into a nested object.

    Raises:
        DataError: the file cannot be read, or `fields` is left out and the first object does not determine them.
    """
    chosen = tuple(fields)
    with LineReader(path) as lines:
        for line in lines:
            value = _object(line)
            if value is not None and not chosen:
                chosen = _chosen(value, selection) or _unknown(path, lines.num_lines, value)
            sides = [] if value is None else [_field(value, name) for name in chosen]
            texts = [side for side in sides if isinstance(side, str)]
            if len(texts) == 2:
                yield selection.pair(lines.num_lines, texts[0], texts[1])
            elif line.strip():
                fault = "too_long" if len(line) > MAX_LINE_BYTES else "no_json"
                yield RawPair(line=lines.num_lines, source=line, target=b"", fault=fault)


def _object(line: bytes) -> dict[str, Any] | None:
    """Returns the object of a line; None if it is none."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _field(value: dict[str, Any], name: str) -> object:
    """Returns a field by its name, or by names joined by dots; None if there is none."""
    found: object = value
    if name in value:
        return value[name]
    for key in name.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _chosen(value: dict[str, Any], selection: Selection) -> tuple[str, ...]:
    """Returns the names of the fields that are named like the languages or sides, if there are any."""
    for prefix in _WITHIN:
        inside = _field(value, prefix[:-1]) if prefix else value
        names = [key for key, found in inside.items() if isinstance(found, str)] if isinstance(inside, dict) else []
        if (found := selection.sides_of(names)) is not None:
            return prefix + names[found[0]], prefix + names[found[1]]
    return ()


def _unknown(path: Path, line: int, value: dict[str, Any]) -> tuple[str, ...]:
    raise DataError(
        f"{path}: line {line} has the fields {', '.join(value)[:200]}; name the two to use: "
        'fields = ["SOURCE", "TARGET"], translation.en for a field within another'
    )
