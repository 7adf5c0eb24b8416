"""The parsers of a Table 4 study held against each other: means over seeds, and what each change brings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from attendo.paper.statistics import Estimate, estimate
from attendo.paper.table4.evaluation import TestResult
from attendo.paper.table4.rows import Row


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A row on a test set."""

    row: str
    test: str
    is_ensemble: bool
    members: tuple[TestResult, ...]
    """One a seed; of an ensemble, or a parser from elsewhere, one."""

    @property
    def f1(self) -> Estimate:
        """Every sentence counted."""
        return estimate([one.f1 for one in self.members])

    @property
    def name(self) -> str:
        """The row's, and whether it is an ensemble."""
        return f"{self.row}, ensemble" if self.is_ensemble else self.row

    def mean(self, key: str) -> float:
        """Of one of the figures."""
        return estimate([getattr(one, key) for one in self.members]).mean

    def to_json(self) -> dict[str, Any]:
        """For `result.json`."""
        found = self.f1
        return {
            "row": self.row,
            "test": self.test,
            "ensemble": self.is_ensemble,
            "f1": {"mean": found.mean, "low": found.low, "high": found.high, "seeds": found.count},
            **{key: self.mean(key) for key in _MEANS},
        }


_MEANS = (
    "evalb",
    "evalb_short",
    "recall",
    "precision",
    "failed",
    "complete",
    "tagging",
    "malformed",
    "sentences_per_s",
)


@dataclass(frozen=True, kw_only=True)
class Change:
    """What a row's change brings on a test set, paired by seed."""

    row: Row
    test: str
    difference: Estimate

    @property
    def verdict(self) -> str:
        """What the interval says."""
        low, high = self.difference.low, self.difference.high
        if low is None or high is None:
            return "one seed: not told apart from chance"
        if low <= 0 <= high:
            return "not told apart"
        return "helps" if low > 0 else "harms"

    def to_json(self) -> dict[str, Any]:
        """For `result.json`."""
        found = self.difference
        return {
            "row": self.row.name,
            "against": self.row.against,
            "test": self.test,
            "difference": {"mean": found.mean, "low": found.low, "high": found.high, "seeds": found.count},
            "verdict": self.verdict,
        }


def cells(tested: Sequence[TestResult]) -> tuple[Cell, ...]:
    """Results of the same row and test set together, in the order in which they come."""
    groups: dict[tuple[str, str, bool], list[TestResult]] = {}
    for one in tested:
        groups.setdefault((one.row, one.test, len(one.weights) > 1), []).append(one)
    return tuple(
        Cell(row=row, test=test, is_ensemble=is_ensemble, members=tuple(members))
        for (row, test, is_ensemble), members in groups.items()
    )


def changes(rows: Sequence[Row], tested: Sequence[TestResult]) -> tuple[Change, ...]:
    """What the change of each row that has one brings, on every test set that both were tested on."""
    by_place = {(one.row, one.test, one.seed): one.f1 for one in tested if len(one.weights) == 1}
    tests = dict.fromkeys(one.test for one in tested)
    found = []
    for row in rows:
        for test in tests if row.against else ():
            differences = [
                f1 - by_place[row.against or "", test, seed]
                for (name, where, seed), f1 in by_place.items()
                if (name, where) == (row.name, test) and (row.against or "", test, seed) in by_place
            ]
            if differences:
                found.append(Change(row=row, test=test, difference=estimate(differences)))
    return tuple(found)
