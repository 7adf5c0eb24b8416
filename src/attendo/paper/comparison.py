"""Comparison of a study's rows with a baseline row, metric by metric, and with the figures that the paper prints."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from attendo.evaluation.estimates import Estimate, Verdict, estimate, paired, verdict
from attendo.paper.report import Table

RowT = TypeVar("RowT")
RunT = TypeVar("RunT")


@dataclass(frozen=True, kw_only=True)
class Metric(Generic[RunT]):
    """A measure of a run."""

    key: str
    """Name in `result.json`."""
    name: str
    """Name in tables."""
    of: Callable[[RunT], float]
    """Returns the value of a run."""
    digits: int
    """Number of digits after the decimal point."""

    @property
    def title(self) -> str:
        """The name with a capital letter, for the start of a sentence."""
        return self.name[0].upper() + self.name[1:]


@dataclass(frozen=True, kw_only=True)
class PaperClaim:
    """The paper's statement about a row's difference to the baseline in one metric."""

    direction: int = 0
    """1 for up, -1 for down, 0 if the paper says nothing."""
    printed: float | None = None
    """Difference of the printed figures; None if the paper prints none."""
    unit: float = 0.0
    """Unit of the last printed digit."""

    @classmethod
    def of_printed(cls, row: float, baseline: float, unit: float) -> "PaperClaim":
        """Returns the difference of two printed figures.

        Args:
            row: the row's figure.
            baseline: the baseline's figure.
            unit: unit of the last digit of both.
        """
        return cls(direction=1 if row > baseline else -1, printed=row - baseline, unit=unit)


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The difference of a row to the baseline in one metric."""

    ours: Estimate
    """The measured difference, paired by seed."""
    expected: PaperClaim

    @property
    def verdict(self) -> Verdict | None:
        """How the measured difference compares with the paper's; None if the paper says nothing."""
        if self.expected.printed is not None:
            return verdict(self.ours, self.expected.printed, self.expected.unit)
        return verdict(self.ours, float(self.expected.direction), 0.0) if self.expected.direction else None

    def to_json(self) -> dict[str, Any]:
        """Returns the difference for `result.json`."""
        printed, outcome = self.expected.printed, self.verdict
        return {
            **self.ours.to_json(),
            "paper": None if printed is None else round(printed, 2),
            "paper_direction": self.expected.direction,
            "verdict": None if outcome is None else outcome.value,
        }


@dataclass(frozen=True, kw_only=True)
class Comparison(Generic[RowT, RunT]):
    """A row with at least one finished run."""

    row: RowT
    runs: tuple[RunT, ...]
    """The finished runs, by rising seed."""
    figures: Mapping[str, Estimate]
    """Mean of each metric over the runs, by the metric's key."""
    differences: Mapping[str, Difference]
    """Differences to the baseline, by the metric's key; empty for the baseline and if no seed has both rows."""


def compare(
    rows: Mapping[RowT, Mapping[int, RunT]],
    baseline: RowT,
    metrics: Sequence[Metric[RunT]],
    expected: Callable[[RowT, str], PaperClaim],
) -> tuple[Comparison[RowT, RunT], ...]:
    """Compares every row that has a finished run with the baseline.

    Args:
        rows: the finished runs, by row and then by seed.
        baseline: the row to compare with, one of `rows`.
        metrics: the metrics to compare.
        expected: returns the paper's statement about a row in the metric with a key.
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


def with_verdict(comparisons: Sequence[Comparison[RowT, RunT]], key: str, sought: Verdict) -> list[RowT]:
    """Returns the rows whose difference has a given verdict.

    Args:
        comparisons: the comparisons of all rows.
        key: the metric's key.
        sought: the verdict to look for.
    """
    return [
        comparison.row
        for comparison in comparisons
        if key in comparison.differences and comparison.differences[key].verdict is sought
    ]


def difference_table(
    metric: Metric[RunT], comparisons: Sequence[Comparison[RowT, RunT]], *, row: str, baseline: str
) -> Table:
    """Returns a table of the differences to the baseline in one metric, with intervals, beside the paper's.

    Args:
        metric: the metric.
        comparisons: the comparisons of all rows; rows without a difference are skipped.
        row: heading of the column of rows.
        baseline: name of the baseline in the caption.
    """
    return Table(
        caption=f"{metric.title}: difference to {baseline}, with its 95% interval",
        columns=(row, "verdict", "here", "from", "to", "paper"),
        rows=tuple(
            (str(comparison.row), *_difference_cells(comparison.differences[metric.key], metric.digits))
            for comparison in comparisons
            if comparison.differences
        ),
        words=2,
    )


def _difference_cells(difference: Difference, digits: int) -> tuple[str, ...]:
    ours, expected = difference.ours, difference.expected
    return (
        "" if difference.verdict is None else difference.verdict.value,
        f"{ours.mean:+.{digits}f}",
        "" if ours.low is None else f"{ours.low:+.{digits}f}",
        "" if ours.high is None else f"{ours.high:+.{digits}f}",
        {1: "up", -1: "down", 0: ""}[expected.direction] if expected.printed is None else f"{expected.printed:+.2f}",
    )
