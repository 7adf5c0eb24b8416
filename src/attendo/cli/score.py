"""`attendo score`: how probable given translations are."""

from pathlib import Path
from typing import Annotated

import typer

from attendo.cli.options import DtypeOption, EnsembleOption, ModelArgument, SourceOption, ThreadsOption
from attendo.cli.progress import JobProgress, note


def score(
    model: ModelArgument,
    source: SourceOption,
    target: Annotated[Path, typer.Option("--target", metavar="FILE", help="Their translations, one a line.")],
    dtype: DtypeOption = "float32",
    ensemble: EnsembleOption = None,
    threads: ThreadsOption = None,
    per_token: Annotated[bool, typer.Option("--per-token", help="The mean of each target token instead.")] = False,
) -> None:
    """Prints the log-probability of each given translation, one a line."""
    from attendo.decoding.scoring import perplexity
    from attendo.workflow.lines import count_lines, line_pairs_from
    from attendo.workflow.translate import load

    total = count_lines(source)
    engine = load(model, ensemble=ensemble or (), dtype=dtype, threads=threads)
    scores = []
    with JobProgress("scoring", "pairs", total) as progress:
        for pair_score in engine.score(line_pairs_from(source, target)):
            scores.append(pair_score)
            figure = pair_score.log_prob / pair_score.num_tokens if per_token else pair_score.log_prob
            print(f"{figure:.6f}")
            progress.update(len(scores))
    truncated = sum(pair_score.truncated for pair_score in scores)
    note(f"{len(scores):,} pairs, perplexity {perplexity(scores).per_token:.4f} a target token")
    if truncated:
        note(f"{truncated:,} pairs were too long, and only their beginning was scored")
