"""Units of documents as JSON, between the server and the process that reads documents."""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any

from attendo.formats.contents import Code, Content, plain
from attendo.formats.file import Form, Unit

_NOT_SENT = frozenset(("spans", "notes"))
_DEFAULTS = {kind: {field.name: field.default for field in fields(kind)} for kind in (Unit, Form, Code)}


def json_value(value: object) -> Any:
    """A unit, or a part of one, in JSON's types; for `json.dumps`. Fields with their default values are omitted.

    Raises:
        TypeError: the value has another type.
    """
    if isinstance(value, frozenset):
        return sorted(value)
    if not isinstance(value, Unit | Form | Code):
        raise TypeError(f"{type(value).__name__} is no part of a unit")
    defaults = _DEFAULTS[type(value)]
    found = {name: getattr(value, name) for name in defaults if name not in _NOT_SENT}
    return {name: content for name, content in found.items() if defaults[name] is MISSING or content != defaults[name]}


def unit_of(said: Mapping[str, Any]) -> Unit:
    """A unit without its spans and notes.

    Args:
        said: the result of `json_value`.
    """
    return Unit(**{**said, "forms": tuple(map(_form, said["forms"])), "flags": frozenset(said.get("flags", ()))})


def texts_of(unit: Unit) -> list[str]:
    """Returns the translatable text of a unit without codes, one text per form."""
    return [plain(form.source) for form in unit.forms]


def num_characters(units: Sequence[Unit]) -> int:
    """Characters of units that are translated, a line end between two texts counted."""
    texts = [text for unit in units for text in texts_of(unit)]
    return sum(map(len, texts)) + max(0, len(texts) - 1)


def _form(said: Mapping[str, Any]) -> Form:
    contents = {name: _content(said[name]) for name in ("source", "target") if name in said}
    return Form(**{**said, **contents})


def _content(parts: Sequence[Any]) -> Content:
    return tuple(part if isinstance(part, str) else Code(**part) for part in parts)
