"""The driver of Figures 3, 4 and 5: reads sentences with each model and writes a page with sections for each."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import count
from typing import Any, Generic, TypeVar

import numpy as np

from attendo.bench.machine import this_machine, versions
from attendo.errors import ModelError, RecipeError
from attendo.paper.experiment import Outcome, Reporter, Scale, ShouldStop, Stopped, StudyRequest
from attendo.paper.heads.head_attention import CorpusAttention, Head, collect_attention
from attendo.paper.heads.sentences import anaphor_pairs, dependency_pairs
from attendo.paper.heads.subjects import Subject, names_of, open_subjects
from attendo.paper.page_text import PageText, page_text
from attendo.paper.report import Report, Section, Shell, write_report
from attendo.paper.study_folder import alone
from attendo.synthetic.annotated.markup import Pair

_SEED = 1
NUM_SENTENCES: Mapping[Scale, int] = {"tiny": 16, "small": 200, "paper": 400}
"""Number of sentences of each kind for each of `--seeds`; a multiple of 4: two halves, each of pairs of twins."""

FoundT = TypeVar("FoundT")


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A model and its attention on the sentences."""

    subject: Subject
    dependencies: CorpusAttention
    """Attention on sentences with a long-distance dependency."""
    anaphors: CorpusAttention
    """Attention on sentences with an anaphor, in twins."""

    @property
    def skipped(self) -> int:
        """Number of sentences that were skipped."""
        return self.dependencies.skipped + self.anaphors.skipped


@dataclass(frozen=True, kw_only=True)
class ModelFindings(Seen, Generic[FoundT]):
    """A model with the measurements of its heads."""

    found: FoundT
    """The measurements."""
    processor_s: float
    """Processor time of reading the sentences, in seconds, summed over all threads of this process."""


@dataclass(frozen=True, kw_only=True)
class Sentences:
    """The sentences that every model reads."""

    dependencies: tuple[Pair, ...] = ()
    anaphors: tuple[Pair, ...] = ()

    @property
    def count(self) -> int:
        """Total number of sentences."""
        return len(self.dependencies) + len(self.anaphors)


@dataclass(frozen=True, kw_only=True)
class Reading(Seen):
    """The input of a measurement: a model's attention, and callbacks for progress and interruption."""

    request: StudyRequest
    read: Sentences
    tell: Callable[[str], None]
    """Reports the start of a further step."""
    should_stop: ShouldStop


@dataclass(frozen=True, kw_only=True)
class HeadsFigure(Generic[FoundT]):
    """The definition of a figure about heads: what is read and measured, and the texts of the page."""

    title: str
    """Title of the page, with the figure's number before a colon."""
    text: str
    """Name of the file with the words of the page, for `page_text`: what the paper shows and what is counted here, the
    sections for each model, which have `$model` in their titles, and the method."""
    dependencies: bool
    """Whether sentences with a long-distance dependency are read."""
    anaphors: bool
    """Whether sentences with an anaphor are read."""
    measure: Callable[[Reading], FoundT | Stopped]
    """Measures the heads of a model."""
    verdicts: Callable[[ModelFindings[FoundT]], Sequence[str]]
    """Returns the findings for a model, one paragraph each."""
    values: Callable[[ModelFindings[FoundT]], Mapping[str, object]]
    """Returns the values for the slots in the sections of a model."""
    method: Callable[[Sequence[ModelFindings[FoundT]]], Mapping[str, object]]
    """Returns the values for the slots in the section on the method."""
    data: Callable[[FoundT], Mapping[str, object]]
    """Returns the measurements of a model, for JSON."""
    note: Callable[[Sequence[ModelFindings[FoundT]]], str] = lambda shown: ""
    """Returns a note for the end of the page, beside the versions."""
    reads_corpora: bool = False
    """Whether the figure uses a folder of corpora, `--data`."""
    further_steps: Callable[[Subject], int] = lambda subject: 0
    """Returns the number of further steps that `measure` reports for a model."""
    further: Callable[[StudyRequest], tuple[str, ...]] = lambda request: ()
    """Returns paragraphs for the forecast on what else takes time."""
    unit: str = "steps"
    """Unit of the progress."""

    def reproduce(self, request: StudyRequest, reporter: Reporter, should_stop: ShouldStop) -> Outcome:
        """Reads the sentences with every model, measures, and writes the page.

        Raises:
            AttendoError: a model is missing or has no heads to examine, another process uses this folder, or a folder
                of corpora is given that the figure does not use.
            OSError: the folder cannot be written to.
        """
        read, stopped = self.read(request), Outcome(report=None, interrupted=True)
        with alone(request.folder):
            subjects = open_subjects(request, reporter, should_stop)
            if subjects is None:
                return stopped
            shown: list[ModelFindings[FoundT]] = []
            total, steps = sum(1 + self.further_steps(subject) for subject in subjects), count()

            def tell(note: str) -> None:
                reporter.running(next(steps), total, note)

            for subject in subjects:
                result = self._show(request, read, subject, tell, should_stop)
                if result is None:
                    return stopped
                shown.append(result)
            reporter.running(total, total, "")
            report = self.page(request, read, shown)
            write_report(request.folder, report)
        return Outcome(report=report)

    def _show(
        self,
        request: StudyRequest,
        read: Sentences,
        subject: Subject,
        tell: Callable[[str], None],
        should_stop: ShouldStop,
    ) -> ModelFindings[FoundT] | None:
        """Reads the sentences with one model and measures its heads; None if stopped."""
        tell(f"{subject.name}: {read.count} sentences")
        started = time.process_time()
        dependencies = collect_attention(subject.engine, read.dependencies, should_stop)
        anaphors = collect_attention(subject.engine, read.anaphors, should_stop)
        if dependencies is None or anaphors is None:
            return None
        processor_s = time.process_time() - started
        _check_enough(subject, read, dependencies, anaphors)
        reading = Reading(
            request=request,
            read=read,
            subject=subject,
            dependencies=dependencies,
            anaphors=anaphors,
            tell=tell,
            should_stop=should_stop,
        )
        measurements = self.measure(reading)
        if isinstance(measurements, Stopped):
            return None
        return ModelFindings(
            subject=subject, dependencies=dependencies, anaphors=anaphors, found=measurements, processor_s=processor_s
        )

    def read(self, request: StudyRequest) -> Sentences:
        """Draws the sentences.

        Args:
            request: the options; scale, seeds and data are used.

        Raises:
            RecipeError: a folder of corpora is given that the figure does not use.
            DataError: the templates yield too few different sentences.
        """
        if request.data is not None and not self.reads_corpora:
            raise RecipeError(f"--data: {_result_name(self.title)} reads sentences of its own; leave it out")
        num = NUM_SENTENCES[request.scale] * request.seeds
        return Sentences(
            dependencies=dependency_pairs(num, _SEED) if self.dependencies else (),
            anaphors=anaphor_pairs(num, _SEED) if self.anaphors else (),
        )

    def page(self, request: StudyRequest, read: Sentences, shown: Sequence[ModelFindings[FoundT]]) -> Report:
        """Makes the page: the findings, the method, the sentences, and how to repeat it.

        Args:
            request: the options.
            read: the sentences, of which one of each template is shown.
            shown: the models with the measurements of their heads.
        """
        own, shared = page_text(self.text), page_text("heads/page.md")
        titles = [title for title in own.titles if "$model" in title]
        words = shared.fill(
            question=own.introduction(),
            verdicts=[text for result in shown for text in self.verdicts(result)],
            scale_note=_scale_note(shared, request),
            left_out=_skipped_note(shared, shown),
            examples=_examples((*read.dependencies, *read.anaphors)),
            command=request.command,
            note=self.note(shown),
            cost=", ".join(f"{result.processor_s:.0f} s with {result.subject.name}" for result in shown),
            machine=this_machine().to_text(),
            versions=", ".join(f"{name} {version}" for name, version in versions().items()),
        )
        return Report(
            title=self.title,
            introduction=words.introduction,
            sections=(
                *(
                    section
                    for result in shown
                    for section in own.sections(
                        *titles, model=result.subject.name, subject=result.subject.to_text(), **self.values(result)
                    )
                ),
                *own.sections("How it was measured", **self.method(shown)),
                *words.sections,
            ),
            data={
                "result": _result_name(self.title),
                "scale": request.scale,
                "command": request.command,
                "models": [
                    {"model": result.subject.name, "skipped": result.skipped, **self.data(result.found)}
                    for result in shown
                ],
            },
        )

    def forecast(self, request: StudyRequest, reporter: Reporter) -> Report:
        """States how many sentences will be read, and by which models.

        Raises:
            AttendoError: no model is named where one is required, or corpora are given that the figure does not use.
        """
        read, names = self.read(request), names_of(request)
        text = page_text("heads/page.md")
        introduction = [text.note("forecast", count=read.count, names=", ".join(names))]
        if request.scale == "tiny" and not request.runs:
            introduction.append(text.note("training first"))
        return Report(
            title=f"{self.title} at the scale '{request.scale}', in {request.folder}",
            introduction=(" ".join(introduction), *self.further(request)),
            sections=(Section(title="To start", blocks=(Shell(lines=(request.command,)),)),),
            data={
                "result": _result_name(self.title),
                "scale": request.scale,
                "models": list(names),
                "sentences": read.count,
            },
        )


def _check_enough(subject: Subject, read: Sentences, dependencies: CorpusAttention, anaphors: CorpusAttention) -> None:
    """Refuses a model whose vocabulary leaves less than a quarter of all sentences in either half."""
    for pairs, looks in ((read.dependencies, dependencies), (read.anaphors, anaphors)):
        fewest = min(len(looks.half(held_out=half)) for half in (False, True))
        if pairs and fewest < len(pairs) / 4:
            raise ModelError(
                f"{subject.name}: its vocabulary joins words and punctuation in {looks.skipped} of {len(pairs)} "
                "sentences, which leaves too few; take a model whose pieces keep them apart"
            )


def _result_name(title: str) -> str:
    """Name of the result: `figure3` for `Figure 3: heads`."""
    return title.split(":")[0].lower().replace(" ", "")


def _skipped_note(text: PageText, shown: Iterable[ModelFindings[FoundT]]) -> str:
    """A note on the number of sentences that each model skipped; empty if none were."""
    skipped = [f"{model.subject.name} {model.skipped}" for model in shown if model.skipped]
    return text.note("left out", skipped=", ".join(skipped)) if skipped else ""


def _examples(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """Returns the first sentence of each template, from the two halves in turn."""
    all_pairs = tuple(pairs)
    names = tuple(dict.fromkeys(pair.template for pair in all_pairs))
    return tuple(
        next(pair for pair in all_pairs if pair.template == name and pair.held_out == bool(number % 2))
        for number, name in enumerate(names)
    )


def _scale_note(text: PageText, request: StudyRequest) -> str:
    """A note on the limits of the models that are looked at unless the user names others; empty if he does."""
    if request.runs:
        return ""
    return text.note("tiny" if request.scale == "tiny" else "shipped")


def to_data(value: Any) -> Any:
    """Converts a measurement for JSON; a head becomes its kind and `5.2`, layer and head from 1."""
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
    """Formats a share for a table, in percent without decimals or sign."""
    return f"{100 * share:.0f}"
