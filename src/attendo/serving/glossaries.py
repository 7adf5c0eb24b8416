"""Glossaries that callers have made: kept in memory, each caller's own, of bounded number and size."""

import csv
import io
import secrets
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from attendo.serving.errors import ServingError, bad_request
from attendo.serving.text_types import Term

MAX_A_CALLER = 50
"""Glossaries of a caller."""
MAX_ENTRIES = 5_000
"""Of a glossary."""
MAX_CHARACTERS = 500_000
"""Of a glossary."""
MAX_TERM = 200
"""Characters of a term."""
_MAX_CALLERS = 1_000


@dataclass(frozen=True, kw_only=True)
class Glossary:
    """How a caller wants words to be translated."""

    id: str
    """What it is called by."""
    name: str
    """What people call it."""
    source: str
    """The code of a language, in small letters."""
    target: str
    """The code of a language, in small letters."""
    created: str
    """When, in UTC, as ISO 8601."""
    entries: Mapping[str, str]
    """Terms and their translations."""

    @property
    def terms(self) -> tuple[Term, ...]:
        """The entries as the text pipeline takes them."""
        return tuple(Term(source=source, target=target) for source, target in self.entries.items())


class Glossaries:
    """The glossaries of a server; they are gone when it ends."""

    def __init__(self) -> None:
        self._by_caller: OrderedDict[str, dict[str, Glossary]] = OrderedDict()

    def create(self, caller: str, name: str, source: str, target: str, entries: Mapping[str, str]) -> Glossary:
        """Makes one.

        Raises:
            ServingError: the caller has too many.
        """
        own = self._by_caller.setdefault(caller, {})
        self._by_caller.move_to_end(caller)
        if len(own) >= MAX_A_CALLER:
            raise ServingError(456, "quota-exceeded", f"more than {MAX_A_CALLER} glossaries; delete one")
        while len(self._by_caller) > _MAX_CALLERS:
            self._by_caller.popitem(last=False)
        glossary = Glossary(
            id=_uuid(),
            name=name[:200],
            source=source,
            target=target,
            created=datetime.now(UTC).isoformat(timespec="microseconds"),
            entries=dict(entries),
        )
        own[glossary.id] = glossary
        return glossary

    def of(self, caller: str) -> tuple[Glossary, ...]:
        """A caller's."""
        return tuple(self._by_caller.get(caller, {}).values())

    def find(self, caller: str, id_: str) -> Glossary:
        """One of a caller's.

        Raises:
            ServingError: 404, there is none.
        """
        found = self._by_caller.get(caller, {}).get(id_)
        if found is None:
            raise ServingError(404, "not-found", "Glossary not found")
        return found

    def delete(self, caller: str, id_: str) -> None:
        """Removes one of a caller's.

        Raises:
            ServingError: 404, there is none.
        """
        self.find(caller, id_)
        del self._by_caller[caller][id_]


def parsed_entries(written: str, form: str) -> dict[str, str]:
    """Reads entries, as tab- or comma-separated values.

    Raises:
        ServingError: they cannot be read, or are too many.
    """
    if form not in ("tsv", "csv"):
        raise bad_request("Value for 'entries_format' not supported.")
    if len(written) > MAX_CHARACTERS:
        raise bad_request(f"entries: more than {MAX_CHARACTERS:,} characters")
    if form == "tsv":
        rows = [line.split("\t") for line in written.splitlines() if line.strip()]
    else:
        try:
            rows = [row for row in csv.reader(io.StringIO(written)) if row]
        except csv.Error as error:
            raise bad_request(f"entries: no CSV ({error})") from error
    entries: dict[str, str] = {}
    for number, row in enumerate(rows, start=1):
        # Of CSV the third and fourth field may name the languages.
        if len(row) < 2 or (form == "tsv" and len(row) > 2) or not row[0].strip() or not row[1].strip():
            raise bad_request(f"entries: line {number} has not a term and its translation")
        source, target = row[0].strip(), row[1].strip()
        if max(len(source), len(target)) > MAX_TERM or any(ord(each) < 32 for each in source + target):
            raise bad_request(f"entries: line {number} has a term that is too long, or has control characters")
        if source in entries:
            raise bad_request(f"entries: line {number} has a term that was there before")
        entries[source] = target
    if not entries:
        raise bad_request("Missing or invalid argument: entries")
    if len(entries) > MAX_ENTRIES:
        raise bad_request(f"entries: more than {MAX_ENTRIES:,}")
    return entries


def _uuid() -> str:
    digits = secrets.token_hex(16)
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
