"""Glossaries in TBX, the format of term bases: versions 2 (`martif`) and 3 (`tbx`)."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape

from attendo.errors import DataError
from attendo.formats.elements import Element, Token
from attendo.formats.file import base_language
from attendo.formats.markup import Markup, parse_markup
from attendo.terms.entries import Entry, EntryNotes
from attendo.terms.term import Term

_LANGUAGE = "http://www.w3.org/XML/1998/namespace lang"
_CONCEPTS = ("termEntry", "conceptEntry")
_LANGUAGES = ("langSet", "langSec")
_TERMS = ("tig", "ntig", "termSec")
_STATUS = ("administrativeStatus", "normativeAuthorization")
_FORBIDDEN = ("deprecated", "superseded", "forbidden", "obsolete")


@dataclass(frozen=True)
class _TermText:
    """A term of a concept in one language."""

    text: str
    status: str
    """The administrative status in lower case; empty if there is none."""

    @property
    def is_forbidden(self) -> bool:
        return self.status.startswith(_FORBIDDEN)


def tbx_entries(content: bytes, source: str, target: str, notes: EntryNotes) -> tuple[list[Entry], str, str]:
    """The entries of a term base, one for each source term of a concept, and its languages.

    The first preferred target term is the translation, further ones are alternatives, and those that are deprecated or
    superseded are forbidden. Only the base language counts: `de` is `de-AT` too.

    Args:
        content: the file.
        source: the source language; empty for the first of exactly two languages in the term base.
        target: the target language; empty for the second of them.
        notes: receives a note for each entry that is left out.

    Raises:
        DataError: the file is not TBX, or no languages are given and it does not have exactly two.
    """
    markup = parse_markup(content)
    if markup.root.local not in ("martif", "tbx"):
        raise DataError(f"this is no TBX: its outermost element is <{markup.root.local}>")
    concepts = [element for element in markup.root.descendants() if element.local in _CONCEPTS]
    languages = list(dict.fromkeys(code for concept in concepts for code in _terms_of(markup, concept)))
    if not (source and target):
        if len(languages) != 2:
            listed = ", ".join(languages) or "none"
            raise DataError(f"the term base has the languages {listed}; say which is the source and which the target")
        source = source or next(code for code in languages if code != target)
        target = target or next(code for code in languages if code != source)
    entries: list[Entry] = []
    for concept in concepts:
        line = markup.text.line_number(concept.tag.start)
        terms = _terms_of(markup, concept)
        if source in terms and target in terms:
            entries += [Entry(line=line, term=term) for term in _concept_terms(terms[source], terms[target])]
        else:
            notes.other_languages += 1
    return entries, source, target


def _concept_terms(sources: list[_TermText], targets: list[_TermText]) -> Iterator[Term]:
    """Yields a term for each name of a concept in the source language."""
    allowed = sorted((each for each in targets if not each.is_forbidden), key=_rank)
    used = [each.text for each in allowed]
    for source in dict.fromkeys(each.text for each in sources):
        yield Term(
            source=source,
            target=used[0] if used else "",
            alternatives=tuple(dict.fromkeys(text for text in used[1:] if text != used[0])),
            forbidden=tuple(dict.fromkeys(each.text for each in targets if each.is_forbidden)),
        )


def _rank(term: _TermText) -> int:
    return 0 if term.status.startswith("preferred") else 1 if not term.status else 2


def _terms_of(markup: Markup, concept: Element) -> dict[str, list[_TermText]]:
    """Returns the terms of a concept by language."""
    found: dict[str, list[_TermText]] = {}
    for section in concept.elements():
        if section.local not in _LANGUAGES:
            continue
        language = base_language(section.attributes.get(_LANGUAGE, section.attributes.get("lang", "")))
        for holder in section.elements():
            if holder.local in _TERMS and (term := _term_of(markup, holder)) is not None:
                found.setdefault(language, []).append(term)
    return found


def _term_of(markup: Markup, holder: Element) -> _TermText | None:
    text = status = ""
    for element in holder.descendants():
        if element.local == "term":
            text = " ".join(_text(markup, element).split())
        elif element.attributes.get("type") in _STATUS or element.local in _STATUS:
            status = _text(markup, element).strip().casefold()
    return _TermText(text, status) if text else None


def _text(markup: Markup, element: Element) -> str:
    """Returns the text of an element, including that of the elements within it."""
    if element.is_empty_tag:
        return ""
    parts = []
    for child in element.children:
        if not isinstance(child, Token):
            parts.append(_text(markup, child))
        elif child.kind == "text":
            parts.append(unescape(markup.raw(child.span)))
        elif child.kind == "cdata":
            parts.append(markup.raw(child.span)[len("<![CDATA[") : -len("]]>")])
    return "".join(parts)
