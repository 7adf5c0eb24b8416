"""`attendo evaluate`: a model's scores on a test set."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from attendo import __version__
from attendo.cli.evaluate_options import ResultOptions, TestSetOptions, TextOptions, TreeOptions
from attendo.cli.evaluate_trees import check_card, check_options, evaluate_trees
from attendo.cli.option_groups import with_groups
from attendo.cli.options import EngineOptions, ModelArgument, guard_changes
from attendo.cli.output import check_file
from attendo.cli.progress import JobProgress, notes
from attendo.files import write_text

if TYPE_CHECKING:
    from attendo.evaluation.contrastive import Contrast
    from attendo.evaluation.kept import KeptReport
    from attendo.evaluation.robustness import Robustness
    from attendo.workflow.engines.engine import Engine
    from attendo.workflow.evaluation.evaluate import Evaluation
    from attendo.workflow.evaluation.robustness import OtherText
    from attendo.workflow.parallel_text import ParallelText


@with_groups(
    {"output": "trees", "no_guards": "dtype", "quiet": "device", "card": "seed"},
    test_set=TestSetOptions,
    engine=EngineOptions,
    text=TextOptions,
    trees=TreeOptions,
    results=ResultOptions,
)
def evaluate(
    context: typer.Context,
    model: ModelArgument,
    *,
    test_set: TestSetOptions,
    engine: EngineOptions,
    text: TextOptions,
    trees: TreeOptions,
    results: ResultOptions,
) -> None:
    """Translates and scores a test set: BLEU, chrF and TER with signatures and intervals, and perplexity.

    With --trees, parses a treebank: EVALB's scores, F1 over all sentences, and the kinds of errors.
    """
    check_options(context, of_trees=test_set.trees is not None)
    check_file(results.output)
    if test_set.trees is not None:
        evaluate_trees(model, test_set.trees, engine, trees, results)
    else:
        assert test_set.source is not None, "usage is checked before"
        _evaluate_text(model, test_set.source, test_set.reference, engine, text, results)


def _evaluate_text(
    model: str, source: Path, reference: Path | None, options: EngineOptions, text: TextOptions, results: ResultOptions
) -> None:
    """Translates a test set, prints the figures, and writes the requested files; see the command's options."""
    from attendo.workflow.input_files import check_inputs

    lines, units = ((source, reference), ()) if reference else ((), (source,))
    models = (*options.models(model), *([text.reverse] if text.reverse else []))
    check_inputs(models=models, files=(*lines, text.other_language), of_units=units)
    if text.other_language is not None and not text.robustness:
        raise typer.BadParameter("needs --robustness", param_hint="--other-language")
    check_card(results.card, options.ensemble, reverse=text.reverse)
    from attendo.workflow.evaluation.robustness import read_other_language
    from attendo.workflow.parallel_text import read_parallel

    parallel = read_parallel(source, reference, model)
    if skipped_note := parallel.note(source):
        notes(quiet=results.quiet)(skipped_note)
    other_text = read_other_language(text.other_language) if text.other_language else None
    engine = options.load(model, {**options.search(), **guard_changes(text.no_guards)}, reverse=text.reverse)
    measured = _measured(engine, parallel, text, other_text, results)
    print(measured.to_json() if results.as_json else measured.to_text())
    if results.card is not None:
        from attendo.workflow.cards.card_evaluations import evaluation_section, write_to_card

        section = evaluation_section(
            results.card,
            measured.evaluation,
            search=engine.search,
            version=__version__,
            kept=measured.kept,
            contrast=measured.contrast,
            robustness=measured.robustness,
        )
        notes(quiet=results.quiet)(f"wrote the figures into {write_to_card(model, results.card, section)}")


@dataclass(frozen=True)
class _Measured:
    """The figures of a test set; None for figures that were not requested."""

    evaluation: "Evaluation"
    kept: "KeptReport | None"
    contrast: "Contrast | None"
    robustness: "Robustness | None"

    def to_json(self) -> str:
        """All figures as one JSON object."""
        figures = self.evaluation.to_json()
        figures |= {"kept": self.kept.to_json()} if self.kept else {}
        figures |= {"contrast": self.contrast.to_json()} if self.contrast else {}
        figures |= {"robustness": asdict(self.robustness)} if self.robustness else {}
        return json.dumps(figures, indent=2, ensure_ascii=False)

    def to_text(self) -> str:
        """All figures as tables."""
        from attendo.evaluation.robustness_tables import robustness_text

        tables = [self.evaluation.to_text()]
        tables += [self.kept.to_text()] if self.kept else []
        tables += [self.contrast.to_text()] if self.contrast else []
        tables += [robustness_text(self.robustness)] if self.robustness else []
        return "\n\n".join(tables)


def _measured(
    engine: "Engine",
    parallel: "ParallelText",
    options: TextOptions,
    other_text: "OtherText | None",
    results: ResultOptions,
) -> _Measured:
    """Translates and measures, and writes the translations."""
    from attendo.evaluation.kept import kept_report
    from attendo.workflow.evaluation.contrast import measure_contrast, pairs_for
    from attendo.workflow.evaluation.evaluate import evaluate as evaluate_engine
    from attendo.workflow.evaluation.robustness import measure_robustness

    sources, references = parallel.sources, parallel.targets
    with JobProgress("translating", "lines", len(sources), quiet=results.quiet) as progress:
        evaluation = evaluate_engine(
            engine,
            sources,
            references,
            paper=options.tokenized,
            multi30k=options.tokenized_lowercased,
            num_resamples=options.resamples,
            progress=progress.update,
        )
    if results.output:
        write_text(results.output, "".join(f"{line}\n" for line in evaluation.outputs))
    kept = contrast = robustness = None
    if options.kept:
        languages = {"source_language": engine.source_language, "target_language": engine.target_language}
        kept = kept_report(sources, evaluation.outputs, references, **languages)
    if options.contrastive:
        with JobProgress("contrastive pairs", "translations", quiet=results.quiet) as progress:
            pairs = pairs_for(engine, sources, references)
            contrast = measure_contrast(engine, pairs, progress=lambda done, total: progress.update(done, total=total))
    if options.robustness:
        with JobProgress("robustness", "lines", quiet=results.quiet) as progress:
            robustness = measure_robustness(
                engine,
                sources,
                references,
                evaluation.outputs,
                other_language=other_text,
                num_resamples=options.resamples,
                seed=options.seed,
                progress=lambda done, total: progress.update(done, total=total),
            )
    return _Measured(evaluation, kept, contrast, robustness)
