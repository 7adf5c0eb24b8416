"""Glossaries that callers have made: each caller's own, of bounded number and size, kept in the server's state."""

import csv
import io
import json
import secrets
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from attendo.markup.text_types import Term
from attendo.serving.errors import ServingError, bad_request
from attendo.serving.state import State

MAX_A_CALLER = 50
"""Glossaries of a caller."""
MAX_ENTRIES = 5_000
"""Of a glossary."""
MAX_CHARACTERS = 500_000
"""Of a glossary."""
MAX_TERM = 200
"""Characters of a term."""
_MAX_CALLERS = 1_000
_COLUMNS = "id, name, source, target, created, entries"


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
    """The glossaries of a server, each its caller's own.

    Args:
        state: where they are kept.
    """

    def __init__(self, state: State) -> None:
        self._state = state

    async def create(self, caller: str, name: str, source: str, target: str, entries: Mapping[str, str]) -> Glossary:
        """Makes one.

        Raises:
            ServingError: the caller has too many.
        """
        glossary = Glossary(
            id=_uuid(),
            name=name[:200],
            source=source,
            target=target,
            created=datetime.now(UTC).isoformat(timespec="microseconds"),
            entries=dict(entries),
        )
        await self._state.run(lambda rows: _insert(rows, caller, glossary))
        return glossary

    async def of(self, caller: str) -> tuple[Glossary, ...]:
        """A caller's, in the order in which they were made."""
        select = f"SELECT {_COLUMNS} FROM glossaries WHERE caller = ? ORDER BY rowid"
        return tuple(map(_glossary, await self._state.run(lambda rows: rows.execute(select, (caller,)).fetchall())))

    async def find(self, caller: str, id_: str) -> Glossary:
        """One of a caller's.

        Raises:
            ServingError: 404, there is none.
        """
        select = f"SELECT {_COLUMNS} FROM glossaries WHERE caller = ? AND id = ?"
        found = await self._state.run(lambda rows: rows.execute(select, (caller, id_)).fetchone())
        if found is None:
            raise _not_there()
        return _glossary(found)

    async def delete(self, caller: str, id_: str) -> None:
        """Removes one of a caller's.

        Raises:
            ServingError: 404, there is none.
        """
        delete = "DELETE FROM glossaries WHERE caller = ? AND id = ?"
        if not await self._state.run(lambda rows: rows.execute(delete, (caller, id_)).rowcount):
            raise _not_there()


def _insert(rows: sqlite3.Connection, caller: str, glossary: Glossary) -> None:
    (count,) = rows.execute("SELECT count(*) FROM glossaries WHERE caller = ?", (caller,)).fetchone()
    if count >= MAX_A_CALLER:
        raise ServingError(456, "quota-exceeded", f"more than {MAX_A_CALLER} glossaries; delete one")
    entries = json.dumps(glossary.entries, ensure_ascii=False)
    rows.execute(
        f"INSERT INTO glossaries (caller, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (caller, glossary.id, glossary.name, glossary.source, glossary.target, glossary.created, entries),
    )
    # Of too many callers those leave who made their last one longest ago.
    rows.execute(
        "DELETE FROM glossaries WHERE caller IN "
        "(SELECT caller FROM glossaries GROUP BY caller ORDER BY max(rowid) DESC LIMIT -1 OFFSET ?)",
        (_MAX_CALLERS,),
    )


def _glossary(row: tuple[str, ...]) -> Glossary:
    id_, name, source, target, created, entries = row
    return Glossary(id=id_, name=name, source=source, target=target, created=created, entries=dict(json.loads(entries)))


def _not_there() -> ServingError:
    return ServingError(404, "not-found", "Glossary not found")


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
