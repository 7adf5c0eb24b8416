"""Translation memories (TMX) as pairs: a stream of variants, of which those in the two languages belong together."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from attendo.errors import DataError
from attendo.formats.contents import Code, CodeKind, Content, joined
from attendo.formats.file import State
from attendo.formats.pairs.selection import Selection, is_variant, normal_code
from attendo.formats.pairs.xml_events import read_events
from attendo.text.files.formats import RawPair

_is_variant = lru_cache(maxsize=1024)(is_variant)
_VARIANT_SIZE = 100  # characters that a variant without any text counts for, so that their number is bounded


@dataclass(slots=True)
class _Variant:
    """A `tuv`, as far as it has been read."""

    language: str
    parts: list[str | Code] = field(default_factory=list)
    """The text and codes of its segment."""
    origin: str = ""
    """The property `x-origin`."""

    @property
    def content(self) -> Content:
        return joined(self.parts)


def read_tmx_pairs(path: Path, selection: Selection) -> Iterator[RawPair]:
    """Yields the pairs of a translation memory in bounded memory.

    A unit with several translations is several pairs. Native codes (`bpt`, `ept`, `it`, `ph`, `ut`) are left out with
    what they hold; the text in `hi` stays.

    Args:
        path: the file.
        selection: the wanted pairs; it names both languages.

    Raises:
        DataError: a language is not named, or the file is damaged or not a translation memory.
    """
    if not selection.source_language or not selection.target_language:
        raise DataError(
            f"{path}: a translation memory has any number of languages; name the two to use: source_language and "
            "target_language of the recipe's section data"
        )
    return read_events(path, _Memory(selection))


class _Memory:
    """Makes pairs of the elements of a translation memory."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._pairs: list[RawPair] = []
        self._is_known, self._line, self._held, self._name = False, 0, 0, ""
        self._variants: list[_Variant] = []
        self._segment: list[str | Code] | None = None
        """The parts of the segment that is being read."""
        self._codes = 0
        """The number of nested codes that are open within it."""
        self._property: list[str] | None = None

    def start(self, name: str, attributes: Mapping[str, str], line: int) -> None:
        """Handles a start tag."""
        if not self._is_known and name != "tmx":
            raise DataError(f"this is not TMX: its outermost element is <{name}>")
        self._is_known = True
        if self._segment is not None:
            if self._codes or name != "hi":
                if not self._codes:
                    self._segment.append(_code(name, attributes, self._segment))
                self._codes += 1
        elif name == "tu":
            self._line, self._variants, self._held = line, [], 0
            self._name = attributes.get("tuid", "")
        elif name == "tuv":
            self._variants.append(_Variant(attributes.get("xml:lang") or attributes.get("lang", "")))
            self._held += _VARIANT_SIZE
        elif name == "seg" and self._variants:
            self._segment = self._variants[-1].parts = []
        elif name == "prop" and self._variants and attributes.get("type") == "x-origin":
            self._property = []

    def end(self, name: str) -> None:
        """Handles an end tag."""
        if self._segment is not None:
            if self._codes:
                self._codes -= 1
            elif name == "seg":
                self._segment = None
        elif name == "tu":
            self._pairs += self._unit_pairs()
            self._variants, self._held = [], 0
        elif name == "prop" and self._property is not None:
            self._variants[-1].origin = "".join(self._property)
            self._property = None

    def text(self, text: str | None) -> None:
        """Handles text."""
        if self._segment is not None and not self._codes:
            self._segment.append(Code(id="entity", raw="") if text is None else text)
        elif self._property is not None and text:
            self._property.append(text)
        else:
            return
        self._held += len(text or "")

    def num_held(self) -> int:
        """The number of characters of the unit so far."""
        return self._held

    def finished(self) -> list[RawPair]:
        """Returns the pairs of the units that have ended since the last call."""
        found, self._pairs = self._pairs, []
        return found

    def _unit_pairs(self) -> Iterator[RawPair]:
        """Yields a pair for each translation of the unit, or one with the reason why there is none."""
        selection = self._selection
        sources = [variant for variant in self._variants if _is_variant(variant.language, selection.source_language)]
        exact = normal_code(selection.source_language)
        source = next(
            (variant for variant in sources if normal_code(variant.language) == exact), sources[0] if sources else None
        )
        targets = [
            variant
            for variant in self._variants
            if variant is not source and _is_variant(variant.language, selection.target_language)
        ]
        if source is None or not targets:
            others = [variant for variant in self._variants if variant is not source]
            shown = source.content if source else (), (targets or others or [_Variant("")])[0].content
            yield selection.pair(self._line, *shown, is_other_language=bool(others))
            return
        for target in targets:
            state: State = "fuzzy" if target.origin == "MT" else "translated"
            yield selection.pair(self._line, source.content, target.content, state, context=self._name)


def _code(name: str, attributes: Mapping[str, str], before: Sequence[str | Code]) -> Code:
    """Makes a code of a native one; the halves of a pair, and codes with the same `x` on both sides, share an id."""
    half: CodeKind = {"bpt": "open", "ept": "close"}.get(name, "single")  # type: ignore[assignment]
    number = attributes.get("i", "")
    if half == "close":
        opened = (part for part in before if isinstance(part, Code) and part.kind == "open")
        return next(
            (Code(id=code.id, raw=f"</{number}>", kind=half) for code in opened if code.raw == f"<{number}>"),
            Code(id=f"ept {number}", raw=""),
        )
    written = f"<{number}>" if half == "open" else ""
    place = attributes.get("x") or sum(isinstance(part, Code) for part in before)
    return Code(id=f"{name if half == 'single' else 'bpt'} {place}", raw=written, kind=half)
