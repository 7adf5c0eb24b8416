"""Runs the demo: writes the phrasebook, trains on it, translates held-out sentences, scores them, draws attention."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from attendo.attention_maps.drawing import figures
from attendo.attention_maps.page import to_html
from attendo.attention_maps.svg import fragment
from attendo.attention_maps.view import View
from attendo.attention_maps.weights import AttentionMap
from attendo.attention_maps.words import joined
from attendo.demo.report import DemoReport, NextStep, PhrasebookSummary, Sample, TrainingSummary, write_report
from attendo.evaluation.scores import Scores, evaluate_output
from attendo.files import write_text
from attendo.output_folders import check_begun
from attendo.recipe import load_recipe
from attendo.synthetic.phrasebook import TEMPLATES, PhrasePair, Split, split
from attendo.text.prepared import open_prepared
from attendo.training.hooks import Ending
from attendo.training.position import Position
from attendo.workflow.engines.engine import Engine
from attendo.workflow.engines.translate import load
from attendo.workflow.preparation.prepared_data import prepare_if_missing
from attendo.workflow.runs.reporting import Reporter
from attendo.workflow.runs.run_folder import check_prepared, resume_run, run_lock, start_run
from attendo.workflow.runs.train import TrainingRun

_SEED = 1
_NUM_SAMPLES = 12
_DRAWN_WORDS = range(7, 14)
"""Length in words of the sentence whose attention is drawn: long enough to be interesting, short enough to read."""


@dataclass(frozen=True, kw_only=True)
class DemoResult:
    """The result of the demo."""

    folder: Path
    ending: Ending
    position: Position
    samples: tuple[Sample, ...]
    """Held-out sentences with their translations; empty after an interruption."""
    scores: Scores | None
    """Scores on the held-out test sentences; None after an interruption."""

    @property
    def report(self) -> Path:
        """Path of the page to open in a browser."""
        return self.folder / "report.html"


def run_demo(
    folder: Path,
    settings: Sequence[str],
    reporter: Reporter,
    should_stop: Callable[[], bool],
    *,
    force: bool = False,
) -> DemoResult:
    """Runs the demo, or resumes an interrupted one.

    Args:
        folder: the folder for all output: `phrasebook/`, `prepared/`, `run/`, `translations.de`, `attention.html`,
            `report.html`.
        settings: overrides of the recipe `demo`.
        reporter: receives messages and progress.
        should_stop: called between two updates; True interrupts the training.
        force: whether to write into the folder whatever else it holds.

    Raises:
        AttendoError: the folder holds something else.
        OSError: the folder cannot be written to.
    """
    check_begun(folder, "demo", ("phrasebook", "run"), force=force)
    pairs = split(_SEED)
    run = folder / "run"
    if not (run / "recipe.toml").exists():
        _write_phrasebook(folder / "phrasebook", pairs)
        reporter.message(f"phrasebook: {len(pairs.train):,} pairs to train on, written to {folder / 'phrasebook'}")
        recipe = load_recipe("demo", [f"data.folder={(folder / 'phrasebook').resolve()}", *settings])
        prepare_if_missing(recipe, folder / "prepared", reporter)
        start_run(recipe, run, folder / "prepared")
    with run_lock(run):
        recipe, prepared = resume_run(run, list(settings))
        check_prepared(run)
        trained = TrainingRun(recipe, run, open_prepared(prepared, verify=True), reporter)
        outcome = trained.train(should_stop)
    if outcome.ending is Ending.INTERRUPTED:
        return DemoResult(folder=folder, ending=outcome.ending, position=outcome.position, samples=(), scores=None)
    reporter.message(f"translating {len(pairs.test)} sentences whose combinations of words were never trained on")
    engine = load(run)
    samples = _translate(engine, pairs.test)
    write_text(folder / "translations.de", "".join(sample.translation + "\n" for sample in samples))
    scores = evaluate_output(
        [sample.translation for sample in samples], [sample.reference for sample in samples], target_language="de"
    )
    sample = _sample_to_draw(samples)
    drawn = engine.attention(sample.source, sample.translation or sample.reference)
    write_text(folder / "attention.html", to_html(drawn))
    report = _report(folder, pairs, outcome.position, trained.model.num_parameters, samples, scores, drawn)
    result = DemoResult(
        folder=folder,
        ending=outcome.ending,
        position=outcome.position,
        samples=samples[:_NUM_SAMPLES],
        scores=scores,
    )
    write_report(result.report, report)
    return result


def _write_phrasebook(folder: Path, pairs: Split) -> None:
    for name, part in (("train", pairs.train), ("valid", pairs.valid), ("test", pairs.test)):
        write_text(folder / f"{name}.en", "".join(pair.source + "\n" for pair in part))
        write_text(folder / f"{name}.de", "".join(pair.target + "\n" for pair in part))


def _translate(engine: Engine, pairs: Sequence[PhrasePair]) -> tuple[Sample, ...]:
    translations = engine.translate([pair.source for pair in pairs])
    return tuple(
        Sample(source=pair.source, reference=pair.target, translation=translation.text)
        for pair, translation in zip(pairs, translations, strict=True)
    )


def _sample_to_draw(samples: Sequence[Sample]) -> Sample:
    """Chooses a held-out sentence whose German has the verb at the end, where the two word orders differ."""
    because = [
        sample for sample in samples if "weil" in sample.reference and len(sample.source.split()) in _DRAWN_WORDS
    ]
    return (because or list(samples))[0]


def _report(
    folder: Path,
    pairs: Split,
    position: Position,
    num_parameters: int,
    samples: Sequence[Sample],
    scores: Scores,
    drawn: AttentionMap,
) -> DemoReport:
    curves = folder / "run" / "curves.png"
    return DemoReport(
        training=TrainingSummary(
            steps=position.step,
            seconds=position.elapsed_s,
            tokens_per_s=position.target_tokens / position.elapsed_s,
            parameters=num_parameters,
        ),
        phrasebook=PhrasebookSummary(
            num_train=len(pairs.train),
            num_valid=len(pairs.valid),
            num_test=len(pairs.test),
            num_templates=len(TEMPLATES),
        ),
        scores=(scores.bleu, scores.chrf, scores.ter),
        samples=tuple(samples[:_NUM_SAMPLES]),
        curves_png=curves.read_bytes(),
        attention_html=fragment(figures(joined(drawn), View())),
        next_steps=(
            NextStep(
                explanation="Translate sentences of your own, in the phrasebook's words.",
                command=f"echo 'The old man is reading a book.' | attendo translate {folder / 'run'}",
            ),
            NextStep(
                explanation="See every head of every layer, for any sentence.",
                command=f"attendo attention {folder / 'run'} 'We are buying a red coat.' -o attention.html",
            ),
            NextStep(
                explanation="Train on two text files of your own.",
                command="attendo recipe tiny > mine.toml    # name your files in it, then: attendo train mine.toml",
            ),
        ),
    )
