"""Rate limits per minute: token buckets, which use no memory once they are full.

A bucket holds a minute's worth and fills evenly. A caller with an empty bucket waits until it holds the
price again; a price above its capacity takes a full bucket, and leaves it in debt. So a limit never blocks
a single allowed request for ever, and never more than a minute's worth is used at once.
"""

from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from attendo.serving.errors import too_many_requests

_MAX_BUCKETS = 100_000


@dataclass(kw_only=True, slots=True)
class _Bucket:
    content: float
    """Available amount at the time `at`."""
    at: float
    """Time in seconds of the clock."""


class Buckets:
    """Token buckets by name.

    Args:
        max_names: maximum number of buckets; beyond it the least recently used one is forgotten, which fills it.
    """

    def __init__(self, max_names: int = _MAX_BUCKETS) -> None:
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()
        self._max_names = max_names

    def wait_s(self, name: str, price: float, per_minute: int, now: float) -> float:
        """Computes the seconds until an amount is available; 0 if it is now.

        Args:
            name: the name of the bucket.
            price: the amount.
            per_minute: the capacity of the bucket, which is also its supply per minute.
            now: the time in seconds of any monotonic clock.
        """
        missing = min(price, per_minute) - self._content(name, per_minute, now)
        return max(0.0, missing * 60 / per_minute)

    def pay(self, name: str, price: float, per_minute: int, now: float) -> None:
        """Takes an amount out, even if there is less; for the arguments see `wait_s`."""
        content = self._content(name, per_minute, now)
        self._buckets[name] = _Bucket(content=content - price, at=now)
        self._buckets.move_to_end(name)
        while len(self._buckets) > self._max_names:
            self._buckets.popitem(last=False)

    def forget_full(self, now: float) -> None:
        """Forgets buckets that have filled up: an unknown bucket is a full one.

        A bucket in debt is kept for as long as that lasts, at most.
        """
        while self._buckets:
            name, bucket = next(iter(self._buckets.items()))
            if now - bucket.at < 60 or (bucket.content < 0 and now - bucket.at < 3600):
                return
            del self._buckets[name]

    def __len__(self) -> int:
        return len(self._buckets)

    def _content(self, name: str, per_minute: int, now: float) -> float:
        bucket = self._buckets.get(name)
        if bucket is None:
            return per_minute
        return min(per_minute, bucket.content + (now - bucket.at) * per_minute / 60)


class InWork:
    """Counts each caller's requests that are being received or answered.

    Args:
        most: the maximum per caller.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._counts: Counter[str] = Counter()

    @contextmanager
    def entered(self, name: str | None) -> Iterator[None]:
        """Counts a request for the duration of the block.

        Args:
            name: the name of the caller; None is not counted.

        Raises:
            ServingError: 429, the caller has too many already.
        """
        if name is None:
            yield
            return
        if self._counts[name] >= self._most:
            raise too_many_requests(f"more than {self._most:,} requests at the same time", 1.0)
        self._counts[name] += 1
        try:
            yield
        finally:
            self._counts[name] -= 1
            if not self._counts[name]:
                del self._counts[name]
