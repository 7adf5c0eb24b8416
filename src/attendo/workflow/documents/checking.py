"""Checking the translations that a file has, regardless of their origin."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attendo.errors import DataError
from attendo.formats.file import Unit
from attendo.formats.known import format_named
from attendo.markup.checks.findings import Finding
from attendo.markup.checks.units import unit_findings
from attendo.workflow.documents.opening import is_keyed, line_numbers, open_document
from attendo.workflow.documents.report import shown
from attendo.workflow.documents.settings import DocumentSettings


@dataclass(frozen=True, kw_only=True)
class UnitFindings:
    """A unit with the findings of checks in its translation."""

    unit: Unit
    line: int | None
    findings: tuple[Finding, ...]

    def as_json(self) -> dict[str, Any]:
        """The unit as `attendo check --json` prints it."""
        return {
            "id": self.unit.id,
            "line": self.line,
            "source": [shown(form.source) for form in self.unit.forms],
            "target": [shown(form.target or ()) for form in self.unit.forms],
            "findings": [{"check": one.check, "message": one.message, "error": one.is_error} for one in self.findings],
        }


@dataclass(frozen=True, kw_only=True)
class CheckedDocument:
    """A file with the findings of checks."""

    path: Path
    format: str
    num_checked: int
    """Number of units that have a translation."""
    num_untranslated: int
    failed: tuple[UnitFindings, ...]
    """The units with findings, in the order of the file."""

    @property
    def has_errors(self) -> bool:
        """Whether an error was found."""
        return any(finding.is_error for unit in self.failed for finding in unit.findings)


def check_document(path: Path, settings: DocumentSettings) -> CheckedDocument:
    """Checks the translations of a file.

    Args:
        path: the file.
        settings: the format, the language and, for a file with one language, the template with its source.

    Raises:
        DataError: the file cannot be read, or has no sources to check its texts against.
    """
    document = open_document(path, settings, source="", target=settings.target or "")
    file = document.file
    if is_keyed(file) and settings.template is None:
        raise DataError(f"{path}: a {file.format} file has one language; name the file with the sources: --template")
    if format_named(file.format).layout == "monolingual":
        raise DataError(
            f"{path}: a {file.format} file has its texts in one language, and no keys that would find their sources; "
            "check it as you translate it: attendo translate --check error --report FILE"
        )
    if all(form.target is None for unit in file.units for form in unit.forms):
        raise DataError(f"{path}: has no translations to check")
    lines, failed, checked, untranslated = line_numbers(file), [], 0, 0
    for unit in file.units:
        if unit.state == "new" or all(form.target is None for form in unit.forms):
            untranslated += unit.is_translatable
            continue
        checked += 1
        findings = unit_findings(unit, [form.target or () for form in unit.forms], document.target)
        if findings:
            failed.append(UnitFindings(unit=unit, line=lines.get(unit.id), findings=findings))
    return CheckedDocument(
        path=path,
        format=file.format,
        num_checked=checked,
        num_untranslated=untranslated,
        failed=tuple(failed),
    )
