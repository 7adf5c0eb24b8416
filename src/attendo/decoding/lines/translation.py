"""The results of an engine: the translations of a line, and totals over all lines."""

from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from attendo.decoding.config import GuardName
from attendo.decoding.constraints.terminology import Outcome, TermUse, count_outcomes
from attendo.decoding.guards.words import WordNumbers

_MAX_MISSED = 100
"""Missed terms that are remembered with their lines; all are counted."""
_MAX_SHOWN = 60
"""Characters of a text that a `repr` shows."""


MatchKind = Literal["exact", "changed", "fuzzy"]
"""Whether a translation memory has the same text, one that has other numbers or placeholders, or a similar one."""


@dataclass(frozen=True, kw_only=True)
class MemoryMatch:
    """A match of a text in a translation memory."""

    kind: MatchKind
    score: int
    """101 for the same text in the same context, 100 for the same text, 99 where values alone differ; for a similar
    text, the percentage of words in common."""
    source: str
    """The text in the memory."""
    target: str
    """The span of the segment in the translation."""
    text: str
    """The translation to take; empty for a similar text, whose translation is only used by the model."""
    num_others: int = 0
    """Other translations that the memory has of the same text in as good a context."""

    def as_json(self) -> dict[str, str | int]:
        """The match as reports have it."""
        return {
            "kind": self.kind,
            "score": self.score,
            "source": self.source,
            "target": self.target,
            "others": self.num_others,
        }


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One of the translations of a text."""

    text: str
    """The translation."""
    ids: tuple[int, ...]
    """Target ids without `</s>`."""
    pieces: tuple[str, ...]
    """The piece of each id, and `</s>` at the end: U+2581 is a space, `<0xE2>` a byte. These are the model's output,
    before guards restored anything. If sentences or lines were translated separately, each ends with its own `</s>`."""
    log_prob: float
    """Natural logarithm of the probability, `</s>` included; the sum over the lines of a text."""
    score: float
    """`log_prob` divided by the length penalty; higher is better."""
    token_log_probs: tuple[float, ...]
    """The log-probability of each of the pieces."""
    finished: bool
    """False if the length limit ended the translation before the model wrote `</s>`."""
    words: WordNumbers | None = None
    """For each word that the model wrote, the numbers of the words of `text`; None if the numbers are the same."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Translation:
    """A text and its translation; `str(translation)` is the translated text."""

    source: str
    """The given text."""
    text: str
    """The best translation; empty if the source is white space."""
    score: float
    """The score of the best translation; 0 if the source is white space."""
    log_prob: float
    """The log-probability of the best translation; 0 if the source is white space."""
    n_best: tuple[Candidate, ...]
    """The best translations; `search.n_best` of them. For a text of several lines, candidate n consists of the n-th
    best translation of each line."""
    source_truncated: bool = False
    """Whether a line was longer than `max_source_tokens`, so that only its beginning was translated."""
    guards: tuple[GuardName, ...] = ()
    """The guards that acted on the text."""
    problems: tuple[str, ...] = ()
    """Sentences that report what the best translation lacks or has in excess, such as numbers that the source does not
    have, or words of the source that nothing in it corresponds to."""
    terms: tuple[TermUse, ...] = ()
    """The use of each term of the glossary that occurs in the text, sentence by sentence."""
    read: str
    """The text that the model read: the source without a line end at its end, or as changed by the guards."""
    words: WordNumbers | None = None
    """For each word that the model read, the numbers of the words of `source`; None if the numbers are the same, and
    for a text of several lines."""
    lines: tuple["Translation", ...] = ()
    """The translation of each line of a text of several lines; empty for a text of one line."""
    match: MemoryMatch | None = None
    """The match of a translation memory for the text, if there was one; for a text of several lines see `lines`."""

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Translation({_shown(self.text)}, source={_shown(self.source)}, score={self.score:.3f})"


@dataclass(kw_only=True)
class Counts:
    """Counts of an engine's translations so far; each line of a text counts, and each `</s>` is a token."""

    lines: int = 0
    """Number of translated lines."""
    empty: int = 0
    """Number of lines of white space."""
    truncated: int = 0
    """Number of lines that were cut."""
    unfinished: int = 0
    """Number of lines whose translation was ended by the length limit."""
    problems: int = 0
    """Number of lines whose translation has `Translation.problems` other than missed terms, which `terms` counts."""
    source_tokens: int = 0
    """Number of source tokens; a line that is searched twice counts once."""
    target_tokens: int = 0
    """Number of tokens of the best translations."""
    guards: Counter[GuardName] = field(default_factory=Counter)
    """Number of lines on which each guard acted."""
    terms: Counter[Outcome] = field(default_factory=Counter)
    """Number of terms of glossaries by their outcome."""
    missed_terms: tuple[tuple[int, str], ...] = ()
    """The first missed terms of each part: the number of the line, and the term."""
    matches: Counter[MatchKind] = field(default_factory=Counter)
    """Number of lines with a translation memory match, by its kind; similar matches count only if used."""

    def add(self, translation: Translation, source_tokens: int, number: int = 0) -> None:
        """Adds a line to the counts.

        Args:
            translation: the line's translation.
            source_tokens: number of its tokens that were read.
            number: the line's number, from 1; 0 if it has none.
        """
        best = translation.n_best[0]
        self.lines += 1
        self.empty += not translation.source.strip()
        self.truncated += translation.source_truncated
        self.unfinished += not best.finished
        has_missed = any(use.outcome == "missed" for use in translation.terms)
        self.problems += len(translation.problems) > has_missed
        self.source_tokens += source_tokens
        self.target_tokens += len(best.token_log_probs)
        self.guards.update(translation.guards)
        if translation.terms:
            self.terms.update(count_outcomes(translation.terms))
            missed = ((number, str(use)) for use in translation.terms if use.outcome == "missed")
            self.missed_terms += tuple(islice(missed, max(0, _MAX_MISSED - len(self.missed_terms))))


def _shown(text: str) -> str:
    """A text as Python writes it, shortened."""
    return repr(text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…")
