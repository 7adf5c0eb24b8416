"""XLIFF as pairs: a stream cut into documents of one unit each, which the reader of XLIFF reads."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from attendo.errors import DataError
from attendo.formats.file import Languages, Unit
from attendo.formats.markup import escaped
from attendo.formats.pairs.selection import Selection
from attendo.formats.pairs.xml_events import read_events
from attendo.formats.xliff import read_xliff
from attendo.text.files.formats import RawPair

_UNITS = ("trans-unit", "unit")


@dataclass(frozen=True, slots=True)
class _Document:
    """A unit within the start and end tags of the elements around it."""

    line: int
    text: str


def read_xliff_pairs(path: Path, selection: Selection) -> Iterator[RawPair]:
    """Yields the pairs of XLIFF 1.2 or 2.x, one per segment, in bounded memory.

    Codes are left out, the text that pairs of them enclose stays. What is locked or not to be translated counts as
    untranslated, unless it is final.

    Args:
        path: the file.
        selection: the wanted pairs.

    Raises:
        DataError: the file is damaged, or not XLIFF of a known version.
    """
    for document in read_events(path, _Cutter()):
        try:
            file = read_xliff(document.text.encode("utf-8", "replace"), Languages())
        except DataError as error:
            raise DataError(f"{path}: line {document.line}: {error}") from error
        is_other = selection.has_other_language(file.declared.source, file.declared.target)
        yield from (unit_pair(unit, document.line, selection, is_other_language=is_other) for unit in file.units)


def unit_pair(unit: Unit, line: int, selection: Selection, *, is_other_language: bool) -> RawPair:
    """Makes a pair of a unit with one form."""
    is_kept_as_it_is = not unit.is_translatable and unit.state != "final"
    return selection.pair(
        line,
        unit.source,
        unit.target or (),
        "new" if is_kept_as_it_is else unit.state,
        is_other_language=is_other_language,
        context=unit.context or unit.id,
    )


class _Cutter:
    """Cuts XLIFF into documents of one unit each."""

    def __init__(self) -> None:
        self._around: list[tuple[str, str]] = []
        """The start and the end tag of each element that is open around units."""
        self._unit: list[str] = []
        """The text of the open unit so far; empty between units."""
        self._depth, self._line, self._held = 0, 0, 0
        self._documents: list[_Document] = []

    def start(self, name: str, attributes: Mapping[str, str], line: int) -> None:
        """Handles a start tag."""
        local = name.rpartition(":")[2]
        if not self._around and local != "xliff":
            raise DataError(f"this is not XLIFF: its outermost element is <{name}>")
        written = "".join(f" {key}='{_attribute(value)}'" for key, value in attributes.items())
        tag = f"<{name}{written}>"
        if self._unit:
            self._depth += 1
            self._add(tag)
        elif local in _UNITS:
            self._line = line
            self._add(tag)
        else:
            self._around.append((tag, f"</{name}>"))

    def end(self, name: str) -> None:
        """Handles an end tag."""
        if not self._unit:
            self._around.pop()
            return
        self._add(f"</{name}>")
        if self._depth:
            self._depth -= 1
            return
        before = [tag for tag, _ in self._around]
        behind = [tag for _, tag in reversed(self._around)]
        self._documents.append(_Document(self._line, "".join((*before, *self._unit, *behind))))
        self._unit, self._held = [], 0

    def text(self, text: str | None) -> None:
        """Handles text; an unknown entity is left out, as codes are."""
        if self._unit and text:
            self._add(escaped(text).replace("]]>", "]]&gt;").replace("\r", "&#13;"))

    def num_held(self) -> int:
        """The number of characters of the unit so far."""
        return self._held

    def finished(self) -> list[_Document]:
        """Returns the documents that have been completed since the last call."""
        found, self._documents = self._documents, []
        return found

    def _add(self, piece: str) -> None:
        self._unit.append(piece)
        self._held += len(piece)


def _attribute(value: str) -> str:
    return escaped(value, quotes=True).replace("\n", "&#10;").replace("\t", "&#9;").replace("\r", "&#13;")
