"""The runs of a label-smoothing study: each row's figures, and its differences to the row without smoothing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from attendo.paper.calibration import Bin, Calibration, pooled
from attendo.paper.label_smoothing.rows import EPSILONS, PAPER_EPSILON, PRINTED, Printed, row_name
from attendo.paper.run_results import RunResult
from attendo.paper.statistics import Estimate, Verdict, estimate, verdict
from attendo.paper.table3.rows import BLEU_UNIT, PERPLEXITY_UNIT


@dataclass(frozen=True, kw_only=True)
class MeasuredRun:
    """A run that is done, and what was measured of its model afterwards."""

    result: RunResult
    calibration: Calibration
    """On the validation set."""


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A figure of a run, and what the paper says of it."""

    name: str
    """For tables."""
    key: str
    """For `result.json`."""
    of: Callable[[MeasuredRun], float]
    digits: int
    """Behind the point."""
    printed: Callable[[Printed], float] | None = None
    """The figure in Table 3."""
    unit: float = 0.0
    """The last digit of that."""
    direction: int = 0
    """Which way the paper's eps_ls moves it, where Section 5.4 says that alone: 1 for up, 0 where it does not say."""


MEASURES = (
    Measure(
        name="perplexity", key="perplexity", of=lambda run: run.result.perplexity, digits=3,
        printed=lambda row: row.perplexity, unit=PERPLEXITY_UNIT,
    ),
    Measure(
        name="accuracy %", key="accuracy", of=lambda run: 100 * run.calibration.accuracy, digits=2, direction=1
    ),
    Measure(
        name="BLEU", key="bleu", of=lambda run: run.result.bleu, digits=2, printed=lambda row: row.bleu, unit=BLEU_UNIT
    ),
    Measure(name="confidence %", key="confidence", of=lambda run: 100 * run.calibration.confidence, digits=2),
    Measure(name="calibration error %", key="calibration_error", digits=2,
            of=lambda run: 100 * run.calibration.calibration_error),
    Measure(name="entropy, nats", key="entropy", of=lambda run: run.calibration.entropy, digits=3, direction=1),
)  # fmt: skip
"""In the order of the tables. That the model learns to be more unsure (Section 5.4) is entropy."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Of a row to the one without smoothing, in one measure."""

    ours: Estimate
    """Paired by seed."""
    printed: float | None
    """The same of Table 3's figures; None where it has none."""
    direction: int
    """The paper's: 1 for up, -1 for down, 0 where it says nothing of this row and measure."""
    verdict: Verdict | None
    """None where the paper says nothing."""

    def to_json(self) -> dict[str, Any]:
        """For `result.json`."""
        return {
            **estimate_json(self.ours),
            "paper": None if self.printed is None else round(self.printed, 2),
            "paper_direction": self.direction,
            "verdict": None if self.verdict is None else self.verdict.value,
        }


@dataclass(frozen=True, kw_only=True)
class RowComparison:
    """A row of which at least one run is done."""

    epsilon: float
    printed: Printed | None
    """None where Table 3 has no such row."""
    runs: tuple[MeasuredRun, ...]
    """By seed, rising."""
    figures: Mapping[str, Estimate]
    """By the measures' keys."""
    differences: Mapping[str, Difference]
    """By the same; empty for the row without smoothing, and where no seed has both."""
    curve: tuple[Bin, ...]
    """The reliability curve of all seeds' tokens."""

    def to_json(self) -> dict[str, Any]:
        """For `result.json`."""
        return {
            "epsilon": self.epsilon,
            "paper": self.printed and {"perplexity": self.printed.perplexity, "bleu": self.printed.bleu},
            "figures": {key: estimate_json(found) for key, found in self.figures.items()},
            "differences": {key: found.to_json() for key, found in self.differences.items()},
            "reliability": [asdict(each) for each in self.curve],
        }


def compare(runs: Sequence[MeasuredRun]) -> tuple[RowComparison, ...]:
    """Holds what is done of a study against the row without smoothing and against the paper, eps_ls rising."""
    by_row = {
        epsilon: {run.result.seed: run for run in runs if run.result.row == row_name(epsilon)} for epsilon in EPSILONS
    }
    plain = by_row[EPSILONS[0]]
    return tuple(_compared(epsilon, its_runs, plain) for epsilon, its_runs in by_row.items() if its_runs)


def _compared(epsilon: float, runs: dict[int, MeasuredRun], plain: dict[int, MeasuredRun]) -> RowComparison:
    both = sorted(runs.keys() & plain.keys()) if epsilon != EPSILONS[0] else []
    ordered = tuple(runs[seed] for seed in sorted(runs))
    differences = {
        measure.key: _difference(measure, epsilon, [measure.of(runs[s]) - measure.of(plain[s]) for s in both])
        for measure in MEASURES
        if both
    }
    return RowComparison(
        epsilon=epsilon,
        printed=PRINTED.get(epsilon),
        runs=ordered,
        figures={measure.key: estimate([measure.of(run) for run in ordered]) for measure in MEASURES},
        differences=differences,
        curve=pooled([run.calibration.bins for run in ordered]),
    )


def _difference(measure: Measure, epsilon: float, ours: list[float]) -> Difference:
    found, printed = estimate(ours), PRINTED.get(epsilon)
    if printed is not None and measure.printed is not None:
        told = measure.printed(printed) - measure.printed(PRINTED[EPSILONS[0]])
        direction = 1 if told > 0 else -1
        return Difference(ours=found, printed=told, direction=direction, verdict=verdict(found, told, measure.unit))
    direction = measure.direction if epsilon == PAPER_EPSILON else 0
    return Difference(
        ours=found,
        printed=None,
        direction=direction,
        verdict=verdict(found, float(direction), 0.0) if direction else None,
    )


def estimate_json(found: Estimate) -> dict[str, Any]:
    """An estimate for `result.json`."""
    return {"mean": found.mean, "low": found.low, "high": found.high, "seeds": found.count}
