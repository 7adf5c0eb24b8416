"""Settings for the translation of a file of a known format."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from attendo.formats.file import Mark, State

Only = Literal["new", "fuzzy", "all"]
"""The units to translate: those without a translation, those to review, or both and finished ones too."""
Check = Literal["off", "warn", "error"]
"""Whether translations are checked, and whether findings make the command fail."""

STATES: dict[Only, tuple[State, ...]] = {
    "new": ("new",),
    "fuzzy": ("fuzzy",),
    "all": ("new", "fuzzy", "translated"),
}
"""The states of units that are translated; approved and locked units never are."""


@dataclass(frozen=True, kw_only=True)
class DocumentSettings:
    """Settings for reading, translating and writing a file of a known format."""

    target: str | None = None
    """The target language with its region, such as `de-AT`; None for the one that the file names, or the model's."""
    only: Only = "new"
    mark: Mark = "review"
    """The translations to mark for review."""
    check: Check = "warn"
    template: Path | None = None
    """The source of a file with one language: FILE is then its translation, in which missing texts are added."""
    format: str | None = None
    """The format's name, if the file's name does not determine it."""
