"""Small repairs of a translation's ends and spaces, where a model has its own habits and the source decides."""

import re

from attendo.formats.contents import Code, Content, joined
from attendo.formats.file import base_language

_STOPS = ".。।۔։"
_FINAL = f"{_STOPS}:：!！?？…;；"
_ELLIPSES = ("...", "…")
_SPACES = re.compile(r"(?<=\S) {2,}(?=\S)")
_FRENCH = re.compile(r"(?<=[^\s\u00a0\u202f;:?!])[ \u00a0\u202f]?([;?!]+|:)(?=\s|$)")


def repaired(source: Content, translation: Content, language: str) -> Content:
    """A translation that ends as its source does: with or without a full stop, a colon, an ellipsis.

    Args:
        source: what was translated.
        translation: without accelerators.
        language: the target language.
    """
    parts = list(translation)
    if "  " not in "".join(part for part in source if isinstance(part, str)):
        parts = [_SPACES.sub(" ", part) if isinstance(part, str) else part for part in parts]
    if base_language(language) == "fr" and language.replace("_", "-").lower() != "fr-ca":
        parts = [_with_french_spaces(part) if isinstance(part, str) else part for part in parts]
    last, other = (source[-1] if source else ""), (parts[-1] if parts else "")
    if not isinstance(last, Code) and not isinstance(other, Code):
        stripped = other.rstrip()
        parts[-1:] = [_ended(last.rstrip(), stripped) + other[len(stripped) :]]
    return joined(parts)


def _ended(source: str, translation: str) -> str:
    """A text with the end of another."""
    if not source or not translation:
        return translation
    wanted = next((mark for mark in _ELLIPSES if source.endswith(mark)), "")
    there = next((mark for mark in _ELLIPSES if translation.endswith(mark)), "")
    if wanted or there:
        if wanted and there:
            return translation.removesuffix(there) + wanted
        bare = translation.removesuffix(there) if there else translation.rstrip(_STOPS)
        return f"{bare}{wanted}" if wanted else _ended(source, bare) if bare else translation
    if source[-1] in ".:!?" and translation[-1] not in _FINAL and _is_open(translation):
        return translation + source[-1]
    if source[-1] in ":!?" and translation[-1] in _STOPS:
        return translation[:-1] + source[-1]
    # An abbreviation at the end keeps its point; a sentence has a longer word before it.
    if translation[-1] in _STOPS and source[-1] not in _FINAL and re.search(r"[^\W\d_]{4}\.$|[。।۔։]$", translation):
        return translation[:-1]
    return translation


def _is_open(text: str) -> bool:
    """Says whether a mark may follow a text in a language that has the marks of Latin script."""
    return (text[-1].isalnum() and text[-1] < "\u0590") or text[-1] in ")]\"'”»%"


def _with_french_spaces(text: str) -> str:
    """French marks with the spaces that no line breaks at."""
    if "://" in text:
        return text
    return _FRENCH.sub(lambda mark: ("\u00a0" if mark[1] == ":" else "\u202f") + mark[1], text)
