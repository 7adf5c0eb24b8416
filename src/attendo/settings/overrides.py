"""`--set section.key=value`: written into a document before it is checked."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from attendo.errors import RecipeError
from attendo.settings.characters import is_unicode
from attendo.settings.toml import dotted, one_line, read_toml

KeyPath = tuple[str, ...]
"""The parts of a dotted key; an entry of a list is identified by its name."""


@dataclass(frozen=True, kw_only=True)
class Origins:
    """The origins of a document's values."""

    file: str
    """The document's name in messages."""
    overrides: tuple[KeyPath, ...] = ()
    """The keys that were set."""

    def of(self, path: KeyPath) -> str:
        """The document, or `--set` if that wrote the key, a key inside it, or an enclosing one."""
        if any(override[: len(path)] == path or path[: len(override)] == override for override in self.overrides):
            return "--set"
        return self.file

    def of_text(self, text: str) -> str:
        """The origin of a text that names keys: `--set` if that wrote one of them."""
        named = (rf"(?<![\w.]){re.escape('.'.join(path))}\b" for path in self.overrides)
        return "--set" if any(re.search(key, text) for key in named) else self.file


def override(document: dict[str, Any], setting: str) -> KeyPath:
    """Writes one `section.key=value` into the document, the value in TOML syntax, or otherwise a bare string.

    Args:
        document: the document as read; changed in place.
        setting: an entry of a list is named: `data.corpora.NAME.weight=2`.

    Returns:
        The path that it set.

    Raises:
        RecipeError: it is not of this form, or goes through something that has no keys.
    """
    option = f"--set {one_line(setting)}"
    key, equals, text = setting.partition("=")
    parts = tuple(part.strip() for part in key.split("."))
    if not equals or not all(parts):
        raise RecipeError(f"{option}: write it as section.key=value, such as training.max_steps=1000")
    if not is_unicode(setting):
        raise RecipeError(f"{option}: is not UTF-8; type it in a terminal whose locale is UTF-8")
    table: Any = document
    path: KeyPath = ()
    while len(parts) > 1:
        name, table = _child(table, parts)
        path, parts = (*path, name), parts[name.count(".") + 1 :]
        if table is None:
            raise RecipeError(f"{option}: {dotted(*path)} is no table with keys of its own; name one that is")
    if not parts or not isinstance(table, dict):
        raise RecipeError(f"{option}: {dotted(*path)} is a list or one of its entries; name a key of an entry")
    table[parts[0]] = _value(text.strip())
    return (*path, parts[0])


def _child(table: Any, parts: Sequence[str]) -> tuple[str, Any]:
    """The table named by the first of the parts, created if missing, or a list's entry of that name; or None.

    A name in a list may have dots of its own.
    """
    if isinstance(table, dict):
        child = table.setdefault(parts[0], {})
        return parts[0], child if isinstance(child, dict | list) else None
    for entry in table:
        name = entry.get("name") if isinstance(entry, dict) else None
        if isinstance(name, str) and ".".join(parts).startswith(f"{name}."):
            return name, entry
    return parts[0], None


def _value(text: str) -> Any:
    try:
        parsed = read_toml(f"value = {text}", "--set")
    except RecipeError:
        return text
    return parsed["value"] if len(parsed) == 1 else text
