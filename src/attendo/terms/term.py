"""A term of a glossary, what a translation has to have for it, and what became of it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Outcome = Literal["kept", "inflected", "forced", "missed"]
"""What became of a term: the translation has it as the glossary does, or in another form; or the search was made to use
one of its forms; or it is not there, or has a forbidden word."""
OUTCOMES: tuple[Outcome, ...] = ("kept", "inflected", "forced", "missed")


@dataclass(frozen=True, kw_only=True, slots=True)
class Term:
    """A word or phrase, and how it is to be translated.

    A term whose target is its source is not to be translated: it is looked for and kept to the letter.
    """

    source: str
    """The word or phrase; upper and lower case do not differ, unless it is all capitals."""
    target: str
    """Its translation, as a dictionary has it; empty where only words are forbidden."""
    forms: tuple[str, ...] = ()
    """Inflected forms of the target, besides those that the rules of the language give."""
    alternatives: tuple[str, ...] = ()
    """Other translations that are accepted."""
    forbidden: tuple[str, ...] = ()
    """Translations that must not be used for the source."""
    comment: str = ""
    """A note for people."""

    @property
    def is_verbatim(self) -> bool:
        """Whether it is not to be translated."""
        return self.source == self.target


@dataclass(frozen=True, kw_only=True, slots=True)
class RequiredTerm:
    """A term of a sentence, with all forms that its translation may have."""

    source: str
    """The term as the glossary has it."""
    target: str
    """The translation as the glossary has it; empty where only words are forbidden."""
    forms: tuple[str, ...]
    """The forms of which the translation needs one, the glossary's own first; none where only words are forbidden."""
    likely: tuple[str, ...] = ()
    """The forms that a search may write: those that the glossary gives, else those of the rules; and of them those that
    can have the number that the term has in the source, where some can."""
    forbidden: tuple[str, ...] = ()
    """Words that the translation must not have."""
    is_exact: bool = False
    """Whether upper and lower case count."""
    in_compounds: bool = False
    """Whether the target may be a part of a longer word."""
    by_letters: bool = False
    """Whether the target's language writes no spaces between words."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TermUse:
    """What became of a term in one line."""

    source: str
    """The term as the glossary has it."""
    target: str
    """The translation as the glossary has it; of a term that only forbids words, those."""
    outcome: Outcome
    """What became of it."""
    form: str = ""
    """The words of the translation that stand for it; empty where it was missed."""

    def __str__(self) -> str:
        return f"{self.source!r} as {self.target!r}"


def count_outcomes(uses: Iterable[TermUse]) -> Counter[Outcome]:
    """How many terms had each outcome."""
    return Counter(use.outcome for use in uses)


def missed_message(uses: Iterable[TermUse]) -> str | None:
    """Names the terms that were missed, for people; None where there are none."""
    missed = [str(use) for use in uses if use.outcome == "missed"]
    return f"terms of the glossary that the translation does not use: {', '.join(missed)}" if missed else None
