"""The speed of a job, measured over its last minutes, once there is enough data."""

from collections import deque
from dataclasses import dataclass

WINDOW_S = 180.0
"""Length in seconds of the sliding window; older progress, such as on a busier machine, no longer counts."""
ENOUGH_S = 10.0
"""Seconds of work before a rate is worth showing."""
_BURST_S = 1.0
"""Seconds within which results count as produced together, in the time before the first of them."""


@dataclass
class _Burst:
    began_s: float
    done: float
    """Number of items finished at the end of the burst."""


class Pace:
    """The rate of a job whose results arrive singly or in bursts.

    A window of lines takes half a minute to translate, then all its lines arrive within milliseconds. So results that
    arrive together count as one burst, and the rate is measured from the start of one burst to the start of another.

    Args:
        now_s: the time at the start, in seconds of a monotonic clock.
        done: number of items finished before the start.
    """

    def __init__(self, now_s: float, done: float = 0.0) -> None:
        self._bursts = deque([_Burst(now_s, done)])

    def update(self, now_s: float, done: float) -> None:
        """Records the number of items finished so far."""
        last = self._bursts[-1]
        if now_s - last.began_s < _BURST_S:
            last.done = done
            return
        self._bursts.append(_Burst(now_s, done))
        while len(self._bursts) > 3 and self._bursts[1].began_s <= now_s - WINDOW_S:
            self._bursts.popleft()

    @property
    def rate(self) -> float | None:
        """Items per second over the last minutes; None until there is enough data."""
        if len(self._bursts) < 3:
            return None
        first, last = self._bursts[0], self._bursts[-2]  # the newest burst may still be growing
        seconds = last.began_s - first.began_s
        return max(last.done - first.done, 0.0) / seconds if seconds >= ENOUGH_S else None
