"""Length limits of translations, from a unit's attributes, flags or comments for translators."""

import re
from dataclasses import dataclass, replace
from typing import Literal

from attendo.formats.file import Unit

_FLAG = re.compile(r"max-length:\s*(\d+)")
# `max-length: 30` and `maxLength=30` of many projects, `[CHAR LIMIT=30]` of Android's own, `max 30 characters`.
_COMMENT = re.compile(
    r"\bmax(?:imum)?[-_ ]?(?:length|len|chars|characters)\s*[:=]\s*(\d{1,6})\b"
    r"|\[\s*CHAR[ _]LIMIT\s*[:=]\s*(\d{1,6})\s*\]"
    r"|\b(?:max(?:imum)?(?:\s+of)?|at most|up to)\s+(\d{1,6})\s+char(?:acter)?s?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class LengthLimit:
    """A maximum number of characters or bytes."""

    most: int
    unit: Literal["char", "byte"] = "char"

    def length(self, text: str) -> int:
        """Returns the length of a text in the limit's unit; bytes are those of UTF-8."""
        return len(text.encode("utf-8", "replace")) if self.unit == "byte" else len(text)

    def holds(self, text: str) -> bool:
        """Whether a text is short enough."""
        return self.length(text) <= self.most


def with_limit(unit: Unit) -> Unit:
    """Copies the limit from a unit's flags or comments to its attributes, for code that sees only these."""
    limit = length_limit(unit)
    return unit if limit is None else replace(unit, max_length=limit.most, length_unit=limit.unit)


def length_limit(unit: Unit) -> LengthLimit | None:
    """Returns the limit of a unit: its format's attribute, else the flag `max-length:N`, else that in a comment."""
    if unit.max_length is not None:
        return LengthLimit(unit.max_length, unit.length_unit)
    for flag in sorted(unit.flags):
        if found := _FLAG.fullmatch(flag):
            return LengthLimit(int(found[1]))
    for note in unit.notes:
        if found := _COMMENT.search(note):
            return LengthLimit(int(next(group for group in found.groups() if group)))
    return None
