"""The section of Table 2's page on what an average of checkpoints and an ensemble bring."""

from collections.abc import Iterable, Sequence

from attendo.paper.report import Paragraph, Section, Table
from attendo.paper.table2.comparison import Group, Test, gain, told
from attendo.paper.table2.systems import Kind

_SIGNIFICANT = 0.05


def gains(groups: Sequence[Group], tests: Sequence[Test]) -> Section:
    """What averages bring over last updates, and ensembles over averages.

    Args:
        groups: all systems.
        tests: of them, at least one.
    """
    rows = tuple(
        (
            told(test.a),
            told(test.b),
            f"{test.found.a.score:.2f}",
            f"{test.found.b.score:.2f}",
            f"{test.difference:+.2f}",
            *(f"{value:.4f}" for value in test.p_values),
        )
        for test in tests
    )
    table = Table(
        caption="Paired tests over the sentences of the test set, by sacreBLEU's BLEU",
        columns=("A", "B", "A", "B", "B - A", "p, bootstrap", "p, randomised"),
        rows=rows,
        words=2,
    )
    note = (
        "A p below 0.05 means: were the two equally good, other sentences would seldom show such a difference. It "
        "says nothing of other seeds; the interval over seeds above says that, from few of them. Of systems "
        "whose BLEU is near 0 the tests say nothing. The paper averages its checkpoints and gives no figure of Table 2 "
        "without; the ensembles in it are its rivals'."
    )
    return Section(
        title="What an average and an ensemble bring",
        blocks=(*(Paragraph(text=text) for text in _gain_texts(groups, tests)), table, Paragraph(text=note)),
    )


def _gain_texts(groups: Sequence[Group], tests: Sequence[Test]) -> Iterable[str]:
    by_kind = {(group.trained, group.kind): group for group in groups}
    for (trained, kind), group in by_kind.items():
        if kind != "average":
            continue
        gained = gain(group.members, by_kind[trained, "last"].members)
        assert gained is not None, "every run has both"
        yield (
            f"{trained}: the average of the last checkpoints against the last one alone, paired by seed: "
            f"{gained.to_text('+.2f')} BLEU; {_significant(trained, 'average', tests)}"
        )
        ensemble = by_kind.get((trained, "ensemble"))
        if ensemble is not None:
            yield (
                f"{trained}: the ensemble of {len(group.members)} averages against their mean: "
                f"{ensemble.bleu.mean - group.bleu.mean:+.2f} BLEU, at {len(group.members)} times the training and the "
                f"time of translating; {_significant(trained, 'ensemble', tests)}"
            )


def _significant(trained: str, kind: Kind, tests: Sequence[Test]) -> str:
    """How often systems of a kind are told apart from the simpler ones."""
    ours = [test for test in tests if (test.b.system.trained, test.b.system.kind) == (trained, kind)]
    apart = [test.difference > 0 for test in ours if max(test.p_values) < _SIGNIFICANT]
    return (
        f"better by both tests (p < {_SIGNIFICANT}) in {sum(apart)} of {len(ours)} comparisons, "
        f"worse in {len(apart) - sum(apart)}."
    )
