"""Who asks, and what he may have: with a clock that the test moves."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from attendo.serving.access.callers import Callers
from attendo.serving.access.keys import KeyRing, new_key
from attendo.serving.config import KeysConfig, LimitsConfig
from attendo.serving.errors import ServingError

WITH_KEYS = KeysConfig(file=Path("keys.json"))


class Clock:
    """Seconds and dates as the test wants them."""

    seconds = 1000.0
    date = datetime(2026, 1, 31, 23, 0, tzinfo=UTC)

    def callers(self, *keys: Any, config: KeysConfig | None = None, **limits: Any) -> Callers:
        return Callers(
            KeyRing(keys),
            LimitsConfig(**limits),
            config or (WITH_KEYS if keys else KeysConfig()),
            clock=lambda: self.seconds,
            now=lambda: self.date,
        )


def refusal(ask: Any, *arguments: Any, **options: Any) -> ServingError:
    with pytest.raises(ServingError) as told:
        ask(*arguments, **options)
    return told.value


def test_without_keys_a_caller_is_an_address_whatever_is_shown() -> None:
    callers = Clock().callers()
    assert callers.identify("192.0.2.7", "some key of another server").name == "192.0.2.7"
    assert not callers.key_required


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("unix:", "unix:"),
    ],
)
def test_what_one_address_is(address: str, name: str) -> None:
    assert Clock().callers().identify(address, None).name == name


def test_keys_are_asked_for() -> None:
    secret, key = new_key("Ada")
    callers = Clock().callers(key)
    assert callers.identify("192.0.2.7", secret).key == key
    assert callers.identify("192.0.2.8", secret).name == callers.identify("192.0.2.7", secret).name
    assert refusal(callers.identify, "192.0.2.7", None).status == 401
    assert refusal(callers.identify, "192.0.2.7", "").status == 401  # what Weblate sends for none
    assert refusal(callers.identify, "192.0.2.7", "wrong").status == 403
    assert refusal(callers.identify, "192.0.2.7", secret * 100).status == 403


def test_keys_that_are_not_needed_are_still_looked_at() -> None:
    callers = Clock().callers(new_key("Ada")[1], config=KeysConfig(file=Path("keys.json"), required=False))
    assert callers.identify("192.0.2.7", None).key is None
    assert refusal(callers.identify, "192.0.2.7", "wrong").status == 403


def test_expired_and_revoked_keys_are_refused() -> None:
    clock = Clock()
    secret, key = new_key("Ada", expires="2026-02-01T00:00:00+00:00")
    callers = clock.callers(key)
    assert callers.identify("192.0.2.7", secret).key == key
    clock.date = datetime(2026, 2, 1, tzinfo=UTC)
    assert refusal(callers.identify, "192.0.2.7", secret).status == 403
    clock.date = datetime(2026, 1, 1, tzinfo=UTC)
    callers.renew(KeyRing())
    assert refusal(callers.identify, "192.0.2.7", secret).status == 403


def test_guessing_keys_is_slowed_down_and_valid_ones_are_not() -> None:
    clock = Clock()
    secret, key = new_key("Ada")
    callers = clock.callers(key, requests_per_minute=3)
    for _ in range(3):
        assert refusal(callers.identify, "192.0.2.7", "guess").status == 403
    assert refusal(callers.identify, "192.0.2.7", "guess").status == 429
    assert callers.identify("192.0.2.7", secret).key == key
    assert refusal(callers.identify, "192.0.2.8", "guess").status == 403
    clock.seconds += 20
    assert refusal(callers.identify, "192.0.2.7", "guess").status == 403


def test_requests_and_characters_of_a_minute() -> None:
    clock = Clock()
    callers = clock.callers(requests_per_minute=2, characters_per_minute=100)
    ada, bob = callers.identify("192.0.2.1", None), callers.identify("192.0.2.2", None)
    callers.admit(ada, characters=90)
    many = refusal(callers.admit, ada, characters=70)
    assert many.status == 429
    assert many.retry_after_s == pytest.approx(36)  # 60 of 100 a minute are missing
    callers.admit(ada, characters=10)
    assert refusal(callers.admit, ada, characters=0).retry_after_s == pytest.approx(30)
    callers.admit(bob, characters=100)
    clock.seconds += 30
    callers.admit(ada, characters=50)


def test_what_is_refused_costs_nothing() -> None:
    callers = Clock().callers(requests_per_minute=10, characters_per_minute=100)
    ada = callers.identify("192.0.2.1", None)
    callers.admit(ada, characters=60)
    for _ in range(20):
        assert refusal(callers.admit, ada, characters=80).status == 429
    callers.admit(ada, characters=40)


def test_a_request_is_bounded() -> None:
    callers = Clock().callers(max_characters=100, max_items=3)
    ada = callers.identify("192.0.2.1", None)
    assert refusal(callers.admit, ada, characters=101).status == 413
    assert refusal(callers.admit, ada, characters=1, items=4).status == 413
    callers.admit(ada, characters=1000, max_characters=1000)
    secret, key = new_key("Ada", max_characters=500)
    own = Clock().callers(key, max_characters=100)
    own.admit(own.identify("", secret), characters=500)


def test_a_months_characters_and_the_next_month() -> None:
    clock = Clock()
    secret, key = new_key("Ada", characters_per_month=100)
    callers = clock.callers(key)
    ada = callers.identify("192.0.2.1", secret)
    callers.admit(ada, characters=70)
    assert refusal(callers.admit, ada, characters=40).status == 456
    assert (callers.usage(ada).characters, callers.usage(ada).limit) == (70, 100)
    assert callers.spent == {"2026-01": {key.id: 70}}
    again = Callers(KeyRing([key]), LimitsConfig(), WITH_KEYS, spent=callers.spent, now=lambda: clock.date)
    assert refusal(again.admit, ada, characters=40).status == 456
    clock.date = datetime(2026, 2, 1, tzinfo=UTC)
    again.admit(ada, characters=40)
    assert again.spent == {"2026-02": {key.id: 40}}
