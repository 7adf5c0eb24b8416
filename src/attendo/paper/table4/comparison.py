"""Table 4 as it is printed, and the parsers of a study compared: means over seeds, and what each change brings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from attendo.paper.statistics import Estimate, estimate
from attendo.paper.table4.evaluation import TestResult
from attendo.paper.table4.rows import Row

Training = Literal["WSJ only, discriminative", "semi-supervised", "multi-task", "generative"]


@dataclass(frozen=True, kw_only=True)
class PrintedRow:
    """A row of the paper's table."""

    parser: str
    training: Training
    f1: float
    is_transformer: bool = False


PRINTED = (
    PrintedRow(parser="Vinyals & Kaiser et al. (2014)", training="WSJ only, discriminative", f1=88.3),
    PrintedRow(parser="Petrov et al. (2006)", training="WSJ only, discriminative", f1=90.4),
    PrintedRow(parser="Zhu et al. (2013)", training="WSJ only, discriminative", f1=90.4),
    PrintedRow(parser="Dyer et al. (2016)", training="WSJ only, discriminative", f1=91.7),
    PrintedRow(parser="Transformer (4 layers)", training="WSJ only, discriminative", f1=91.3, is_transformer=True),
    PrintedRow(parser="Zhu et al. (2013)", training="semi-supervised", f1=91.3),
    PrintedRow(parser="Huang & Harper (2009)", training="semi-supervised", f1=91.3),
    PrintedRow(parser="McClosky et al. (2006)", training="semi-supervised", f1=92.1),
    PrintedRow(parser="Vinyals & Kaiser et al. (2014)", training="semi-supervised", f1=92.1),
    PrintedRow(parser="Transformer (4 layers)", training="semi-supervised", f1=92.7, is_transformer=True),
    PrintedRow(parser="Luong et al. (2015)", training="multi-task", f1=93.0),
    PrintedRow(parser="Dyer et al. (2016)", training="generative", f1=93.3),
)
"""In the paper's order."""


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
        return {
            "row": self.row,
            "test": self.test,
            "ensemble": self.is_ensemble,
            "f1": self.f1.to_json(),
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
        if self.difference.half_width is None:
            return "one seed: not told apart from chance"
        return {0: "not told apart", 1: "helps", -1: "harms"}[self.difference.sign]

    def to_json(self) -> dict[str, Any]:
        """For `result.json`."""
        return {
            "row": self.row.name,
            "against": self.row.against,
            "test": self.test,
            "difference": self.difference.to_json(),
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
    by_place: dict[tuple[str | None, str], dict[int | None, float]] = {}
    for one in tested:
        if len(one.weights) == 1:
            by_place.setdefault((one.row, one.test), {})[one.seed] = one.f1
    found = []
    for row in rows:
        for test in dict.fromkeys(one.test for one in tested) if row.against else ():
            ours, others = by_place.get((row.name, test), {}), by_place.get((row.against, test), {})
            if differences := [f1 - others[seed] for seed, f1 in ours.items() if seed in others]:
                found.append(Change(row=row, test=test, difference=estimate(differences)))
    return tuple(found)
