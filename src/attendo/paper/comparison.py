"""Rows of a study compared with a baseline row, metric by metric, and with what the paper prints."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from attendo.paper.report import Table
from attendo.paper.statistics import Estimate, Verdict, estimate, paired, verdict

RowT = TypeVar("RowT")
RunT = TypeVar("RunT")


@dataclass(frozen=True, kw_only=True)
class Metric(Generic[RunT]):
    """A figure of a run."""

    key: str
    """Its name in `result.json`."""
    name: str
    """Its name in tables."""
    of: Callable[[RunT], float]
    digits: int
    """Digits after the decimal point."""

    @property
    def title(self) -> str:
        """The name at the start of a sentence."""
        return self.name[0].upper() + self.name[1:]


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What the paper says about a row's difference to the baseline in one metric."""

    direction: int = 0
    """1 for up, -1 for down, 0 where the paper says nothing."""
    printed: float | None = None
    """The difference of the printed figures, where there are any."""
    unit: float = 0.0
    """The last digit of these figures."""

    @classmethod
    def of_printed(cls, row: float, baseline: float, unit: float) -> "Expected":
        """The difference of two printed figures.

        Args:
            row: the row's figure.
            baseline: the baseline's.
            unit: the last digit of both.
        """
        return cls(direction=1 if row > baseline else -1, printed=row - baseline, unit=unit)


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The difference of a row to the baseline in one metric."""

    ours: Estimate
    """Paired by seed."""
    expected: Expected

    @property
    def verdict(self) -> Verdict | None:
        """What our difference says about the paper's; None where the paper says nothing."""
        if self.expected.printed is not None:
            return verdict(self.ours, self.expected.printed, self.expected.unit)
        return verdict(self.ours, float(self.expected.direction), 0.0) if self.expected.direction else None

    def to_json(self) -> dict[str, Any]:
        """The difference for `result.json`."""
        printed, found = self.expected.printed, self.verdict
        return {
            **self.ours.to_json(),
            "paper": None if printed is None else round(printed, 2),
            "paper_direction": self.expected.direction,
            "verdict": None if found is None else found.value,
        }


@dataclass(frozen=True, kw_only=True)
class Comparison(Generic[RowT, RunT]):
    """A row of which at least one run is done."""

    row: RowT
    runs: tuple[RunT, ...]
    """By rising seed."""
    figures: Mapping[str, Estimate]
    """By the metrics' keys."""
    differences: Mapping[str, Difference]
    """By the metrics' keys; empty for the baseline, and where no seed has both rows."""


def compare(
    rows: Mapping[RowT, Mapping[int, RunT]],
    baseline: RowT,
    metrics: Sequence[Metric[RunT]],
    expected: Callable[[RowT, str], Expected],
) -> tuple[Comparison[RowT, RunT], ...]:
    """Compares the rows that have runs with the baseline.

    Args:
        rows: the runs that are done by row, and of a row by seed.
        baseline: one of the rows.
        metrics: what is compared.
        expected: what the paper says of a row in the metric of a key.
    """
    base = rows[baseline]
    return tuple(
        Comparison(
            row=row,
            runs=tuple(runs[seed] for seed in sorted(runs)),
            figures={metric.key: estimate([metric.of(run) for run in runs.values()]) for metric in metrics},
            differences={
                metric.key: Difference(ours=ours, expected=expected(row, metric.key))
                for metric in metrics
                if row != baseline and (ours := paired(runs, base, metric.of)) is not None
            },
        )
        for row, runs in rows.items()
        if runs
    )


def with_verdict(comparisons: Sequence[Comparison[RowT, RunT]], key: str, found: Verdict) -> list[RowT]:
    """The rows that a verdict was found for.

    Args:
        comparisons: of all rows.
        key: of the metric.
        found: the verdict.
    """
    return [one.row for one in comparisons if key in one.differences and one.differences[key].verdict is found]


def difference_table(
    metric: Metric[RunT], comparisons: Sequence[Comparison[RowT, RunT]], *, row: str, baseline: str
) -> Table:
    """The differences to the baseline in one metric, with their intervals, beside the paper's.

    Args:
        metric: the metric.
        comparisons: of all rows; those without a difference are left out.
        row: the name of the column of rows.
        baseline: what the rows are compared with, in words.
    """
    return Table(
        caption=f"{metric.title}: difference to {baseline}, with its 95% interval",
        columns=(row, "verdict", "here", "from", "to", "paper"),
        rows=tuple(
            (str(one.row), *_difference_cells(one.differences[metric.key], metric.digits))
            for one in comparisons
            if one.differences
        ),
        words=2,
    )


def _difference_cells(found: Difference, digits: int) -> tuple[str, ...]:
    ours, expected = found.ours, found.expected
    return (
        "" if found.verdict is None else found.verdict.value,
        f"{ours.mean:+.{digits}f}",
        "" if ours.low is None else f"{ours.low:+.{digits}f}",
        "" if ours.high is None else f"{ours.high:+.{digits}f}",
        {1: "up", -1: "down", 0: ""}[expected.direction] if expected.printed is None else f"{expected.printed:+.2f}",
    )
