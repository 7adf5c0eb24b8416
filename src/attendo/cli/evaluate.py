"""`attendo evaluate`: what a model is worth on a test set."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from attendo import __version__
from attendo.cli.evaluate_trees import check_options, evaluate_trees
from attendo.cli.options import (
    BeamSizeOption,
    DeviceOption,
    DtypeOption,
    EnsembleOption,
    JsonOption,
    LengthPenaltyOption,
    ModelArgument,
    NoGuardsOption,
    QuietOption,
    SetSearchOption,
    ThreadsOption,
    guard_changes,
    search_changes,
)
from attendo.cli.output import check_file
from attendo.cli.progress import JobProgress, notes
from attendo.files import write_text


def evaluate(
    context: typer.Context,
    model: ModelArgument,
    source: Annotated[
        Path | None,
        typer.Option(
            "--source",
            metavar="FILE",
            help="Source sentences, one a line; or TMX, XLIFF, PO, CSV, TSV or JSON lines with the references in it.",
        ),
    ] = None,
    reference: Annotated[
        Path | None, typer.Option("--reference", metavar="FILE", help="Their reference translations.")
    ] = None,
    trees: Annotated[
        str | None,
        typer.Option(
            "--trees",
            metavar="GOLD",
            help="For a parser, in place of these two: a treebank, as a file, a folder or a pattern like wsj/{22,23}.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the translations, or trees, here.")
    ] = None,
    beam_size: BeamSizeOption = None,
    length_penalty: LengthPenaltyOption = None,
    dtype: DtypeOption = None,
    no_guards: NoGuardsOption = False,
    ensemble: EnsembleOption = None,
    settings: SetSearchOption = None,
    threads: ThreadsOption = None,
    device: DeviceOption = "auto",
    quiet: QuietOption = False,
    tokenized: Annotated[
        bool,
        typer.Option(
            "--tokenized", help="Also the tokenised BLEU of the paper's Table 2, German compounds split at hyphens."
        ),
    ] = False,
    tokenized_lowercased: Annotated[
        bool,
        typer.Option("--tokenized-lowercased", help="Also the tokenised, lower-cased BLEU of the Multi30k literature."),
    ] = False,
    resamples: Annotated[
        int, typer.Option("--resamples", min=0, help="Bootstrap resamples for the intervals; 0 for none.")
    ] = 1000,
    robustness: Annotated[
        bool,
        typer.Option(
            "--robustness",
            help="Also what is left of the scores under capitals, typos, emoji, URLs, joined sentences and more; "
            "translates the test set some twenty times over.",
        ),
    ] = False,
    kept: Annotated[
        bool,
        typer.Option(
            "--kept",
            help="Also how many of the numbers, versions, identifiers, paths and the like that source and reference "
            "share are in the output, and which ones are invented.",
        ),
    ] = False,
    other_language: Annotated[
        Path | None,
        typer.Option(
            "--other-language",
            metavar="FILE",
            help="For --robustness: text of another language than the source, a line each. Default: the references.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", help="For --robustness: equal seeds make equal typos and numbers.")
    ] = 1,
    card: Annotated[
        str | None,
        typer.Option(
            "--card", metavar="NAME", help="Write the figures into the model's card, under this test set's name."
        ),
    ] = None,
    given: Annotated[
        Literal["words", "gold-tags"] | None,
        typer.Option(
            "--input",
            help="With --trees: words alone, or words with the treebank's tags. Default: what the model reads.",
        ),
    ] = None,
    parameters: Annotated[
        str | None,
        typer.Option(
            "--parameters",
            "-p",
            metavar="FILE.prm",
            help="With --trees: EVALB's parameter file, or collins, new or nk. Default: collins.",
        ),
    ] = None,
    unconstrained: Annotated[
        bool, typer.Option("--unconstrained", help="With --trees: write anything, and mend what is no tree.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Translates a test set and scores it: BLEU, chrF and TER with signatures and intervals, and perplexity.

    Of a parser (--trees): parses a treebank; EVALB's figures, F1 with every sentence counted, and what is wrong.
    """
    check_options(context, of_trees=trees is not None)
    check_file(output)
    if trees is not None:
        evaluate_trees(
            model,
            trees,
            given=given,
            parameters=parameters,
            output=output,
            search=search_changes(beam_size=beam_size, length_penalty=length_penalty),
            overrides=settings or (),
            ensemble=ensemble or (),
            unconstrained=unconstrained,
            dtype=dtype,
            device=device,
            threads=threads,
            card=card,
            quiet=quiet,
            as_json=as_json,
        )
        return
    assert source is not None, "usage is checked before"
    from attendo.workflow.input_files import check_inputs

    lines, units = ((source, reference), ()) if reference else ((), (source,))
    check_inputs(models=(model, *(ensemble or ())), files=(*lines, other_language), of_units=units)
    from attendo.evaluation.kept import kept_report
    from attendo.evaluation.robustness_tables import robustness_text
    from attendo.workflow.card_evaluations import check_section_name, evaluation_section, write_to_card
    from attendo.workflow.evaluate import evaluate as evaluate_engine
    from attendo.workflow.parallel_text import read_parallel
    from attendo.workflow.robustness import measure_robustness, read_other_language
    from attendo.workflow.translate import load

    if other_language is not None and not robustness:
        raise typer.BadParameter("needs --robustness", param_hint="--other-language")
    if card is not None:
        if ensemble:
            raise typer.BadParameter("is of one model; leave --ensemble out", param_hint="--card")
        check_section_name(card)
    parallel = read_parallel(source, reference, model)
    sources, references = parallel.sources, parallel.targets
    if said := parallel.note(source):
        notes(quiet=quiet)(said)
    other_text = read_other_language(other_language) if other_language else None
    search = {
        **search_changes(beam_size=beam_size, length_penalty=length_penalty),
        **guard_changes(no_guards),
    }
    engine = load(
        model,
        ensemble=ensemble or (),
        search=search,
        overrides=settings or (),
        dtype=dtype,
        device=device,
        threads=threads,
    )
    with JobProgress("translating", "lines", len(sources), quiet=quiet) as progress:
        evaluation = evaluate_engine(
            engine,
            sources,
            references,
            paper=tokenized,
            multi30k=tokenized_lowercased,
            num_resamples=resamples,
            progress=progress.update,
        )
    if output:
        write_text(output, "".join(f"{line}\n" for line in evaluation.outputs))
    came_through = None
    if kept:
        languages = {"source_language": engine.source_language, "target_language": engine.target_language}
        came_through = kept_report(sources, evaluation.outputs, references, **languages)
    measured = None
    if robustness:
        with JobProgress("robustness", "lines", quiet=quiet) as progress:
            measured = measure_robustness(
                engine,
                sources,
                references,
                evaluation.outputs,
                other_language=other_text,
                num_resamples=resamples,
                seed=seed,
                progress=lambda done, total: progress.update(done, total=total),
            )
    if as_json:
        figures = evaluation.to_json()
        figures |= {"kept": came_through.to_json()} if came_through else {}
        figures |= {"robustness": asdict(measured)} if measured else {}
        print(json.dumps(figures, indent=2, ensure_ascii=False))
    else:
        tables = [came_through.to_text()] if came_through else []
        tables += [robustness_text(measured)] if measured else []
        print("\n\n".join([evaluation.to_text(), *tables]))
    if card is not None:
        section = evaluation_section(card, evaluation, measured, search=engine.search, version=__version__)
        notes(quiet=quiet)(f"wrote the figures into {write_to_card(model, card, section)}")
