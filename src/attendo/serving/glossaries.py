"""Glossaries that callers have made: one set per caller, bounded in number and size, kept in the server's state."""

import json
import secrets
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from attendo.errors import DataError
from attendo.serving.errors import ServingError, bad_request
from attendo.serving.state import State
from attendo.serving.translating import Caller, Pair
from attendo.terms.delimited import csv_rows, plain_entries, tsv_rows
from attendo.terms.entries import Entry, EntryNotes, checked_entries, distinct_terms
from attendo.terms.glossary import Glossary
from attendo.terms.term import Term

MAX_A_CALLER = 50
"""Glossaries of a caller."""
MAX_ENTRIES = 5_000
"""Maximum number of entries of a glossary."""
MAX_CHARACTERS = 500_000
"""Maximum number of characters of a glossary."""
MAX_TERM = 200
"""Characters of a term."""
_MAX_CALLERS = 1_000
_COLUMNS = "id, name, source, target, created, entries"
_LISTS = ("forms", "alternatives", "forbidden")


@dataclass(frozen=True, kw_only=True)
class OwnGlossary:
    """A glossary that a caller has made."""

    id: str
    """The id of the glossary."""
    name: str
    """The name that the caller has given it."""
    source: str
    """The code of a language, in small letters."""
    target: str
    """The code of a language, in small letters."""
    created: str
    """Time of creation, in UTC, as ISO 8601."""
    terms: tuple[Term, ...]
    """The entries of the glossary."""

    @property
    def entries(self) -> dict[str, str]:
        """Sources and their translations, as DeepL's API has them; without terms that only forbid words."""
        return {term.source: term.target for term in self.terms if term.target}


class Glossaries:
    """The glossaries of a server, separate for each caller.

    Args:
        state: the database of the glossaries.
    """

    def __init__(self, state: State) -> None:
        self._state = state

    async def create(self, caller: str, name: str, source: str, target: str, terms: Sequence[Term]) -> OwnGlossary:
        """Makes a glossary for a caller.

        Raises:
            ServingError: the caller has too many.
        """
        glossary = OwnGlossary(
            id=_uuid(),
            name=name[:200],
            source=source,
            target=target,
            created=datetime.now(UTC).isoformat(timespec="microseconds"),
            terms=tuple(terms),
        )
        await self._state.run(lambda rows: _insert(rows, caller, glossary))
        return glossary

    async def of(self, caller: str) -> tuple[OwnGlossary, ...]:
        """A caller's, in the order in which they were made."""
        select = f"SELECT {_COLUMNS} FROM glossaries WHERE caller = ? ORDER BY rowid"
        return tuple(map(_glossary, await self._state.run(lambda rows: rows.execute(select, (caller,)).fetchall())))

    async def find(self, caller: str, id_: str) -> OwnGlossary:
        """Finds one of a caller's glossaries.

        Raises:
            ServingError: 404, it does not exist.
        """
        select = f"SELECT {_COLUMNS} FROM glossaries WHERE caller = ? AND id = ?"
        found = await self._state.run(lambda rows: rows.execute(select, (caller, id_)).fetchone())
        if found is None:
            raise _not_there()
        return _glossary(found)

    async def change(self, caller: str, id_: str, name: str, terms: Sequence[Term]) -> OwnGlossary:
        """Changes the name and entries of one of a caller's glossaries.

        Raises:
            ServingError: 404, it does not exist.
        """
        found = replace(await self.find(caller, id_), name=name[:200], terms=tuple(terms))
        update = "UPDATE glossaries SET name = ?, entries = ? WHERE caller = ? AND id = ?"
        values = (found.name, _stored(found.terms), caller, id_)
        if not await self._state.run(lambda rows: rows.execute(update, values).rowcount):
            raise _not_there()
        return found

    async def delete(self, caller: str, id_: str) -> None:
        """Removes one of a caller's glossaries.

        Raises:
            ServingError: 404, it does not exist.
        """
        delete = "DELETE FROM glossaries WHERE caller = ? AND id = ?"
        if not await self._state.run(lambda rows: rows.execute(delete, (caller, id_)).rowcount):
            raise _not_there()


def _insert(rows: sqlite3.Connection, caller: str, glossary: OwnGlossary) -> None:
    (count,) = rows.execute("SELECT count(*) FROM glossaries WHERE caller = ?", (caller,)).fetchone()
    if count >= MAX_A_CALLER:
        raise ServingError(456, "quota-exceeded", f"more than {MAX_A_CALLER} glossaries; delete one")
    entries = _stored(glossary.terms)
    rows.execute(
        f"INSERT INTO glossaries (caller, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (caller, glossary.id, glossary.name, glossary.source, glossary.target, glossary.created, entries),
    )
    # With too many callers, those whose newest glossary is oldest are removed.
    rows.execute(
        "DELETE FROM glossaries WHERE caller IN "
        "(SELECT caller FROM glossaries GROUP BY caller ORDER BY max(rowid) DESC LIMIT -1 OFFSET ?)",
        (_MAX_CALLERS,),
    )


def _glossary(row: tuple[str, ...]) -> OwnGlossary:
    id_, name, source, target, created, entries = row
    terms = tuple(_term(term, stored) for term, stored in json.loads(entries).items())
    return OwnGlossary(id=id_, name=name, source=source, target=target, created=created, terms=terms)


def _stored(terms: Sequence[Term]) -> str:
    """Entries as JSON: by their sources the translations, or an object if the term has more properties."""
    return json.dumps({term.source: _stored_term(term) for term in terms}, ensure_ascii=False)


def _stored_term(term: Term) -> str | dict[str, Any]:
    lists = {name: list(getattr(term, name)) for name in _LISTS if getattr(term, name)}
    return {"target": term.target, "comment": term.comment, **lists} if lists or term.comment else term.target


def _term(source: str, said: str | Mapping[str, Any]) -> Term:
    if isinstance(said, str):
        return Term(source=source, target=said)
    lists = {name: tuple(said.get(name, ())) for name in _LISTS}
    return Term(source=source, target=said["target"], comment=said.get("comment", ""), **lists)


def _not_there() -> ServingError:
    return ServingError(404, "not-found", "Glossary not found")


def used_glossary(glossaries: Sequence[OwnGlossary]) -> Glossary | None:
    """Combines glossaries of the same languages into one for translating; of two entries the first counts."""
    terms: dict[str, Term] = {}
    for glossary in glossaries:
        for term in glossary.terms:
            terms.setdefault(term.source, term)
    if not terms:
        return None
    first = glossaries[0]
    return Glossary(terms=tuple(terms.values()), source_language=first.source, target_language=first.target)


async def own_glossary(glossaries: Glossaries, caller: Caller, id_: str | None, pair: Pair) -> Glossary | None:
    """The glossary named in a request; None if it names none.

    Args:
        glossaries: the glossaries of all callers.
        caller: the caller of the request.
        id_: the id of one of the caller's glossaries; None for none.
        pair: the languages of the translation.

    Raises:
        ServingError: 404, it does not exist; 400, it has other languages.
    """
    if not id_:
        return None
    found = await glossaries.find(caller.name, id_)
    if (found.source, found.target) != (pair.source, pair.target):
        raise bad_request(
            f"the glossary {found.name!r:.80} is from {found.source} to {found.target}, the text from {pair.source} to "
            f"{pair.target}"
        )
    return used_glossary([found])


def parsed_entries(written: str, form: str) -> tuple[Term, ...]:
    """Reads entries in the format of DeepL's API: tab- or comma-separated values without a header.

    Raises:
        ServingError: they cannot be read, or are too many.
    """
    if form not in ("tsv", "csv"):
        raise bad_request("Value for 'entries_format' not supported.")
    if len(written) > MAX_CHARACTERS:
        raise bad_request(f"entries: more than {MAX_CHARACTERS:,} characters")
    try:
        rows = csv_rows(written, comments="") if form == "csv" else tsv_rows(written, comments="")
        return checked_terms(plain_entries(rows))
    except DataError as error:
        raise bad_request(f"entries: {error}") from error


def checked_terms(entries: Sequence[Entry]) -> tuple[Term, ...]:
    """The terms of entries that all can be used.

    Raises:
        ServingError: an entry is invalid, or there are none or too many.
    """
    notes = EntryNotes()
    kept = checked_entries(entries, notes)
    if notes.left_out:
        raise bad_request(f"entries: {'; '.join(notes.left_out[:5])}")
    characters = 0
    for entry in kept:
        term = entry.term
        lengths = list(map(len, (term.source, term.target, *term.forms, *term.alternatives, *term.forbidden)))
        if max(lengths) > MAX_TERM:
            raise bad_request(f"entries: line {entry.line} has a term of more than {MAX_TERM} characters")
        characters += sum(lengths) + len(term.comment)
    if characters > MAX_CHARACTERS:
        raise bad_request(f"entries: more than {MAX_CHARACTERS:,} characters")
    if not kept:
        raise bad_request("Missing or invalid argument: entries")
    if len(kept) > MAX_ENTRIES:
        raise bad_request(f"entries: more than {MAX_ENTRIES:,}")
    try:
        return distinct_terms(kept)
    except DataError as error:
        raise bad_request(f"entries: {error}") from error


def _uuid() -> str:
    digits = secrets.token_hex(16)
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
