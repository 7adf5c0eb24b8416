"""The page of a search-settings study: what averaging, the beam and alpha bring, and what tuning is worth."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from attendo.paper.experiment import Order
from attendo.paper.page_parts import budget_of, corpora_of, each, head_data, how_to_repeat, scale_note
from attendo.paper.report import Block, Paragraph, Picture, Report, Section, Table, table_of
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
    bleu_text,
    cells,
    length_maps_png,
    longest_outputs,
    mean_text,
    search_errors,
)
from attendo.recipe import Recipe


@dataclass(frozen=True, kw_only=True)
class StudyFacts:
    """What a page says of a study beside its figures."""

    recipe: Recipe
    """The model's."""
    grid: Grid
    """What is tried."""
    sets: Mapping[SetName, Sentences]
    """What is translated."""
    failures: tuple[str, ...] = ()

    @property
    def target_language(self) -> str:
        """ISO 639-1 code."""
        return self.recipe.data.target_language if self.recipe.data else ""


def search_settings_report(
    order: Order, facts: StudyFacts, results: Results, choice: Setting | None, tests: Sequence[Significance]
) -> Report:
    """Makes the page of what is done so far.

    Args:
        order: how the study is wanted.
        facts: of the study.
        results: of at least one seed that has something decoded.
        choice: the best setting of the development set.
        tests: of pairs of settings on the test set.
    """
    signatures = each(
        one.bleu_signature for seed in results.seeds for which in SETS for one in seed.sets[which].values()
    )
    sections = [
        _brings(facts, results),
        _maps(facts, results, choice),
        _choice(facts, results, choice, tests),
        averages(facts.grid, facts.recipe.training, results),
        search_errors(facts.grid, results),
        longest_outputs(facts.grid, results),
        _cost(results),
        how_to_repeat(order, [seed.run for seed in results.seeds], f"BLEU is sacreBLEU's: {signatures}"),
    ]
    return Report(
        title="Averaging, beam and length penalty: what each brings",
        introduction=_introduction(order, facts, results),
        sections=tuple(sections),
        data={
            **head_data(order, "search-settings"),
            "failures": list(facts.failures),
            "sets": {name: {"name": each.name, "sentences": len(each.sources)} for name, each in facts.sets.items()},
            "choice": None if choice is None else asdict(choice),
            "significance": [asdict(each) for each in tests],
            "runs": [asdict(seed.run) for seed in results.seeds],
            "decoded": [
                {"seed": seed.run.seed, "set": which, **without_outputs(decoded)}
                for seed in results.seeds
                for which in SETS
                for decoded in seed.sets[which].values()
            ],
        },
    )


def _introduction(order: Order, facts: StudyFacts, results: Results) -> tuple[str, ...]:
    sets = ", ".join(
        f"{each.name} ({len(each.sources):,} sentences) to {'choose by' if name == 'dev' else 'report on'}"
        for name, each in facts.sets.items()
    )
    parts = [
        "Section 6.1 of the paper: a single model is the mean of the last 5 checkpoints, written every 10 minutes (the "
        "last 20 for the big models); beam search with a beam of 4 and length penalty alpha 0.6, chosen after "
        "experimentation on the development set; the longest output is the input's length + 50, and the search stops "
        "early where it can. The paper prints none of these experiments, so there is no figure of its own beside ours.",
        f"Here a model is trained on {corpora_of(facts.recipe)} at the scale '{order.scale}', "
        f"{budget_of(facts.recipe)}, with {_counted(len(results.seeds), 'seed')}; "
        f"the learning rate is the paper's formula to the end. Every setting is a real search of its own over all "
        f"sentences: {sets}.",
        *scale_note(order, "the paper"),
    ]
    whole = all(len(seed.sets[which]) == len(facts.grid.settings(which)) for seed in results.seeds for which in SETS)
    if not whole or len(results.seeds) < order.seeds:
        parts.append("This study is in progress: not all settings of all seeds are decoded yet.")
    parts += [f"Failed: {failure}" for failure in facts.failures]
    return tuple(parts)


def _brings(facts: StudyFacts, results: Results) -> Section:
    first = added(facts.grid)[0].before
    rows: list[tuple[str, ...]] = [
        (first.to_text(), bleu_text(results.bleu("dev", first)), "", bleu_text(results.bleu("test", first)), "")
    ]
    rows += [_step_cells(results, step) for step in added(facts.grid)]
    last = [_step_cells(results, step) for step in taken_away(facts.grid)]
    text = (
        "Differences are paired by seed: the same model, the same sentences. With few seeds their intervals are wide; "
        "the paired tests below, which resample sentences, say more of one model."
    )
    return Section(
        title="What each brings",
        blocks=(
            Table(
                caption="BLEU, mean over seeds and half of the 95% interval: one thing added after the other",
                columns=("setting", "dev", "more", "test", "more"),
                rows=tuple(rows),
                words=1,
            ),
            Table(
                caption="The paper's setting, and what it has of each thing when the others are there already",
                columns=("thing", "dev", "more", "test", "more"),
                rows=tuple(last),
                words=1,
            ),
            Paragraph(text=text),
        ),
    )


def _step_cells(results: Results, step: Step) -> tuple[str, ...]:
    return (
        step.name,
        *(
            cell
            for which in SETS
            for cell in (
                bleu_text(results.bleu(which, step.after)),
                bleu_text(results.gain(which, step.before, step.after), signed=True),
            )
        ),
    )


def _maps(facts: StudyFacts, results: Results, choice: Setting | None) -> Section:
    blocks: list[Block] = []
    for which in SETS:
        known = [
            average
            for average in facts.grid.map_averages
            if not np.isnan(cells(results, which, facts.grid, average, lambda each: each.bleu)).all()
        ]
        if not known:
            continue
        best = choice if which == "dev" else results.best("test", candidates(facts.grid))
        name = facts.sets[which].name
        blocks.append(
            Picture(
                name=f"bleu-{which}.png",
                png=bleu_maps_png(results, which, facts.grid, best),
                alt=f"Two maps of BLEU on {name} by beam and alpha: for the last checkpoint and for the mean of "
                f"{PAPER.average}",
                caption=f"BLEU on {name} ({which}), mean over seeds. Outlined: the paper's setting; with a broken "
                "line: the best of all, where it is on a map.",
            )
        )
        blocks += [_map_table(results, which, facts.grid, average) for average in known]
        if which == "dev" and PAPER.average in known:
            blocks.append(
                Picture(
                    name="lengths.png",
                    png=length_maps_png(results, facts.grid),
                    alt="Two maps by beam and alpha: the translations' length against the references', and their "
                    "log-probability",
                    caption=f"What alpha does, on {name} with the mean of {PAPER.average} checkpoints: a higher one "
                    "makes for longer and less probable translations. Outlined: the paper's setting.",
                )
            )
    return Section(title="Beam and alpha", blocks=tuple(blocks))


def _map_table(results: Results, which: SetName, grid: Grid, average: int) -> Table:
    found = cells(results, which, grid, average, lambda each: each.bleu)
    what = "the last checkpoint" if average == 1 else f"the mean of {average} checkpoints"
    return Table(
        caption=f"BLEU on {which} by beam and alpha, {what}",
        columns=("beam", *(f"alpha {alpha}" for alpha in grid.alphas)),
        rows=tuple(
            (str(beam), *("" if np.isnan(value) else f"{value:.2f}" for value in row))
            for beam, row in zip(grid.beams, found, strict=True)
        ),
        words=1,
    )


def _choice(
    facts: StudyFacts, results: Results, choice: Setting | None, tests: Sequence[Significance]
) -> Section:  # fmt: skip
    best = results.best("test", candidates(facts.grid))
    named = (
        ("greedy, last checkpoint", replace(GREEDY, average=1)),
        ("greedy", GREEDY),
        ("the paper's", PAPER),
        ("best on dev: the choice", choice),
        ("best on test: no choice", best),
    )
    table = table_of(
        [(name, setting) for name, setting in named if setting is not None],
        (
            ("which", lambda row: row[0]),
            ("setting", lambda row: row[1].to_text()),
            ("dev", lambda row: bleu_text(results.bleu("dev", row[1]))),
            ("test", lambda row: bleu_text(results.bleu("test", row[1]))),
            ("length", lambda row: mean_text(results, "test", row[1], lambda each: each.length_ratio, 3)),
        ),
        words=2,
        caption="BLEU, mean over seeds and half of the 95% interval; length: words to the references' words, on test",
    )
    tested = table_of(
        tests,
        (
            ("first", lambda test: test.before.to_text()),
            ("second", lambda test: test.after.to_text()),
            ("seed", lambda test: str(test.seed)),
            ("BLEU", lambda test: f"{test.difference:+.2f}"),
            ("p bootstrap", lambda test: _p_text(test.p_bootstrap)),
            ("p randomised", lambda test: _p_text(test.p_randomized)),
        ),
        words=2,
        caption="On test, seed by seed: the second setting against the first",
    )
    text = (
        "Chosen is what has the highest mean BLEU on the development set, as the paper chose; the test set has no part "
        f"in it. Among {len(candidates(facts.grid))} settings the best of any set is so by chance too, so the figure "
        "that counts is the choice's on the test set. The best on test is shown to see how much tuning on the test set "
        "would have pretended, and for nothing else. p: how often chance alone gives so large a difference, by paired "
        "bootstrap (Koehn, 2004) and paired approximate randomisation; * below 0.05."
    )
    if choice is not None and (edges := at_the_edge(choice, facts.grid)):
        text += (
            f" The choice has the largest {' and '.join(edges)} of those that were tried, so that a larger one might "
            "be better still."
        )
    return Section(title="Tuned on dev, reported on test", blocks=(table, Paragraph(text=text), tested))


def _p_text(p: float) -> str:
    return f"{p:.3f}{'*' if p < 0.05 else ''}"


def _cost(results: Results) -> Section:
    runs = [seed.run for seed in results.seeds]
    decoded = [each for seed in results.seeds for which in SETS for each in seed.sets[which].values()]
    text = (
        f"Training: {_counted(len(runs), 'run')}, {sum(run.seconds for run in runs) / 3600:.2f} hours of wall time, "
        f"{sum(run.flops for run in runs):.2e} FLOPs of matrix products; "
        f"{each(f'{run.parameters:,}' for run in runs)} parameters. Decoding: {len(decoded)} passes over a set, "
        f"{sum(each.processor_s for each in decoded) / 3600:.2f} hours of processor time, "
        f"{sum(each.seconds for each in decoded) / 3600:.2f} hours of wall time, on a machine that may have had other "
        f"work; {each(one.kernel for one in decoded)}. "
        f"Machine: {each(run.machine for run in runs)}."
    )
    return Section(title="Cost", blocks=(Paragraph(text=text),))


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
