"""Table 2 as printed, and the comparison of a study's systems: means over seeds, paired tests over sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attendo.evaluation.estimates import Estimate, estimate
from attendo.evaluation.significance import MetricComparison, compare_outputs
from attendo.paper.declared import declared
from attendo.paper.table2.costs import DAY_S, PAPER_TFLOPS, training_cost
from attendo.paper.table2.systems import Kind, SystemOutput

# --- Table 2 as printed -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class PublishedRow:
    """A row of the printed table; None where the paper leaves a cell empty."""

    name: str
    group: str
    """`single`, `ensemble` or `Transformer`."""
    bleu_de: float | None = None
    """BLEU from English to German."""
    bleu_fr: float | None = None
    """BLEU from English to French."""
    cost_de: float | None = None
    """Training cost from English to German, in FLOPs."""
    cost_fr: float | None = None
    """Training cost from English to French, in FLOPs."""
    place_de: tuple[int, int] = (0, 11)
    """Offset of the label from the mark in the chart, in points (x, y): a label to the right of the mark starts there,
    one to the left ends there, and one straight above or below is centred there."""
    place_fr: tuple[int, int] = (0, 11)
    """The same offset for English to French."""

    @property
    def costs(self) -> Mapping[str, str | None]:
        """The costs as the paper prints them, by target language, `de` and `fr`."""
        costs = {"de": self.cost_de, "fr": self.cost_fr}
        return {language: None if cost is None else two_digits(cost) for language, cost in costs.items()}


ROWS: tuple[PublishedRow, ...] = declared("table2/printed.toml", "rows", tuple[PublishedRow, ...])
"""The rows in the paper's order; where sources disagree, with the value that `DISAGREEMENTS` settles on."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """The inputs of the estimate of a printed cost: the kind and the number of GPUs, and the training time."""

    row: str
    pair: str
    """`en-de` or `en-fr`."""
    gpu: str
    gpus: int
    days: float
    models: int = 1
    """Number of models in an ensemble."""
    source: str
    """Source of the number of GPUs and of the days."""

    @property
    def printed(self) -> float:
        """The cost that the paper prints, in FLOPs."""
        row = next(row for row in ROWS if row.name == self.row)
        cost = row.cost_de if self.pair == "en-de" else row.cost_fr
        assert cost is not None, f"{self.row}: the paper prints no cost of {self.pair}"
        return cost

    @property
    def cost(self) -> float:
        """The cost by the paper's formula, in FLOPs."""
        return self.models * training_cost(self.days * DAY_S, self.gpus, PAPER_TFLOPS[self.gpu] * 1e12)

    @property
    def trained_on(self) -> str:
        """Number and kind of GPUs, and days, in words."""
        models = f"{self.models} x " if self.models > 1 else ""
        return f"{models}{self.gpus} {self.gpu}, {self.days:.3g} day{'s' * (self.days != 1)}"

    @property
    def told(self) -> Mapping[str, str]:
        """The cost by the formula, the printed cost, and whether they agree, as the page prints them."""
        formula = f"{self.cost:.3g}".replace("e+", "e")
        return {"formula": formula, "printed": two_digits(self.printed), "agree": "yes" if agrees(self) else "no"}


SETUPS: tuple[Setup, ...] = declared("table2/printed.toml", "setups", tuple[Setup, ...])
"""The setups of the rows. GPUs and days of single models are their authors'; the paper states only its own."""


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """A figure on which copies and translations of the paper disagree."""

    cell: str
    found: str
    taken: str
    why: str


DISAGREEMENTS: tuple[Disagreement, ...] = declared("table2/printed.toml", "disagreements", tuple[Disagreement, ...])


def two_digits(cost: float) -> str:
    """A cost as the paper prints it, with two digits, such as `3.3e18`."""
    mantissa, exponent = f"{cost:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def agrees(setup: Setup) -> bool:
    """Whether the formula gives the printed cost, rounded to two digits."""
    return two_digits(setup.cost) == two_digits(setup.printed)


def printed_points(rows: Sequence[PublishedRow] = ROWS) -> list[tuple[PublishedRow, str, float, float]]:
    """The marks of the chart: row, `en-de` or `en-fr`, cost and BLEU, wherever the paper prints both figures."""
    cells = [
        (row, pair, cost, bleu)
        for row in rows
        for pair, cost, bleu in (("en-de", row.cost_de, row.bleu_de), ("en-fr", row.cost_fr, row.bleu_fr))
    ]
    return [(row, pair, cost, bleu) for row, pair, cost, bleu in cells if cost is not None and bleu is not None]


# --- our systems ------------------------------------------------------------------------------------------------------


_WEIGHTS: Mapping[Kind, str] = {
    "last": "last update",
    "average": "average of the last checkpoints",
    "ensemble": "ensemble of the averages",
    "shipped": "comes with attendo",
}


@dataclass(frozen=True, kw_only=True)
class Group:
    """The systems of one direction, row, kind and test set: one per seed, or a single one."""

    row: str
    kind: Kind
    languages: tuple[str, str]
    members: tuple[SystemOutput, ...]

    @property
    def trained(self) -> str:
        """The direction and the row, such as `en-de base`, or `en-de` for a shipped model."""
        return self.members[0].system.trained

    @property
    def weights(self) -> str:
        """The kind of weights in words."""
        return _WEIGHTS[self.kind]

    @property
    def num_models(self) -> int:
        """Number of models in the ensemble; for other kinds, number of systems."""
        return len(self.members[0].system.models) if self.kind == "ensemble" else len(self.members)

    @property
    def bleu(self) -> Estimate:
        """The mean of sacreBLEU's BLEU over seeds."""
        return estimate([member.scores.bleu.score for member in self.members])

    @property
    def paper_bleu(self) -> Estimate:
        """The mean of BLEU by the paper's convention over seeds."""
        return estimate([paper_score(member) for member in self.members])


@dataclass(frozen=True, kw_only=True)
class Test:
    """The paired test of two systems on the same sentences, by sacreBLEU's BLEU."""

    __test__ = False  # not a test class for pytest

    a: SystemOutput
    b: SystemOutput
    found: MetricComparison

    @property
    def difference(self) -> float:
        """The score of `b` minus that of `a`."""
        return self.found.b.score - self.found.a.score

    @property
    def p_values(self) -> tuple[float, float]:
        """The p-values of the paired bootstrap and of approximate randomisation."""
        return self.found.bootstrap.p_value, self.found.randomization.p_value

    def to_json(self) -> dict[str, Any]:
        """The names of both systems, the difference and the p-values, for `result.json`."""
        return {
            "a": self.a.told,
            "b": self.b.told,
            "difference": self.difference,
            "p_bootstrap": self.p_values[0],
            "p_randomised": self.p_values[1],
        }


def paper_score(translated: SystemOutput) -> float:
    """A system's BLEU by the paper's convention."""
    assert translated.scores.paper is not None, "every system is scored by both conventions"
    return translated.scores.paper.score


def groups(translations: Sequence[SystemOutput]) -> tuple[Group, ...]:
    """Groups systems by direction, row, kind and test set, in the order of first appearance."""
    grouped: dict[tuple[object, ...], list[SystemOutput]] = {}
    for translated in translations:
        system = translated.system
        grouped.setdefault((system.languages, system.row, system.kind, system.test.name), []).append(translated)
    return tuple(
        Group(
            row=members[0].system.row,
            kind=members[0].system.kind,
            languages=members[0].system.languages,
            members=tuple(members),
        )
        for members in grouped.values()
    )


def gain(of: Sequence[SystemOutput], over: Sequence[SystemOutput]) -> Estimate | None:
    """The mean difference in sacreBLEU's BLEU between systems of equal seeds; None where no seed has both."""
    by_seed = {translated.system.seed: translated.scores.bleu.score for translated in over}
    differences = [
        translated.scores.bleu.score - by_seed[translated.system.seed]
        for translated in of
        if translated.system.seed in by_seed
    ]
    return estimate(differences) if differences else None


def paired_tests(translations: Sequence[SystemOutput]) -> tuple[Test, ...]:
    """Tests each run's average against its last update, and each row's ensemble against each of its averages.

    Uses both tests of `evaluation.significance`: the paired bootstrap and approximate randomisation.
    """
    tests = []
    for a in translations:
        for b in translations:
            same_row = (a.system.languages, a.system.row) == (b.system.languages, b.system.row)
            same_run = a.system.seed == b.system.seed
            kinds = (a.system.kind, b.system.kind)
            if same_row and ((kinds == ("last", "average") and same_run) or kinds == ("average", "ensemble")):
                tests.append(_test(a, b))
    return tuple(tests)


def _test(a: SystemOutput, b: SystemOutput) -> Test:
    comparison = compare_outputs(
        a.outputs,
        b.outputs,
        a.references,
        name_a=a.told,
        name_b=b.told,
        target_language=a.system.languages[1],
        metric_names=("bleu",),
    )
    return Test(a=a, b=b, found=comparison.metrics[0])
