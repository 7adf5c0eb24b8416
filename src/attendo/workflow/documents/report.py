"""Reports on the units of a file, as counts for people and as JSON for programs."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from attendo.decoding.constraints.terminology import OUTCOMES, Outcome, TermUse, count_outcomes
from attendo.decoding.lines.translation import MatchKind, MemoryMatch
from attendo.formats.contents import Code, Content
from attendo.formats.file import Unit
from attendo.markup.units.translation import UnitTranslation
from attendo.version import VERSION
from attendo.workflow.documents.opening import Document, line_numbers


@dataclass(frozen=True, kw_only=True)
class UnitReport:
    """The report on a unit."""

    id: str
    line: int | None
    """The line on which its text is written; None if it is not written."""
    source: tuple[str, ...]
    """The source of each form, with inline codes as in the file."""
    target: tuple[str, ...]
    """The translations; empty if there are none."""
    state: str
    """`new`, `fuzzy`, `translated` or `final`, as the file has it afterwards; `untranslatable` if the file says so."""
    origin: str
    """`mt` for a model's translation; `tm` for one of a translation memory, `changed` for such a one with other numbers
    in it; `file` for an earlier translation."""
    problems: tuple[str, ...]
    """The findings of checks, and content that could not be kept."""
    is_failed: bool
    """Whether a check found an error."""
    confidence: float | None
    terms: tuple[TermUse, ...] = ()
    """The outcomes of the glossary's terms."""
    match: MemoryMatch | None
    """The match in a translation memory; None without one, and for earlier translations."""

    def as_json(self) -> dict[str, Any]:
        """The report on a unit as `--report` writes it."""
        return {
            "id": self.id,
            "line": self.line,
            "source": list(self.source),
            "target": list(self.target),
            "state": self.state,
            "origin": self.origin,
            "problems": list(self.problems),
            "failed": self.is_failed,
            "confidence": None if self.confidence is None else round(self.confidence, 4),
            "terms": [asdict(use) for use in self.terms],
            "match": None if self.match is None else self.match.as_json(),
        }


@dataclass(frozen=True, kw_only=True)
class DocumentReport:
    """The report on a file."""

    path: Path
    output: Path | None
    """The output; None if it was not written to a file."""
    format: str
    source_language: str
    target_language: str
    units: tuple[UnitReport, ...]
    spans: tuple[tuple[int, int], ...]
    """The byte ranges of the file that may have been replaced; all others were copied."""
    checks: Counter[str]
    """The number of findings of each check in this run's translations."""
    num_translated: int
    """Number of units with a translation of this run."""
    num_left: int
    """Number of units that were to be translated but are unchanged."""
    num_failed: int
    """Number of units whose translation, written or not, has an error."""
    num_marked: int
    """Number of units that are marked for review."""
    matches: Counter[MatchKind]
    """Number of units with a match in a translation memory, by kind of match."""
    has_memory: bool
    """Whether there was a translation memory."""

    @property
    def terms(self) -> Counter[Outcome]:
        """The outcomes of the glossary's terms."""
        return count_outcomes(use for unit in self.units for use in unit.terms)

    def as_json(self) -> dict[str, Any]:
        """The report as `--report` writes it."""
        return {
            "attendo": VERSION,
            "file": str(self.path),
            "output": None if self.output is None else str(self.output),
            "format": self.format,
            "source_language": self.source_language,
            "target_language": self.target_language,
            "translated": self.num_translated,
            "left": self.num_left,
            "failed": self.num_failed,
            "marked": self.num_marked,
            "checks": dict(self.checks.most_common()),
            "terms": {outcome: self.terms[outcome] for outcome in OUTCOMES},
            "memory": dict(self.matches.most_common()),
            "spans": [list(span) for span in self.spans],
            "units": [unit.as_json() for unit in self.units],
        }


def document_report(
    document: Document,
    translations: Mapping[str, UnitTranslation],
    *,
    source_language: str,
    output: Path | None,
    marked: frozenset[str],
    has_memory: bool = False,
) -> DocumentReport:
    """Reports on a file.

    Args:
        document: the file as read.
        translations: the translations by unit id.
        source_language: the language of the source.
        output: the path to which it was written.
        marked: the ids of units that are marked for review.
        has_memory: whether there was a translation memory.
    """
    lines = line_numbers(document.file)
    units = tuple(_unit_report(unit, translations.get(unit.id), lines, marked) for unit in document.file.units)
    checks: Counter[str] = Counter()
    for found in translations.values():
        checks.update({finding.check for finding in found.findings})
    return DocumentReport(
        path=document.path,
        output=output,
        format=document.file.format,
        source_language=source_language,
        target_language=document.target,
        units=units,
        spans=tuple(document.file.byte_spans()),
        checks=checks,
        num_translated=sum(not found.is_kept for found in translations.values()),
        num_left=sum(found.is_kept for found in translations.values()),
        num_failed=sum(found.is_kept or found.has_errors for found in translations.values()),
        num_marked=len(marked),
        matches=Counter(unit.match.kind for unit in units if unit.match is not None),
        has_memory=has_memory,
    )


def _unit_report(
    unit: Unit, found: UnitTranslation | None, lines: Mapping[str, int], marked: frozenset[str]
) -> UnitReport:
    is_translated = found is not None and not found.is_kept
    targets = found.texts if found is not None and is_translated else tuple(form.target or () for form in unit.forms)
    state: str = unit.state if unit.is_translatable else "untranslatable" if unit.state != "final" else "final"
    if is_translated:
        state = "fuzzy" if unit.id in marked else "translated"
    return UnitReport(
        id=unit.id,
        line=lines.get(unit.id),
        source=tuple(shown(form.source) for form in unit.forms),
        target=tuple(shown(text) for text in targets) if any(targets) else (),
        state=state,
        origin=found.origin if found is not None and is_translated else "file",
        problems=() if found is None else (*map(str, found.findings), *found.problems),
        is_failed=found is not None and (found.is_kept or found.has_errors),
        confidence=None if found is None else found.confidence,
        terms=() if found is None else found.terms,
        match=None if found is None or not found.matches else min(found.matches, key=lambda match: match.score),
    )


def shown(text: Content) -> str:
    """Returns a content as text, with codes as the file writes them."""
    return "".join(part.raw if isinstance(part, Code) else part for part in text)
