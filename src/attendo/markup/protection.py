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
"""Those of the engine's guard that are held here too, so that it can be told when one is lost; not numbers and emoji,
which the engine does well and which are only counted."""
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
_MAX_TOLD, _MAX_SHOWN = 10, 40


@dataclass(frozen=True, slots=True)
class Found:
    """A stretch that is no language."""

    start: int
    """Position of its first character."""
    end: int
    """The character behind it."""
    is_verbatim: bool = False
    """Whether it is text that no language has, such as base64."""


def things_of(text: str) -> list[Found]:
    """Placeholders, variables, addresses, paths, handles, base64 and the like, in their order, none overlapping."""
    spans = [(match.start(), match.end(), False) for match in _MORE.finditer(text)]
    spans += [(thing.start, thing.end, False) for thing in protected(text) if thing.kind in _KINDS]
    spans += [(stretch.start, stretch.end, True) for stretch in verbatim(text)]
    # Of those that overlap the one that begins first, and of those the longest; but all of what is no language.
    found: list[Found] = []
    for start, end, is_verbatim in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not found or start >= found[-1].end:
            found.append(Found(start, end, is_verbatim))
        elif is_verbatim or found[-1].is_verbatim:
            found[-1] = Found(found[-1].start, max(end, found[-1].end), is_verbatim=True)
    return found


def copied_problems(texts: Sequence[str]) -> tuple[str, ...]:
    """Reports text that was copied because it is not natural language; empty if there is none."""
    distinct = list(dict.fromkeys(texts))
    told = [
        f"copied, not translated, because it is not natural language: {_shown(each)}" for each in distinct[:_MAX_TOLD]
    ]
    if len(distinct) > _MAX_TOLD:
        told.append(f"copied, not translated, because it is not natural language: {len(distinct) - _MAX_TOLD} more")
    return tuple(told)


def _shown(text: str) -> str:
    """A text in quotation marks, or its beginning and its length."""
    if len(text) <= _MAX_SHOWN:
        return repr(text)
    return f"{text[:_MAX_SHOWN]!r}… ({len(text):,} characters)"


def numbers_of(text: str, language: str) -> list[Value]:
    """The values with digits of a text in a language, in their order."""
    return [value for value in values(text, language) if _DIGIT.search(value.text)]


def lost_numbers(source: str, target: str, languages: tuple[str, str]) -> list[str]:
    """The values with digits of a source that its translation has neither in digits nor, if they are small, as words.

    Args:
        source: without things.
        target: its translation, without things.
        languages: of both, as ISO 639-1 codes; empty where not known.
    """
    if not _DIGIT.search(source):
        return []
    return [value.text for value in compared(source, target, languages).lost if _DIGIT.search(value.text)]


def lost_emoji(source: str, target: str) -> list[str]:
    """The pictures and symbols of a source that its translation has less often."""
    if source.isascii() or max(source) < _EMOJI_FROM:
        return []
    wanted = Counter(each for each in source if each >= _EMOJI_FROM and category(each) == "So")
    there = Counter(target)
    return [each for each, times in wanted.items() if there[each] < times]


def missing_things(wanted: Sequence[str], text: str) -> list[str]:
    """Lists strings that a text has less or more often than required, each once."""
    return [each for each, times in Counter(wanted).items() if text.count(each) != times]


def number_word_spans(text: str, number: int, language: str) -> list[tuple[int, int]]:
    """Finds the word for a small number in a text, with any ending.

    Args:
        text: in the language.
        number: of which the word is looked for.
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
