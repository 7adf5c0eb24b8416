"""What a search checks between two decoder steps: cancelled lines, and whether to yield to other work."""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

BetweenSteps = Callable[[], AbstractSet[int]]
"""Called between two decoder steps in the thread that searches, which may be one of several.

It gives the numbers of the lines that are cancelled, all of them so far; they leave the batch as finished ones do. It
may take its time, for work that is more urgent. What it raises ends the search."""

_NONE: frozenset[int] = frozenset()
_CHARACTERS = 200
"""Number of characters that are read or checked without a pause, which takes about five milliseconds."""


class Cancelled(Exception):  # no error of anybody's: whoever searches a sentence by itself catches it
    """The only sentence of a search is cancelled."""


def nobody() -> AbstractSet[int]:
    """Cancels no line: the `BetweenSteps` of a search that nobody stops."""
    return _NONE


class Pauses:
    """Pauses in work on text that is no search: reading and checking, which for long text take as long as many steps.

    Args:
        between_steps: called in a pause.
    """

    def __init__(self, between_steps: BetweenSteps = nobody) -> None:
        self._between_steps = between_steps
        self._characters = 0  # since the last pause

    def before(self, text: str) -> None:
        """Pauses before work on a text, where that on those before it has been as long as a few decoder steps."""
        self._characters += len(text)
        if self._characters > _CHARACTERS:
            self._characters = 0
            self._between_steps()


@dataclass(frozen=True, kw_only=True)
class Watch:
    """The sentences of a search, and whom to ask about them."""

    between_steps: BetweenSteps = nobody
    """Asked between two steps."""
    lines: Sequence[int] = ()
    """The number of the line that each sentence is of; empty where no line can be cancelled."""

    def of(self, sentences: Sequence[int]) -> "Watch":
        """The watch over some of the sentences.

        Args:
            sentences: their places among those of this watch.
        """
        lines = [self.lines[sentence] for sentence in sentences] if self.lines else ()
        return Watch(between_steps=self.between_steps, lines=lines)

    def cancelled(self) -> AbstractSet[int]:
        """Asks once, and gives the places of the sentences whose lines are cancelled."""
        numbers = self.between_steps()
        return {place for place, line in enumerate(self.lines) if line in numbers} if numbers else _NONE


UNWATCHED = Watch()
"""Over sentences that nobody cancels."""
