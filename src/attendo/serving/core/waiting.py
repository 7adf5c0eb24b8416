"""The queue: lines of callers who take turns, removed in batches of one kind. No threads, no clock.

Flows take turns: a caller's small requests, large requests and documents are separate flows. A flow's lines leave in
order, and flows contribute lines alternately, however many are waiting. A batch has lines of only one `kind`, chosen by
the flow whose turn it is. So no caller waits for another's thousand lines, and rare options do not wait for ever. A
batch is answered as a whole, so only short lines of small requests share one, equally many from each flow.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from attendo.serving.config import BatchingConfig

_SHARED_TOKENS = 64
"""Maximum number of tokens of a line that may share a batch with other flows."""
_MAX_GARBAGE = 1000


@dataclass(kw_only=True, eq=False, slots=True)
class Line:
    """A waiting line."""

    caller: str
    """The caller, who has a share of the queue."""
    flow: str
    """The flow whose turn it takes."""
    kind: Hashable
    """The kind of work; lines of equal kinds can share a batch."""
    item: Any
    """The work."""
    characters: int
    """Number of characters of its text."""
    tokens: int
    """Estimated number of tokens of its text."""
    arrived: float
    """Time of arrival by `time.monotonic()`."""
    deadline: float | None = None
    """Time after which the line's result is no longer needed; None for never."""
    order: int = 0
    """The line's number in the order of arrival."""
    waits: bool = False
    """Whether it is in the queue."""
    small: bool = False
    """Whether it belongs to a small request; such a line does not wait long for others of its flow."""
    alone: bool = False
    """Whether it must be a batch by itself because it has delayed others."""


@dataclass(kw_only=True, slots=True)
class _Share:
    """The waiting lines of a caller."""

    lines: int = 0
    characters: int = 0


class WaitingLines:
    """The waiting lines.

    Args:
        config: the size of batches.
    """

    def __init__(self, config: BatchingConfig) -> None:
        self._config = config
        # The flow whose turn it is comes first; flows without lines are absent. Dropped lines stay in their rows until
        # they would be taken, or until many have accumulated: a client who leaves causes no search.
        self._rows: OrderedDict[str, dict[Hashable, deque[Line]]] = OrderedDict()
        self._shares: dict[str, _Share] = {}
        self._came = self._garbage = 0
        self.lines = 0
        """Number of waiting lines."""
        self.characters = 0
        """Number of characters of all waiting lines."""
        self.expired = 0
        """Number of lines whose deadline had passed when it was their turn."""

    def share(self, caller: str) -> tuple[int, int]:
        """Returns the number of a caller's waiting lines, and of their characters."""
        share = self._shares.get(caller)
        return (0, 0) if share is None else (share.lines, share.characters)

    def flows(self, may_begin: Callable[[Hashable], bool] = lambda kind: True) -> Iterable[str]:
        """Returns the flows that have lines of a kind that can be worked on now."""
        return [flow for flow, rows in self._rows.items() if any(may_begin(kind) for kind in rows)]

    def add(self, lines: Sequence[Line]) -> None:
        """Adds lines at the end of their flows' queues."""
        for line in lines:
            self._came += 1
            line.order, line.waits = self._came, True
            self._row(line).append(line)
            self._count(line, 1)

    def put_back(self, lines: Sequence[Line]) -> None:
        """Puts removed lines back at the beginning of their flows' queues, in order."""
        for line in reversed(lines):
            line.waits = True
            self._row(line).appendleft(line)
            self._count(line, 1)

    def drop(self, lines: Sequence[Line]) -> int:
        """Removes lines that are no longer needed.

        Args:
            lines: the lines; lines no longer in the queue are ignored.

        Returns:
            The number of lines that were waiting.
        """
        waiting = [line for line in lines if line.waits]
        for line in waiting:
            self._leave(line)
        self._garbage += len(waiting)
        if self._garbage > _MAX_GARBAGE + self.lines:
            self._tidy()
        return len(waiting)

    def oldest(self) -> float | None:
        """Returns the arrival time of the line that has waited longest; None if there is none."""
        return min((row[0].arrived for rows in self._rows.values() for row in rows.values()), default=None)

    def take(
        self,
        now: float,
        *,
        threads: int = 1,
        first: str | None = None,
        may_begin: Callable[[Hashable], bool] = lambda kind: True,
    ) -> list[Line]:
        """Removes a batch from the queue.

        Args:
            now: lines whose deadline is not later are dropped, and counted in `expired`.
            threads: the number of threads that wait for a batch, including this one, which share the lines.
            first: the flow whose turn it is; None for the one whose last line was longest ago.
            may_begin: whether work on a kind may begin now.

        Returns:
            Lines of one kind; empty if there are none.
        """
        if first is not None and first in self._rows:
            self._rows.move_to_end(first, last=False)
        while (kind := self._next_kind(may_begin)) is not None:
            if batch := self._take(kind, now, threads):
                return batch
        return []

    def _take(self, kind: Hashable, now: float, threads: int) -> list[Line]:
        ready = sum(len(rows[kind]) for rows in self._rows.values() if kind in rows)
        most = min(self._config.max_batch_lines, -(-ready // max(1, threads)))
        batch: list[Line] = []
        lines: list[Line] = []
        closed: set[str] = set()  # flows whose next line cannot be in this batch
        longest = 0
        for turn, line in self._in_turn(kind, closed):
            if turn and turn >= self._turns(batch):
                break
            if line.waits and (line.deadline is None or line.deadline > now):
                if batch and not _go_together(batch, line):
                    closed.add(line.flow)
                    continue
                longest = max(longest, line.tokens)
                if batch and (len(batch) >= most or longest * (len(batch) + 1) > self._config.max_batch_tokens):
                    break
                batch.append(line)
            elif line.waits:
                self.expired += 1
            lines.append(line)
        self._remove(kind, lines)
        return batch

    def _next_kind(self, may_begin: Callable[[Hashable], bool]) -> Hashable | None:
        """Returns the kind of the oldest line of the first flow that has any executable line."""
        for rows in self._rows.values():
            if heads := [row[0] for kind, row in rows.items() if may_begin(kind)]:
                return min(heads, key=lambda line: line.order).kind
        return None

    def _turns(self, batch: Sequence[Line]) -> float:
        """Returns how many lines a flow may contribute: with several flows, as many as the smallest one has."""
        flows = {line.flow for line in batch}
        return min(len(self._rows[flow][batch[0].kind]) for flow in flows) if len(flows) > 1 else float("inf")

    def _in_turn(self, kind: Hashable, closed: AbstractSet[str]) -> Iterator[tuple[int, Line]]:
        """Yields lines of a kind with the number of their turn: one per flow and turn; none from a closed flow."""
        rows = [(flow, iter(rows[kind])) for flow, rows in self._rows.items() if kind in rows]
        turn = 0
        while rows:
            going_on = []
            for flow, row in rows:
                if flow not in closed and (line := next(row, None)) is not None:
                    yield turn, line
                    going_on.append((flow, row))
            rows, turn = going_on, turn + 1

    def _row(self, line: Line) -> deque[Line]:
        return self._rows.setdefault(line.flow, {}).setdefault(line.kind, deque())

    def _remove(self, kind: Hashable, taken: Sequence[Line]) -> None:
        """Removes lines from the beginnings of queues; flows that contributed one go to the end."""
        for line in taken:
            first = self._rows[line.flow][kind].popleft()
            assert first is line
            if line.waits:
                self._leave(line)
            else:
                self._garbage -= 1
        for flow in dict.fromkeys(line.flow for line in taken):
            self._rows.move_to_end(flow)
            self._forget_empty(flow)

    def _leave(self, line: Line) -> None:
        line.waits = False
        self._count(line, -1)

    def _count(self, line: Line, sign: int) -> None:
        share = self._shares.setdefault(line.caller, _Share())
        share.lines += sign
        share.characters += sign * line.characters
        self.lines += sign
        self.characters += sign * line.characters
        if not share.lines:
            del self._shares[line.caller]

    def _tidy(self) -> None:
        """Forgets dropped lines."""
        for flow, rows in list(self._rows.items()):
            for kind, row in rows.items():
                rows[kind] = deque(line for line in row if line.waits)
            self._forget_empty(flow)
        self._garbage = 0

    def _forget_empty(self, flow: str) -> None:
        rows = self._rows[flow]
        for kind in [kind for kind, row in rows.items() if not row]:
            del rows[kind]
        if not rows:
            del self._rows[flow]


def _go_together(batch: Sequence[Line], line: Line) -> bool:
    """Whether a line can share a batch: with lines of its flow, or, if short and small, with similar ones."""
    if line.alone or batch[0].alone:
        return False
    if all(each.flow == line.flow for each in batch):
        return True
    return all(each.small and each.tokens <= _SHARED_TOKENS for each in (line, *batch))
