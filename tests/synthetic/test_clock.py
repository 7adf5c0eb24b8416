"""Times of day, against what a German clock says."""

import random

from attendo.synthetic.choices import Chooser
from attendo.synthetic.clock import clock

KNOWN = {
    "seven o'clock": "sieben Uhr",
    "one o'clock": "ein Uhr",
    "half past seven": "halb acht",
    "half past twelve": "halb eins",
    "quarter past one": "Viertel nach eins",
    "quarter to eight": "Viertel vor acht",
    "ten past six": "zehn nach sechs",
    "twenty to nine": "zwanzig vor neun",
}


def test_times_of_day() -> None:
    choose = Chooser(random.Random(1))
    times = {time.en: time.de for time in (clock(choose) for _ in range(3_000))}
    assert {english: times[english] for english in KNOWN} == KNOWN


def test_hours_are_content_only_where_asked() -> None:
    silent, noting = Chooser(random.Random(1)), Chooser(random.Random(1))
    clock(silent)
    clock(noting, hours=(7,), content=True)
    assert (silent.content, noting.content) == ((), ("sieben",))


def test_half_past_counts_from_the_hours_given() -> None:
    choose = Chooser(random.Random(2))
    halves = {clock(choose, hours=(7, 8)).de for _ in range(200)}
    assert {text for text in halves if text.startswith("halb")} == {"halb acht", "halb neun"}
