"""A running batch: its cost so far, and the lines that must leave it."""

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from threading import Condition, Lock

from attendo.serving.core.shares import Shares
from attendo.serving.core.waiting import Line

_SETTLE_S = 0.02
"""Seconds between two settlements of a running batch."""
_USUAL_STEPS, _USUAL_STEPS_PER_TOKEN, _MOST_TOKENS = 20, 1.5, 64
"""Usual number of steps of small requests, and per token of the longest, up to the third number of tokens.

A batch that has had these steps yields to others of its flow, and lines of several requests share a batch for at most
that long. Steps are counted rather than seconds: on a slow machine, yielding by time would only split the work into
more and smaller batches, which is slower still.
"""


class Batch:
    """A running batch; its mutable state is guarded by the lock.

    Args:
        lines: the lines, of one kind.
        lock: the lock.
    """

    def __init__(self, lines: Sequence[Line], lock: Lock) -> None:
        self.lines = tuple(lines)
        self.resumed = Condition(lock)
        """Notified when the batch is given a hand."""
        self.cancelled: frozenset[int] = frozenset()
        """Numbers, from 1, of lines whose results are no longer needed."""
        self.ousted = False
        """Whether unfinished lines are put back into the queue, since they delay those of other requests."""
        self.has_hand = False
        """Whether the batch is running rather than paused."""
        self.rank = 0.0
        """Rank as of the last settlement; lower goes first."""
        self.ran_s = self.longest_s = 0.0
        """Seconds of work, and the longest time during which it could not be stopped."""
        flows = Counter(line.flow for line in lines)
        self._parts = {flow: count / len(lines) for flow, count in flows.items()}
        self._is_small = all(line.small for line in lines)
        self._all = frozenset(range(1, len(lines) + 1))
        self._settled_at = self._looked_at = 0.0
        self._steps = 0
        tokens = max(line.tokens for line in lines)
        self._usual_steps = _USUAL_STEPS + _USUAL_STEPS_PER_TOKEN * min(tokens, _MOST_TOKENS)
        self._late_s = 0.0  # worked beyond the usual steps
        several = len({id(line.item[0]) for line in lines}) > 1
        self._is_shared = several and (self._is_small or len(flows) > 1)

    @property
    def flows(self) -> AbstractSet[str]:
        """The flows of its lines."""
        return self._parts.keys()

    @property
    def leaving(self) -> AbstractSet[int]:
        """Numbers of the lines that leave before they are done."""
        return self._all if self.ousted else self.cancelled

    def cancel(self, lines: AbstractSet[int]) -> None:
        """Makes lines leave, by number; a batch without other lines is urgent, since it ends at its next step."""
        self.cancelled |= lines
        if self.cancelled == self._all:
            self.rank = float("-inf")

    def grant(self, shares: Shares) -> None:
        """Gives the batch a hand."""
        self.has_hand = True
        for flow in self._parts:
            shares.begin(flow)

    def wake(self, now: float) -> None:
        """Records that its thread works from now on."""
        self._settled_at = self._looked_at = now

    def look(self, now: float) -> bool:
        """Records a moment between two steps; returns whether a settlement is due."""
        self.longest_s = max(self.longest_s, now - self._looked_at)
        self._looked_at = now
        self._steps += 1
        if self._is_shared and self._steps > self._usual_steps:
            self.ousted = True
        return now - self._settled_at > _SETTLE_S

    def settle(self, now: float, shares: Shares) -> None:
        """Charges the work so far."""
        seconds, self._settled_at = now - self._settled_at, now
        self.ran_s += seconds
        if self._is_small and self._steps > self._usual_steps:
            self._late_s += seconds
        for flow, part in self._parts.items():
            shares.charge(flow, seconds * part)
        self.reckon(shares)

    def reckon(self, shares: Shares) -> None:
        """Updates the rank."""
        if self.cancelled != self._all:
            had = min(shares.had(flow) for flow in self._parts)
            self.rank = had + self._late_s
