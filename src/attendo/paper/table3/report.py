"""The page of a Table 3 study: ours beside the paper's, what holds and what does not, and what it took."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean

from attendo.paper.experiment import Order
from attendo.paper.page_parts import corpora_of, each, how_to_repeat, run_cells, seeds_of, signatures_of, still_open
from attendo.paper.report import Paragraph, Picture, Report, Section, Table
from attendo.paper.run_results import RunResult, num_parameters
from attendo.paper.statistics import Verdict
from attendo.paper.table3.comparison import Difference, RowComparison, compare, with_verdict
from attendo.paper.table3.picture import differences_png
from attendo.paper.table3.rows import ROWS, Row, described, full_size
from attendo.recipe import Recipe

VOCABULARY = 37_000
"""The paper's: "about 37,000"."""


@dataclass(frozen=True, kw_only=True)
class StudyFacts:
    """What a page says of a study beside its figures."""

    base: Recipe
    """The base row's recipe."""
    num_runs: int
    """That it has when all are done."""
    failures: tuple[str, ...] = ()


def table3_report(order: Order, facts: StudyFacts, results: Sequence[RunResult]) -> Report:
    """Makes the page of what is done so far.

    Args:
        order: how the study is wanted.
        facts: of the study.
        results: at least one.
    """
    comparisons = compare(results)
    base = None if order.scale == "paper" else facts.base
    sections = [_outcome(comparisons), _table(comparisons, base)]
    if any(one.bleu_difference for one in comparisons):
        sections.append(_differences(comparisons))
    sections += [
        _full_size(),
        _cost(comparisons, results),
        _runs(comparisons),
        how_to_repeat(order, results, f"BLEU is sacreBLEU's: {signatures_of(results)}"),
    ]
    return Report(
        title="Table 3: variations of the base model",
        introduction=_introduction(order, facts, results),
        sections=tuple(sections),
        data={
            "table": "table3",
            "scale": order.scale,
            "command": order.command,
            "runs_done": len(results),
            "runs": facts.num_runs,
            "failures": list(facts.failures),
            "rows": [one.to_json() for one in comparisons],
            "results": [asdict(result) for result in results],
        },
    )


def _introduction(order: Order, facts: StudyFacts, results: Sequence[RunResult]) -> tuple[str, ...]:
    training, corpora = facts.base.training, corpora_of(facts.base)
    what = (
        f"Each row of Table 3, trained here on {corpora} at the scale '{order.scale}' with {seeds_of(order)}. "
        "Every row has the same data, vocabulary and budget: "
        f"{training.max_steps:,} updates of up to {training.max_tokens:,} tokens a side."
    )
    how = (
        "As in the paper: beam 4, length penalty 0.6, no averaging of checkpoints; perplexity is per word piece, "
        "without label smoothing, and both figures are those of the validation set by the weights of the last update."
    )
    if order.scale == "paper":
        how += " The big row alone trains three times as long, as the paper's."
    else:
        how += (
            " A change of size is the paper's by the same factor; dropout, label smoothing and positions are the "
            "paper's own. The paper's big model trained three times as long as the others; here it has their budget."
        )
    parts = [what, how]
    if training.cooldown_steps:
        parts.append(
            f"The learning rate is the paper's formula with {training.warmup_steps:,} updates of warm-up; it falls "
            f"to zero over the last {training.cooldown_steps:,}, where the paper's runs are long enough for that."
        )
    if order.scale == "tiny":
        parts.append("This scale shows that the study works. So little training says nothing about the paper.")
    return *parts, *still_open(len(results), facts.num_runs, facts.failures)


def _outcome(comparisons: Sequence[RowComparison]) -> Section:
    blocks = []
    for name, bleu in (("Perplexity", False), ("BLEU", True)):
        found = {verdict: with_verdict(comparisons, verdict, bleu=bleu) for verdict in Verdict}
        told = [f"{verdict.value}: {len(rows)} ({', '.join(rows)})" for verdict, rows in found.items() if rows]
        blocks.append(Paragraph(text=f"{name}: {'; '.join(told) if told else 'nothing to compare yet'}."))
    count = 2 * (len(comparisons) - 1)
    blocks.append(
        Paragraph(
            text="A row is told apart from the base row where the 95% interval of its difference, paired by seed, "
            "leaves out zero. 'Not told apart' means that so few seeds cannot say, not that there is no effect. "
            f"Of {count} such comparisons about {math.ceil(0.05 * count)} would be told apart by chance alone. The "
            "paper has one run a row and no intervals; where its figures differ by their last digit alone, they count "
            "as the same."
        )
    )
    return Section(title="What holds here", blocks=tuple(blocks))


def _table(comparisons: Sequence[RowComparison], base: Recipe | None) -> Section:
    rows = [
        (
            one.row.name,
            described(one.row),
            *([described(one.row, base)] if base else []),
            f"{one.parameters / 1e6:.2f}",
            one.perplexity.to_text(),
            f"{one.row.perplexity:.2f}",
            one.bleu.to_text(),
            f"{one.row.bleu:.1f}",
        )
        for one in comparisons
    ]
    here = ("change here",) if base else ()
    table = Table(
        caption="Mean over seeds and half of the 95% interval; parameters in millions",
        columns=("row", "change", *here, "params", "PPL", "paper", "BLEU", "paper"),
        rows=tuple(rows),
        words=3 if base else 2,
    )
    return Section(title="The table", blocks=(table,))


def _differences(comparisons: Sequence[RowComparison]) -> Section:
    rows = [
        (one.row.name, *_difference_cells(one.perplexity_difference), *_difference_cells(one.bleu_difference))
        for one in comparisons
        if one.perplexity_difference and one.bleu_difference
    ]
    tables = tuple(
        Table(
            caption=f"{name}: difference to the base row, with its 95% interval",
            columns=("row", "verdict", "here", "from", "to", "paper"),
            rows=tuple((row[0], row[first + 4], *row[first : first + 4]) for row in rows),
            words=2,
        )
        for name, first in (("Perplexity", 1), ("BLEU", 6))
    )
    picture = Picture(
        name="differences.png",
        png=differences_png(comparisons),
        alt="Differences of the rows to the base row in perplexity and BLEU, here and in the paper",
        caption="Differences to the base row. The scales differ: look at the side of zero, not at the size.",
    )
    return Section(title="Differences to the base row", blocks=(*tables, picture))


def _difference_cells(difference: Difference | None) -> tuple[str, ...]:
    assert difference is not None
    ours = difference.ours
    return (
        f"{ours.mean:+.3f}",
        "" if ours.low is None else f"{ours.low:+.3f}",
        "" if ours.high is None else f"{ours.high:+.3f}",
        f"{difference.printed:+.2f}",
        difference.verdict.value,
    )


def _full_size() -> Section:
    rows = tuple(
        (row.name, f"{millions:.1f}", "" if row.millions is None else str(row.millions))
        for row, millions in ((row, full_size_millions(row)) for row in ROWS)
    )
    caption = f"Parameters in millions, of the shipped recipes table3/ROW with a vocabulary of {VOCABULARY:,}"
    return Section(
        title="Parameters at full size",
        blocks=(
            Table(caption=caption, columns=("row", "here", "paper"), rows=rows, words=1),
            Paragraph(
                text="The paper says 'about 37,000' and rounds; the shapes that it states come out up to 2.6 million "
                "below its figures, 4.2 million for d_model 1024, and 1.2 million above for big. They are not bent to "
                "fit."
            ),
        ),
    )


def full_size_millions(row: Row) -> float:
    """Parameters of a row's shipped recipe, in millions."""
    return num_parameters(full_size(row).model, VOCABULARY, VOCABULARY) / 1e6


def _cost(comparisons: Sequence[RowComparison], results: Sequence[RunResult]) -> Section:
    rows = [
        (
            one.row.name,
            str(len(one.runs)),
            f"{fmean([run.seconds for run in one.runs]) / 60:.1f}",
            f"{fmean([run.target_tokens for run in one.runs]):,.0f}",
            f"{fmean([run.flops for run in one.runs]):.2e}",
        )
        for one in comparisons
    ]
    hours, tokens = sum(run.seconds for run in results) / 3600, sum(run.target_tokens for run in results)
    threads = each(result.threads for result in results)
    total = (
        f"In all {len(results)} runs: {hours:.2f} hours, each with so many processor threads: {threads}; {tokens:,} "
        f"target tokens; {sum(run.flops for run in results):.2e} FLOPs. "
        f"Machine: {each(result.machine for result in results)}."
    )
    note = (
        "FLOPs are those of the matrix products, by torch's counter for a pair of average length. Minutes are wall "
        "time with validation, on a machine that may have had other work; widths of a head that are no multiple of 16, "
        "and learned positions, pass by the fast kernels: the same arithmetic in more time."
    )
    table = Table(
        caption="Means a run",
        columns=("row", "runs", "minutes", "target tokens", "FLOPs"),
        rows=tuple(rows),
        words=1,
    )
    return Section(title="Cost", blocks=(Paragraph(text=total), table, Paragraph(text=note)))


def _runs(comparisons: Sequence[RowComparison]) -> Section:
    rows = tuple((one.row.name, *run_cells(run)) for one in comparisons for run in one.runs)
    table = Table(caption="Each run", columns=("row", "seed", "PPL", "BLEU", "minutes"), rows=rows, words=1)
    return Section(title="The runs", blocks=(table,))
