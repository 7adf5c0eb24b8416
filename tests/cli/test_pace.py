"""Rates of made-up jobs whose speed is known."""

import pytest

from attendo.cli.pace import Pace


def test_a_steady_job() -> None:
    pace = Pace(0.0)
    for step in range(1, 2001):
        pace.update(step / 50, step)
    assert pace.rate == pytest.approx(50, rel=0.02)


def test_lines_that_come_in_bursts_are_not_counted_by_the_first_of_them() -> None:
    # What was seen: 1,984 lines in windows of 512, 16 s each; "1 of 1,984 lines, 9:06:39 left" of 33 s.
    pace, rates = Pace(0.0), []
    for window in range(1, 4):
        for line in range(512):
            pace.update(16.0 * window + line / 1e5, 512 * (window - 1) + line + 1)
            rates.append(pace.rate)
    assert rates[:512] == [None] * 512
    assert all(rate == pytest.approx(32) for rate in rates[512:])


def test_nothing_is_said_before_ten_seconds() -> None:
    pace = Pace(0.0)
    rates = {}
    for second in range(1, 14):
        pace.update(float(second), second)
        rates[second] = pace.rate
    assert {second for second, rate in rates.items() if rate is not None} == {11, 12, 13}


def test_only_the_last_minutes_count() -> None:
    pace = Pace(0.0)
    for second in range(1, 3601):  # an hour at 10 a second, then another program takes nine tenths
        pace.update(float(second), 10 * second)
    for second in range(1, 301):
        pace.update(3600.0 + second, 36000 + second)
    assert pace.rate == pytest.approx(1.0)


def test_slow_steps_are_counted_from_one_to_the_next() -> None:
    pace = Pace(100.0, 7.0)  # a run that goes on at step 7
    for step in range(1, 5):
        pace.update(100.0 + 240 * step, 7.0 + step)
    assert pace.rate == pytest.approx(1 / 240)


def test_going_back_is_no_negative_speed() -> None:
    pace = Pace(0.0, 100.0)
    for second in range(1, 30):
        pace.update(float(second), 50.0)
    assert pace.rate == 0.0
