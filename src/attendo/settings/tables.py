"""Frozen dataclasses as TOML tables."""

from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from attendo.settings.toml import toml_value


def toml_table(name: str, section: Any, header: str) -> list[str]:
    """A dataclass as the lines of a TOML table: its own keys, then the tables within it.

    None is omitted if it is the default, and is `"none"` otherwise.

    Args:
        name: the table's dotted name.
        section: the dataclass.
        header: the table's first line, `[name]` or `[[name]]`.
    """
    lines, tables = ["", header], []
    for item in fields(section):
        value = getattr(section, item.name)
        inner = f"{name}.{item.name}"
        if is_dataclass(value):
            tables += toml_table(inner, value, f"[{inner}]")
        elif isinstance(value, tuple) and value and is_dataclass(value[0]):
            for entry in value:
                tables += toml_table(inner, entry, f"[[{inner}]]")
        elif value is not None or (item.default is not None and item.default is not MISSING):
            lines.append(f"{item.name} = {toml_value(value)}")
    return lines + tables
