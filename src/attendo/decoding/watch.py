"""The checks of a search between two decoder steps: cancelled lines, and whether to yield to other work."""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

BetweenSteps = Callable[[], AbstractSet[int]]
"""Called between two decoder steps in the thread that searches, which may be one of several.

It returns the numbers of all lines cancelled so far; these leave the batch like finished ones. It may take time for
more urgent work. An exception from it ends the search."""

_NONE: frozenset[int] = frozenset()
_CHARACTERS = 200
"""Number of characters that are read or checked without a pause, which takes about five milliseconds."""


class Cancelled(Exception):  # not an error: the search of a single sentence catches it
    """The only sentence of a search is cancelled."""


def nobody() -> AbstractSet[int]:
    """Cancels no line: the `BetweenSteps` of a search that is never stopped."""
    return _NONE


class Pauses:
    """Pauses while reading and checking, which for long text take as long as many decoder steps.

    Args:
        between_steps: called in a pause.
    """

    def __init__(self, between_steps: BetweenSteps = nobody) -> None:
        self._between_steps = between_steps
        self._characters = 0  # since the last pause

    def before(self, text: str) -> None:
        """Pauses before work on a text, if the work since the last pause has taken as long as a few decoder steps."""
        self._characters += len(text)
        if self._characters > _CHARACTERS:
            self._characters = 0
            self._between_steps()


@dataclass(frozen=True, kw_only=True)
class Watch:
    """The sentences of a search, and the function to call about them between steps."""

    between_steps: BetweenSteps = nobody
    """Called between two steps."""
    lines: Sequence[int] = ()
    """The line number of each sentence; empty if no line can be cancelled."""

    def of(self, sentences: Sequence[int]) -> "Watch":
        """The watch over some of the sentences.

        Args:
            sentences: their indices among the sentences of this watch.
        """
        lines = [self.lines[sentence] for sentence in sentences] if self.lines else ()
        return Watch(between_steps=self.between_steps, lines=lines)

    def cancelled(self) -> AbstractSet[int]:
        """Calls `between_steps`, and returns the indices of the sentences whose lines are cancelled."""
        numbers = self.between_steps()
        return {place for place, line in enumerate(self.lines) if line in numbers} if numbers else _NONE


UNWATCHED = Watch()
"""The watch of sentences that are never cancelled."""
