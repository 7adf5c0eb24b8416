"""What an engine gives: a line's translations, and what has been done in all."""

from collections import Counter
from dataclasses import dataclass, field

from attendo.decoding.config import GuardName
from attendo.decoding.guards.words import WordNumbers


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One of a sentence's translations."""

    text: str
    """The translation."""
    ids: tuple[int, ...]
    """Target ids without `</s>`."""
    pieces: tuple[str, ...]
    """What each id stands for, and `</s>` at the end: U+2581 is a space, `<0xE2>` a byte. They are what the model has
    written, before guards put back what they had taken out; of sentences translated one by one each has its `</s>`."""
    log_prob: float
    """Natural logarithm of its probability, `</s>` included."""
    score: float
    """`log_prob` over the length penalty; higher is better."""
    token_log_probs: tuple[float, ...]
    """One of each of the pieces."""
    finished: bool
    """False where the length limit ended it though another token than `</s>` was the most probable."""
    words: WordNumbers | None = None
    """Of each word that the model has written the numbers of the text's; None where they are the same."""


@dataclass(frozen=True, kw_only=True)
class Translation:
    """A line and what became of it."""

    source: str
    """The line as it was given."""
    text: str
    """Its best translation; empty for a line of white space."""
    score: float
    """The best translation's score; 0 where the model has translated nothing, such as white space."""
    log_prob: float
    """The best translation's log-probability; 0 where the model has translated nothing."""
    n_best: tuple[Candidate, ...]
    """The best translation and the next ones, as many as were asked for; one where the model has translated nothing."""
    source_truncated: bool = False
    """Whether the line was longer than `max_source_tokens`, so that only its beginning was translated."""
    guards: tuple[GuardName, ...] = ()
    """The guards that had something to do."""
    read: str
    """What the model has read: the line without its end or, where guards have changed it, what they made of it."""
    words: WordNumbers | None = None
    """Of each word that the model has read the numbers of the line's; None where they are the same."""


@dataclass(kw_only=True)
class Counts:
    """What an engine has done so far; tokens count each `</s>`."""

    lines: int = 0
    """Lines translated."""
    empty: int = 0
    """Of them, lines of white space."""
    truncated: int = 0
    """Of them, lines that were cut."""
    unfinished: int = 0
    """Of them, lines whose translation was ended by the length limit."""
    source_tokens: int = 0
    """Tokens read; a line that is looked at twice counts once."""
    target_tokens: int = 0
    """Tokens of the best translations."""
    guards: Counter[GuardName] = field(default_factory=Counter)
    """Lines that each guard had something to do with."""

    def add(self, translation: Translation, source_tokens: int) -> None:
        """Counts a line in.

        Args:
            translation: what became of it.
            source_tokens: that were read of it.
        """
        best = translation.n_best[0]
        self.lines += 1
        self.empty += not translation.source.strip()
        self.truncated += translation.source_truncated
        self.unfinished += not best.finished
        self.source_tokens += source_tokens
        self.target_tokens += len(best.token_log_probs)
        self.guards.update(translation.guards)
