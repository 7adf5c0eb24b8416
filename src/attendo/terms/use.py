"""Whether a translation uses terms, and in which form."""

import re
from functools import lru_cache

from attendo.terms.term import RequiredTerm, TermUse

_DERIVING = r"(?:er(?:n|s|in|innen)?|ig(?:e[mnrs]?)?|(?:i?sch|lich|los|bar|haft)(?:e[mnrs]?)?|schaft(?:en)?)"
"""German endings that make another word of a target: an Eisenbahner is no Eisenbahn."""


def use_of(term: RequiredTerm, text: str) -> TermUse:
    """What a translation has of a term.

    Args:
        term: with its forms.
        text: the translation.

    Returns:
        The use: kept, inflected or missed. A term is missed, too, where the translation has a word that it forbids.
    """
    shown = term.target or ", ".join(term.forbidden[:1])
    if forbidden_in(term, text):
        return TermUse(source=term.source, target=shown, outcome="missed")
    if not term.forms:
        return TermUse(source=term.source, target=f"not {shown}", outcome="kept")
    found = form_in(term, text)
    if found is None:
        return TermUse(source=term.source, target=shown, outcome="missed")
    is_same = found.casefold() == term.target.casefold()
    return TermUse(source=term.source, target=shown, outcome="kept" if is_same else "inflected", form=found)


def form_in(term: RequiredTerm, text: str) -> str | None:
    """The words of a text that are a form of a term, the glossary's own form before others; None for none."""
    found = [match[0] for match in _pattern(term.forms, term.is_exact, term.by_letters).finditer(text)]
    same = [form for form in found if form.casefold() == term.target.casefold()]
    if found or not term.in_compounds:
        return next(iter(same or found), None)
    compound = _compound(term.target).search(text)
    return compound[0] if compound else None


def forbidden_in(term: RequiredTerm, text: str) -> str | None:
    """The first word of a text that a term forbids; None for none."""
    if not term.forbidden:
        return None
    found = _pattern(term.forbidden, False, term.by_letters).search(text)
    return found[0] if found else None


@lru_cache(maxsize=4096)
def _pattern(forms: tuple[str, ...], is_exact: bool, by_letters: bool) -> re.Pattern[str]:
    """Any of the forms as words of their own, the longest first."""
    alternatives = "|".join(_as_words(form, by_letters) for form in sorted(forms, key=len, reverse=True))
    return re.compile(alternatives, 0 if is_exact else re.IGNORECASE)


def _as_words(form: str, by_letters: bool) -> str:
    # White space within a term may be any; a letter or digit at its ends has none beside it.
    words = r"\s+".join(map(re.escape, form.split()))
    if by_letters:
        return words
    before = r"(?<![^\W_])" if form[:1].isalnum() else ""
    behind = r"(?![^\W_])" if form[-1:].isalnum() else ""
    return f"{before}{words}{behind}"


@lru_cache(maxsize=4096)
def _compound(target: str) -> re.Pattern[str]:
    """A longer word that begins with a target and another word, or ends with it and perhaps an ending."""
    stem = re.escape(target.removesuffix("e"))
    return re.compile(
        rf"\b{stem}(?!{_DERIVING}\b)\w{{3,}}(?:-\w+)*|\b\w+(?:-\w+)*?{stem}(?:e|en|n|s|es|er|ern)?\b", re.IGNORECASE
    )
