"""Attendo's own text: sentences in English, German and French, written by its developers, in four domains."""

from dataclasses import dataclass
from pathlib import Path

from attendo.learning.parallel_lines import ParallelLines

OWN_TEXT = "attendo's own text"
"""Name of the text in cards and reports."""
LANGUAGES = ("en", "de", "fr")
"""Languages of the text, in the order of the columns."""
DOMAINS = ("everyday", "messages", "software", "news")
"""Domains of the text, which are the names of its files."""
_FOLDER = Path(__file__).parent / "general_text"
_PART_BY_LAST_DIGIT = {5: "replay", 0: "selection"}
"""Use of the lines that the gate does not judge by, by the last digit of the line number."""


@dataclass(frozen=True, kw_only=True)
class Domain:
    """Text of one domain."""

    name: str
    """Name of the domain; empty if the text has a single domain."""
    lines: ParallelLines


@dataclass(frozen=True, kw_only=True)
class OwnText:
    """The text in two languages, in three parts without common sources."""

    gate: tuple[Domain, ...]
    """Four fifths of the text, which only the gate uses."""
    selection: ParallelLines
    """A tenth of the text, by which the share of the fine-tuned weights is chosen."""
    replay: ParallelLines
    """A tenth of the text, which may be replayed."""


def own_text(languages: tuple[str, str]) -> OwnText | None:
    """Reads the text in two languages; of several pairs with the same source, the first one counts.

    Args:
        languages: codes of source and target, with or without a region.

    Returns:
        The text; None if it is not available in these languages.
    """
    bases = tuple(code.split("-")[0] for code in languages)
    if bases[0] == bases[1] or not set(bases).issubset(LANGUAGES):
        return None
    source, target = (LANGUAGES.index(base) for base in bases)
    known: set[str] = set()
    gate: list[Domain] = []
    reserved = {part: ParallelLines() for part in _PART_BY_LAST_DIGIT.values()}
    for name in DOMAINS:
        parts: dict[str, dict[str, str]] = {part: {} for part in ("gate", *reserved)}
        for number, row in enumerate(_rows(name), start=1):
            if row[source] not in known:
                known.add(row[source])
                parts[_PART_BY_LAST_DIGIT.get(number % 10, "gate")][row[source]] = row[target]
        gate.append(Domain(name=name, lines=_lines(parts["gate"])))
        reserved = {part: lines.with_more(_lines(parts[part])) for part, lines in reserved.items()}
    return OwnText(gate=tuple(gate), selection=reserved["selection"], replay=reserved["replay"])


def _rows(name: str) -> list[list[str]]:
    text = (_FOLDER / f"{name}.tsv").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.split("\n")[:-1]]


def _lines(pairs: dict[str, str]) -> ParallelLines:
    return ParallelLines(sources=tuple(pairs), targets=tuple(pairs.values()))
