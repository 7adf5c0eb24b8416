"""The page of a Table 2 study: the paper's rows, ours on the data we had, their cost, how figures come about."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from attendo.checkpoint.model_folder import read_description
from attendo.paper.experiment import Order
from attendo.paper.page_parts import budget_of, corpora_of, each, head_data, scale_note, seeds_of, versions_of
from attendo.paper.report import Paragraph, Picture, Report, Section, Shell, Table
from attendo.paper.run_results import RunResult, training_flops
from attendo.paper.table2.bleu_report import Point, as_printed, conventions, costs_png, disagreements, gains
from attendo.paper.table2.comparison import Group, Test, paper_score, told
from attendo.paper.table2.cost_report import FullSize, cost_model, full_sizes, our_costs
from attendo.paper.table2.costs import TrainingCost
from attendo.paper.table2.plan import Plan
from attendo.paper.table2.systems import Kind, Translated
from attendo.recipe import Recipe, load_recipe

_SHIPPED_LENGTH = 10
"""Tokens of an average sentence that the shipped models were trained on, and its end: their cards have the counts."""
_KINDS: Mapping[Kind, str] = {
    "last": "last update",
    "average": "average of the last checkpoints",
    "ensemble": "ensemble of the averages",
    "shipped": "comes with attendo",
}


@dataclass(frozen=True, kw_only=True)
class Findings:
    """All that a page is made of."""

    plan: Plan
    groups: tuple[Group, ...]
    """Of all systems."""
    tests: tuple[Test, ...]
    results: Mapping[str, tuple[RunResult, ...]]
    """By direction."""
    costs: Mapping[str, Mapping[str, tuple[TrainingCost, ...]]]
    """By direction and row."""
    given: tuple[TrainingCost, ...]
    """Of further run folders."""
    failures: tuple[str, ...] = ()

    @property
    def translations(self) -> list[Translated]:
        """Of all systems."""
        return [one for group in self.groups for one in group.members]


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Of a group's system; None where it is not known."""

    estimated: float | None
    counted: float | None
    at_most: bool = False
    """Whether `counted` is a bound."""


def table2_report(order: Order, findings: Findings) -> Report:
    """Makes the page.

    Args:
        order: how the study is wanted.
        findings: with at least one group.
    """
    costs = [cost_of(group, findings) for group in findings.groups]
    sizes = full_sizes()
    runs = [cost for rows in findings.costs.values() for row in rows.values() for cost in row]
    shown = [group.members[-1] for group in findings.groups if group.kind in ("ensemble", "shipped")]
    return Report(
        title="Table 2: BLEU and training cost",
        introduction=_introduction(order, findings),
        sections=(
            as_printed(),
            _ours(findings, costs),
            _picture(findings, costs, sizes),
            *([gains(findings.groups, findings.tests)] if findings.tests else []),
            conventions(shown or [findings.groups[0].members[0]]),
            disagreements(),
            our_costs(runs, findings.given),
            cost_model(sizes),
            _systems(findings),
            _how(order, findings),
        ),
        data=_data(order, findings, costs),
    )


def cost_of(group: Group, findings: Findings) -> Cost:
    """What the training of a group's system took; of an ensemble all its models', otherwise the mean over seeds."""
    if group.kind == "shipped":
        return Cost(estimated=None, counted=_shipped_flops(group), at_most=True)
    runs = findings.costs["-".join(group.languages)][group.row]
    parts = 1 if group.kind == "ensemble" else len(runs)
    estimates = [run.estimated for run in runs if run.estimated is not None]
    return Cost(
        estimated=sum(estimates) / parts if len(estimates) == len(runs) else None,
        counted=sum(run.counted for run in runs) / parts,
    )


def _shipped_flops(group: Group) -> float | None:
    """At most so many FLOPs: all updates of the recipe at their full size; its folder does not say how long it took."""
    description = read_description(group.members[0].system.models[0])
    recipe = load_recipe(description.training["recipe"])
    sizes = (description.src_vocab_size, description.tgt_vocab_size)
    tokens = recipe.training.max_steps * recipe.training.max_tokens
    return training_flops(description.model, sizes, (_SHIPPED_LENGTH, _SHIPPED_LENGTH), tokens)


def _introduction(order: Order, findings: Findings) -> tuple[str, ...]:
    parts = []
    for direction in findings.plan.directions:
        corpora = corpora_of(next(iter(direction.recipes.values())))
        rows = "; ".join(f"{row}, {_budget(recipe)}" for row, recipe in direction.recipes.items())
        parts.append(
            f"{direction.name}, trained here on {corpora} at the scale '{order.scale}' with "
            f"{seeds_of(order)}: {rows}. Tested on {direction.test.name}, "
            f"{direction.test.note}."
        )
    parts += scale_note(order, "the paper")
    if order.scale == "small":
        parts.append(
            "None of our figures is comparable with the paper's: corpus, test set and model are different and "
            "smaller. BLEU on one "
            "test set cannot be compared with BLEU on another. What can be compared with the paper is what an average "
            "of checkpoints and an ensemble bring, how cost is counted, and how the two conventions of BLEU come "
            "apart."
        )
    if order.scale == "paper":
        parts.append(
            "Ours are the paper's corpora and test set: figures 'as in the paper' can be compared with its own."
        )
    done = sum(map(len, findings.results.values()))
    wanted = order.seeds * sum(len(direction.recipes) for direction in findings.plan.directions)
    if done < wanted:
        parts.append(f"The study is incomplete: {done} of {wanted} runs are done.")
    if findings.plan.missing_tests:
        missing = ", ".join(test.name for test in findings.plan.missing_tests)
        parts.append(f"Missing, and therefore left out: {missing}.")
    return (*parts, *(f"Failed: {failure}" for failure in findings.failures))


def _budget(recipe: Recipe) -> str:
    """How long, on how much, and what is averaged."""
    training = recipe.training
    steps, minutes = training.checkpoint_steps, training.checkpoint_minutes
    every = f"{steps:,} updates" if steps else f"{minutes:g} minutes"
    return f"{budget_of(recipe)}, the mean of the last {training.average_last} checkpoints, one every {every}"


def _ours(findings: Findings, costs: Sequence[Cost]) -> Section:
    rows = []
    for group, cost in zip(findings.groups, costs, strict=True):
        models = len(group.members[0].system.models) if group.kind == "ensemble" else len(group.members)
        rows.append(
            (
                group.trained,
                _KINDS[group.kind],
                group.members[0].system.test.name,
                str(models),
                group.bleu.to_text(),
                group.paper_bleu.to_text(),
                "" if cost.estimated is None else f"{cost.estimated:.2e}",
                "" if cost.counted is None else f"{'at most ' * cost.at_most}{cost.counted:.2e}",
            )
        )
    table = Table(
        caption="Ours, each on the test set that is named; mean over seeds and half of the 95% interval",
        columns=("model", "weights", "test set", "models", "sacreBLEU", "as in the paper", "estimate", "FLOPs counted"),
        rows=tuple(rows),
        words=3,
    )
    notes = {
        test.name: test.note for test in (*findings.plan.shipped_tests, *(d.test for d in findings.plan.directions))
    }
    told_notes = "; ".join(f"{name}: {note}" for name, note in notes.items() if note)
    return Section(
        title="Ours, on the data we had",
        blocks=(
            table,
            Paragraph(
                text="Both figures are of the same output, translated without guards, by beam 4 and length penalty "
                "0.6. The estimate is the paper's, time by devices by what one sustains; the count is of the "
                "matrix products. The models of an average cost what their run cost, an ensemble what all its runs "
                "did. How long the shipped models trained their folders do not say, so that their count is a bound "
                "and there is no estimate."
            ),
            Paragraph(text=f"The test sets: {told_notes}."),
        ),
    )


def _picture(findings: Findings, costs: Sequence[Cost], sizes: Sequence[FullSize]) -> Section:
    points = [
        Point(
            label=_KINDS[group.kind] if group.kind != "shipped" else group.trained,
            kind=group.kind,
            test=group.members[0].system.test.name,
            bleu=paper_score(one),
            estimated=cost.estimated,
            counted=cost.counted,
        )
        for group, cost in zip(findings.groups, costs, strict=True)
        for one in group.members
    ]
    tests = ", ".join(dict.fromkeys(point.test for point in points))
    picture = Picture(
        name="cost.png",
        png=costs_png(points, {one.row: one.counted for one in sizes}),
        alt=f"BLEU against training cost: the paper's rows on newstest2014, and ours on {tests}",
        caption="BLEU as the paper counts it, against training cost. Left, newstest2014 as printed: filled points "
        "are at the paper's estimate; the line ends where the products of the Transformer's training are counted. "
        "Right, ours: each shape is a test set, and figures on different ones do not compare, least of all with "
        "the left. A line goes from the FLOPs counted to the estimate; shipped models have a count alone, a bound.",
    )
    return Section(title="BLEU against cost", blocks=(picture,))


def _systems(findings: Findings) -> Section:
    rows = []
    for one in findings.translations:
        bleu, paper = one.scores.bleu, one.scores.paper
        assert paper is not None, "every system is scored by both conventions"
        rows.append(
            (
                told(one),
                one.system.test.name,
                f"{bleu.score:.2f}",
                f"{bleu.low:.2f} to {bleu.high:.2f}",
                f"{paper.score:.2f}",
                f"{paper.low:.2f} to {paper.high:.2f}",
                f"{one.scores.chrf.score:.2f}",
            )
        )
    table = Table(
        caption="Each output, with sacreBLEU's bootstrap interval over the sentences of its test set",
        columns=("system", "test set", "sacreBLEU", "95%", "as in the paper", "95%", "chrF2"),
        rows=tuple(rows),
        words=2,
    )
    return Section(title="Every system", blocks=(table,))


def _how(order: Order, findings: Findings) -> Section:
    results = [result for direction in findings.results.values() for result in direction]
    translations = findings.translations
    signatures = [each(one.scores.bleu.signature for one in translations)]
    signatures.append(each(one.scores.paper.signature for one in translations if one.scores.paper))
    blocks: list[Shell | Paragraph] = [
        Shell(lines=(order.command,)),
        Paragraph(text=f"sacreBLEU: {signatures[0]}"),
        Paragraph(text=f"As in the paper: {signatures[1]}"),
        Paragraph(text=f"Translated on: {each(one.kernel for one in translations)}"),
    ]
    if results:
        blocks.append(
            Paragraph(
                text=f"Trained on: {each(result.machine for result in results)}. Versions: {versions_of(results)}"
            )
        )
    return Section(title="How to repeat it", blocks=tuple(blocks))


def _data(order: Order, findings: Findings, costs: Sequence[Cost]) -> dict[str, Any]:
    return {
        **head_data(order, "table2"),
        "failures": list(findings.failures),
        "rows": [
            {
                "model": group.trained,
                "kind": group.kind,
                "test": group.members[0].system.test.name,
                "bleu": group.bleu.to_json(),
                "paper_bleu": group.paper_bleu.to_json(),
                **asdict(cost),
            }
            for group, cost in zip(findings.groups, costs, strict=True)
        ],
        "systems": [
            {"system": told(one), "test": one.system.test.name, "kernel": one.kernel, **one.scores.to_json()}
            for one in findings.translations
        ],
        "tests": [test.to_json() for test in findings.tests],
        "costs": {
            **{
                name: [cost.to_json() for row in rows.values() for cost in row] for name, rows in findings.costs.items()
            },
            "given": [cost.to_json() for cost in findings.given],
        },
        "results": {name: [asdict(result) for result in results] for name, results in findings.results.items()},
    }
