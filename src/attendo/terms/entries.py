"""Checks of a glossary's entries: unusable ones are reported, and contradictory ones are refused."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from attendo.errors import DataError
from attendo.terms.term import Term

MAX_BYTES = 1_024
"""Maximum size of a term, in bytes of UTF-8."""
MAX_ENTRIES = 100_000
"""Maximum number of entries in a glossary."""
_MAX_SHOWN = 10
_LIKE_FORMULAS = ("=", "+", "-", "@", "|", "%", "\t")


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A term with its line in the file."""

    line: int
    """The line number, from 1."""
    term: Term


@dataclass
class EntryNotes:
    """Notes on a glossary file, collected while it is read."""

    messages: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    other_languages: int = 0

    def leave_out(self, line: int, reason: str) -> None:
        """Records an entry that is not used."""
        self.left_out.append(f"line {line}: {reason}")

    def listed(self) -> tuple[str, ...]:
        """Returns all notes; of many entries that are left out, the first are named and the others counted."""
        found = list(self.messages)
        if self.left_out:
            found += [f"{each}; the entry is left out" for each in self.left_out[:_MAX_SHOWN]]
            if more := len(self.left_out) - _MAX_SHOWN:
                found += [f"{more:,} more entries are left out"] if more > 0 else []
        if self.other_languages:
            found.append(f"entries of other languages, which are left out: {self.other_languages:,}")
        return tuple(found)


def checked_entries(entries: Iterable[Entry], notes: EntryNotes) -> list[Entry]:
    """Returns the usable entries; notes the others, and those that begin like a spreadsheet formula."""
    kept = []
    formulas = []
    for entry in entries:
        if (reason := _fault(entry.term)) is not None:
            notes.leave_out(entry.line, reason)
            continue
        if entry.term.source.startswith(_LIKE_FORMULAS) or entry.term.target.startswith(_LIKE_FORMULAS):
            formulas.append(entry.line)
        kept.append(entry)
    if formulas:
        lines = ", ".join(map(str, formulas[:_MAX_SHOWN])) + (", ..." if len(formulas) > _MAX_SHOWN else "")
        notes.messages.append(
            f"entries that begin like a formula, which spreadsheets may change: {len(formulas):,}, in line {lines}"
        )
    return kept


def distinct_terms(entries: Sequence[Entry]) -> tuple[Term, ...]:
    """Returns the terms of entries; each source may occur once.

    Raises:
        DataError: a source has two entries; the message names the lines of both.
    """
    first: dict[str, Entry] = {}
    faults = []
    for entry in entries:
        before = first.setdefault(_key(entry.term), entry)
        if before is entry:
            continue
        if before.term.target == entry.term.target:
            faults.append(f"line {entry.line}: {entry.term.source!r} is there already, in line {before.line}")
        else:
            faults.append(
                f"line {entry.line}: {entry.term.source!r} is translated as {entry.term.target!r}, but in line "
                f"{before.line} as {before.term.target!r}"
            )
    if faults:
        more = f"\n  and {len(faults) - _MAX_SHOWN:,} more" if len(faults) > _MAX_SHOWN else ""
        listed = "\n  ".join(faults[:_MAX_SHOWN])
        raise DataError(
            f"a term is there twice; keep one entry, with other translations in its column alternatives:\n  "
            f"{listed}{more}"
        )
    return tuple(entry.term for entry in first.values())


def merged_terms(entries: Sequence[Entry], notes: EntryNotes) -> tuple[Term, ...]:
    """Returns the terms of entries, one per source; the targets of further entries are alternatives."""
    found: dict[str, Entry] = {}
    for entry in entries:
        key = _key(entry.term)
        before = found.get(key)
        if before is None:
            found[key] = entry
            continue
        found[key] = replace(before, term=_joined(before.term, entry.term))
        if before.term.target and entry.term.target and entry.term.target != before.term.target:
            notes.messages.append(
                f"lines {before.line} and {entry.line}: {entry.term.source!r} has several translations; any of them is "
                "accepted"
            )
    return tuple(entry.term for entry in found.values())


def _joined(term: Term, other: Term) -> Term:
    target = term.target or other.target
    alternatives = dict.fromkeys((*term.alternatives, other.target, *other.alternatives))
    return replace(
        term,
        target=target,
        forms=tuple(dict.fromkeys((*term.forms, *other.forms))),
        alternatives=tuple(each for each in alternatives if each and each != target),
        forbidden=tuple(dict.fromkeys((*term.forbidden, *other.forbidden))),
    )


def _key(term: Term) -> str:
    """Returns the key by which sources are equal: their lower case, unless they are all capitals."""
    return term.source if term.source.isupper() else term.source.casefold()


def _fault(term: Term) -> str | None:
    if not term.source:
        return "has no term"
    if not term.target and not term.forbidden:
        return f"has no translation of {term.source[:40]!r}"
    texts = (term.source, term.target, *term.forms, *term.alternatives, *term.forbidden)
    if any(ord(character) < 32 or "\ud800" <= character <= "\udfff" for text in texts for character in text):
        return f"has a control character or half of a surrogate pair in {term.source[:40]!r}"
    if any(len(text.encode("utf-8")) > MAX_BYTES for text in texts):
        return f"has more than {MAX_BYTES:,} bytes in a field of {term.source[:40]!r}"
    if not any(map(str.isalnum, term.source)):
        return f"has neither a letter nor a digit in {term.source[:40]!r}"
    return None
