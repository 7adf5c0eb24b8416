"""`attendo reproduce table3`: every row with several seeds, beside the paper's figures, at one of three scales."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from matplotlib.axes import Axes

from attendo.paper import run_columns
from attendo.paper.charts import OURS, PAPER, finish, legend_below, panels
from attendo.paper.comparison import Comparison, Expected, Metric, compare, difference_table, with_verdict
from attendo.paper.experiment import Order, Reporter
from attendo.paper.forecast import (
    RECIPE,
    ROW,
    UPDATES,
    Forecast,
    RowForecast,
    forecast_of_rows,
    forecast_rows,
    prepared_so_far,
)
from attendo.paper.page_parts import budget_of, corpora_of, cost_section, seeds_of, signatures_of
from attendo.paper.phrasebook_texts import corpora_folder, taken_from
from attendo.paper.report import Columns, Paragraph, Picture, Section, paragraphs, table_of
from attendo.paper.rows_study import Findings, Page, RowsStudy, nothing
from attendo.paper.run_results import RunResult, num_parameters
from attendo.paper.statistics import Verdict
from attendo.paper.table3.rows import (
    BASE,
    BLEU_UNIT,
    BY_NAME,
    PERPLEXITY_UNIT,
    ROWS,
    Row,
    described,
    full_size,
    scaled_down,
)
from attendo.plots.figure_files import png_bytes
from attendo.recipe import Recipe

VOCABULARY = 37_000
"""The paper's: "about 37,000"."""

METRICS = (
    Metric[RunResult](key="perplexity", name="perplexity", of=lambda run: run.perplexity, digits=3),
    Metric[RunResult](key="bleu", name="BLEU", of=lambda run: run.bleu, digits=3),
)

RowComparison = Comparison[str, RunResult]


def compare_rows(results: Sequence[RunResult]) -> tuple[RowComparison, ...]:
    """Compares what is done of a study with the base row and with the paper, in the paper's order."""
    runs = {row.name: {result.seed: result for result in results if result.row == row.name} for row in ROWS}
    return compare(runs, BASE.name, METRICS, _expected)


def full_size_millions(row: Row) -> float:
    """Parameters of a row's shipped recipe, in millions."""
    return num_parameters(full_size(row).model, VOCABULARY, VOCABULARY) / 1e6


def _expected(name: str, key: str) -> Expected:
    row = BY_NAME[name]
    if key == "perplexity":
        return Expected.of_printed(row.perplexity, BASE.perplexity, PERPLEXITY_UNIT)
    return Expected.of_printed(row.bleu, BASE.bleu, BLEU_UNIT)


def _recipes(order: Order) -> dict[str, Recipe]:
    overrides = taken_from(corpora_folder(order))
    if order.scale == "paper":
        return {row.name: full_size(row, overrides) for row in ROWS}
    return {row.name: scaled_down(row, order.scale, overrides) for row in ROWS}


def _forecast(order: Order, reporter: Reporter) -> Forecast:
    recipes = _recipes(order)
    base = recipes[BASE.name]
    plans = forecast_rows(recipes, prepared_so_far(order, base), reporter)
    change: Columns[RowForecast] = (
        ("change", lambda plan: described(BY_NAME[plan.name])),
        ("change here", lambda plan: described(BY_NAME[plan.name], base)),
    )
    shown = change[:1] if order.scale == "paper" else change
    return forecast_of_rows(order, plans, (ROW, *shown, RECIPE, UPDATES), ".", words=2 + len(shown))


def _page(found: Findings[None, None]) -> Page | None:
    if not found.runs:
        return None
    comparisons = compare_rows(found.results)
    base = None if found.order.scale == "paper" else found.recipes[BASE.name]
    return Page(
        introduction=_introduction(found.order, found.recipes[BASE.name]),
        sections=(
            _outcome(comparisons),
            _table(comparisons, base),
            *_differences(comparisons),
            _full_size(),
            _cost(comparisons, found.results),
            _runs(comparisons),
        ),
        bleu=f"BLEU is sacreBLEU's: {signatures_of(found.results)}",
        data={
            "rows": [_row_json(one) for one in comparisons],
            "results": [asdict(result) for result in found.results],
        },
    )


def _introduction(order: Order, base: Recipe) -> tuple[str, ...]:
    what = (
        f"Each row of Table 3, trained here on {corpora_of(base)} at the scale '{order.scale}' with {seeds_of(order)}. "
        f"Every row has the same data, vocabulary and budget: {budget_of(base)}."
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
    if not base.training.cooldown_steps:
        return what, how
    return (
        what,
        how,
        f"The learning rate is the paper's formula with {base.training.warmup_steps:,} updates of warm-up; it falls "
        f"to zero over the last {base.training.cooldown_steps:,}, where the paper's runs are long enough for that.",
    )


def _outcome(comparisons: Sequence[RowComparison]) -> Section:
    texts = []
    for metric in METRICS:
        found = {verdict: with_verdict(comparisons, metric.key, verdict) for verdict in Verdict}
        told = [f"{verdict.value}: {len(rows)} ({', '.join(rows)})" for verdict, rows in found.items() if rows]
        texts.append(f"{metric.title}: {'; '.join(told) if told else 'nothing to compare yet'}.")
    count = 2 * (len(comparisons) - 1)
    texts.append(
        "A row differs significantly from the base row if the 95% interval of its difference, paired by seed, "
        "excludes zero. "
        "'Not significant' means that there are too few seeds to decide, not that there is no effect. "
        f"Of {count} such comparisons about {math.ceil(0.05 * count)} would be significant by chance alone. The "
        "paper has one run a row and no intervals; where its figures differ by their last digit alone, they count "
        "as the same."
    )
    return Section(title="Comparison with the paper", blocks=paragraphs(*texts))


def _table(comparisons: Sequence[RowComparison], base: Recipe | None) -> Section:
    here: Columns[RowComparison] = (("change here", lambda one: described(BY_NAME[one.row], base)),) if base else ()
    table = table_of(
        "Mean over seeds and half of the 95% interval; parameters in millions",
        comparisons,
        (
            ("row", lambda one: one.row),
            ("change", lambda one: described(BY_NAME[one.row])),
            *here,
            ("params", lambda one: f"{one.runs[0].parameters / 1e6:.2f}"),
            ("PPL", lambda one: one.figures["perplexity"].to_text()),
            ("paper", lambda one: f"{BY_NAME[one.row].perplexity:.2f}"),
            ("BLEU", lambda one: one.figures["bleu"].to_text()),
            ("paper", lambda one: f"{BY_NAME[one.row].bleu:.1f}"),
        ),
        words=2 + len(here),
    )
    return Section(title="The table", blocks=(table,))


def _differences(comparisons: Sequence[RowComparison]) -> tuple[Section, ...]:
    """A section on the differences to the base row, where there are any."""
    if not any(one.differences for one in comparisons):
        return ()
    tables = (difference_table(metric, comparisons, row="row", baseline="the base row") for metric in METRICS)
    picture = Picture(
        name="differences.png",
        png=differences_png(comparisons),
        alt="Differences of the rows to the base row in perplexity and BLEU, here and in the paper",
        caption="Differences to the base row. The scales differ: look at the side of zero, not at the size.",
    )
    return (Section(title="Differences to the base row", blocks=(*tables, picture)),)


def differences_png(comparisons: Sequence[RowComparison]) -> bytes:
    """Draws the differences in perplexity and BLEU side by side, a line a row.

    Args:
        comparisons: those of the base row are left out.
    """
    rows = [one for one in comparisons if one.differences]
    figure, (left, right) = panels(11, 1.6 + 0.34 * len(rows), 2, sharey=True)
    _draw(left, rows, "perplexity", "Perplexity per word piece: lower is better")
    _draw(right, rows, "bleu", "BLEU: higher is better")
    left.set_yticks(range(len(rows)), [one.row for one in rows])
    left.invert_yaxis()
    legend_below(figure, left, 2)
    return png_bytes(figure)


def _draw(axes: Axes, rows: Sequence[RowComparison], key: str, title: str) -> None:
    found = [one.differences[key] for one in rows]
    groups = [BY_NAME[one.row].group for one in rows]
    axes.axvline(0, color="#777777", linewidth=1)
    for place in range(1, len(rows)):
        if groups[place] != groups[place - 1]:
            axes.axhline(place - 0.5, color="#dddddd", linewidth=0.8)
    axes.errorbar(
        [one.ours.mean for one in found],
        [place - 0.14 for place in range(len(rows))],
        xerr=[one.ours.half_width or 0.0 for one in found],
        fmt="o", color=OURS, markersize=5, capsize=3, linewidth=1.4, label="here: mean and 95% interval",
    )  # fmt: skip
    axes.plot(
        [one.expected.printed or 0.0 for one in found],
        [place + 0.18 for place in range(len(rows))],
        "D", color=PAPER, markersize=5, label="the paper, one run each",
    )  # fmt: skip
    finish(axes, title, "difference to the base row", grid="x")


def _full_size() -> Section:
    table = table_of(
        f"Parameters in millions, of the shipped recipes table3/ROW with a vocabulary of {VOCABULARY:,}",
        ROWS,
        (
            ("row", lambda row: row.name),
            ("here", lambda row: f"{full_size_millions(row):.1f}"),
            ("paper", lambda row: "" if row.millions is None else str(row.millions)),
        ),
        words=1,
    )
    note = (
        "The paper says 'about 37,000' and rounds; the shapes that it states come out up to 2.6 million "
        "below its figures, 4.2 million for d_model 1024, and 1.2 million above for big. They are not adjusted to "
        "match."
    )
    return Section(title="Parameters at full size", blocks=(table, Paragraph(text=note)))


def _cost(comparisons: Sequence[RowComparison], results: Sequence[RunResult]) -> Section:
    columns = (
        run_columns.MEAN_ROW,
        run_columns.MEAN_RUNS,
        run_columns.MEAN_MINUTES,
        run_columns.mean_tokens("target tokens"),
        run_columns.MEAN_FLOPS,
    )
    table = table_of("Means a run", [one.runs for one in comparisons], columns, words=1)
    tokens, flops = sum(run.target_tokens for run in results), sum(run.flops for run in results)
    note = (
        "FLOPs are those of the matrix products, by torch's counter for a pair of average length. Minutes are wall "
        "time with validation, on a machine that may have had other work; widths of a head that are no multiple of 16, "
        "and learned positions, pass by the fast kernels: the same arithmetic in more time."
    )
    return cost_section(results, f"; {tokens:,} target tokens; {flops:.2e} FLOPs.", table, Paragraph(text=note))


def _runs(comparisons: Sequence[RowComparison]) -> Section:
    runs = [run for one in comparisons for run in one.runs]
    return Section(title="The runs", blocks=(run_columns.each_run(runs),))


def _row_json(one: RowComparison) -> Mapping[str, object]:
    row = BY_NAME[one.row]
    found: dict[str, object] = {
        "row": row.name,
        "changes": dict(row.changes),
        "parameters": one.runs[0].parameters,
        "perplexity": {**one.figures["perplexity"].to_json(), "paper": row.perplexity},
        "bleu": {**one.figures["bleu"].to_json(), "paper": row.bleu},
    }
    for key, difference in one.differences.items():
        found[f"{key}_difference"] = {
            name: value for name, value in difference.to_json().items() if name != "paper_direction"
        }
    return found


TABLE3 = RowsStudy[None, None](
    name="table3",
    title="Table 3: variations of the base model",
    short_title="Table 3",
    subject="the paper",
    recipes=_recipes,
    expect=_forecast,
    begin=nothing,
    measure=nothing,
    page=_page,
)
