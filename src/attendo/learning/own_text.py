"""Attendo's own text: sentences in English, German and French, written by its developers, in four domains."""

from dataclasses import dataclass
from pathlib import Path

from attendo.learning.parallel_lines import ParallelLines

OWN_TEXT = "attendo's own text"
"""What cards and reports call it."""
LANGUAGES = ("en", "de", "fr")
"""Its languages, in the order of the columns."""
DOMAINS = ("everyday", "messages", "software", "news")
"""The names of its files."""
_FOLDER = Path(__file__).parent / "general_text"
_ASIDE = {5: "replay", 0: "selection"}
"""Of each ten lines of a file those that the gate does not judge by, by the last digit of their number."""


@dataclass(frozen=True, kw_only=True)
class Domain:
    """Text of one kind."""

    name: str
    """Empty where there are no kinds."""
    lines: ParallelLines


@dataclass(frozen=True, kw_only=True)
class OwnText:
    """The text in two languages, in three parts of which no two share a source."""

    gate: tuple[Domain, ...]
    """Four fifths: what the gate judges by, and nothing else reads."""
    selection: ParallelLines
    """A tenth: what the share of the fine-tuned weights is chosen by."""
    replay: ParallelLines
    """A tenth: what may be replayed."""


def own_text(languages: tuple[str, str]) -> OwnText | None:
    """Reads the text in two languages; each source counts once, where it first occurs.

    Args:
        languages: codes of source and target, with or without a region.

    Returns:
        None where it is not in these languages.
    """
    bases = tuple(code.split("-")[0] for code in languages)
    if bases[0] == bases[1] or not set(bases).issubset(LANGUAGES):
        return None
    source, target = (LANGUAGES.index(base) for base in bases)
    known: set[str] = set()
    gate: list[Domain] = []
    aside = {part: ParallelLines() for part in _ASIDE.values()}
    for name in DOMAINS:
        parts: dict[str, dict[str, str]] = {part: {} for part in ("gate", *aside)}
        for number, row in enumerate(_rows(name), start=1):
            if row[source] not in known:
                known.add(row[source])
                parts[_ASIDE.get(number % 10, "gate")][row[source]] = row[target]
        gate.append(Domain(name=name, lines=_lines(parts["gate"])))
        aside = {part: lines.with_more(_lines(parts[part])) for part, lines in aside.items()}
    return OwnText(gate=tuple(gate), selection=aside["selection"], replay=aside["replay"])


def _rows(name: str) -> list[list[str]]:
    text = (_FOLDER / f"{name}.tsv").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.split("\n")[:-1]]


def _lines(pairs: dict[str, str]) -> ParallelLines:
    return ParallelLines(sources=tuple(pairs), targets=tuple(pairs.values()))
