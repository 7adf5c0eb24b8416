"""The page of a Table 2 study: the paper's rows, our systems on the available data, their costs, and the methods."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from attendo.bench.flops import training_flops
from attendo.checkpoint.model_folder import read_description
from attendo.evaluation.tokenized import PAPER
from attendo.paper.experiment import StudyRequest
from attendo.paper.page_parts import budget_of, corpora_of, each, head_data, scale_note, seeds_of, versions_of
from attendo.paper.page_text import PageText, page_text
from attendo.paper.report import Report
from attendo.paper.run_results import RunResult
from attendo.paper.table2.comparison import DISAGREEMENTS, ROWS, SETUPS, Group, Test, paper_score, two_digits
from attendo.paper.table2.costs import PAPER_GPUS, SUSTAINED_SHARE, TrainingCost
from attendo.paper.table2.plan import Plan
from attendo.paper.table2.systems import SystemOutput
from attendo.paper.table2.tables import (
    FULL_SIZE_LENGTH,
    Point,
    costs_png,
    formula_values,
    full_sizes,
    gains,
    ladders,
    todays_gpus,
    worked_examples,
)
from attendo.recipe import Recipe, load_recipe

_TEXT = "table2/page.md"
_SHIPPED_LENGTH = 10
"""Mean number of tokens, `</s>` included, in a training sentence of the shipped models; their cards have the counts."""


@dataclass(frozen=True, kw_only=True)
class Findings:
    """Everything that the page is made of."""

    plan: Plan
    groups: tuple[Group, ...]
    """Groups of all systems."""
    tests: tuple[Test, ...]
    results: Mapping[str, tuple[RunResult, ...]]
    """Results of the runs by direction."""
    costs: Mapping[str, Mapping[str, tuple[TrainingCost, ...]]]
    """Training costs by direction and row."""
    given: tuple[TrainingCost, ...]
    """Training costs of the run folders that `--run` names."""
    failures: tuple[str, ...] = ()

    @property
    def translations(self) -> list[SystemOutput]:
        """The translations of all systems."""
        return [member for group in self.groups for member in group.members]


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Training cost of a group's system in FLOPs; None where it is not known."""

    estimated: float | None
    counted: float | None
    at_most: bool = False
    """Whether `counted` is an upper bound."""

    @property
    def bound(self) -> str:
        """The prefix of `counted` in the table: `at most ` for an upper bound, otherwise empty."""
        return "at most " * (self.at_most and self.counted is not None)


def table2_report(request: StudyRequest, findings: Findings) -> Report:
    """Makes the page.

    Args:
        request: options of the study.
        findings: findings with at least one group.
    """
    costs = [cost_of(group, findings) for group in findings.groups]
    sizes = full_sizes()
    runs = [cost for rows in findings.costs.values() for row in rows.values() for cost in row]
    every_cost = (*runs, *findings.given)
    shown = [group.members[-1] for group in findings.groups if group.kind in ("ensemble", "shipped")]
    points = _points(findings, costs)
    text = page_text(_TEXT)
    words = text.fill(
        **_introduction(text, request, findings),
        printed=ROWS,
        ours=list(zip(findings.groups, costs, strict=True)),
        test_notes=_test_notes(findings.plan),
        tests=", ".join(dict.fromkeys(point.test for point in points)),
        cost=costs_png(points, {size.row: size.counted for size in sizes}),
        gains=gains(findings.groups, findings.tests) if findings.tests else None,
        paired=findings.tests,
        worked=worked_examples(),
        ladders=ladders(shown or [findings.groups[0].members[0]]),
        convention=PAPER.recipe,
        disagreements=[f"{cell.cell}: {cell.found}. Taken here: {cell.taken}; {cell.why}." for cell in DISAGREEMENTS],
        our_costs=every_cost or "",
        not_measured=text.note("not measured") if any(cost.sustained is None for cost in every_cost) else "",
        formula=SETUPS,
        **formula_values(),
        paper_gpus=PAPER_GPUS,
        full_sizes=[(size, two_digits(size.printed), size.counted / size.printed) for size in sizes],
        full_size_length=FULL_SIZE_LENGTH,
        todays_gpus=todays_gpus(sizes),
        sustained_share=f"{SUSTAINED_SHARE:.0%}",
        systems=findings.translations,
        command=request.command,
        **_provenance(findings),
    )
    return Report(
        title="Table 2: BLEU and training cost",
        introduction=words.introduction,
        sections=words.sections,
        data=_data(request, findings, costs),
    )


def cost_of(group: Group, findings: Findings) -> Cost:
    """The training cost of a group's system: of an ensemble the sum over its models, otherwise the mean over seeds."""
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
    """An upper bound: all updates of the recipe with full batches. The folder does not record the actual training."""
    description = read_description(group.members[0].system.models[0])
    recipe = load_recipe(description.training["recipe"])
    sizes = (description.src_vocab_size, description.tgt_vocab_size)
    tokens = recipe.training.max_steps * recipe.training.max_tokens
    return training_flops(description.model, sizes, (_SHIPPED_LENGTH, _SHIPPED_LENGTH), tokens)


def _introduction(text: PageText, request: StudyRequest, findings: Findings) -> dict[str, object]:
    """The introduction: what is trained and tested, notes on the scale, and unfinished, missing or failed parts."""
    directions = []
    for direction in findings.plan.directions:
        corpora = corpora_of(next(iter(direction.recipes.values())))
        rows = "; ".join(f"{row}, {_budget(recipe)}" for row, recipe in direction.recipes.items())
        directions.append(
            f"{direction.name}, trained here on {corpora} at the scale '{request.scale}' with "
            f"{seeds_of(request)}: {rows}. Tested on {direction.test.name}, "
            f"{direction.test.note}."
        )
    state = []
    done = sum(map(len, findings.results.values()))
    num_runs = request.seeds * sum(len(direction.recipes) for direction in findings.plan.directions)
    if done < num_runs:
        state.append(f"The study is incomplete: {done} of {num_runs} runs are done.")
    if findings.plan.missing_tests:
        missing = ", ".join(test.name for test in findings.plan.missing_tests)
        state.append(f"Missing, and therefore left out: {missing}.")
    return {
        "directions": directions,
        "scale_notes": scale_note(request, "the paper") if request.scale == "tiny" else text.note(request.scale),
        "state": [*state, *(f"Failed: {failure}" for failure in findings.failures)],
    }


def _budget(recipe: Recipe) -> str:
    """A recipe's training budget and the checkpoints that are averaged, in words."""
    training = recipe.training
    steps, minutes = training.checkpoint_steps, training.checkpoint_minutes
    every = f"{steps:,} updates" if steps else f"{minutes:g} minutes"
    return f"{budget_of(recipe)}, the mean of the last {training.average_last} checkpoints, one every {every}"


def _test_notes(plan: Plan) -> str:
    notes = {test.name: test.note for test in (*plan.shipped_tests, *(direction.test for direction in plan.directions))}
    return "; ".join(f"{name}: {note}" for name, note in notes.items() if note)


def _points(findings: Findings, costs: Sequence[Cost]) -> list[Point]:
    """The points of our systems in the chart."""
    return [
        Point(
            label=group.weights if group.kind != "shipped" else group.trained,
            kind=group.kind,
            test=group.members[0].system.test.name,
            bleu=paper_score(member),
            estimated=cost.estimated,
            counted=cost.counted,
        )
        for group, cost in zip(findings.groups, costs, strict=True)
        for member in group.members
    ]


def _provenance(findings: Findings) -> dict[str, str]:
    """Signatures, kernels, machines and versions, which are needed to repeat the figures."""
    results = [result for direction in findings.results.values() for result in direction]
    translations = findings.translations
    machine = each(result.machine for result in results)
    return {
        "signature": each(translated.scores.bleu.signature for translated in translations),
        "paper_signature": each(
            translated.scores.paper.signature for translated in translations if translated.scores.paper
        ),
        "kernels": each(translated.kernel for translated in translations),
        "trained_on": f"Trained on: {machine}. Versions: {versions_of(results)}" if results else "",
    }


def _data(request: StudyRequest, findings: Findings, costs: Sequence[Cost]) -> dict[str, Any]:
    return {
        **head_data(request, "table2"),
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
            {
                "system": translated.told,
                "test": translated.system.test.name,
                "kernel": translated.kernel,
                **translated.scores.to_json(),
            }
            for translated in findings.translations
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
