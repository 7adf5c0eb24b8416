"""The driver of Figures 3, 4 and 5: models and sentences in, a page with a section a model out."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import count
from typing import Any, Generic, TypeVar

import numpy as np

from attendo.bench.machine import this_machine, versions
from attendo.errors import ModelError, RecipeError
from attendo.paper.experiment import Order, Outcome, Reporter, Scale, ShouldStop, Stopped
from attendo.paper.heads.looks import Head, Looks, look_at
from attendo.paper.heads.markup import Pair
from attendo.paper.heads.sentences import anaphor_pairs, dependency_pairs
from attendo.paper.heads.subjects import Subject, names_of, open_subjects
from attendo.paper.page_text import PageText, page_text
from attendo.paper.report import Report, Section, Shell, write_report
from attendo.paper.study_folder import alone

_SEED = 1
NUM_SENTENCES: Mapping[Scale, int] = {"tiny": 16, "small": 200, "paper": 400}
"""Of each kind of sentences, for each of `--seeds`; a multiple of 4, since halves and twins are of two."""

FoundT = TypeVar("FoundT")


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A model, and the sentences as it sees them."""

    subject: Subject
    dependencies: Looks
    """Sentences with a long-distance dependency."""
    anaphors: Looks
    """Sentences with an anaphor, in twins."""

    @property
    def skipped(self) -> int:
        """Sentences that were left out."""
        return self.dependencies.skipped + self.anaphors.skipped


@dataclass(frozen=True, kw_only=True)
class Shown(Seen, Generic[FoundT]):
    """What came of a model."""

    found: FoundT
    processor_s: float
    """That reading the sentences took, of all threads together: other work on the machine is not in it."""


@dataclass(frozen=True, kw_only=True)
class Sentences:
    """What is read."""

    dependencies: tuple[Pair, ...] = ()
    anaphors: tuple[Pair, ...] = ()

    @property
    def count(self) -> int:
        """Of all."""
        return len(self.dependencies) + len(self.anaphors)


@dataclass(frozen=True, kw_only=True)
class Reading(Seen):
    """A model at work, and who is told of and may stop what is measured of it."""

    order: Order
    read: Sentences
    tell: Callable[[str], None]
    """Tells of a further step."""
    should_stop: ShouldStop


@dataclass(frozen=True, kw_only=True)
class HeadsFigure(Generic[FoundT]):
    """The description of a figure of heads: models and sentences in, a page with a section a model out."""

    title: str
    """Of the page, with the figure's number before a colon."""
    text: str
    """The file with the words of the page, for `page_text`: what the paper shows and what is counted here, the sections
    of a model, which have `$model` in their titles, and how it was measured."""
    dependencies: bool
    """Whether sentences with a long-distance dependency are read."""
    anaphors: bool
    """Whether sentences with an anaphor are read."""
    measure: Callable[[Reading], FoundT | Stopped]
    """Measures what a model's heads do."""
    verdicts: Callable[[Shown[FoundT]], Sequence[str]]
    """What came of a model, a paragraph each."""
    values: Callable[[Shown[FoundT]], Mapping[str, object]]
    """What fills the sections of a model."""
    method: Callable[[Sequence[Shown[FoundT]]], Mapping[str, object]]
    """What fills the section on how it was measured."""
    data: Callable[[FoundT], Mapping[str, object]]
    """What was measured of a model, for JSON."""
    note: Callable[[Sequence[Shown[FoundT]]], str] = lambda shown: ""
    """Stands beside the versions, at the end of the page."""
    reads_corpora: bool = False
    """Whether a folder of corpora, `--data`, is for something."""
    further_steps: Callable[[Subject], int] = lambda subject: 0
    """The number of further steps of a model that `measure` tells of."""
    further: Callable[[Order], tuple[str, ...]] = lambda order: ()
    """What else takes time, for the forecast, a paragraph each."""
    unit: str = "steps"
    """What the progress is counted in."""

    def reproduce(self, order: Order, reporter: Reporter, should_stop: ShouldStop) -> Outcome:
        """Reads the sentences with every model, measures, and writes the page.

        Raises:
            AttendoError: a model is missing or cannot be looked at, another process is at this folder, or a folder
                of corpora is given that nothing here reads.
            OSError: the folder cannot be written to.
        """
        read, stopped = self.read(order), Outcome(report=None, interrupted=True)
        with alone(order.folder):
            subjects = open_subjects(order, reporter, should_stop)
            if subjects is None:
                return stopped
            shown: list[Shown[FoundT]] = []
            total, notes = sum(1 + self.further_steps(subject) for subject in subjects), count()

            def tell(note: str) -> None:
                reporter.running(next(notes), total, note)

            for subject in subjects:
                found = self._show(order, read, subject, tell, should_stop)
                if found is None:
                    return stopped
                shown.append(found)
            reporter.running(total, total, "")
            report = self.page(order, read, shown)
            write_report(order.folder, report)
        return Outcome(report=report)

    def _show(
        self, order: Order, read: Sentences, subject: Subject, tell: Callable[[str], None], should_stop: ShouldStop
    ) -> Shown[FoundT] | None:
        """Reads the sentences with one model and measures; None where it was to stop."""
        tell(f"{subject.name}: {read.count} sentences")
        started = time.process_time()
        dependencies = look_at(subject.engine, read.dependencies, should_stop)
        anaphors = look_at(subject.engine, read.anaphors, should_stop)
        if dependencies is None or anaphors is None:
            return None
        processor_s = time.process_time() - started
        _check_enough(subject, read, dependencies, anaphors)
        reading = Reading(
            order=order,
            read=read,
            subject=subject,
            dependencies=dependencies,
            anaphors=anaphors,
            tell=tell,
            should_stop=should_stop,
        )
        found = self.measure(reading)
        if isinstance(found, Stopped):
            return None
        return Shown(
            subject=subject, dependencies=dependencies, anaphors=anaphors, found=found, processor_s=processor_s
        )

    def read(self, order: Order) -> Sentences:
        """Draws the sentences.

        Args:
            order: how it is wanted: scale and seeds.

        Raises:
            RecipeError: corpora are given that nothing here reads.
            DataError: the templates have not so many sentences.
        """
        if order.data is not None and not self.reads_corpora:
            raise RecipeError(f"--data: {_name(self.title)} reads sentences of its own; leave it out")
        num = NUM_SENTENCES[order.scale] * order.seeds
        return Sentences(
            dependencies=dependency_pairs(num, _SEED) if self.dependencies else (),
            anaphors=anaphor_pairs(num, _SEED) if self.anaphors else (),
        )

    def page(self, order: Order, read: Sentences, shown: Sequence[Shown[FoundT]]) -> Report:
        """What was found, how, in which sentences, and how to repeat it.

        Args:
            order: how it is wanted.
            read: the sentences, of which one of each template is shown.
            shown: the models with what came of their heads.
        """
        own, shared = page_text(self.text), page_text("heads/page.md")
        titles = [title for title in own.titles if "$model" in title]
        words = shared.fill(
            question=own.introduction(),
            verdicts=[text for each in shown for text in self.verdicts(each)],
            scale_note=_scale_note(shared, order),
            left_out=_left_out(shared, shown),
            examples=_one_of_each((*read.dependencies, *read.anaphors)),
            command=order.command,
            note=self.note(shown),
            cost=", ".join(f"{each.processor_s:.0f} s with {each.subject.name}" for each in shown),
            machine=this_machine().to_text(),
            versions=", ".join(f"{name} {version}" for name, version in versions().items()),
        )
        return Report(
            title=self.title,
            introduction=words.introduction,
            sections=(
                *(
                    section
                    for each in shown
                    for section in own.sections(
                        *titles, model=each.subject.name, subject=each.subject.to_text(), **self.values(each)
                    )
                ),
                *own.sections("How it was measured", **self.method(shown)),
                *words.sections,
            ),
            data={
                "result": _name(self.title),
                "scale": order.scale,
                "command": order.command,
                "models": [
                    {"model": each.subject.name, "skipped": each.skipped, **self.data(each.found)} for each in shown
                ],
            },
        )

    def forecast(self, order: Order, reporter: Reporter) -> Report:
        """What will be read, and by which models.

        Raises:
            AttendoError: no model is named where one has to be, or corpora are given that nothing here reads.
        """
        read, names = self.read(order), names_of(order)
        text = page_text("heads/page.md")
        total = [text.note("forecast", count=read.count, names=", ".join(names))]
        if order.scale == "tiny" and not order.runs:
            total.append(text.note("training first"))
        return Report(
            title=f"{self.title} at the scale '{order.scale}', in {order.folder}",
            introduction=(" ".join(total), *self.further(order)),
            sections=(Section(title="To start", blocks=(Shell(lines=(order.command,)),)),),
            data={
                "result": _name(self.title),
                "scale": order.scale,
                "models": list(names),
                "sentences": read.count,
            },
        )


def _check_enough(subject: Subject, read: Sentences, dependencies: Looks, anaphors: Looks) -> None:
    """Refuses a vocabulary that leaves too little."""
    for pairs, looks in ((read.dependencies, dependencies), (read.anaphors, anaphors)):
        fewest = min(len(looks.half(held_out=half)) for half in (False, True))
        if pairs and fewest < len(pairs) / 4:
            raise ModelError(
                f"{subject.name}: its vocabulary joins words and punctuation in {looks.skipped} of {len(pairs)} "
                "sentences, which leaves too few; take a model whose pieces keep them apart"
            )


def _name(title: str) -> str:
    """Of a result: `figure3` of `Figure 3: heads`."""
    return title.split(":")[0].lower().replace(" ", "")


def _left_out(text: PageText, shown: Iterable[Shown[FoundT]]) -> str:
    """How many sentences were left out, where any were."""
    skipped = [f"{each.subject.name} {each.skipped}" for each in shown if each.skipped]
    return text.note("left out", skipped=", ".join(skipped)) if skipped else ""


def _one_of_each(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """The first sentence of each template, of either half in turn."""
    read = tuple(pairs)
    names = tuple(dict.fromkeys(pair.template for pair in read))
    return tuple(
        next(pair for pair in read if pair.template == name and pair.held_out == bool(number % 2))
        for number, name in enumerate(names)
    )


def _scale_note(text: PageText, order: Order) -> str:
    """What a scale's model is worth."""
    if order.scale == "tiny":
        return text.note("tiny")
    return "" if order.runs else text.note("shipped")


def to_data(value: Any) -> Any:
    """Anything that was measured, for JSON: heads as layer and head, `5.2`, both from 1."""
    if isinstance(value, Head):
        return {"kind": value.kind, "head": value.to_text()}
    if is_dataclass(value):
        return {each.name: to_data(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, np.ndarray):
        return np.round(value, 6).tolist()
    if isinstance(value, Mapping):
        return {str(key): to_data(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [to_data(each) for each in value]
    return value


def percent(share: float) -> str:
    """A share for a table."""
    return f"{100 * share:.0f}"
