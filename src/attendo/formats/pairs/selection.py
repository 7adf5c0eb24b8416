"""Which units of a file are pairs to learn from: by their languages, their states and what they hold."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from attendo.formats.contents import Content, content
from attendo.formats.delimited import SOURCE_NAMES, TARGET_NAMES
from attendo.formats.file import State
from attendo.text.corpora import CorpusConfig
from attendo.text.files.formats import RawPair

_BREAK = re.compile(r"[ \t]*[\r\n]+[ \t]*")
_MARKED = re.compile(r"<(?:[\w.-]+:)?mrk[\s/>]")
_TAG = re.compile(r"<[^>]*>")
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"), ("&amp;", "&"))


PairTexts = Callable[[Content, Content], tuple[str, str]]
"""Gives the texts of a source and of its translation."""


def one_line_texts(source: Content, target: Content) -> tuple[str, str]:
    """Gives a source and its translation as training reads them: without codes, each on one line."""
    return one_line(content_text(source)), one_line(content_text(target))


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """The pairs that are wanted of a file."""

    source_language: str = ""
    """A code, which stands for all that begin with it too: `de` for `de-AT`. Empty where any will do."""
    target_language: str = ""
    """Likewise."""
    states: frozenset[str] = frozenset(CorpusConfig.states)
    """In which states units count."""
    texts: PairTexts = one_line_texts
    """What the sides of a unit are written as."""

    def pair(
        self,
        line: int,
        source: str | Content,
        target: str | Content,
        state: State = "translated",
        *,
        is_other_language: bool = False,
        context: str = "",
    ) -> RawPair:
        """Makes a pair of a unit, with the reason why it is left out where it does not count.

        Args:
            line: of the file, where the unit begins.
            source: the source, empty where there is none.
            target: the translation, empty where there is none.
            state: how far the unit is; `new` also of what is not to be translated.
            is_other_language: whether a side is in another language than those that are wanted.
            context: what tells equal sources apart.
        """
        sides = [content(side) if isinstance(side, str) else side for side in (source, target)]
        source_text, target_text = self.texts(sides[0], sides[1])
        fault = None
        if is_other_language:
            fault = "language"
        elif source_text and (state == "new" or not target_text):
            fault = "untranslated"
        elif state not in self.states and state != "new":
            fault = "state"
        return RawPair(
            line=line, source=_encoded(source_text), target=_encoded(target_text), fault=fault, context=context
        )

    def has_other_language(self, source: str | None, target: str | None) -> bool:
        """Says whether a file's languages are others than those that are wanted; None or empty is not known."""
        return _is_other(source, self.source_language) or _is_other(target, self.target_language)

    def sides_of(self, names: Sequence[str]) -> tuple[int, int] | None:
        """Gives which of some names are called as the source and the target language, or as sides usually are."""
        source = _number_of(names, self.source_language, SOURCE_NAMES)
        target = _number_of(names, self.target_language, TARGET_NAMES)
        return None if source is None or target is None or source == target else (source, target)


def is_variant(language: str, wanted: str) -> bool:
    """Says whether a code is of a language that is wanted: the same, or one of its scripts, regions and so on.

    Args:
        language: a code as of BCP 47, or written as `de_AT`.
        wanted: likewise; `de` wants `de-AT` too, `de-AT` does not want `de`.
    """
    found, prefix = normal_code(language), normal_code(wanted)
    return found == prefix or found.startswith(f"{prefix}-")


def normal_code(language: str) -> str:
    """Gives a code in small letters with hyphens: `sr-latn` of `sr@Latn`."""
    return language.strip().replace("_", "-").replace("@", "-").lower()


def one_line(text: str) -> str:
    """Gives a text on one line: a blank for each line break with the indentation around it."""
    return _BREAK.sub(" ", text).strip()


def without_codes(parts: Iterable[str | None]) -> str:
    """Joins the strings of a text without its codes, which are None; between two blanks a code takes one along."""
    text, is_behind_code = "", False
    for part in parts:
        if part is None:
            is_behind_code = True
        elif part:
            text += part[1:] if is_behind_code and part[0] == " " and (not text or text[-1] == " ") else part
            is_behind_code = False
    return text


def content_text(content: Content) -> str:
    """Gives the text of a content as a model reads it: without codes, but with what marks as protected enclose."""
    return without_codes(part if isinstance(part, str) else _protected_text(part.raw) for part in content)


def _protected_text(raw: str) -> str | None:
    """Gives the text within a protected `mrk` of XLIFF, which stays in the sentence; None of any other code."""
    if not _MARKED.match(raw):
        return None
    text = _TAG.sub("", raw)
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    return text or None


def _is_other(language: str | None, wanted: str) -> bool:
    return bool(language and wanted and not is_variant(language, wanted))


def _number_of(names: Sequence[str], language: str, usual: Sequence[str]) -> int | None:
    """Gives which name is a language's code, that of one of its variants, or a usual one."""
    codes = [normal_code(name) for name in names]
    exact = [number for number, code in enumerate(codes) if language and code == normal_code(language)]
    variants = [number for number, code in enumerate(codes) if language and is_variant(code, language)]
    by_use = [codes.index(name) for name in usual if name in codes]
    return next(iter([*exact, *variants, *by_use]), None)


def _encoded(text: str) -> bytes:
    """Encodes a text; bytes that were not in its file's encoding come out as they were, and are not UTF-8 either."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # halves of characters, which JSON can spell
        return text.encode("utf-8", "surrogatepass")
