"""Buckets, by hand calculation: a minute's worth, filled evenly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attendo.serving.access.limits import Buckets


def test_a_minutes_worth_at_once_and_then_as_it_fills() -> None:
    buckets = Buckets()
    for _ in range(6):
        assert buckets.wait_s("a", 1, 6, now=100.0) == 0
        buckets.pay("a", 1, 6, now=100.0)
    assert buckets.wait_s("a", 1, 6, now=100.0) == pytest.approx(10)  # one every ten seconds
    assert buckets.wait_s("a", 1, 6, now=104.0) == pytest.approx(6)
    assert buckets.wait_s("a", 1, 6, now=110.0) == pytest.approx(0)
    assert buckets.wait_s("b", 1, 6, now=100.0) == 0


def test_what_costs_more_than_a_bucket_takes_a_full_one_and_leaves_a_debt() -> None:
    buckets = Buckets()
    assert buckets.wait_s("a", 250, 100, now=0.0) == 0
    buckets.pay("a", 250, 100, now=0.0)
    assert buckets.wait_s("a", 10, 100, now=0.0) == pytest.approx(160 * 60 / 100)


@given(st.lists(st.tuples(st.floats(0, 30), st.integers(1, 20)), max_size=50))
def test_never_more_than_two_minutes_worth_in_a_minute(arrivals: list[tuple[float, int]]) -> None:
    buckets, now, had = Buckets(), 0.0, list[tuple[float, int]]()
    for pause, price in arrivals:
        now += pause
        if buckets.wait_s("a", price, 20, now) == 0:
            buckets.pay("a", price, 20, now)
            had.append((now, price))
    for start, _ in had:
        assert sum(price for at, price in had if start <= at < start + 60) <= 40 + 1e-6


def test_names_do_not_gather() -> None:
    buckets = Buckets(max_names=100)
    for number in range(1000):
        buckets.pay(f"caller {number}", 1, 60, now=0.0)
    assert len(buckets) == 100
    buckets.pay("in debt", 200, 60, now=0.0)
    buckets.forget_full(now=61.0)
    assert len(buckets) == 1
    assert buckets.wait_s("in debt", 1, 60, now=61.0) > 0
    buckets.forget_full(now=4000.0)
    assert len(buckets) == 0
