"""The page of a search-settings study: the gains from averaging, the beam and alpha, and the worth of tuning."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from attendo.paper.experiment import StudyRequest
from attendo.paper.page_parts import each, head_data, how_to_repeat, request_values, scale_note, totals
from attendo.paper.page_text import PageText, page_text
from attendo.paper.report import Block, Picture, Report, Table
from attendo.paper.search_settings.decoding import without_outputs
from attendo.paper.search_settings.results import (
    Results,
    Significance,
    Step,
    added,
    at_the_edge,
    candidates,
    taken_away,
)
from attendo.paper.search_settings.rows import GREEDY, PAPER, SETS, Grid, Sentences, SetName, Setting
from attendo.paper.search_settings.sections import (
    averages,
    bleu_maps_png,
    cells,
    length_maps_png,
    lines_png,
    longest_outputs,
    search_errors,
)
from attendo.recipe import Recipe


@dataclass(frozen=True, kw_only=True)
class StudyFacts:
    """The facts that a page states about a study besides its results."""

    recipe: Recipe
    """Recipe of the models."""
    grid: Grid
    """The settings that are tried."""
    sets: Mapping[SetName, Sentences]
    """The sentences that are translated."""
    failures: tuple[str, ...] = ()
    """Error messages of the runs that failed."""

    @property
    def target_language(self) -> str:
        """ISO 639-1 code of the target language; empty if the recipe names no corpora."""
        return self.recipe.data.target_language if self.recipe.data else ""


def search_settings_report(
    request: StudyRequest, facts: StudyFacts, results: Results, choice: Setting | None, tests: Sequence[Significance]
) -> Report:
    """Makes the page of the results so far.

    Args:
        request: the options of the study.
        facts: the facts about the study.
        results: the results of at least one seed, each with something decoded.
        choice: the best setting on the development set; None before there is one.
        tests: the significance tests of pairs of settings on the test set.
    """
    text, runs = page_text("search_settings/page.md"), [seed.run for seed in results.seeds]
    decoded = [result for seed in results.seeds for which in SETS for result in seed.sets[which].values()]
    best = results.best("test", candidates(facts.grid))
    edges = at_the_edge(choice, facts.grid) if choice is not None else ()
    words = text.fill(
        **{**request_values(request, facts.recipe), "seeds": _counted(len(runs), "seed")},
        sets=_sets_text(facts),
        state=[*scale_note(request, "the paper"), *_still_open(request, facts, results)],
        added=_added(facts.grid, results),
        taken_away=[_step_cells(results, step) for step in taken_away(facts.grid)],
        maps=_maps(text, facts, results, choice),
        choices=_choices(results, choice, best),
        num_candidates=len(candidates(facts.grid)),
        edge=" " + text.note("edge", edges=" and ".join(edges)) if edges else "",
        tests=[_test_cells(test) for test in tests],
        averages=averages(facts.grid, results),
        interval=_checkpoint_interval(facts.recipe),
        lines=lines_png(results, facts.grid),
        search_errors=search_errors(facts.grid, results),
        longest_outputs=longest_outputs(facts.grid, results),
        beam=PAPER.beam,
        alpha=PAPER.alpha,
        average=PAPER.average,
        setting=PAPER.to_text(),
        least_alpha=facts.grid.alphas[0],
        **totals(runs),
        runs=_counted(len(runs), "run"),
        num_passes=len(decoded),
        processor_hours=f"{sum(result.processor_s for result in decoded) / 3600:.2f}",
        wall_hours=f"{sum(result.seconds for result in decoded) / 3600:.2f}",
        kernels=each(result.kernel for result in decoded),
    )
    bleu = f"BLEU is sacreBLEU's: {each(result.bleu_signature for result in decoded)}"
    return Report(
        title="Averaging, beam and length penalty: what each brings",
        introduction=words.introduction,
        sections=(*words.sections, how_to_repeat(request, runs, bleu)),
        data={
            **head_data(request, "search-settings"),
            "failures": list(facts.failures),
            "sets": {
                name: {"name": sentences.name, "sentences": len(sentences.sources)}
                for name, sentences in facts.sets.items()
            },
            "choice": None if choice is None else asdict(choice),
            "significance": [asdict(test) for test in tests],
            "runs": [asdict(run) for run in runs],
            "decoded": [
                {"seed": seed.run.seed, "set": which, **without_outputs(result)}
                for seed in results.seeds
                for which in SETS
                for result in seed.sets[which].values()
            ],
        },
    )


def _sets_text(facts: StudyFacts) -> str:
    return ", ".join(
        f"{sentences.name} ({len(sentences.sources):,} sentences) to {'choose by' if name == 'dev' else 'report on'}"
        for name, sentences in facts.sets.items()
    )


def _still_open(request: StudyRequest, facts: StudyFacts, results: Results) -> list[str]:
    """States whether the study is still in progress, and its failures, one paragraph each."""
    whole = all(len(seed.sets[which]) == len(facts.grid.settings(which)) for seed in results.seeds for which in SETS)
    is_open = not whole or len(results.seeds) < request.seeds
    parts = ["This study is in progress: not all settings of all seeds are decoded yet."] if is_open else []
    return [*parts, *(f"Failed: {failure}" for failure in facts.failures)]


def _checkpoint_interval(recipe: Recipe) -> str:
    training = recipe.training
    if training.checkpoint_steps:
        return f"{training.checkpoint_steps:,} of {training.max_steps:,} updates"
    return f"{training.checkpoint_minutes:g} minutes"


def _added(grid: Grid, results: Results) -> list[tuple[object, ...]]:
    first = added(grid)[0].before
    start = (first.to_text(), results.bleu("dev", first), None, results.bleu("test", first), None)
    return [start, *(_step_cells(results, step) for step in added(grid))]


def _step_cells(results: Results, step: Step) -> tuple[object, ...]:
    bleu = {which: results.bleu(which, step.after) for which in SETS}
    gain = {which: results.gain(which, step.before, step.after) for which in SETS}
    return (step.name, *(values[which] for which in SETS for values in (bleu, gain)))


def _maps(text: PageText, facts: StudyFacts, results: Results, choice: Setting | None) -> list[Block]:
    blocks: list[Block] = []
    for which in SETS:
        known = [
            average
            for average in facts.grid.map_averages
            if not np.isnan(cells(results, which, facts.grid, average, lambda result: result.bleu)).all()
        ]
        if not known:
            continue
        best = choice if which == "dev" else results.best("test", candidates(facts.grid))
        name = facts.sets[which].name
        blocks.append(
            Picture(
                name=f"bleu-{which}.png",
                png=bleu_maps_png(results, which, facts.grid, best),
                alt=text.note("maps in words", name=name, average=PAPER.average),
                caption=text.note("maps", name=name, which=which),
            )
        )
        blocks += [_map_table(results, which, facts.grid, average) for average in known]
        if which == "dev" and PAPER.average in known:
            blocks.append(
                Picture(
                    name="lengths.png",
                    png=length_maps_png(results, facts.grid),
                    alt=text.note("lengths in words"),
                    caption=text.note("lengths", name=name, average=PAPER.average),
                )
            )
    return blocks


def _map_table(results: Results, which: SetName, grid: Grid, average: int) -> Table:
    values = cells(results, which, grid, average, lambda result: result.bleu)
    weights = "the last checkpoint" if average == 1 else f"the mean of {average} checkpoints"
    return Table(
        caption=f"BLEU on {which} by beam and alpha, {weights}",
        columns=("beam", *(f"alpha {alpha}" for alpha in grid.alphas)),
        rows=tuple(
            (str(beam), *("" if np.isnan(value) else f"{value:.2f}" for value in row))
            for beam, row in zip(grid.beams, values, strict=True)
        ),
        words=1,
    )


def _choices(results: Results, choice: Setting | None, best: Setting | None) -> list[tuple[object, ...]]:
    """Rows of the named settings, with their results on both sets."""
    named = {
        "greedy, last checkpoint": replace(GREEDY, average=1),
        "greedy": GREEDY,
        "the paper's": PAPER,
        "best on dev: the choice": choice,
        "best on test: no choice": best,
    }
    return [
        (name, setting.to_text(), *(results.figures(which, setting) for which in SETS))
        for name, setting in named.items()
        if setting is not None
    ]


def _test_cells(test: Significance) -> tuple[object, ...]:
    return (test, test.before.to_text(), test.after.to_text(), _p_text(test.p_bootstrap), _p_text(test.p_randomized))


def _p_text(p: float) -> str:
    return f"{p:.3f}{'*' if p < 0.05 else ''}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
