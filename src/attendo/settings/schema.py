"""The types of keys, read from the annotations of dataclasses, for checking and its messages."""

import types
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from attendo.settings.toml import toml_value

Schema = type[BaseModel]
"""A document: its own keys, and its tables, which are dataclasses."""

NONE = "none"
"""The value in TOML, which has no null, for a limit that is not set although the default sets one."""


def alternatives(annotation: Any) -> tuple[Any, ...]:
    """The types of a union; of any other annotation itself alone."""
    return get_args(annotation) if get_origin(annotation) in (types.UnionType, Union) else (annotation,)


def is_table(annotation: Any) -> bool:
    """Whether an annotation is a type whose fields are a table's keys."""
    return is_dataclass(annotation) or (isinstance(annotation, type) and issubclass(annotation, BaseModel))


def table_in(annotation: Any) -> Any:
    """The table type in a union, or None."""
    return next((kind for kind in alternatives(annotation) if is_table(kind)), None)


def entry_in(annotation: Any) -> Any:
    """The entry type of the list type in a union, or None."""
    return next((get_args(kind)[0] for kind in alternatives(annotation) if get_origin(kind) is tuple), None)


@cache
def keys_of(table: type) -> dict[str, Any]:
    """A table's keys with their annotations, in order."""
    hints = get_type_hints(table)
    names = [item.name for item in fields(table)] if is_dataclass(table) else list(table.model_fields)  # type: ignore[attr-defined]
    return {name: hints[name] for name in names}


def default_of(table: type, key: str) -> Any:
    """A key's default; None if it has none."""
    if not is_dataclass(table):
        return table.model_fields[key].get_default()  # type: ignore[attr-defined]
    (item,) = (item for item in fields(table) if item.name == key)
    return None if item.default is MISSING else item.default


def homes_of(key: str, table: type, path: Sequence[str] = ()) -> Iterator[str]:
    """The dotted names of all keys, in a table and those within it, whose last part is `key`."""
    for name, annotation in keys_of(table).items():
        if name == key:
            yield ".".join((*path, name))
        if (inner := table_in(annotation)) is not None:
            yield from homes_of(key, inner, (*path, name))


def expected(annotation: Any, *, none: bool) -> str:
    """Describes the values of a key in words.

    Args:
        annotation: the key's annotation.
        none: whether None is written `"none"`; otherwise the key is omitted.
    """
    words = {int: "a whole number", float: "a number", bool: "true or false", str: "a string in quotes"}
    parts = []
    for kind in alternatives(annotation):
        if get_origin(kind) is Literal:
            parts += [toml_value(choice) for choice in get_args(kind)]
        elif get_origin(kind) is tuple:
            parts.append(f"a list, each entry {expected(get_args(kind)[0], none=False)}")
        elif kind is types.NoneType:
            parts += [toml_value(None)] if none else []
        else:
            parts.append(words[kind])
    return " or ".join(parts)
