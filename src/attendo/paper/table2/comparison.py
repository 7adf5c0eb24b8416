"""Table 2 as it is printed, and the systems of a study compared: means over seeds, paired tests over sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attendo.evaluation.significance import MetricComparison, compare_outputs
from attendo.paper.declared import declared
from attendo.paper.statistics import Estimate, estimate
from attendo.paper.table2.costs import DAY_S, PAPER_TFLOPS, training_cost
from attendo.paper.table2.systems import Kind, Translated

# --- Table 2 as it is printed -----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Printed:
    """A row: None where the paper leaves a cell empty."""

    name: str
    group: str
    """`single`, `ensemble` or `Transformer`."""
    bleu_de: float | None = None
    """English to German."""
    bleu_fr: float | None = None
    """English to French."""
    cost_de: float | None = None
    """FLOPs."""
    cost_fr: float | None = None
    place_de: tuple[int, int] = (0, 11)
    """Points from its mark in the picture to its name, which ends there on the left of a mark, and has its middle there
    above and below."""
    place_fr: tuple[int, int] = (0, 11)

    @property
    def costs(self) -> Mapping[str, str | None]:
        """As they are printed, by language."""
        costs = {"de": self.cost_de, "fr": self.cost_fr}
        return {language: None if cost is None else two_digits(cost) for language, cost in costs.items()}


ROWS: tuple[Printed, ...] = declared("table2/printed.toml", "rows", tuple[Printed, ...])
"""In the paper's order. Where sources disagree, the value that the notes below settle on."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """How long something of the table was trained, on how many GPUs: the estimate's three numbers."""

    row: str
    pair: str
    """`en-de` or `en-fr`."""
    gpu: str
    gpus: int
    days: float
    models: int = 1
    """Of an ensemble."""
    source: str
    """Who says so."""

    @property
    def printed(self) -> float:
        """The cost that the paper prints, in FLOPs."""
        found = next(one for one in ROWS if one.name == self.row)
        cost = found.cost_de if self.pair == "en-de" else found.cost_fr
        assert cost is not None, f"{self.row}: the paper prints no cost of {self.pair}"
        return cost

    @property
    def cost(self) -> float:
        """What the paper's formula makes of it, in FLOPs."""
        return self.models * training_cost(self.days * DAY_S, self.gpus, PAPER_TFLOPS[self.gpu] * 1e12)

    @property
    def trained_on(self) -> str:
        """How long on what."""
        models = f"{self.models} x " if self.models > 1 else ""
        return f"{models}{self.gpus} {self.gpu}, {self.days:.3g} day{'s' * (self.days != 1)}"

    @property
    def told(self) -> Mapping[str, str]:
        """What the formula makes of it, what is printed, and whether they agree."""
        formula = f"{self.cost:.3g}".replace("e+", "e")
        return {"formula": formula, "printed": two_digits(self.printed), "agree": "yes" if agrees(self) else "no"}


SETUPS: tuple[Setup, ...] = declared("table2/printed.toml", "setups", tuple[Setup, ...])
"""The single models' GPUs and days are those that their authors give; the paper itself names only its own."""


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """A cell that copies and translations of the paper have in more than one way."""

    cell: str
    found: str
    taken: str
    why: str


DISAGREEMENTS: tuple[Disagreement, ...] = declared("table2/printed.toml", "disagreements", tuple[Disagreement, ...])


def two_digits(cost: float) -> str:
    """A cost as the paper prints it, as `3.3e18`."""
    mantissa, exponent = f"{cost:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def agrees(setup: Setup) -> bool:
    """Whether the formula gives the printed figure to its two digits."""
    return two_digits(setup.cost) == two_digits(setup.printed)


def printed_points(rows: Sequence[Printed] = ROWS) -> list[tuple[Printed, str, float, float]]:
    """The rows that have both figures of a language: row, `en-de` or `en-fr`, cost, BLEU."""
    cells = [
        (row, pair, cost, bleu)
        for row in rows
        for pair, cost, bleu in (("en-de", row.cost_de, row.bleu_de), ("en-fr", row.cost_fr, row.bleu_fr))
    ]
    return [(row, pair, cost, bleu) for row, pair, cost, bleu in cells if cost is not None and bleu is not None]


# --- ours beside it ---------------------------------------------------------------------------------------------------


_WEIGHTS: Mapping[Kind, str] = {
    "last": "last update",
    "average": "average of the last checkpoints",
    "ensemble": "ensemble of the averages",
    "shipped": "comes with attendo",
}


@dataclass(frozen=True, kw_only=True)
class Group:
    """The systems of one row and kind: one a seed, or one alone."""

    row: str
    kind: Kind
    languages: tuple[str, str]
    members: tuple[Translated, ...]

    @property
    def trained(self) -> str:
        """What was trained, such as `en-de base`."""
        return self.members[0].system.trained

    @property
    def weights(self) -> str:
        """The kind in words."""
        return _WEIGHTS[self.kind]

    @property
    def num_models(self) -> int:
        """Models of the ensemble, or runs."""
        return len(self.members[0].system.models) if self.kind == "ensemble" else len(self.members)

    @property
    def bleu(self) -> Estimate:
        """The figure by sacreBLEU, over seeds."""
        return estimate([one.scores.bleu.score for one in self.members])

    @property
    def paper_bleu(self) -> Estimate:
        """The figure by the paper's convention, over seeds."""
        return estimate([paper_score(one) for one in self.members])


@dataclass(frozen=True, kw_only=True)
class Test:
    """Whether one system is better than another on the same sentences, by sacreBLEU's BLEU."""

    __test__ = False  # for pytest: no class of tests

    a: Translated
    b: Translated
    found: MetricComparison

    @property
    def difference(self) -> float:
        """Of the second to the first."""
        return self.found.b.score - self.found.a.score

    @property
    def p_values(self) -> tuple[float, float]:
        """By the paired bootstrap, and by approximate randomisation."""
        return self.found.bootstrap.p_value, self.found.randomization.p_value

    def to_json(self) -> dict[str, Any]:
        """For `result.json`."""
        return {
            "a": self.a.told,
            "b": self.b.told,
            "difference": self.difference,
            "p_bootstrap": self.p_values[0],
            "p_randomised": self.p_values[1],
        }


def paper_score(translated: Translated) -> float:
    """BLEU by the paper's convention."""
    assert translated.scores.paper is not None, "every system is scored by both conventions"
    return translated.scores.paper.score


def groups(translations: Sequence[Translated]) -> tuple[Group, ...]:
    """The systems by direction, row, kind and test set, in the order in which they come."""
    found: dict[tuple[object, ...], list[Translated]] = {}
    for one in translations:
        system = one.system
        found.setdefault((system.languages, system.row, system.kind, system.test.name), []).append(one)
    return tuple(
        Group(
            row=members[0].system.row,
            kind=members[0].system.kind,
            languages=members[0].system.languages,
            members=tuple(members),
        )
        for members in found.values()
    )


def gain(of: Sequence[Translated], over: Sequence[Translated]) -> Estimate | None:
    """The mean difference in sacreBLEU's BLEU between systems of equal seeds; None where no seed has both."""
    by_seed = {one.system.seed: one.scores.bleu.score for one in over}
    differences = [one.scores.bleu.score - by_seed[one.system.seed] for one in of if one.system.seed in by_seed]
    return estimate(differences) if differences else None


def paired_tests(translations: Sequence[Translated]) -> tuple[Test, ...]:
    """Each run's average against its last update, and each row's ensemble against each of its averages.

    Both tests of `evaluation.significance`: the paired bootstrap and approximate randomisation.
    """
    found = []
    for a in translations:
        for b in translations:
            same_row = (a.system.languages, a.system.row) == (b.system.languages, b.system.row)
            same_run = a.system.seed == b.system.seed
            kinds = (a.system.kind, b.system.kind)
            if same_row and ((kinds == ("last", "average") and same_run) or kinds == ("average", "ensemble")):
                found.append(_test(a, b))
    return tuple(found)


def _test(a: Translated, b: Translated) -> Test:
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
