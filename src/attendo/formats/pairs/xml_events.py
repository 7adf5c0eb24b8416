"""XML read as a stream: only a block of a file and one unit are in memory, however large the file is."""

from collections.abc import Iterator, Mapping, Sequence
from html.entities import html5
from pathlib import Path
from typing import Protocol, TypeVar
from xml.parsers import expat

from attendo.errors import DataError
from attendo.formats.elements import MAX_DEPTH
from attendo.text.files.compression import READING_ERRORS, open_content

MAX_UNIT_CHARACTERS = 16 << 20
"""Maximum size of a unit."""
MAX_TAG_BYTES = 4 << 20
"""Maximum size of a tag or a comment, which expat keeps in memory until its end."""
_BLOCK_BYTES = 1 << 16

UnitT = TypeVar("UnitT")
UnitT_co = TypeVar("UnitT_co", covariant=True)


class Events(Protocol[UnitT_co]):
    """Makes units of a document's elements and text, in order."""

    def start(self, name: str, attributes: Mapping[str, str], line: int) -> None:
        """Handles a start tag; names have their prefixes, as written."""

    def end(self, name: str) -> None:
        """Handles an end tag."""

    def text(self, text: str | None) -> None:
        """Handles text; None stands for an unknown entity."""

    def num_held(self) -> int:
        """The number of characters held of an unfinished unit."""

    def finished(self) -> Sequence[UnitT_co]:
        """Returns the units that have been completed since the last call."""


def read_events(path: Path, events: Events[UnitT]) -> Iterator[UnitT]:
    """Yields the units of an XML file, plain or compressed.

    Args:
        path: the file.
        events: makes units of its content.

    Raises:
        DataError: the file is missing, damaged or not well formed, declares entities, is nested too deeply, or has a
            unit that is too large. The message names the line.
    """
    reader = _Reader(events)
    raw, content = open_content(path)
    with raw, content:
        while not reader.is_done:
            try:
                block = content.read(_BLOCK_BYTES)
            except READING_ERRORS as error:
                raise DataError(
                    f"{path}: cannot be read after line {reader.line} ({error}); is it complete? Download it again"
                ) from error
            try:
                reader.feed(block)
            except DataError as error:
                raise DataError(f"{path}: {error}") from error
            yield from events.finished()


class _Reader:
    """Passes expat's events on, and refuses what would exceed the memory bound."""

    def __init__(self, events: Events[object]) -> None:
        self.is_done = False
        self._events, self._depth = events, 0
        self._since = 0
        """Number of bytes since expat's last event."""
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.SkippedEntityHandler = self._skipped_entity
        self._parser.EntityDeclHandler = self._declared_entity

    @property
    def line(self) -> int:
        """The number of the current line, from 1."""
        return self._parser.CurrentLineNumber

    def feed(self, block: bytes) -> None:
        """Parses the next bytes of the file; empty at its end.

        Raises:
            DataError: the file cannot be read further.
        """
        self._since += len(block)
        try:
            self._parser.Parse(block, not block)
        except expat.ExpatError as error:
            message = expat.errors.messages[error.code]
            raise DataError(f"line {error.lineno} is not well-formed XML: {message}") from error
        except (ValueError, LookupError) as error:  # of an encoding that expat cannot take over from Python
            raise DataError(
                f"line {self.line}: is in an encoding that is not read ({error}); save it as UTF-8"
            ) from error
        if self._since > MAX_TAG_BYTES:
            raise DataError(
                f"line {self.line}: a tag or comment of more than {MAX_TAG_BYTES >> 20} MB; is its end missing?"
            )
        if self._events.num_held() > MAX_UNIT_CHARACTERS:
            raise DataError(
                f"line {self.line}: a unit of more than {MAX_UNIT_CHARACTERS >> 20} MB; is its end missing?"
            )
        self.is_done = not block

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._since = 0
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise DataError(f"line {self.line}: elements are nested more than {MAX_DEPTH} deep")
        self._events.start(name, attributes, self.line)

    def _end(self, name: str) -> None:
        self._since = 0
        self._depth -= 1
        self._events.end(name)

    def _text(self, text: str) -> None:
        self._since = 0
        self._events.text(text)

    def _skipped_entity(self, name: str, is_parameter: bool) -> None:
        if not is_parameter:  # an entity that a DTD may declare, which is not read: most are HTML's
            self._events.text(html5.get(f"{name};"))

    def _declared_entity(self, *_: object) -> None:
        raise DataError(f"line {self.line} declares an entity, which is not read; save the file without a DTD")
