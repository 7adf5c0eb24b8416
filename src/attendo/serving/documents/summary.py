"""Summaries of a document's units for its status; the report has every unit in full."""

from statistics import fmean
from typing import Any

from attendo.decoding.constraints.terminology import OUTCOMES
from attendo.workflow.documents.report import DocumentReport, UnitReport

MAX_FINDINGS = 200
"""Units with findings that a status lists."""
_MAX_CHARACTERS = 300


def summary_of(report: DocumentReport) -> dict[str, Any]:
    """Counts, and the first units in which something was found.

    Args:
        report: the report on a translated document.
    """
    found = [unit for unit in report.units if unit.problems]
    confidences = [unit.confidence for unit in report.units if unit.confidence is not None]
    return {
        "format": report.format,
        "units": len(report.units),
        "translated": report.num_translated,
        "kept": len(report.units) - report.num_translated - report.num_left,
        "left": report.num_left,
        "failed": report.num_failed,
        "marked": report.num_marked,
        "checks": dict(report.checks.most_common()),
        "terms": {outcome: report.terms[outcome] for outcome in OUTCOMES},
        "confidence": {"mean": round(fmean(confidences), 4), "least": round(min(confidences), 4)}
        if confidences
        else None,
        "findings": [_finding(unit) for unit in found[:MAX_FINDINGS]],
        "findings_left_out": max(0, len(found) - MAX_FINDINGS),
    }


def problems_of(report: DocumentReport) -> list[str]:
    """Lists the problems found in units, each message once."""
    found = dict.fromkeys(_shortened(problem) for unit in report.units for problem in unit.problems)
    return list(found)[:MAX_FINDINGS]


def _finding(unit: UnitReport) -> dict[str, Any]:
    return {
        "unit": _shortened(unit.id),
        "line": unit.line,
        "source": _shortened(unit.source[0] if unit.source else ""),
        "target": _shortened(unit.target[0] if unit.target else ""),
        "problems": [_shortened(problem) for problem in unit.problems],
        "failed": unit.is_failed,
        "confidence": unit.confidence if unit.confidence is None else round(unit.confidence, 4),
    }


def _shortened(text: str) -> str:
    """A text of bounded length, without halves of surrogate pairs, which no answer in UTF-8 can hold."""
    text = text.encode("utf-8", errors="replace").decode("utf-8")
    return text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 1]}…"
