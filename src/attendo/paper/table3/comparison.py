"""The runs of a Table 3 study held against the paper's figures, row by row."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from attendo.paper.run_results import RunResult
from attendo.paper.statistics import Estimate, Verdict, estimate, verdict
from attendo.paper.table3.rows import BASE, BLEU_UNIT, PERPLEXITY_UNIT, ROWS, Row


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Of a row to the base row, in one measure."""

    ours: Estimate
    """Paired by seed."""
    printed: float
    verdict: Verdict

    def to_json(self) -> dict[str, Any]:
        """For `result.json`."""
        return {**_estimate_json(self.ours), "paper": round(self.printed, 2), "verdict": self.verdict.value}


@dataclass(frozen=True, kw_only=True)
class RowComparison:
    """A row of which at least one run is done."""

    row: Row
    runs: tuple[RunResult, ...]
    perplexity: Estimate
    bleu: Estimate
    perplexity_difference: Difference | None
    """None for the base row, and where no seed has both."""
    bleu_difference: Difference | None

    @property
    def parameters(self) -> int:
        """Of the model that was trained."""
        return self.runs[0].parameters

    def to_json(self) -> dict[str, Any]:
        """For `result.json`."""
        found: dict[str, Any] = {
            "row": self.row.name,
            "changes": dict(self.row.changes),
            "parameters": self.parameters,
            "perplexity": {**_estimate_json(self.perplexity), "paper": self.row.perplexity},
            "bleu": {**_estimate_json(self.bleu), "paper": self.row.bleu},
        }
        if self.perplexity_difference and self.bleu_difference:
            found["perplexity_difference"] = self.perplexity_difference.to_json()
            found["bleu_difference"] = self.bleu_difference.to_json()
        return found


def compare(results: Sequence[RunResult]) -> tuple[RowComparison, ...]:
    """Holds what is done of a study against the paper, in the paper's order."""
    by_row = {row.name: {result.seed: result for result in results if result.row == row.name} for row in ROWS}
    base = by_row[BASE.name]
    return tuple(_compared(row, by_row[row.name], base) for row in ROWS if by_row[row.name])


def with_verdict(comparisons: Sequence[RowComparison], found: Verdict, *, bleu: bool) -> list[str]:
    """The names of the rows that a verdict was found for.

    Args:
        comparisons: of all rows.
        found: the verdict.
        bleu: on BLEU; otherwise on perplexity.
    """
    differences = [(one.row.name, one.bleu_difference if bleu else one.perplexity_difference) for one in comparisons]
    return [name for name, difference in differences if difference is not None and difference.verdict is found]


def _compared(row: Row, runs: dict[int, RunResult], base: dict[int, RunResult]) -> RowComparison:
    both = sorted(runs.keys() & base.keys()) if row is not BASE else []
    perplexities = [runs[seed].perplexity - base[seed].perplexity for seed in both]
    bleus = [runs[seed].bleu - base[seed].bleu for seed in both]
    return RowComparison(
        row=row,
        runs=tuple(runs[seed] for seed in sorted(runs)),
        perplexity=estimate([run.perplexity for run in runs.values()]),
        bleu=estimate([run.bleu for run in runs.values()]),
        perplexity_difference=_difference(perplexities, row.perplexity - BASE.perplexity, PERPLEXITY_UNIT),
        bleu_difference=_difference(bleus, row.bleu - BASE.bleu, BLEU_UNIT),
    )


def _difference(ours: list[float], printed: float, unit: float) -> Difference | None:
    if not ours:
        return None
    found = estimate(ours)
    return Difference(ours=found, printed=printed, verdict=verdict(found, printed, unit))


def _estimate_json(found: Estimate) -> dict[str, Any]:
    return {"mean": found.mean, "low": found.low, "high": found.high, "seeds": found.count}
