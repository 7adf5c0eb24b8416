"""What became of a unit, apart from what translates it."""

from dataclasses import dataclass
from typing import Literal

from attendo.decoding.constraints.terminology import TermUse
from attendo.decoding.lines.translation import MemoryMatch
from attendo.formats.contents import Content
from attendo.markup.checks.findings import Finding


@dataclass(frozen=True, kw_only=True, slots=True)
class UnitTranslation:
    """What became of a unit."""

    texts: tuple[Content, ...] = ()
    """One for each of its forms; empty where the unit is left as it was."""
    findings: tuple[Finding, ...] = ()
    """What checks found in the texts, or in those that were not kept."""
    problems: tuple[str, ...] = ()
    """What could not be kept, or only by translating worse."""
    confidence: float | None = None
    """Of the least sure sentence, between 0 and 1; None where the model has no calibration."""
    terms: tuple[TermUse, ...] = ()
    """What became of the terms of the glossary."""
    matches: tuple[MemoryMatch, ...] = ()
    """What a translation memory had for it: one match for each form that was taken from it, else those that guided the
    model."""

    @property
    def is_kept(self) -> bool:
        """Whether the unit is left as it was."""
        return not self.texts

    @property
    def origin(self) -> Literal["mt", "tm", "changed"]:
        """Whether a model made it, a translation memory had it, or it is one of a memory with other numbers put in."""
        if not self.matches or not all(match.text for match in self.matches):
            return "mt"
        return "tm" if all(match.kind == "exact" for match in self.matches) else "changed"

    @property
    def has_errors(self) -> bool:
        """Whether a check found an error in the texts."""
        return any(finding.is_error for finding in self.findings)
