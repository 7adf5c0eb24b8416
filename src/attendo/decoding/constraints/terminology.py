"""Terms that translations use: what the search asks of a glossary, and what became of each term."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Outcome = Literal["kept", "inflected", "forced", "missed"]
"""What became of a term: the translation has it as the glossary does, or in another form; or the search was made to use
one of its forms; or it is not there, or has a forbidden word."""
OUTCOMES: tuple[Outcome, ...] = ("kept", "inflected", "forced", "missed")


@dataclass(frozen=True, kw_only=True, slots=True)
class TermUse:
    """The use of a term in the translation of one line."""

    source: str
    """The term as the glossary has it."""
    target: str
    """The translation as the glossary has it; of a term that only forbids words, those."""
    outcome: Outcome
    """The outcome."""
    form: str = ""
    """The words of the translation that stand for it; empty where it was missed."""

    def __str__(self) -> str:
        return f"{self.source!r} as {self.target!r}"


class RequiredTerm(Protocol):
    """A term that occurs in a source, and what its translation has to have for it."""

    @property
    def source(self) -> str:
        """The term as the glossary has it."""

    @property
    def target(self) -> str:
        """The translation as the glossary has it; empty where only words are forbidden."""

    @property
    def likely(self) -> tuple[str, ...]:
        """The forms that a search may write; none where only words are forbidden."""

    @property
    def forbidden(self) -> tuple[str, ...]:
        """Words that the translation must not have."""

    @property
    def is_exact(self) -> bool:
        """Whether upper and lower case count."""

    def use_in(self, text: str) -> TermUse:
        """Returns how a translation uses the term."""


class Terminology(Protocol):
    """A source of required translations, such as a glossary."""

    def required(self, text: str) -> Sequence[RequiredTerm]:
        """The terms that occur in a source, each once."""


def count_outcomes(uses: Iterable[TermUse]) -> Counter[Outcome]:
    """Counts terms by outcome."""
    return Counter(use.outcome for use in uses)


def missed_message(uses: Iterable[TermUse]) -> str | None:
    """Names the terms that were missed, for people; None where there are none."""
    missed = [str(use) for use in uses if use.outcome == "missed"]
    return f"terms of the glossary that the translation does not use: {', '.join(missed)}" if missed else None
