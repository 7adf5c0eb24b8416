"""Selection of a file's units as training pairs, by language, state and content."""

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
"""Returns the texts of a source and of its translation."""


def one_line_texts(source: Content, target: Content) -> tuple[str, str]:
    """Returns a source and its translation as training reads them: without codes, each on one line."""
    return one_line(content_text(source)), one_line(content_text(target))


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """The wanted pairs of a file."""

    source_language: str = ""
    """A language code, which includes its variants: `de` includes `de-AT`. Empty for any language."""
    target_language: str = ""
    """A language code, as for the source."""
    states: frozenset[str] = frozenset(CorpusConfig.states)
    """The states of the wanted units."""
    texts: PairTexts = one_line_texts
    """The function that gives the texts of a unit's sides."""

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
        """Makes a pair of a unit, with the reason if it is left out.

        Args:
            line: the line of the file in which the unit begins.
            source: the source; empty if there is none.
            target: the translation; empty if there is none.
            state: the unit's state; `new` also for a unit that is not to be translated.
            is_other_language: whether a side is in another than the wanted languages.
            context: the context, which distinguishes equal sources.
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
        """Whether a file's languages differ from the wanted ones; None or empty stands for unknown."""
        return _is_other(source, self.source_language) or _is_other(target, self.target_language)

    def sides_of(self, names: Sequence[str]) -> tuple[int, int] | None:
        """Returns the numbers of the source's and the target's name among some: language codes, or usual names."""
        source = _number_of(names, self.source_language, SOURCE_NAMES)
        target = _number_of(names, self.target_language, TARGET_NAMES)
        return None if source is None or target is None or source == target else (source, target)


def is_variant(language: str, wanted: str) -> bool:
    """Whether a language code is a wanted one, or one of its variants by script, region and so on.

    Args:
        language: a code as of BCP 47, or written as `de_AT`.
        wanted: a code as well; `de` includes `de-AT`, `de-AT` does not include `de`.
    """
    found, prefix = normal_code(language), normal_code(wanted)
    return found == prefix or found.startswith(f"{prefix}-")


def normal_code(language: str) -> str:
    """Returns a code in lower case with hyphens: `sr-latn` for `sr@Latn`."""
    return language.strip().replace("_", "-").replace("@", "-").lower()


def one_line(text: str) -> str:
    """Returns a text on one line: a blank for each line break with the indentation around it."""
    return _BREAK.sub(" ", text).strip()


def without_codes(parts: Iterable[str | None]) -> str:
    """Joins the strings of a text without its codes, which are None; of two blanks around a code one is dropped."""
    text, is_behind_code = "", False
    for part in parts:
        if part is None:
            is_behind_code = True
        elif part:
            text += part[1:] if is_behind_code and part[0] == " " and (not text or text[-1] == " ") else part
            is_behind_code = False
    return text


def content_text(content: Content) -> str:
    """Returns a content's text as a model reads it: without codes, but with text that is marked as protected."""
    return without_codes(part if isinstance(part, str) else _protected_text(part.raw) for part in content)


def _protected_text(raw: str) -> str | None:
    """Returns the text within a protected `mrk` of XLIFF, which stays in the sentence; None for any other code."""
    if not _MARKED.match(raw):
        return None
    text = _TAG.sub("", raw)
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    return text or None


def _is_other(language: str | None, wanted: str) -> bool:
    return bool(language and wanted and not is_variant(language, wanted))


def _number_of(names: Sequence[str], language: str, usual: Sequence[str]) -> int | None:
    """Returns the number of the name that is a language's code, that of a variant, or a usual one."""
    codes = [normal_code(name) for name in names]
    exact = [number for number, code in enumerate(codes) if language and code == normal_code(language)]
    variants = [number for number, code in enumerate(codes) if language and is_variant(code, language)]
    by_use = [codes.index(name) for name in usual if name in codes]
    return next(iter([*exact, *variants, *by_use]), None)


def _encoded(text: str) -> bytes:
    """Encodes a text; bytes that were invalid in the file's encoding are restored, and are not valid UTF-8."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # halves of characters, which JSON can spell
        return text.encode("utf-8", "surrogatepass")
