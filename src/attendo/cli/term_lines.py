"""The outcome of glossary terms, in the lines that a command prints."""

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attendo.decoding.constraints.terminology import Outcome
    from attendo.decoding.lines.translation import Counts
    from attendo.workflow.documents.report import DocumentReport

_MAX_SHOWN = 10


def term_line(terms: "Counter[Outcome]") -> str:
    """The number of terms with each outcome: `glossary: 55 terms kept, 9 inflected, 2 forced, 1 missed`."""
    kept = terms["kept"]
    return (
        f"glossary: {kept:,} {'term' if kept == 1 else 'terms'} kept, {terms['inflected']:,} inflected, "
        f"{terms['forced']:,} forced, {terms['missed']:,} missed"
    )


def missed_lines(counts: "Counts") -> list[str]:
    """The terms missed in lines of text, each with its line number; only the first few of many.

    Args:
        counts: totals over all lines.
    """
    return _listed([f"line {number}: {message}" for number, message in counts.missed_terms], counts.terms["missed"])


def missed_units(report: "DocumentReport") -> list[str]:
    """The terms missed in units of a file, each with its line or the unit's name; only the first few of many.

    Args:
        report: the report on the file.
    """
    missed = [
        f"{f'line {unit.line}' if unit.line else repr(unit.id[:40])}: {use}"
        for unit in report.units
        for use in unit.terms
        if use.outcome == "missed"
    ]
    return _listed(missed, len(missed))


def _listed(missed: list[str], count: int) -> list[str]:
    lines = [f"missed: {term}" for term in missed[:_MAX_SHOWN]]
    more = count - len(lines)
    return [*lines, f"missed: {more:,} more terms; --json or --report FILE lists all of them"] if more > 0 else lines
