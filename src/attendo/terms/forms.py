"""Forms of a term that occurs in a text, and which of them a translation uses."""

import re
from dataclasses import dataclass
from functools import lru_cache

from attendo.decoding.constraints.terminology import TermUse

_DERIVING = r"(?:er(?:n|s|in|innen)?|ig(?:e[mnrs]?)?|(?:i?sch|lich|los|bar|haft)(?:e[mnrs]?)?|schaft(?:en)?)"
"""German endings that turn a target into another word: an Eisenbahner is not an Eisenbahn."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TermForms:
    """A term of a sentence, with all forms that its translation may have."""

    source: str
    """The term as the glossary has it."""
    target: str
    """The translation as the glossary has it; empty if there are only forbidden words."""
    forms: tuple[str, ...]
    """The forms of which the translation needs one, the glossary's own first; empty if the term only forbids words."""
    likely: tuple[str, ...] = ()
    """The forms that a search may write: those of the glossary, otherwise those of the rules; if possible, only those
    that can have the term's number in the source."""
    forbidden: tuple[str, ...] = ()
    """Words that the translation must not have."""
    is_exact: bool = False
    """Whether case matters."""
    in_compounds: bool = False
    """Whether the target may be a part of a longer word."""
    by_letters: bool = False
    """Whether the target language writes no spaces between words."""

    def use_in(self, text: str) -> TermUse:
        """Returns how a translation uses the term.

        Args:
            text: the translation.

        Returns:
            The use: kept, inflected or missed. A term is missed, too, where the translation has a word that it forbids.
        """
        shown = self.target or ", ".join(self.forbidden[:1])
        if self._has_forbidden(text):
            return TermUse(source=self.source, target=shown, outcome="missed")
        if not self.forms:
            return TermUse(source=self.source, target=f"not {shown}", outcome="kept")
        found = self.form_in(text)
        if found is None:
            return TermUse(source=self.source, target=shown, outcome="missed")
        is_same = found.casefold() == self.target.casefold()
        return TermUse(source=self.source, target=shown, outcome="kept" if is_same else "inflected", form=found)

    def form_in(self, text: str) -> str | None:
        """Finds a form of the term in a text, the glossary's own form before others; None if there is none."""
        found = [match[0] for match in _pattern(self.forms, self.is_exact, self.by_letters).finditer(text)]
        same = [form for form in found if form.casefold() == self.target.casefold()]
        if found or not self.in_compounds:
            return next(iter(same or found), None)
        compound = _compound(self.target).search(text)
        return compound[0] if compound else None

    def _has_forbidden(self, text: str) -> bool:
        return bool(self.forbidden) and _pattern(self.forbidden, False, self.by_letters).search(text) is not None


@lru_cache(maxsize=4096)
def _pattern(forms: tuple[str, ...], is_exact: bool, by_letters: bool) -> re.Pattern[str]:
    """Returns a pattern for any of the forms as separate words, the longest first."""
    alternatives = "|".join(_as_words(form, by_letters) for form in sorted(forms, key=len, reverse=True))
    return re.compile(alternatives, 0 if is_exact else re.IGNORECASE)


def _as_words(form: str, by_letters: bool) -> str:
    # White space within a term may be of any kind; a letter or digit at its ends must not touch another.
    words = r"\s+".join(map(re.escape, form.split()))
    if by_letters:
        return words
    before = r"(?<![^\W_])" if form[:1].isalnum() else ""
    behind = r"(?![^\W_])" if form[-1:].isalnum() else ""
    return f"{before}{words}{behind}"


@lru_cache(maxsize=4096)
def _compound(target: str) -> re.Pattern[str]:
    """Returns a pattern for compounds that begin with the target, or end with it and possibly an inflection."""
    stem = re.escape(target.removesuffix("e"))
    return re.compile(
        rf"\b{stem}(?!{_DERIVING}\b)\w{{3,}}(?:-\w+)*|\b\w+(?:-\w+)*?{stem}(?:e|en|n|s|es|er|ern)?\b", re.IGNORECASE
    )
