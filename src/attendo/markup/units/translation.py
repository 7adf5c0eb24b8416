"""The result for a unit, independent of how it is translated."""

from dataclasses import dataclass
from typing import Literal

from attendo.decoding.constraints.terminology import TermUse
from attendo.decoding.lines.translation import MemoryMatch
from attendo.formats.contents import Content
from attendo.markup.checks.findings import Finding


@dataclass(frozen=True, kw_only=True, slots=True)
class UnitTranslation:
    """The result for a unit."""

    texts: tuple[Content, ...] = ()
    """Translations of its forms; empty if the unit is left untranslated."""
    findings: tuple[Finding, ...] = ()
    """Findings in these texts, or in those that were not kept."""
    problems: tuple[str, ...] = ()
    """Descriptions of lost content, or content kept only by a worse translation."""
    confidence: float | None = None
    """Confidence of the least certain sentence, between 0 and 1; None for a model without calibration."""
    terms: tuple[TermUse, ...] = ()
    """Outcomes of the glossary's terms."""
    matches: tuple[MemoryMatch, ...] = ()
    """The matches of a translation memory: one for each form taken from it, otherwise those that guided the model."""

    @property
    def is_kept(self) -> bool:
        """Whether the unit is left unchanged."""
        return not self.texts

    @property
    def origin(self) -> Literal["mt", "tm", "changed"]:
        """Whether it is from a model, from a translation memory, or from a memory with other numbers inserted."""
        if not self.matches or not all(match.text for match in self.matches):
            return "mt"
        return "tm" if all(match.kind == "exact" for match in self.matches) else "changed"

    @property
    def has_errors(self) -> bool:
        """Whether a check found an error in the texts."""
        return any(finding.is_error for finding in self.findings)
