"""Terms that translations use: the search's interface to a glossary, and the outcome for each term."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Outcome = Literal["kept", "inflected", "forced", "missed"]
"""The outcome for a term: the translation uses the glossary's form, or another form; a search was forced to use one of
its forms; or it is missing, or has a forbidden word."""
OUTCOMES: tuple[Outcome, ...] = ("kept", "inflected", "forced", "missed")


@dataclass(frozen=True, kw_only=True, slots=True)
class TermUse:
    """The use of a term in the translation of one line."""

    source: str
    """The term as the glossary has it."""
    target: str
    """The translation as the glossary has it; for a term that only forbids words, those words."""
    outcome: Outcome
    """The outcome of the term."""
    form: str = ""
    """The words of the translation that stand for the term; empty if it was missed."""

    def __str__(self) -> str:
        return f"{self.source!r} as {self.target!r}"


class RequiredTerm(Protocol):
    """A term that occurs in a source, and the requirements on its translation."""

    @property
    def source(self) -> str:
        """The term as the glossary has it."""

    @property
    def target(self) -> str:
        """The translation as the glossary has it; empty if the term only forbids words."""

    @property
    def likely(self) -> tuple[str, ...]:
        """The forms that a search may write; empty if the term only forbids words."""

    @property
    def forbidden(self) -> tuple[str, ...]:
        """Words that the translation must not have."""

    @property
    def is_exact(self) -> bool:
        """Whether letter case matters."""

    def use_in(self, text: str) -> TermUse:
        """Returns how a translation uses the term."""


class Terminology(Protocol):
    """A source of required translations, such as a glossary."""

    def required(self, text: str) -> Sequence[RequiredTerm]:
        """The terms that occur in a source, without repetition."""


def count_outcomes(uses: Iterable[TermUse]) -> Counter[Outcome]:
    """Counts terms by outcome."""
    return Counter(use.outcome for use in uses)


def missed_message(uses: Iterable[TermUse]) -> str | None:
    """A readable message that names the missed terms; None if there are none."""
    missed = [str(use) for use in uses if use.outcome == "missed"]
    return f"terms of the glossary that the translation does not use: {', '.join(missed)}" if missed else None
