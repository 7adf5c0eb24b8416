"""The systems of a Table 2 study held against each other: means over seeds, and paired tests over sentences."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from attendo.evaluation.significance import MetricComparison, compare_outputs
from attendo.paper.statistics import Estimate, estimate
from attendo.paper.table2.systems import Kind, Translated


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
            "a": told(self.a),
            "b": told(self.b),
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
        name_a=told(a),
        name_b=told(b),
        target_language=a.system.languages[1],
        metric_names=("bleu",),
    )
    return Test(a=a, b=b, found=comparison.metrics[0])


def told(translated: Translated) -> str:
    """A system in words, such as `en-de base, seed 1, average`."""
    system = translated.system
    seed = [f"seed {system.seed}"] if system.seed is not None else []
    return ", ".join([system.trained, *seed, system.kind])
