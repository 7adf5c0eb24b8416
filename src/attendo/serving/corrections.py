"""Corrections by callers: each caller's own, limited in number, kept in the server's state."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from attendo.markup.text_types import FindCorrections, no_corrections
from attendo.serving.corrections_config import CorrectionsConfig
from attendo.serving.errors import ServingError, not_found
from attendo.serving.state import State
from attendo.serving.translating import Caller, Pair
from attendo.xml_text import xml_text

_COLUMNS = "id, source_language, target_language, source, machine, target, model, created"
_AT_ONCE = 500
"""Maximum number of texts that are looked up together."""


@dataclass(frozen=True, kw_only=True)
class SentCorrection:
    """A correction as sent by a caller."""

    source_language: str
    target_language: str
    source: str
    """The text, without white space at its ends."""
    target: str
    """The translation that its sender wants."""
    machine: str = ""
    """The translation of a model; empty if unknown."""
    model: str = ""
    """The name of the model; empty if unknown."""


@dataclass(frozen=True, kw_only=True)
class KeptCorrection:
    """A correction as stored."""

    id: int
    correction: SentCorrection
    created: str
    """The time of sending in UTC, as ISO 8601."""

    def to_json(self) -> dict[str, Any]:
        """Returns a dictionary for `json.dumps`."""
        sent = self.correction
        return {
            "id": self.id,
            "source": sent.source_language,
            "target": sent.target_language,
            "text": sent.source,
            "translation": sent.target,
            "machine": sent.machine,
            "model": sent.model,
            "created": self.created,
        }


class Corrections:
    """The corrections of a server, which belong to their callers.

    Args:
        state: the state that stores them.
        config: whether they are kept, and the maximum number.
    """

    def __init__(self, state: State, config: CorrectionsConfig) -> None:
        self._state, self._config = state, config

    def answering(self, caller: Caller, pair: Pair) -> FindCorrections:
        """Returns a function that finds a caller's corrections for a pair of languages."""
        if not self._config.enabled:
            return no_corrections
        return partial(self.exact, caller.name, (pair.source, pair.target))

    async def keep(self, caller: str, sent: Sequence[SentCorrection]) -> int:
        """Keeps corrections; a later one for a source replaces the earlier one.

        Returns:
            The number of the caller's corrections.

        Raises:
            ServingError: 456, the caller has too many; none of these is kept.
        """
        created = datetime.now(UTC).isoformat(timespec="seconds")
        rows = [
            (
                caller,
                correction.source_language,
                correction.target_language,
                correction.source,
                correction.machine,
                correction.target,
                correction.model,
                created,
            )
            for correction in sent
        ]

        def insert(database: sqlite3.Connection) -> int:
            database.executemany(
                "INSERT OR REPLACE INTO corrections (caller, source_language, target_language, source, machine, "
                "target, model, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                rows,
            )
            count = _count(database, caller)
            if count > (most := self._config.max_a_caller):
                raise ServingError(456, "quota-exceeded", f"more than {most:,} corrections; export and delete them")
            return count

        return await self._state.run(insert)

    async def of(self, caller: str) -> tuple[KeptCorrection, ...]:
        """Returns a caller's corrections, in the order in which they were sent."""
        select = f"SELECT {_COLUMNS} FROM corrections WHERE caller = ? ORDER BY id"
        return tuple(map(_kept, await self._state.run(lambda rows: rows.execute(select, (caller,)).fetchall())))

    async def exact(self, caller: str, languages: tuple[str, str], texts: Sequence[str]) -> dict[str, str]:
        """Returns a caller's corrections of some texts: translations by source."""
        wanted = list(dict.fromkeys(texts))

        def find(database: sqlite3.Connection) -> dict[str, str]:
            found: dict[str, str] = {}
            for start in range(0, len(wanted), _AT_ONCE):
                part = wanted[start : start + _AT_ONCE]
                select = (
                    "SELECT source, target FROM corrections WHERE caller = ? AND source_language = ? "
                    f"AND target_language = ? AND source IN ({', '.join('?' * len(part))})"
                )
                found |= dict(database.execute(select, (caller, *languages, *part)).fetchall())
            return found

        return await self._state.run(find)

    async def delete(self, caller: str, id_: int) -> None:
        """Removes one of a caller's corrections.

        Raises:
            ServingError: 404, there is no such correction.
        """
        delete = "DELETE FROM corrections WHERE caller = ? AND id = ?"
        if not await self._state.run(lambda rows: rows.execute(delete, (caller, id_)).rowcount):
            raise not_found("no such correction")

    async def delete_all(self, caller: str) -> None:
        """Removes all of a caller's corrections."""
        delete = "DELETE FROM corrections WHERE caller = ?"
        await self._state.run(lambda rows: rows.execute(delete, (caller,)))


def as_tmx(corrections: Sequence[KeptCorrection]) -> str:
    """Writes corrections as a translation memory, TMX 1.4."""
    units = "".join(_unit(kept) for kept in corrections)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n<header creationtool="attendo" '
        'creationtoolversion="1" segtype="sentence" o-tmf="attendo" adminlang="en" srclang="*all*" '
        f'datatype="plaintext"/>\n<body>\n{units}</body>\n</tmx>\n'
    )


def _unit(kept: KeptCorrection) -> str:
    sent = kept.correction
    sides = ((sent.source_language, sent.source), (sent.target_language, sent.target))
    variants = "".join(
        f'<tuv xml:lang="{xml_text(language)}"><seg>{xml_text(text)}</seg></tuv>' for language, text in sides
    )
    return f'<tu tuid="{kept.id}"><prop type="x-model">{xml_text(sent.model)}</prop>{variants}</tu>\n'


def _count(database: sqlite3.Connection, caller: str) -> int:
    (count,) = database.execute("SELECT count(*) FROM corrections WHERE caller = ?", (caller,)).fetchone()
    return int(count)


def _kept(row: tuple[Any, ...]) -> KeptCorrection:
    id_, source_language, target_language, source, machine, target, model, created = row
    return KeptCorrection(
        id=id_,
        correction=SentCorrection(
            source_language=source_language,
            target_language=target_language,
            source=source,
            target=target,
            machine=machine,
            model=model,
        ),
        created=created,
    )
