"""`attendo prepare`: corpora to a vocabulary and token shards, with every pair accounted for."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attendo.cli.options import ForceOption, JsonOption, QuietOption, RecipeArgument, SetOption
from attendo.cli.output import check_folder
from attendo.cli.progress import notes
from attendo.cli.reporter import RunReporter
from attendo.threads import usable_cores

if TYPE_CHECKING:
    from attendo.recipe import Recipe
    from attendo.text.prepared import PreparationReport


def prepare(
    recipe: RecipeArgument,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="The folder to write. Default: prepared/NAME-FINGERPRINT."),
    ] = None,
    settings: SetOption = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, help="Number of worker processes. Default: one per CPU core."),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray",
            metavar="ADDRESS",
            help="Prepare on a Ray cluster (auto, HOST:PORT, or local for this machine); see docs/clusters.md.",
        ),
    ] = None,
    force: ForceOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Learns the vocabulary, or takes that of training.init_from, and writes token shards and a report on all pairs."""
    from attendo.text.prepared import report_as_json
    from attendo.workers import local_workers
    from attendo.workflow.preparation.prepared_data import prepare_if_missing, prepared_folder

    loaded = resolved_recipe(recipe, settings or ())
    folder = output or prepared_folder(loaded, Path("prepared"))
    check_folder(folder)
    if ray is not None:
        from attendo.cluster.preparation import prepare_on_cluster

        if workers is not None:
            raise typer.BadParameter("not together with --ray", param_hint="--workers")
        with RunReporter(quiet=quiet) as reporter:
            report = prepare_on_cluster(loaded, folder, reporter, address=ray, force=force).report
    else:
        with RunReporter(quiet=quiet) as reporter, local_workers(workers or usable_cores()) as processes:
            report = prepare_if_missing(loaded, folder, reporter, processes, force=force).report
    if as_json:
        print(json.dumps({"folder": str(folder), **report_as_json(report)}, indent=2, ensure_ascii=False))
    else:
        print(report_text(report))
        notes(quiet=quiet)(f"{folder} is ready; every dropped pair stands in {folder / 'dropped.tsv'}")


def resolved_recipe(name: str, settings: Sequence[str]) -> "Recipe":
    """A recipe as it trains: with `--set` applied, and unset values taken from the model it fine-tunes."""
    from attendo.recipe import load_recipe

    loaded = load_recipe(name, settings)
    if loaded.training.init_from is None:
        return loaded
    from attendo.workflow.runs.initial_model import with_initial_model  # needs torch, which preparing alone does not

    return with_initial_model(loaded)


def report_text(report: "PreparationReport") -> str:
    """The outcome of every pair, as a table: a column a corpus, totals that add up."""
    corpora = [*report.corpora, *([report.valid] if report.valid else [])]
    names = [*(corpus.name for corpus in report.corpora), *(["(validation)"] if report.valid else [])]
    rows: list[tuple[str, list[int]]] = [
        ("pairs read", [corpus.read for corpus in corpora]),
        ("kept", [corpus.kept for corpus in corpora]),
    ]
    for reason in report.corpora[0].dropped:
        counts = [corpus.dropped.get(reason, 0) for corpus in corpora]
        if any(counts):
            rows.append((f"dropped: {reason}", counts))
    rows += [
        ("source tokens", [corpus.source_tokens for corpus in corpora]),
        ("target tokens", [corpus.target_tokens for corpus in corpora]),
        ("spelled in bytes", [corpus.source_byte_tokens + corpus.target_byte_tokens for corpus in corpora]),
    ]
    if any(corpus.in_valid for corpus in corpora):
        rows.append(("also in validation", [corpus.in_valid for corpus in corpora]))
    width = max(len(text) for text in (*names, *(f"{count:,}" for _, counts in rows for count in counts)))
    lines = [" " * 20 + "".join(f"  {name:>{width}}" for name in names)]
    lines += [f"{label:<20}" + "".join(f"  {count:>{width},}" for count in counts) for label, counts in rows]
    sizes = {report.source_vocab_size, report.target_vocab_size}
    vocabulary = " and ".join(f"{size:,}" for size in sorted(sizes))
    source = f"learned from {report.sampled_pairs:,} pairs"
    if report.vocabulary_from is not None:
        source = f"kept from the model {report.vocabulary_from}"
    lines.append(f"vocabulary of {vocabulary} pieces, {source}")
    return "\n".join(lines)
