"""Small repairs of a translation's ends and spaces, which follow the source."""

import re
from collections.abc import Sequence

from attendo.formats.contents import Code, Content, joined
from attendo.formats.file import base_language

_STOPS = ".。।۔։"
_FINAL = f"{_STOPS}:：!！?？…;；"
_ELLIPSES = ("...", "…")
_MARKS = ".:!?"
_QUOTES = "\"'”“»«’)"
_MARK_IN_QUOTES = re.compile(r"([.:!?])([\"'”“»«’])\Z")
_ABBREVIATION = re.compile(
    r"(?<![\w)%}$])(?:[^\W\d_]|(?:[^\W\d_]{1,3}\.)+[^\W\d_]{1,3}"
    r"|usw|bzw|etc|ca|Nr|ggf|inkl|exkl|max|min|Std|Mio|Mrd|bzgl|vgl|evtl|Sek|Min|Abs|Art|Bd|Tel|Str|cf|env|resp|vol|approx|dept|Inc|Ltd|vs|No)\.\Z",
)
_LONGEST_ABBREVIATION = 40
_SPACES = re.compile(r"(?<=\S) {2,}(?=\S)")
_FIRST_SPACES, _LAST_SPACES = re.compile(r"\A {2,}(?=\S)"), re.compile(r"(?<=\S) {2,}\Z")
_FRENCH = re.compile(r"(?<=[^\s\u00a0\u202f;:?!])[ \u00a0\u202f]?([;?!]+|:)(?=\s|$)")


def repaired(source: Content, translation: Content, language: str) -> Content:
    """Makes a translation end as its source does: with or without a full stop, a colon, an ellipsis.

    Args:
        source: the translated text.
        translation: the translation without accelerators.
        language: the target language.
    """
    parts = list(translation)
    if not any("  " in part for part in source if isinstance(part, str)):
        parts = _with_single_spaces(parts)
    if base_language(language) == "fr" and language.replace("_", "-").lower() != "fr-ca":
        parts = [_with_french_spaces(part) if isinstance(part, str) else part for part in parts]
    return joined(_with_end_of(source[-1] if source else "", parts))


def _with_single_spaces(parts: Sequence[str | Code]) -> list[str | Code]:
    """Parts without two spaces in a row between words, or between a word and a code."""
    single: list[str | Code] = []
    for number, part in enumerate(parts):
        if isinstance(part, str):
            part = _SPACES.sub(" ", part)
            part = _FIRST_SPACES.sub(" ", part) if number else part
            part = _LAST_SPACES.sub(" ", part) if number < len(parts) - 1 else part
        single.append(part)
    return single


def _with_end_of(last: str | Code, parts: list[str | Code]) -> list[str | Code]:
    """A translation's parts, whose end has the marks that the last part of the source ends with."""
    other = parts[-1] if parts else ""
    if isinstance(other, str):
        stripped = other.rstrip()
        if not isinstance(last, str):
            return [*parts[:-1], _without_marks(stripped) + other[len(stripped) :]]
        # If a guard has removed a French mark at the end, the space before it remains.
        return [*parts[:-1], _ended(last.rstrip(), stripped) + last[len(last.rstrip()) :]]
    wanted = next((mark for mark in (*_ELLIPSES, *_MARKS) if isinstance(last, str) and last.endswith(mark)), "")
    if not wanted or not other.raw.strip():
        return parts
    # A code has moved to the end, and its mark has to follow it.
    before = parts[-2] if len(parts) > 1 else ""
    if isinstance(before, str) and before.rstrip().endswith(wanted):
        stripped = before.rstrip()
        parts[-2] = stripped.removesuffix(wanted) + before[len(stripped) :]
    return [*parts, wanted]


def _ended(source: str, translation: str) -> str:
    """Returns a text with the end of another."""
    if not source or not translation:
        return translation
    source_ellipsis = next((mark for mark in _ELLIPSES if source.endswith(mark)), "")
    ellipsis = next((mark for mark in _ELLIPSES if translation.endswith(mark)), "")
    if source_ellipsis or ellipsis:
        bare = translation.removesuffix(ellipsis) if ellipsis else translation.rstrip(_STOPS)
        space = source.removesuffix(source_ellipsis)[-1:]
        if source_ellipsis and bare.strip():
            return f"{bare.rstrip()}{space if space.isspace() else ''}{source_ellipsis}"
        return f"{bare}{source_ellipsis}" if source_ellipsis else _ended(source, bare) if bare else translation
    mark = source[-1]
    if mark in _MARKS and translation[-1] not in _FINAL:
        quoted = _MARK_IN_QUOTES.search(translation)
        if quoted is not None and source[-2:-1] not in _QUOTES:
            return translation[: quoted.start()] + quoted[2] + mark
        return translation + mark if _is_open(translation) else translation
    if (mark in _MARKS and translation[-1] in _MARKS) or (mark in ":!?" and translation[-1] in _STOPS):
        return translation[:-1] + mark
    return translation if mark in _FINAL else _without_marks(translation)


def _without_marks(translation: str) -> str:
    """Returns a text without the mark at its end; an abbreviation keeps its full stop."""
    if not translation or translation[-1] not in f"{_STOPS}:!?":
        return translation
    if _ABBREVIATION.search(translation, max(0, len(translation) - _LONGEST_ABBREVIATION)):
        return translation
    return translation[:-1].rstrip() or translation


def _is_open(text: str) -> bool:
    """Whether a mark may follow a text in a language with Latin punctuation."""
    return (text[-1].isalnum() and text[-1] < "\u0590") or text[-1] in ")]\"'”»%"


def _with_french_spaces(text: str) -> str:
    """French marks with the spaces that no line breaks at."""
    if "://" in text:
        return text
    return _FRENCH.sub(lambda mark: ("\u00a0" if mark[1] == ":" else "\u202f") + mark[1], text)
