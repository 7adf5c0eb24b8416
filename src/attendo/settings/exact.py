"""Tables of plain values to dataclasses, where every value has exactly the type of its field.

This is the usual case: files written by attendo, and settings of calls. `settings.validated` passes everything else to
pydantic, whose import takes longer than translating a line.
"""

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from attendo.settings.characters import is_unicode

T = TypeVar("T")


class _InexactError(Exception):
    """A value has another type, or one that only pydantic can read."""


def exactly(kind: type[T], content: Any) -> T | None:
    """Makes a dataclass from a table.

    Args:
        kind: the dataclass, of plain values, lists, tables and dataclasses.
        content: its keys with their values; a value may also already be of the field's type.

    Returns:
        The dataclass, equal to what pydantic makes; None if a key or a value does not match exactly.
    """
    try:
        instance: T = _table(kind, content)
    except (_InexactError, ValueError, TypeError):
        return None
    return instance


def checked_table(kind: type[T], content: Any) -> tuple[T | None, list[tuple[str, str]]]:
    """Makes a dataclass from a table.

    Args:
        kind: the dataclass.
        content: its keys with their values.

    Returns:
        The dataclass, or None if the table is invalid; and then the problems, each with the key and a message.
    """
    found = exactly(kind, content)
    if found is not None:
        return found, []
    from attendo.settings.validated import validated

    return validated(kind, content)


def _value(annotation: Any, value: Any) -> Any:
    """A value for a field.

    Raises:
        _InexactError: it is of another type.
    """
    origin = get_origin(annotation)
    if annotation is Any:
        return value
    if origin in (types.UnionType, Union):
        return _one_of(get_args(annotation), value)
    if origin is Literal:
        if any(type(choice) is type(value) and choice == value for choice in get_args(annotation)):
            return value
    elif origin is tuple or origin is list:
        return _entries(annotation, value)
    elif origin is dict:
        key, item = get_args(annotation)
        if type(value) is dict:
            return {_value(key, name): _value(item, each) for name, each in value.items()}
    elif is_dataclass(annotation):
        return value if type(value) is annotation else _table(annotation, value)
    elif annotation is types.NoneType:
        if value is None:
            return None
    else:
        return _plain(annotation, value)
    raise _InexactError


def _plain(annotation: Any, value: Any) -> Any:
    """A number, a string, true or false."""
    if annotation is float and type(value) is int and abs(value) < 2**53:
        return float(value)
    known = annotation in (int, float, str, bool) and type(value) is annotation
    if (
        not known
        or (annotation is int and not -(2**63) <= value < 2**63)
        or (annotation is str and not is_unicode(value))
    ):
        raise _InexactError
    return value


def _one_of(kinds: tuple[Any, ...], value: Any) -> Any:
    """A value of one of several types; an integer stays one if allowed."""
    for kind in sorted(kinds, key=lambda kind: kind is float):
        try:
            return _value(kind, value)
        except _InexactError:
            continue
    raise _InexactError


def _entries(annotation: Any, value: Any) -> Any:
    """A list, or a tuple of any length."""
    origin, (entry, *more) = get_origin(annotation), get_args(annotation)
    if (origin is tuple and more != [...]) or type(value) not in (list, origin):
        raise _InexactError
    return origin(_value(entry, each) for each in value)


def _table(kind: Any, content: Any) -> Any:
    known = {item.name: item.type for item in fields(kind)}
    if not isinstance(content, Mapping) or not content.keys() <= known.keys():
        raise _InexactError
    return kind(**{name: _value(known[name], value) for name, value in content.items()})
