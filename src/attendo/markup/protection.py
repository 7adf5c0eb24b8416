"""Finds text that is not natural language, and checks that a translation preserves it."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import category

from attendo.decoding.guards.comparison import compared
from attendo.decoding.guards.number_words import CARDINALS
from attendo.decoding.guards.protected import protected
from attendo.decoding.guards.values import Value, values
from attendo.decoding.guards.verbatim import verbatim

_KINDS = frozenset(("literal", "markup", "variable", "address", "path", "handle"))
"""Kinds of the engine's guard that are checked here too, so that a loss is reported; not numbers and emoji, which the
engine keeps well and which are only counted."""
_MORE = re.compile(
    r"\[ ?X ?\d+ ?X ?\]"  # Weblate's
    r"|[%#]\{[^{}\s]{1,80}\}"  # Ruby's
    r"|\{\{[^{}\n]{0,200}\}\}|\{%[^{}\n]{0,200}%\}|<%[^%\n]{0,200}%>"  # templates
    r"|\$\([\w.]{1,80}\)|(?<!\w)__\w{1,80}?__(?!\w)|(?<!\w)@@?[\w-]{1,80}@@?(?!\w)"
    r"|%%|\\[nrt](?![A-Za-z])|\{\d+\}"
)
_DIGIT = re.compile("[0-9]")
_WORDS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_EMOJI_FROM = "\u2190"
_MAX_REPORTED, _MAX_SHOWN = 10, 40


@dataclass(frozen=True, slots=True)
class NonLanguageSpan:
    """A stretch that is not natural language."""

    start: int
    """Position of its first character."""
    end: int
    """Position of the character after it."""
    is_verbatim: bool = False
    """Whether it is text that is not a word of any language, such as base64."""


def things_of(text: str) -> list[NonLanguageSpan]:
    """Finds placeholders, variables, addresses, paths, handles, base64 and the like, in order and without overlaps."""
    spans = [(match.start(), match.end(), False) for match in _MORE.finditer(text)]
    spans += [(span.start, span.end, False) for span in protected(text) if span.kind in _KINDS]
    spans += [(stretch.start, stretch.end, True) for stretch in verbatim(text)]
    # Among overlapping matches, the first and then the longest; but all text that is no language.
    found: list[NonLanguageSpan] = []
    for start, end, is_verbatim in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not found or start >= found[-1].end:
            found.append(NonLanguageSpan(start, end, is_verbatim))
        elif is_verbatim or found[-1].is_verbatim:
            found[-1] = NonLanguageSpan(found[-1].start, max(end, found[-1].end), is_verbatim=True)
    return found


def copied_problems(texts: Sequence[str]) -> tuple[str, ...]:
    """Reports text that was copied because it is not natural language; empty if there is none."""
    distinct = list(dict.fromkeys(texts))
    named = [_shown(text) for text in distinct[:_MAX_REPORTED]]
    if len(distinct) > _MAX_REPORTED:
        named.append(f"{len(distinct) - _MAX_REPORTED} more")
    return tuple(f"copied, not translated, because it is not natural language: {text}" for text in named)


def _shown(text: str) -> str:
    """Returns a text in quotation marks, or its beginning and its length."""
    if len(text) <= _MAX_SHOWN:
        return repr(text)
    return f"{text[:_MAX_SHOWN]!r}… ({len(text):,} characters)"


def numbers_of(text: str, language: str) -> list[Value]:
    """Returns the values with digits in a text, in order."""
    return [value for value in values(text, language) if _DIGIT.search(value.text)]


def lost_numbers(source: str, target: str, languages: tuple[str, str]) -> list[str]:
    """Returns the values of a source that its translation has neither in digits nor, for small ones, as words.

    Args:
        source: a text without protected text.
        target: its translation, without protected text.
        languages: both languages as ISO 639-1 codes; empty if unknown.
    """
    if not _DIGIT.search(source):
        return []
    return [value.text for value in compared(source, target, languages).lost if _DIGIT.search(value.text)]


def lost_emoji(source: str, target: str) -> list[str]:
    """Returns the emoji and symbols of a source that its translation has less often."""
    if source.isascii() or max(source) < _EMOJI_FROM:
        return []
    wanted = Counter(each for each in source if each >= _EMOJI_FROM and category(each) == "So")
    target_counts = Counter(target)
    return [each for each, times in wanted.items() if target_counts[each] < times]


def missing_protected(wanted: Sequence[str], text: str) -> list[str]:
    """Lists strings that a text has less or more often than required, each once."""
    return [each for each, times in Counter(wanted).items() if text.count(each) != times]


def number_word_spans(text: str, number: int, language: str) -> list[tuple[int, int]]:
    """Finds the word for a small number in a text, with any ending.

    Args:
        text: a text in the language.
        number: the number.
        language: its ISO 639-1 code.
    """
    names = CARDINALS.get(language, "").split()
    if number >= len(names):
        return []
    name = names[number]
    return [
        match.span()
        for match in _WORDS.finditer(text)
        if (word := match[0].casefold()) == name or (len(word) <= len(name) + 2 and word.startswith(name))
    ]
