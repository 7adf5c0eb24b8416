"""How fast a job goes, by its last minutes, once there is enough to tell by."""

from collections import deque
from dataclasses import dataclass

WINDOW_S = 180.0
"""Seconds that a rate is the mean of: what came before, such as a busier machine, no longer counts."""
ENOUGH_S = 10.0
"""Seconds of work before a rate is worth showing."""
_BURST_S = 1.0
"""Results that come within so many seconds of each other were made together, in the time before the first of them."""


@dataclass
class _Burst:
    began_s: float
    done: float
    """How many were done at its end."""


class Pace:
    """The rate of a job whose results come one by one or many at once.

    A window of lines is translated for half a minute and then comes line after line within milliseconds. So results
    that come together count as one burst, and a rate is measured from the beginning of a burst to that of another.

    Args:
        now_s: the time at the start, in seconds of a monotonic clock.
        done: how many were done before.
    """

    def __init__(self, now_s: float, done: float = 0.0) -> None:
        self._bursts = deque([_Burst(now_s, done)])

    def update(self, now_s: float, done: float) -> None:
        """Notes how many are done by now."""
        last = self._bursts[-1]
        if now_s - last.began_s < _BURST_S:
            last.done = done
            return
        self._bursts.append(_Burst(now_s, done))
        while len(self._bursts) > 3 and self._bursts[1].began_s <= now_s - WINDOW_S:
            self._bursts.popleft()

    @property
    def rate(self) -> float | None:
        """How many a second, over the last minutes; None before there is enough to tell by."""
        if len(self._bursts) < 3:
            return None
        first, last = self._bursts[0], self._bursts[-2]  # the newest burst may not be over yet
        seconds = last.began_s - first.began_s
        return max(last.done - first.done, 0.0) / seconds if seconds >= ENOUGH_S else None
