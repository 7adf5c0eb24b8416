"""The number inserted for translating a plural form, which shows the model the form's meaning.

A placeholder for the count is replaced by a number that takes the form, and put back where the translation has it:
"%d files" is translated as "5 files" for the form of 5.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeVar

from attendo.decoding.guards.number_words import CARDINALS
from attendo.formats.contents import Code, Content, joined, plain
from attendo.markup.protection import number_word_spans
from attendo.markup.units.directives import directives

T = TypeVar("T")
_COUNT = re.compile(
    r"%(?:\d+\$)?[-+ #0'I]*\d*(?:hh?|ll?|[qjztL])?[diu]|%L?n|%(?:\d+\$)?@|%L?1|%\(\w+\)[-+#0]*\d*[diu]|%\{\w+\}"
    r"|\{\{\s*(?:count|n|num\w*)\s*(?:,[^{}]*)?\}\}|\{(?:0|n|count|num\w*|total)(?:,\s*number[^{}]*|:[^{}]*)?\}"
)
COUNT_ID = "count "
"""The beginning of the id of a code for the count, whatever its text."""
_HYPHEN = re.compile(r"^-(?=[A-ZÄÖÜ]\w*(?![\w-]))")
"""The hyphen of "2-Dateien"; German has one only in compounds, which continue: "2-Wege-Test"."""
_ARTICLES = {"en": "an?"}
_COUNT_CODE = re.compile(r"#|\{\s*\$\w+\s*\}|\{\s*NUMBER\(\s*\$\w+[^{}]*\)\s*\}")


@dataclass(frozen=True, slots=True)
class Count:
    """A placeholder that is replaced by a number while a form is translated."""

    placeholder: str | Code
    number: int
    has_ending: bool = False
    """Whether letters follow it directly, as in `#st` or `%dth`."""
    has_space: bool = False
    """Whether a space follows it."""


def num_counts(source: Content, flags: Collection[str]) -> int:
    """Returns the number of placeholders in a form that can be the count."""
    return len(_places(source, flags))


def with_number(source: Content, flags: Collection[str], number: int) -> tuple[Content, Count | None]:
    """Replaces the count of a form by a number; returns None if no placeholder is clearly the count."""
    places = _places(source, flags)
    if len(places) != 1:
        return source, None
    [(part_number, start, stop)] = places
    part = source[part_number]
    if isinstance(part, Code):
        placeholder: str | Code = part
        replaced = str(number)
    else:
        placeholder = part[start:stop]
        replaced = part[:start] + str(number) + part[stop:]
    behind = source[part_number + 1] if isinstance(part, Code) and part_number + 1 < len(source) else part
    letter = behind[0 if isinstance(part, Code) else stop :][:1] if isinstance(behind, str) else ""
    count = Count(placeholder, number, has_ending=letter.isalpha(), has_space=letter.isspace())
    return joined([*source[:part_number], replaced, *source[part_number + 1 :]]), count


def with_count(singular: Sequence[T], count: T, language: str) -> list[T | str] | None:
    """Puts a count in place of the words for one: "1", "One", or the article if there is no number.

    Args:
        singular: texts such as "One file", and the codes between them.
        count: the item that shows the number: "# file".
        language: the language of the texts.

    Returns:
        Parts of which some may be empty; None if the texts have no word for it, or several.
    """
    texts = [(place, part) for place, part in enumerate(singular) if isinstance(part, str)]
    names = CARDINALS.get(language, "").split()
    for words in (["1", *names[1:2]], [_ARTICLES[language]] if language in _ARTICLES else []):
        pattern = re.compile(rf"(?<![\w.,-])(?:{'|'.join(words)})(?![\w-])(?![.,]\d)", re.I)
        found = [(place, text, one.span()) for place, text in texts for one in pattern.finditer(text)]
        if words and found:
            [(place, text, (start, stop)), *more] = found
            if more:
                return None
            return [*singular[:place], text[:start], count, text[stop:], *singular[place + 1 :]]
    return None


def with_count_of(singular: Content, plural: Content, flags: Collection[str], language: str) -> Content | None:
    """Returns a singular such as "One file" with the count of its plural, as "%d file"; None if it cannot have it."""
    places = _places(plural, flags)
    if len(places) != 1:
        return None
    [(counted, start, stop)] = places
    holder = plural[counted]
    parts = with_count(singular, holder if isinstance(holder, Code) else holder[start:stop], language)
    return None if parts is None else joined(parts)


def with_placeholder(translation: Content, count: Count, language: str) -> Content | None:
    """Puts the placeholder back in place of the number, which is in digits or a word.

    Args:
        translation: the translation of a form with the number in it.
        count: the count and its number.
        language: the language of the translation, for number words.

    Returns:
        The translation; None if the number does not occur exactly once.
    """
    text = plain(translation)
    behind = r"(?!\d)" if count.has_ending else r"(?!\w)"
    wanted = re.compile(rf"(?<![\w.,]){count.number}{behind}(?![.,]\d)")
    spans = [
        (number, *found.span())
        for number, part in enumerate(translation)
        if isinstance(part, str)
        for found in wanted.finditer(part)
    ]
    if not spans and len(number_word_spans(text, count.number, language)) == 1:
        spans = [
            (number, *span)
            for number, part in enumerate(translation)
            if isinstance(part, str)
            for span in number_word_spans(part, count.number, language)
        ]
    if len(spans) != 1:
        return None
    number, start, stop = spans[0]
    part = translation[number]
    assert isinstance(part, str)
    after = _HYPHEN.sub(" ", part[stop:], count=1) if count.has_space and language == "de" else part[stop:]
    return joined([*translation[:number], part[:start], count.placeholder, after, *translation[number + 1 :]])


def _places(source: Content, flags: Collection[str]) -> list[tuple[int, int, int]]:
    """Returns the placeholders that may be the count: the number of the part, and the span in its string."""
    places = []
    for number, part in enumerate(source):
        if isinstance(part, Code):
            is_count = part.id.startswith(COUNT_ID) or _COUNT_CODE.fullmatch(part.raw)
            if part.kind == "single" and is_count:
                places.append((number, 0, 0))
            continue
        places += [(number, one.start, one.stop) for one in directives(part, flags) if _COUNT.fullmatch(one.raw)]
    return places
