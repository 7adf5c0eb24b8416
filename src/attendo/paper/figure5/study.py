"""`attendo reproduce figure5`: heads that follow structure, what every head looks at, and what cutting it costs."""

from collections.abc import Callable, Mapping

from attendo.paper.experiment import Order, Outcome, Reporter, Scale
from attendo.paper.figure5.report import TITLE, Figure5, figure5_report
from attendo.paper.heads.cuts import Cuts, Cutting, DevSet, compare_cuts, heads_of
from attendo.paper.heads.dev_sets import dev_set, own_sentences
from attendo.paper.heads.figure import Sentences, Stopped, forecast_figure, reproduce_figure, sentences
from attendo.paper.heads.looks import Looks
from attendo.paper.heads.roles import roles
from attendo.paper.heads.structure import structure
from attendo.paper.heads.subjects import Subject
from attendo.paper.report import Report

UNIT = "steps"
"""Of its progress."""

MOST_TRANSLATED: Mapping[Scale, int] = {"tiny": 8, "small": 300, "paper": 3000}
"""Sentences, once with each head cut."""


def reproduce(order: Order, reporter: Reporter, should_stop: Callable[[], bool]) -> Outcome:
    """Scores, draws and cuts heads, what is cut once; writes the page.

    Args:
        order: how it is wanted; its data is the folder of a development set that is translated with heads cut.
        reporter: who is told.
        should_stop: asked before each sentence and each cut.

    Raises:
        AttendoError: a model is missing or cannot be looked at, there is no development set, or what is kept of cuts
            is of another one.
        OSError: the folder cannot be written to.
    """
    read = _read(order)

    def measure(
        subject: Subject, dependencies: Looks, anaphors: Looks, tell: Callable[[str], None]
    ) -> Figure5 | Stopped:
        together = Looks(all=dependencies.all + anaphors.all, skipped=dependencies.skipped + anaphors.skipped)
        cut = _cut(order, subject, read, tell, should_stop)
        if cut is None:
            return Stopped()
        return Figure5(structure=structure(together), roles=roles(together.all), dev=cut[0], cuts=cut[1])

    return reproduce_figure(
        order,
        reporter,
        should_stop,
        read,
        measure,
        lambda shown: figure5_report(order, read, shown),
        lambda subject: len(heads_of(subject.model.transformer)),
    )


def forecast(order: Order, reporter: Reporter) -> Report:
    """What will be read and cut, and by which models.

    Raises:
        AttendoError: no model is named where one has to be.
    """
    most = MOST_TRANSLATED[order.scale]
    further = (
        f"Then up to {most} sentences are translated greedily, once with each head of the three kinds cut (44 heads of "
        "the small models, 144 of the base model): some 200 sentences a second and core with a small model. What is "
        "done is kept.",
    )
    return forecast_figure(order, TITLE, _read(order), further)


def _read(order: Order) -> Sentences:
    return sentences(order, dependencies=True, anaphors=True)


def _cut(
    order: Order, subject: Subject, read: Sentences, tell: Callable[[str], None], should_stop: Callable[[], bool]
) -> tuple[DevSet, Cuts] | None:
    """Cuts each head once; None where it was to stop."""
    description, most = subject.model.description, MOST_TRANSLATED[order.scale]
    if order.data is None:
        dev = own_sentences((*read.dependencies, *read.anaphors), subject.source_language, most)
    else:
        dev = dev_set(order.data, subject.source_language, description.target_language, most)
    cutting = Cutting(order.folder / "cuts" / subject.slug, subject.model, dev, should_stop)
    heads = heads_of(subject.model.transformer)
    whole, cut = cutting.whole(), []
    for head in heads:
        if whole is None or should_stop():
            return None
        tell(f"{subject.name} without {head.kind} head {head.to_text()}")
        written = cutting.cut(head)
        if written is None:
            return None
        cut.append((head, written))
    assert whole is not None, "there are heads"
    return dev, compare_cuts(dev, description.target_language, whole, cut)
