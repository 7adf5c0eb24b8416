"""Identifies callers by keys and addresses, and applies their limits."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from attendo.serving.access.keys import Key, KeyRing
from attendo.serving.access.limits import Buckets
from attendo.serving.config import KeysConfig, LimitsConfig
from attendo.serving.errors import forbidden, quota_exceeded, too_large, too_many_requests, unauthorized
from attendo.serving.http.addresses import address_name
from attendo.serving.translating import Caller

MAX_KEY_CHARACTERS = 200
"""Maximum length of a key; longer ones are invalid."""


@dataclass(frozen=True, kw_only=True)
class Usage:
    """A caller's usage this month."""

    characters: int
    """Characters of texts accepted for translation."""
    limit: int | None
    """Maximum number of characters; None for no limit."""


class Callers:
    """Identifies callers by their keys or addresses, and applies their limits.

    Args:
        keys: the valid keys.
        limits: the limits of callers without a key, and of every request.
        config: whether a key is required.
        spent: the characters that keys have used, by month and id, as `spent` returns them.
        clock: a monotonic clock in seconds.
        now: returns the time in UTC.
    """

    def __init__(
        self,
        keys: KeyRing,
        limits: LimitsConfig,
        config: KeysConfig,
        *,
        spent: dict[str, dict[str, int]] | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._keys, self._limits, self._config, self._clock, self._now = keys, limits, config, clock, now
        self._requests, self._characters = Buckets(), Buckets()
        self._month = self._this_month()
        self._spent: Counter[str] = Counter((spent or {}).get(self._month, {}))

    @property
    def key_required(self) -> bool:
        """Whether every caller needs a key."""
        return self._config.file is not None and self._config.required

    @property
    def knows_keys(self) -> bool:
        """Whether there are keys at all; if not, keys in requests are ignored."""
        return self._config.file is not None

    def knows(self, shown: str) -> bool:
        """Whether a key is valid at the moment; this call is not counted."""
        key = self._keys.find(shown) if len(shown) <= MAX_KEY_CHARACTERS else None
        return key is not None and not key.has_expired(self._now())

    def renew(self, keys: KeyRing) -> None:
        """Replaces the keys; counts so far stay."""
        self._keys = keys

    def identify(self, address: str, shown: str | None) -> Caller:
        """Identifies the caller.

        Args:
            address: the address of the caller, as a trusted proxy forwards it.
            shown: the key in the request; None or empty for none.

        Raises:
            ServingError: 401 without a required key, 403 with an unknown or expired one; 429
                if an address has tried too many.
        """
        name = address_name(address, self._limits.ip6_prefix)
        if not self.knows_keys or not shown:
            if self.key_required:
                self._charge_failure(name)
                raise unauthorized("an API key is needed; ask whoever runs this server for one")
            return Caller(name=name)
        key = self._keys.find(shown) if len(shown) <= MAX_KEY_CHARACTERS else None
        if key is None or key.has_expired(self._now()):
            self._charge_failure(name)
            raise forbidden("this API key is unknown or has expired")
        return Caller(name=f"key:{key.id}", key=key)

    def max_characters(self, caller: Caller) -> int:
        """Returns the maximum number of characters per request of this caller."""
        own = caller.key.max_characters if caller.key is not None else None
        return self._limits.max_characters if own is None else own

    def admit(self, caller: Caller, *, characters: int, items: int = 1, max_characters: int | None = None) -> None:
        """Counts a request, or refuses it; a refused request is not counted.

        Args:
            caller: the caller.
            characters: the number of characters of all its texts.
            items: the number of texts.
            max_characters: the maximum for a request of this kind; None for that of `max_characters()`.

        Raises:
            ServingError: 413 too large, 429 too many for a minute, 456 too many for a month.
        """
        most = self.max_characters(caller) if max_characters is None else max_characters
        if items > self._limits.max_items:
            raise too_large(f"{items:,} texts are more than the {self._limits.max_items:,} of a request; send fewer")
        if characters > most:
            raise too_large(f"{characters:,} characters are more than the {most:,} of a request; send fewer at a time")
        self._keep_month()
        key, now = caller.key, self._clock()
        for buckets, price, limit, noun in self._prices(caller, characters):
            if limit is not None and (wait_s := buckets.wait_s(caller.name, price, limit, now)) > 0:
                raise too_many_requests(f"more than {limit:,} {noun} a minute", wait_s)
        if key is not None and key.characters_per_month is not None:
            left = key.characters_per_month - self._spent[key.id]
            if characters > left:
                raise quota_exceeded(
                    f"the key has {max(0, left):,} characters left this month, and this takes {characters:,}"
                )
        for buckets, price, limit, _ in self._prices(caller, characters):
            if limit is not None:
                buckets.pay(caller.name, price, limit, now)
        if key is not None:
            self._spent[key.id] += characters

    def usage(self, caller: Caller) -> Usage:
        """Returns a caller's usage this month; callers without a key are not counted."""
        self._keep_month()
        if caller.key is None:
            return Usage(characters=0, limit=None)
        return Usage(characters=self._spent[caller.key.id], limit=caller.key.characters_per_month)

    @property
    def spent(self) -> dict[str, dict[str, int]]:
        """The characters that each key has used this month, by month and id, to keep over a restart."""
        self._keep_month()
        return {self._month: dict(self._spent)}

    def tidy(self) -> None:
        """Forgets callers without recent requests; to be called from time to time."""
        for buckets in (self._requests, self._characters):
            buckets.forget_full(self._clock())

    def _prices(self, caller: Caller, characters: int) -> tuple[tuple[Buckets, int, int | None, str], ...]:
        limits: Key | LimitsConfig = self._limits if caller.key is None else caller.key
        return (
            (self._requests, 1, limits.requests_per_minute, "requests"),
            (self._characters, characters, limits.characters_per_minute, "characters"),
        )

    def _charge_failure(self, name: str) -> None:
        """Limits the failures of an address per minute to its requests per minute, or to 60."""
        now, limit = self._clock(), self._limits.requests_per_minute or 60
        if (wait_s := self._requests.wait_s(f"failed {name}", 1, limit, now)) > 0:
            raise too_many_requests(f"more than {limit:,} requests without a valid key a minute", wait_s)
        self._requests.pay(f"failed {name}", 1, limit, now)

    def _this_month(self) -> str:
        return self._now().strftime("%Y-%m")

    def _keep_month(self) -> None:
        if (month := self._this_month()) != self._month:
            self._month, self._spent = month, Counter()
