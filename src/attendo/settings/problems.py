"""Describes problems found by pydantic in the file's terms: the key, the value, the expected value, and a remedy."""

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attendo.settings.overrides import KeyPath
from attendo.settings.schema import Schema, default_of, entry_in, expected, homes_of, is_table, keys_of, table_in
from attendo.settings.toml import dotted, excerpt, one_line

_MESSAGE_CHARACTERS = 600


@dataclass(frozen=True, kw_only=True)
class Place:
    """The location of a problem in a document."""

    key: KeyPath
    """The keys that lead there; entries of lists by their unique names, otherwise by numbers."""
    table: type
    """The table that its last key is in."""
    annotation: Any
    """The expected type; None if no such key is known."""
    value: Any
    """The present value."""


def located(location: Sequence[str | int], document: Mapping[str, Any], schema: Schema) -> Place:
    """The place that a pydantic location means."""
    key: list[str] = []
    table: type = schema
    annotation: Any = schema
    value: Any = document
    for part in location:
        if (inner := table_in(annotation)) is not None:
            table, annotation = inner, keys_of(inner).get(str(part))
            value = value.get(part) if isinstance(value, dict) else None
            key.append(str(part))
        elif (entry := entry_in(annotation)) is not None and isinstance(part, int):
            key.append(_entry_name(value, part))
            annotation, value = entry, value[part]
        else:  # the location continues with the name of the type that was tried
            break
    return Place(key=tuple(key), table=table, annotation=annotation, value=value)


def _entry_name(entries: Sequence[Any], number: int) -> str:
    """The identifier of a list entry: its name, if that is no number and unique, otherwise its number, from 0."""
    names = [entry.get("name") if isinstance(entry, dict) else None for entry in entries]
    own = names[number]
    if isinstance(own, str) and own and not own.isdigit() and Counter(map(str, names))[own] == 1:
        return own
    return str(number)


def descriptions(kind: str, message: str, place: Place, schema: Schema) -> Iterator[str]:
    """Describes a problem.

    Args:
        kind: pydantic's name of the problem.
        message: the message of pydantic or of the dataclass.
        place: the location.
        schema: the document's schema.
    """
    name, value = dotted(*place.key), excerpt(place.value)
    if kind == "value_error":
        yield from _told_by_table(name, message.removeprefix("Value error, "), table_in(place.annotation))
    elif kind in ("extra_forbidden", "unexpected_keyword_argument"):
        yield _unknown_key(place, schema)
    elif table_in(place.annotation) is not None:
        is_entry = place.key[-1].isdigit()
        header = f"[[{dotted(*place.key[:-1])}]]" if is_entry else f"[{name}]"
        yield f"{name} = {value} is no table; write {header} with its keys below"
    elif is_table(entry_in(place.annotation)):
        yield f"{name} = {value} is no list of tables; write [[{name}]] with its keys below, once for each"
    else:
        yield f"{name} = {value} is not {_wanted(place)}"


def _wanted(place: Place) -> str:
    """The expected value of a key, and its default."""
    if place.key[-1] not in keys_of(place.table):  # an entry of a list of plain values
        return f"{expected(place.annotation, none=False)}; correct it, or leave it out"
    default = default_of(place.table, place.key[-1])
    wanted = expected(place.annotation, none=default is not None)
    return f"{wanted}; correct it, or leave it out" + ("" if default is None else f" for {excerpt(default)}")


def _told_by_table(name: str, message: str, table: type) -> Iterator[str]:
    """A table reports all its problems at once, as `KEY = VALUE is ...; REMEDY`, one after the other."""
    keys = "|".join(keys_of(table))
    for problem in re.split(rf"; (?=(?:{keys})(?: = | and | has ))", message):
        names_key = re.match(rf"(?:{keys})\b", problem)
        yield f"{name}{'.' if names_key else ': '}{one_line(problem, _MESSAGE_CHARACTERS)}"


def _unknown_key(place: Place, schema: Schema) -> str:
    *parents, last = place.key
    known = list(keys_of(place.table))
    message = f"{dotted(*place.key)} = {excerpt(place.value)}: there is no such key"
    if not parents and isinstance(place.value, dict):
        message = f"[{dotted(last)}]: there is no such section"
    word = last[:80]  # comparing takes time quadratic in the length
    if near := difflib.get_close_matches(word, known, n=1, cutoff=0.8):
        return f"{message}; did you mean {dotted(*parents, near[0])}?"
    if homes := list(homes_of(last, schema)):
        return f"{message} here; it belongs elsewhere: {' or '.join(homes)}"
    if near := difflib.get_close_matches(word, known, n=1, cutoff=0.5):
        return f"{message}; did you mean {dotted(*parents, near[0])}?"
    return f"{message}; {dotted(*parents) if parents else 'a recipe'} has {', '.join(known)}"
