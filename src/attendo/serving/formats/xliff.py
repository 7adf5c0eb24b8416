"""XLIFF 1.2 and 2.x: targets filled in where there are none, inline codes carried over."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from lxml import etree

from attendo.errors import DataError
from attendo.serving.formats.document import Languages, TranslatedUnit, Unit
from attendo.serving.formats.safe_xml import inner_xml, parsed, serialized, set_inner_xml

_CODES_1 = ("bpt", "ept", "ph", "it", "sub")
_CODES_2 = ("ph", "cp", "sc", "ec")
_OPEN_STATES = (None, "new", "needs-translation", "initial")
_SAMPLE = 4_000
_XML_SPACE = "{http://www.w3.org/XML/1998/namespace}space"


@dataclass(eq=False)
class XliffDocument:
    """A file of XLIFF."""

    tree: etree._ElementTree
    _units: list[etree._Element] = field(default_factory=list)

    @property
    def is_2(self) -> bool:
        """Whether it is version 2.x."""
        return str(self.tree.getroot().get("version", "")).startswith("2")

    def units(self, languages: Languages) -> Sequence[Unit]:
        """The sources that have no target yet."""
        del languages
        self._units = list(self._open_units())
        codes = _CODES_2 if self.is_2 else _CODES_1
        return [
            Unit(text=inner_xml(source), format="xml", line_ends="auto", ignore_tags=codes)
            for each in self._units
            if (source := _child(each, "source")) is not None
        ]

    def source_language(self) -> str | None:
        """What the file says."""
        root = self.tree.getroot()
        if self.is_2:
            said: str | None = root.get("srcLang")
        else:
            said = next((each.get("source-language") for each in _named(root, "file")), None)
        return said

    def sample(self) -> str:
        """The beginning of the sources."""
        texts = ("".join(each.itertext()) for each in _named(self.tree.getroot(), "source"))
        return " ".join(text for text, _ in zip(texts, range(200), strict=False))[:_SAMPLE]

    def written(self, translations: Sequence[TranslatedUnit], languages: Languages) -> bytes:
        """With targets, which say that they come from a machine."""
        root = self.tree.getroot()
        if self.is_2:
            root.set("trgLang", languages.target)
        else:
            for each in _named(root, "file"):
                each.set("target-language", languages.target)
        for unit, translation in zip(self._units, translations, strict=True):
            self._fill(unit, translation)
        return serialized(self.tree)

    def _open_units(self) -> Iterator[etree._Element]:
        """`trans-unit` of 1.2 and `segment` of 2.x, as far as there is something to do."""
        for each in _named(self.tree.getroot(), "segment" if self.is_2 else "trans-unit"):
            source, target = _child(each, "source"), _child(each, "target")
            if source is None or not "".join(source.itertext()).strip():
                continue
            if each.get("approved") == "yes" or _is_not_to_be_translated(each):
                continue
            state = each.get("state") if self.is_2 else (target.get("state") if target is not None else None)
            has_target = target is not None and bool("".join(target.itertext()).strip() or len(target))
            if not has_target or (state in _OPEN_STATES and state is not None):
                yield each

    def _fill(self, unit: etree._Element, translation: TranslatedUnit) -> None:
        source = _child(unit, "source")
        assert source is not None
        target = _child(unit, "target")
        if target is None:
            target = etree.Element(str(source.tag).replace("source", "target"), nsmap=source.nsmap)
            behind = _child(unit, "seg-source") if not self.is_2 else None
            place = behind if behind is not None else source
            target.tail = place.tail
            place.addnext(target)
        if (space := source.get(_XML_SPACE)) is not None:
            target.set(_XML_SPACE, space)
        set_inner_xml(target, translation.text)
        if self.is_2:
            unit.set("state", "initial" if translation.problems else "translated")
        else:
            target.set("state", "needs-review-translation" if translation.problems else "translated")
            target.set("state-qualifier", "leveraged-mt")


def read_xliff(content: bytes) -> XliffDocument:
    """Reads XLIFF.

    Raises:
        DataError: it is none.
    """
    tree = parsed(content)
    if etree.QName(tree.getroot()).localname != "xliff":
        raise DataError("the document is no XLIFF; its outermost element is another")
    return XliffDocument(tree)


def _named(root: etree._Element, name: str) -> Iterator[etree._Element]:
    yield from root.iter(f"{{*}}{name}")


def _child(element: etree._Element, name: str) -> etree._Element | None:
    return next((each for each in element if isinstance(each.tag, str) and etree.QName(each).localname == name), None)


def _is_not_to_be_translated(element: etree._Element) -> bool:
    """Whether it, or the nearest element around it that says something, says no."""
    each: etree._Element | None = element
    while each is not None:
        if (said := each.get("translate")) is not None:
            return bool(said == "no")
        each = each.getparent()
    return False
