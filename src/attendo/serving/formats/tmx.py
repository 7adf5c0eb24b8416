"""TMX: to each translation unit that lacks the target language a variant in it, inline codes carried over."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from lxml import etree

from attendo.errors import DataError
from attendo.serving.formats.document import Languages, TranslatedUnit, Unit
from attendo.serving.formats.safe_xml import inner_xml, parsed, serialized, set_inner_xml

_CODES = ("bpt", "ept", "it", "ph", "ut")
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_SAMPLE = 4_000


@dataclass(eq=False)
class TmxDocument:
    """A translation memory."""

    tree: etree._ElementTree
    _sources: list[etree._Element] = field(default_factory=list)

    def units(self, languages: Languages) -> Sequence[Unit]:
        """The segments of the source language that have none of the target language beside them."""
        self._sources = []
        for unit in self.tree.getroot().iter("tu"):
            variants = [(_language_of(each), each) for each in unit.iter("tuv")]
            source = next((each for language, each in variants if language == languages.source), None)
            has_target = any(language == languages.target for language, _ in variants)
            if source is not None and not has_target and _segment(source) is not None:
                self._sources.append(source)
        return [
            Unit(text=inner_xml(segment), format="xml", ignore_tags=_CODES)
            for each in self._sources
            if (segment := _segment(each)) is not None
        ]

    def source_language(self) -> str | None:
        """What the header says, if that is one language."""
        header = self.tree.getroot().find("header")
        language = header.get("srclang") if header is not None else None
        return None if language == "*all*" else language

    def sample(self) -> str:
        """The first variant of each unit."""
        segments = (each.find("tuv/seg") for each in self.tree.getroot().iter("tu"))
        texts = ("".join(each.itertext()) for each in segments if each is not None)
        return " ".join(text for text, _ in zip(texts, range(200), strict=False))[:_SAMPLE]

    def written(self, translations: Sequence[TranslatedUnit], languages: Languages) -> bytes:
        """With a variant more in each unit."""
        for source, translation in zip(self._sources, translations, strict=True):
            variant = etree.Element("tuv")
            variant.set(_LANG, languages.target)
            segment = etree.SubElement(variant, "seg")
            set_inner_xml(segment, translation.text)
            variant.tail = source.tail
            source.addnext(variant)
        return serialized(self.tree)


def read_tmx(content: bytes) -> TmxDocument:
    """Reads TMX.

    Raises:
        DataError: it is none.
    """
    tree = parsed(content)
    if tree.getroot().tag != "tmx":
        raise DataError("the document is no TMX; its outermost element is another")
    return TmxDocument(tree)


def _language_of(variant: etree._Element) -> str:
    written = variant.get(_LANG) or variant.get("lang") or ""
    return written.lower().replace("_", "-").split("-")[0]


def _segment(variant: etree._Element) -> etree._Element | None:
    segment = variant.find("seg")
    return segment if segment is not None and "".join(segment.itertext()).strip() else None
