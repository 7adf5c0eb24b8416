"""The columns of a study's closing tables: of each run, and of the means of each row's runs."""

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import TypeVar

from attendo.paper.report import Column, Table, table_of
from attendo.paper.run_results import RunFacts, RunResult

RunT = TypeVar("RunT", bound=RunFacts)

ROW: Column[RunResult] = ("row", lambda run: run.row)
SEED: Column[RunResult] = ("seed", lambda run: str(run.seed))
PERPLEXITY: Column[RunResult] = ("PPL", lambda run: f"{run.perplexity:.3f}")
BLEU: Column[RunResult] = ("BLEU", lambda run: f"{run.bleu:.2f}")
TOKENS: Column[RunFacts] = ("target tokens", lambda run: f"{run.target_tokens:,}")
MINUTES: Column[RunFacts] = ("minutes", lambda run: f"{run.seconds / 60:.1f}")

MEAN_ROW: Column[Sequence[RunFacts]] = ("row", lambda runs: runs[0].row)
MEAN_RUNS: Column[Sequence[RunFacts]] = ("runs", lambda runs: str(len(runs)))
MEAN_MINUTES: Column[Sequence[RunFacts]] = ("minutes", lambda runs: f"{fmean(run.seconds for run in runs) / 60:.1f}")
MEAN_FLOPS: Column[Sequence[RunFacts]] = ("FLOPs", lambda runs: f"{fmean(run.flops for run in runs):.2e}")


def mean_tokens(name: str) -> Column[Sequence[RunFacts]]:
    """The mean number of target tokens of a row's runs, in a column of this name."""
    return name, lambda runs: f"{fmean(run.target_tokens for run in runs):,.0f}"


def each_run(results: Iterable[RunResult]) -> Table:
    """Row, seed, perplexity, BLEU and minutes of each run."""
    return table_of(results, (ROW, SEED, PERPLEXITY, BLEU, MINUTES), words=1)


def means(rows: Iterable[Sequence[RunFacts]]) -> Table:
    """Row, number of runs and mean minutes, target tokens and FLOPs of each row's runs."""
    columns = (MEAN_ROW, MEAN_RUNS, MEAN_MINUTES, mean_tokens("target tokens"), MEAN_FLOPS)
    return table_of(rows, columns, words=1)


def by_row(results: Iterable[RunT]) -> list[list[RunT]]:
    """The runs of each row, in the order in which the rows come first."""
    rows: dict[str, list[RunT]] = {}
    for result in results:
        rows.setdefault(result.row, []).append(result)
    return list(rows.values())
