"""Who has had how much: worked examples."""

from attendo.serving.core.shares import Shares


def test_who_has_had_less_is_told_apart() -> None:
    shares = Shares()
    shares.charge("busy", 3.0)
    shares.charge("other", 1.0)
    shares.charge("busy", 2.0)
    assert (shares.had("busy"), shares.had("other"), shares.had("new")) == (5.0, 1.0, 0.0)


def test_silence_is_worth_a_twentieth_of_a_second_at_most() -> None:
    shares = Shares()
    shares.charge("busy", 100.0)
    shares.begin("busy")
    assert shares.had("quiet") == 99.95
    shares.charge("quiet", 0.02)
    assert shares.had("quiet") == 99.97
    shares.begin("quiet")  # who began before had more: nothing is lowered
    assert shares.had("new") == 99.95


def test_flows_that_worked_long_ago_are_forgotten() -> None:
    shares = Shares(max_flows=2)
    for flow, seconds in (("a", 1.0), ("b", 2.0), ("a", 1.0), ("c", 3.0)):
        shares.charge(flow, seconds)
    assert [shares.had(flow) for flow in "abc"] == [2.0, 0.0, 3.0]
