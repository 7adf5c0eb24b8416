"""Counts the values, common to source and reference, that translations keep."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from attendo.decoding.guards.comparison import NUMBER_WORDS
from attendo.decoding.guards.number_words import small_numbers
from attendo.decoding.guards.values import GRAMMAR, Value, values
from attendo.evaluation.scores import check_parallel
from attendo.text_tables import aligned_table, markdown_table

MAX_EXAMPLES = 50
_COLUMNS = ("values", "wanted", "kept", "%", "invented")


@dataclass(kw_only=True)
class KeptOfKind:
    """The numbers of kept and invented values of one kind."""

    wanted: int = 0
    """Number of values that both source and reference have."""
    kept: int = 0
    """Number of these values that the translation has too."""
    invented: int = 0
    """Number of values in translations that neither the source nor the reference has."""


@dataclass(frozen=True, kw_only=True)
class LostValue:
    """A line whose translation lacks a value or has an invented one."""

    line: int
    """Number of the line, from 1."""
    source: str
    output: str
    lost: tuple[str, ...]
    invented: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class KeptReport:
    """The kept, lost and invented values of a test set."""

    lines: int
    """Number of lines with a value to keep, or with an invented one."""
    good_lines: int
    """Number of these lines that keep all values and invent none."""
    kinds: dict[str, KeptOfKind] = field(default_factory=dict)
    """Results by kind, in the order of `GRAMMAR`; kinds that do not occur are omitted."""
    examples: tuple[LostValue, ...] = ()
    """The first lines that are not good, up to `MAX_EXAMPLES`."""

    def to_json(self) -> dict[str, Any]:
        """Returns the report as a dictionary for `json.dumps`."""
        return asdict(self)

    def to_text(self) -> str:
        """Returns a table for people, followed by the lost or invented values of the first ten bad lines."""
        rows = [aligned_table("kept", _COLUMNS, self._cells(), words=1), self._good()]
        for example in self.examples[:10]:
            parts = [f"lost {', '.join(example.lost)}"] * bool(example.lost)
            parts += [f"invented {', '.join(example.invented)}"] * bool(example.invented)
            rows.append(f"line {example.line}: {'; '.join(parts)}: {example.source} | {example.output}")
        return "\n".join(rows)

    def to_markdown(self) -> list[str]:
        """Returns the same table in Markdown, without examples, as lines."""
        return [*markdown_table([_COLUMNS, *self._cells()]), "", f"{self._good()}."]

    def _cells(self) -> list[tuple[str, ...]]:
        """Returns a row for each kind."""
        return [
            (
                kind,
                f"{of_kind.wanted:,}",
                f"{of_kind.kept:,}",
                f"{100 * of_kind.kept / of_kind.wanted:.2f}" if of_kind.wanted else "",
                f"{of_kind.invented:,}",
            )
            for kind, of_kind in self.kinds.items()
        ]

    def _good(self) -> str:
        """Returns a sentence on the lines without a fault."""
        share = f" ({100 * self.good_lines / self.lines:.2f} %)" if self.lines else ""
        return f"{self.good_lines:,} of {self.lines:,} lines{share} have all that is wanted and nothing invented"


def kept_report(
    sources: Sequence[str],
    outputs: Sequence[str],
    references: Sequence[str],
    *,
    source_language: str = "",
    target_language: str = "",
) -> KeptReport:
    """Counts the values of `decoding.guards.values` that translations keep, lose or invent.

    A value is wanted as often as both the source and the reference have it. A value that neither of them has is
    invented, except for numbers up to twelve, which the source may have as words, and full hours that it has as words.

    Args:
        sources: the translated sentences.
        outputs: their translations.
        references: the reference translations.
        source_language: two-letter code, for the form of numbers in the source.
        target_language: two-letter code, for the form of numbers in the outputs and references.

    Raises:
        DataError: the sides differ in their number of lines, or have none.
    """
    check_parallel({"source": sources, "output": outputs, "reference": references})
    kinds = {kind: KeptOfKind() for kind in GRAMMAR}
    bad: list[LostValue] = []
    num_lines = num_bad = 0
    for number, (source, output, reference) in enumerate(zip(sources, outputs, references, strict=True), start=1):
        source_values, reference_values = values(source, source_language), values(reference, target_language)
        output_values = values(output, target_language)
        wanted = _forms(source_values) & _forms(reference_values)
        lost = wanted - _forms(output_values)
        known = {value.canonical for value in (*source_values, *reference_values)}
        known |= {f"{int(hour):02}:00" for hour in +small_numbers(source, source_language) if len(hour) <= 2}
        invented = [value for value in output_values if value.canonical not in known and not _is_small(value)]
        _count(kinds, source_values, wanted, lost, invented)
        num_lines += bool(wanted or invented)
        num_bad += bool(lost or invented)
        if (lost or invented) and len(bad) < MAX_EXAMPLES:
            forms = tuple(value.canonical for value in invented)
            lost_forms = tuple(lost.elements())
            bad.append(LostValue(line=number, source=source, output=output, lost=lost_forms, invented=forms))
    occurring = {kind: of_kind for kind, of_kind in kinds.items() if of_kind.wanted or of_kind.invented}
    return KeptReport(lines=num_lines, good_lines=num_lines - num_bad, kinds=occurring, examples=tuple(bad))


def _forms(occurrences: Sequence[Value]) -> Counter[str]:
    """Counts canonical forms of any kind: v1.2 may be a version on one side and a number on the other."""
    return Counter(value.canonical for value in occurrences)


def _count(
    kinds: dict[str, KeptOfKind],
    source_values: Sequence[Value],
    wanted: Counter[str],
    lost: Counter[str],
    invented: Sequence[Value],
) -> None:
    """Adds a line's values to the counts of their kinds; a wanted value has the kind that it has in the source."""
    kind_of = {value.canonical: value.kind for value in source_values}
    for form, count in wanted.items():
        kinds[kind_of[form]].wanted += count
        kinds[kind_of[form]].kept += count - lost[form]
    for value in invented:
        kinds[value.kind].invented += 1


def _is_small(value: Value) -> bool:
    """Whether a value is a number that its source may have as a word."""
    is_short = value.canonical.isdigit() and len(value.canonical) <= 2
    return value.kind == "number" and is_short and int(value.canonical) <= NUMBER_WORDS
