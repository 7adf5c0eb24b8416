"""The page of a Table 4 study: ours beside the paper's, what each change brings, and what it took."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean

from matplotlib.axes import Axes

from attendo.paper import run_columns
from attendo.paper.charts import BLUE, GREEN, ORANGE, PAPER, PURPLE, finish, legend_below, new_figure, set_title
from attendo.paper.experiment import Order
from attendo.paper.page_parts import each, head_data, seeds_of, versions_of
from attendo.paper.report import Block, Paragraph, Picture, Report, Section, Shell, table_of
from attendo.paper.run_results import ParserRunResult
from attendo.paper.table4.evaluation import PRINTED, UNCONSTRAINED, Cell, Change, TestResult, cells, changes
from attendo.paper.table4.rows import Plan
from attendo.paper.table4.training import Trained
from attendo.plots.figure_files import png_bytes

_LABELS = 12
_GIVEN = {"words": "words alone", "gold-tags": "words and gold tags"}
_COLOURS, _SHAPES = (BLUE, GREEN, PURPLE, ORANGE), "os^v"
"""Of the test sets in the chart."""


@dataclass(frozen=True, kw_only=True)
class Findings:
    """All that a page tells of."""

    plan: Plan
    trained: Trained | None
    """None where parsers from elsewhere were tested."""
    tested: tuple[TestResult, ...]
    """At least one."""
    failures: tuple[str, ...]


def table4_report(order: Order, findings: Findings) -> Report:
    """Makes the page of what is done."""
    found, compared = cells(findings.tested), changes(findings.plan.rows, findings.tested)
    runs = findings.trained.results if findings.trained else ()
    sections = [_table(found), *([_changes(compared)] if compared else []), _malformed(found)]
    sections += [_labels(found), _evalb(found)]
    sections += [_cost(runs)] if runs else []
    sections += [_how(order, findings)]
    return Report(
        title="Table 4: English constituency parsing",
        introduction=_introduction(order, findings),
        sections=tuple(sections),
        data={
            **head_data(order, "table4"),
            "failures": list(findings.failures),
            "missing": list(findings.plan.missing),
            "rows": [cell.to_json() for cell in found],
            "changes": [one.to_json() for one in compared],
            "paper": [asdict(row) for row in PRINTED],
            "tested": [asdict(one) for one in findings.tested],
            "runs": [asdict(one) for one in runs],
        },
    )


def _introduction(order: Order, findings: Findings) -> tuple[str, ...]:
    tests = "; ".join(f"{bank.name} is {bank.what}" for bank in findings.plan.banks)
    parts = []
    if findings.trained is None:
        parts.append(f"Parsers that were trained elsewhere, on the treebanks at hand: {tests}.")
    else:
        parts.append(
            f"Parsers trained here at the scale '{order.scale}' with {seeds_of(order)}, each on the treebanks in its "
            "name, and tested on unseen sentences"
            f": {tests}."
        )
    parts.append(
        "F1 is EVALB's by COLLINS.prm, where nothing else is said, with every sentence counted: one whose parse EVALB "
        "cannot compare counts as an empty parse. Gold trees are as the treebank has them, but for "
        "traces and functional tags."
    )
    if order.scale != "paper":
        parts.append(
            "The paper's figures are of section 23 of the Penn Treebank, by parsers trained on the 39,832 trees of "
            "sections 2 to 21, which are licensed. These test sets and training sets are others and smaller: the "
            "lines below stand beside the paper's, and cannot be compared with them."
        )
    if order.scale == "tiny":
        parts.append(
            "This scale only shows that the study works. Its treebank is made up, and its results say nothing about "
            "English."
        )
    parts += [f"Left out: {line}." for line in findings.plan.missing]
    return *parts, *(f"Failed: {failure}" for failure in findings.failures)


def _table(found: Sequence[Cell]) -> Section:
    ours = table_of(
        found,
        (
            ("here", lambda cell: cell.name),
            ("reads", lambda cell: _GIVEN[cell.members[0].given]),
            ("order", lambda cell: cell.members[0].order),
            ("tested on", lambda cell: cell.test),
            ("sentences", lambda cell: f"{cell.members[0].sentences:,}"),
            ("F1", lambda cell: cell.f1.to_text()),
            ("EVALB's F", lambda cell: f"{cell.mean('evalb'):.2f}"),
        ),
        words=4,
        caption="F1 in percent, mean over seeds and half of the 95% interval; EVALB's own leaves failures out",
    )
    theirs = table_of(
        PRINTED,
        (
            ("parser", lambda row: row.parser),
            ("training", lambda row: row.training),
            ("F1", lambda row: f"{row.f1:.1f}"),
        ),
        words=2,
        caption="The paper's Table 4: F1 on WSJ section 23",
    )
    picture = Picture(
        name="f1.png",
        png=f1_png(found),
        alt="F1 of the parsers trained here by test set, above those that the paper prints",
        caption="Above: here, mean and 95% interval where there are several seeds. Below: the paper's table, its "
        "Transformers as diamonds.",
    )
    return Section(title="The table", blocks=(ours, theirs, picture))


def _changes(found: Sequence[Change]) -> Section:
    table = table_of(
        found,
        (
            ("row", lambda one: one.row.name),
            ("change", lambda one: one.row.what),
            ("against", lambda one: one.row.against or ""),
            ("tested on", lambda one: one.test),
            ("verdict", lambda one: one.verdict),
            ("F1", lambda one: f"{one.difference.mean:+.2f}"),
            ("from", lambda one: "" if one.difference.low is None else f"{one.difference.low:+.2f}"),
            ("to", lambda one: "" if one.difference.high is None else f"{one.difference.high:+.2f}"),
        ),
        words=5,
        caption="Difference in F1 from the row that it is compared with, paired by seed, with its 95% interval",
    )
    note = (
        "The paper's own change of this kind, automatic trees beside those of people, brought 91.3 to 92.7. 'Not "
        "significant' means that there are too few seeds to decide, not that there is no effect."
    )
    return Section(title="What each change brings", blocks=(table, Paragraph(text=note)))


def _malformed(found: Sequence[Cell]) -> Section:
    table = table_of(
        found,
        (
            ("row", lambda cell: cell.name),
            ("tested on", lambda cell: cell.test),
            ("sentences", lambda cell: f"{cell.members[0].num_unconstrained:,}"),
            ("malformed", lambda cell: f"{cell.mean('malformed'):.2%}"),
            ("F1, mended", lambda cell: f"{cell.mean('f1_unconstrained'):.2f}"),
            ("F1, only trees", lambda cell: f"{cell.mean('f1_constrained'):.2f}"),
        ),
        words=2,
        caption="Outputs that are no tree over the words, where nothing is forbidden; and F1 of the same sentences",
    )
    note = (
        f"Of up to {UNCONSTRAINED} sentences of each test set. The paper's search forbids nothing, and the paper does "
        "not say how many of its outputs are no trees; Vinyals et al. (2015) tell 1.5% of section 22 for an LSTM. All "
        "other figures of this page are of the search that writes nothing but trees."
    )
    return Section(title="Malformed outputs", blocks=(table, Paragraph(text=note)))


def _labels(found: Sequence[Cell]) -> Section:
    best = max(found, key=lambda cell: cell.f1.mean)
    one = max(best.members, key=lambda member: member.f1)
    table = table_of(
        one.labels[:_LABELS],
        (
            ("label", lambda label: label.label),
            ("in the treebank", lambda label: f"{label.gold:,}"),
            ("recall", lambda label: f"{label.recall:.2f}"),
            ("precision", lambda label: f"{label.precision:.2f}"),
            ("F1", lambda label: f"{label.f1:.2f}"),
        ),
        words=1,
        caption=f"{one.system} on {one.test}: the most frequent labels, in percent",
    )
    return Section(title="By label", blocks=(table,))


def _evalb(found: Sequence[Cell]) -> Section:
    table = table_of(
        found,
        (
            ("row", lambda cell: cell.name),
            ("tested on", lambda cell: cell.test),
            ("recall", lambda cell: f"{cell.mean('recall'):.2f}"),
            ("precision", lambda cell: f"{cell.mean('precision'):.2f}"),
            ("EVALB F <= 40", lambda cell: f"{cell.mean('evalb_short'):.2f}"),
            ("complete", lambda cell: f"{cell.mean('complete'):.2f}"),
            ("tags", lambda cell: f"{cell.mean('tagging'):.2f}"),
            ("failed", lambda cell: f"{cell.mean('failed'):.1f}"),
            ("a second", lambda cell: f"{cell.mean('sentences_per_s'):,.1f}"),
        ),
        words=2,
        caption="Means over seeds; recall, precision, complete and tags with every sentence counted",
    )
    note = (
        "EVALB does not compare a sentence where a word is punctuation by its tag in one tree alone: these are "
        "'failed'. A parser that is given the treebank's tags has none such. Sentences a second are of parsing a test "
        f"set on {each(one.kernel for cell in found for one in cell.members)}."
    )
    return Section(title="All figures", blocks=(table, Paragraph(text=note)))


def _cost(results: Sequence[ParserRunResult]) -> Section:
    table = table_of(
        run_columns.by_row(results),
        (
            run_columns.MEAN_ROW,
            run_columns.MEAN_RUNS,
            ("params, 1e6", lambda runs: f"{runs[0].parameters / 1e6:.2f}"),
            run_columns.MEAN_MINUTES,
            run_columns.mean_tokens("symbols"),
            run_columns.MEAN_FLOPS,
            ("validation F1", lambda runs: f"{fmean(run.f1 for run in runs):.2f}"),
        ),
        words=1,
        caption="Means a run; the last column is the greedy F1 of its last validation",
    )
    total = (
        f"In all {len(results)} runs, {sum(result.seconds for result in results) / 3600:.2f} hours, CPU threads per "
        "run: "
        f"{each(result.threads for result in results)}. "
        f"Machine: {each(result.machine for result in results)}."
    )
    return Section(title="Cost", blocks=(Paragraph(text=total), table))


def _how(order: Order, findings: Findings) -> Section:
    searched = each(f"beam {one.beam_size}, alpha {one.length_penalty:g}" for one in findings.tested)
    blocks: list[Block] = [Shell(lines=(order.command,)), Paragraph(text=f"Search: {searched}.")]
    if findings.trained is not None:
        blocks += [Paragraph(text=f"{name}: {line}") for name, line in findings.trained.kept.items()]
        blocks.append(Paragraph(text=f"Versions: {versions_of(findings.trained.results)}"))
    return Section(title="How to repeat it", blocks=tuple(blocks))


def f1_png(cells: Sequence[Cell]) -> bytes:
    """Draws what was trained here above what the paper prints, a line each.

    Args:
        cells: at least one.
    """
    names = list(dict.fromkeys(cell.name for cell in cells))
    height = 1.7 + 0.3 * (len(names) + len(PRINTED))
    figure = new_figure(9.5, height)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(len(names) + 1, len(PRINTED) + 1))
    _draw_ours(upper, names, cells)
    _draw_paper(lower)
    for axes in (upper, lower):
        axes.invert_yaxis()
        finish(axes, grid="x")
    lower.set_xlabel("F1 in percent; the test sets differ, so that lines of the two panels cannot be compared")
    legend_below(figure, upper, min(3, len(upper.get_legend_handles_labels()[1])))
    return png_bytes(figure)


def _draw_ours(axes: Axes, names: Sequence[str], cells: Sequence[Cell]) -> None:
    tests = list(dict.fromkeys(cell.test for cell in cells))
    for number, test in enumerate(tests):
        of_test = [cell for cell in cells if cell.test == test]
        shift = 0.5 * ((number + 1) / (len(tests) + 1) - 0.5)
        axes.errorbar(
            [cell.f1.mean for cell in of_test],
            [names.index(cell.name) + shift for cell in of_test],
            xerr=[math.nan if cell.f1.half_width is None else cell.f1.half_width for cell in of_test],
            fmt=_SHAPES[number % len(_SHAPES)],
            color=_COLOURS[number % len(_COLOURS)],
            markersize=5,
            capsize=3,
            linewidth=1.3,
            label=f"tested on {test}",
        )
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(-0.7, len(names) - 0.3)
    set_title(axes, "Here, every sentence counted")


def _draw_paper(axes: Axes) -> None:
    for place, row in enumerate(PRINTED):
        axes.plot(row.f1, place, "D" if row.is_transformer else "x", color=PAPER, markersize=6)
    axes.set_yticks(range(len(PRINTED)), [f"{row.parser}, {row.training}" for row in PRINTED], fontsize=8)
    axes.set_ylim(-0.7, len(PRINTED) - 0.3)
    set_title(axes, "The paper: WSJ section 23")
