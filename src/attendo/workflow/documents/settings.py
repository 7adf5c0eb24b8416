"""How a file of a known format is translated."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from attendo.formats.file import Mark, State

Only = Literal["new", "fuzzy", "all"]
"""Which units are translated: those without a translation, those to be reviewed, or both and finished ones too."""
Check = Literal["off", "warn", "error"]
"""Whether translations are checked, and whether what checks find makes the command fail."""

STATES: dict[Only, tuple[State, ...]] = {
    "new": ("new",),
    "fuzzy": ("fuzzy",),
    "all": ("new", "fuzzy", "translated"),
}
"""The states of units that are translated; approved and locked units never are."""


@dataclass(frozen=True, kw_only=True)
class DocumentSettings:
    """How a file of a known format is read, translated and written."""

    target: str | None = None
    """The target language with its region, such as `de-AT`; None for the one that the file names, or the model's."""
    only: Only = "new"
    mark: Mark = "review"
    """Which translations are marked for review."""
    check: Check = "warn"
    template: Path | None = None
    """The source of a file that has one language: FILE is then its translation, of which missing texts are made."""
    format: str | None = None
    """The format's name, where the file's name does not say it."""
