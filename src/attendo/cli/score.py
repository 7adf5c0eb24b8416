"""`attendo score`: log-probabilities of given translations."""

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attendo.cli.option_groups import with_groups
from attendo.cli.options import (
    DeviceOption,
    DtypeOption,
    EnsembleOption,
    JsonLinesOption,
    ModelArgument,
    QuietOption,
    SourceOption,
    ThreadsOption,
    json_number,
)
from attendo.cli.progress import JobProgress, counted, done_in, note, notes

if TYPE_CHECKING:
    from attendo.decoding.scoring import PairScore


@dataclass(frozen=True)
class ModelOptions:
    """The models that score, and the device."""

    dtype: DtypeOption = None
    ensemble: EnsembleOption = None
    threads: ThreadsOption = None
    device: DeviceOption = "auto"


@with_groups(models=ModelOptions)
def score(
    model: ModelArgument,
    source: SourceOption,
    target: Annotated[
        Path | None,
        typer.Option(
            "--target",
            metavar="FILE",
            help="Translations to score, one per line. Not needed if the source is TMX, XLIFF, PO, CSV, TSV or JSON "
            "lines.",
        ),
    ] = None,
    *,
    models: ModelOptions,
    quiet: QuietOption = False,
    per_token: Annotated[
        bool, typer.Option("--per-token", help="Print the mean log-probability per target token.")
    ] = False,
    as_json: JsonLinesOption = False,
) -> None:
    """Prints the log-probability of each given translation, one per line."""
    started = time.monotonic()
    from attendo.formats.pairs.table import has_both_sides
    from attendo.workflow.input_files import check_inputs, count_lines

    if target is None and not has_both_sides(source):
        raise typer.BadParameter(
            "name the file; TMX, XLIFF, PO, CSV, TSV and JSON lines (.jsonl) as source need none", param_hint="--target"
        )
    ensemble = models.ensemble or ()
    lines, units = ((source, target), ()) if target else ((), (source,))
    check_inputs(models=(model, *ensemble), files=lines, of_units=units)
    from attendo.decoding.scoring import perplexity
    from attendo.workflow.engines.translate import load
    from attendo.workflow.lines import line_pairs_from
    from attendo.workflow.parallel_text import read_parallel

    say = notes(quiet=quiet)
    pairs: Iterable[tuple[str, str]]
    if target is None:
        parallel = read_parallel(source, None, model)
        pairs = zip(parallel.sources, parallel.targets, strict=True)
        total: int | None = len(parallel.sources)
        if skipped_note := parallel.note(source):
            say(skipped_note)
    else:
        pairs, total = line_pairs_from(source, target), count_lines(source)
    engine = load(model, ensemble=ensemble, dtype=models.dtype, device=models.device, threads=models.threads)
    scores = []
    with JobProgress("scoring", "pairs", total, quiet=quiet) as progress:
        for pair_score in engine.score(pairs):
            scores.append(pair_score)
            figure = pair_score.log_prob / pair_score.num_tokens if per_token else pair_score.log_prob
            print(_json_line(pair_score) if as_json else f"{figure:.6f}")
            progress.update(len(scores))
    waited_s = time.monotonic() - started
    say(done_in("scored", len(scores), "pair", waited_s, progress.seconds, "scoring"))
    say(f"perplexity {perplexity(scores).per_token:.4f} a target token")
    _note_truncated(sum(pair_score.truncated for pair_score in scores))


def _note_truncated(truncated: int) -> None:
    """Reports the number of pairs of which only the beginning was scored."""
    if truncated:
        cut = "was too long, and only its" if truncated == 1 else "were too long, and only their"
        note(f"{counted(truncated, 'pair')} {cut} beginning was scored")


def _json_line(pair_score: "PairScore") -> str:
    return json.dumps(
        {
            "log_prob": json_number(pair_score.log_prob),
            "log_prob_per_token": json_number(pair_score.log_prob / pair_score.num_tokens),
            "truncated": pair_score.truncated,
            "tokens": pair_score.pieces,
            "token_log_probs": [json_number(log_prob) for log_prob in pair_score.token_log_probs],
        }
    )
