"""`attendo evaluate`: what a model is worth on a test set."""

import json
from pathlib import Path
from typing import Annotated

import typer

from attendo.cli.options import (
    BeamSizeOption,
    DtypeOption,
    EnsembleOption,
    JsonOption,
    LengthPenaltyOption,
    ModelArgument,
    ReferenceOption,
    SetSearchOption,
    SourceOption,
    ThreadsOption,
    search_changes,
)
from attendo.cli.progress import JobProgress
from attendo.files import write_text


def evaluate(
    model: ModelArgument,
    source: SourceOption,
    reference: ReferenceOption,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the translations here.")
    ] = None,
    beam_size: BeamSizeOption = None,
    length_penalty: LengthPenaltyOption = None,
    dtype: DtypeOption = "float32",
    ensemble: EnsembleOption = None,
    settings: SetSearchOption = None,
    threads: ThreadsOption = None,
    tokenized_lowercased: Annotated[
        bool,
        typer.Option("--tokenized-lowercased", help="Also the tokenised, lower-cased BLEU of the Multi30k literature."),
    ] = False,
    resamples: Annotated[
        int, typer.Option("--resamples", min=0, help="Bootstrap resamples for the intervals; 0 for none.")
    ] = 1000,
    as_json: JsonOption = False,
) -> None:
    """Translates a test set and scores it: BLEU, chrF and TER with signatures and intervals, and perplexity."""
    from attendo.workflow.evaluate import evaluate as evaluate_engine
    from attendo.workflow.lines import read_pairs
    from attendo.workflow.translate import load

    sources, references = read_pairs(source, reference)
    search = search_changes(beam_size=beam_size, length_penalty=length_penalty)
    engine = load(model, ensemble=ensemble or (), search=search, overrides=settings or (), dtype=dtype, threads=threads)
    with JobProgress("translating", "lines", len(sources)) as progress:
        evaluation = evaluate_engine(
            engine,
            sources,
            references,
            multi30k=tokenized_lowercased,
            num_resamples=resamples,
            progress=progress.update,
        )
    if output:
        write_text(output, "".join(f"{line}\n" for line in evaluation.outputs))
    print(json.dumps(evaluation.to_json(), indent=2, ensure_ascii=False) if as_json else evaluation.to_text())
