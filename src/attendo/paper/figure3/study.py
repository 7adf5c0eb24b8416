"""`attendo reproduce figure3`: which heads follow long-distance dependencies, against chance."""

from collections.abc import Callable

from attendo.paper.experiment import Order, Outcome, Reporter
from attendo.paper.figure3.report import TITLE, figure3_report
from attendo.paper.heads.dependencies import Relation, relations
from attendo.paper.heads.figure import Sentences, check_no_data, forecast_figure, reproduce_figure, sentences
from attendo.paper.heads.looks import Looks
from attendo.paper.heads.subjects import Subject
from attendo.paper.report import Report

UNIT = "steps"
"""Of its progress."""


def reproduce(order: Order, reporter: Reporter, should_stop: Callable[[], bool]) -> Outcome:
    """Finds the heads that follow dependencies, scores them on held-out sentences, draws them and writes the page.

    Args:
        order: how it is wanted.
        reporter: who is told.
        should_stop: asked before each sentence.

    Raises:
        AttendoError: a model is missing or cannot be looked at, or corpora are given, which nothing here reads.
        OSError: the folder cannot be written to.
    """
    read = _read(order)

    def measure(
        subject: Subject, dependencies: Looks, anaphors: Looks, tell: Callable[[str], None]
    ) -> tuple[Relation, ...]:
        return relations(dependencies)

    return reproduce_figure(
        order, reporter, should_stop, read, measure, lambda shown: figure3_report(order, read, shown)
    )


def forecast(order: Order, reporter: Reporter) -> Report:
    """What will be read, and by which models.

    Raises:
        AttendoError: no model is named where one has to be, or corpora are given.
    """
    return forecast_figure(order, TITLE, _read(order))


def _read(order: Order) -> Sentences:
    check_no_data(order, "figure3")
    return sentences(order, dependencies=True, anaphors=False)
