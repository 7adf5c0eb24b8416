"""`attendo reproduce figure4`: which heads link an anaphor to its antecedent, against chance."""

from collections.abc import Callable

from attendo.paper.experiment import Order, Outcome, Reporter
from attendo.paper.figure4.report import TITLE, figure4_report
from attendo.paper.heads.anaphors import Anaphors, anaphors
from attendo.paper.heads.figure import Sentences, check_no_data, forecast_figure, reproduce_figure, sentences
from attendo.paper.heads.looks import Looks
from attendo.paper.heads.subjects import Subject
from attendo.paper.report import Report

UNIT = "steps"
"""Of its progress."""


def reproduce(order: Order, reporter: Reporter, should_stop: Callable[[], bool]) -> Outcome:
    """Finds the heads that tell antecedents from rivals best, scores and draws them, and writes the page.

    Args:
        order: how it is wanted.
        reporter: who is told.
        should_stop: asked before each sentence.

    Raises:
        AttendoError: a model is missing or cannot be looked at, or corpora are given, which nothing here reads.
        OSError: the folder cannot be written to.
    """
    read = _read(order)

    def measure(subject: Subject, dependencies: Looks, twins: Looks, tell: Callable[[str], None]) -> Anaphors:
        return anaphors(twins)

    return reproduce_figure(
        order, reporter, should_stop, read, measure, lambda shown: figure4_report(order, read, shown)
    )


def forecast(order: Order, reporter: Reporter) -> Report:
    """What will be read, and by which models.

    Raises:
        AttendoError: no model is named where one has to be, or corpora are given.
    """
    return forecast_figure(order, TITLE, _read(order))


def _read(order: Order) -> Sentences:
    check_no_data(order, "figure4")
    return sentences(order, dependencies=False, anaphors=True)
