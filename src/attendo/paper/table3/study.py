"""The study of Table 3: its rows with their printed figures, at full size and scaled down, with several seeds each."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction

from matplotlib.axes import Axes

from attendo.bench.flops import num_parameters
from attendo.evaluation.estimates import Verdict
from attendo.paper.comparison import Comparison, Metric, PaperClaim, compare, difference_table, with_verdict
from attendo.paper.declared import declared
from attendo.paper.experiment import Reporter, StudyRequest
from attendo.paper.forecast import Forecast, forecast_of_rows, forecast_rows, prepared_so_far
from attendo.paper.page_parts import means
from attendo.paper.page_text import PageText, page_text
from attendo.paper.phrasebook_texts import corpora_folder, taken_from
from attendo.paper.rows_study import Findings, Page, RowsStudy, nothing
from attendo.paper.run_results import RunResult
from attendo.plots.figure_files import png_bytes
from attendo.plots.panels import OURS, PAPER, finish, legend_below, panels
from attendo.recipe import Recipe, load_recipe

# --- rows and recipes -------------------------------------------------------------------------------------------------

PERPLEXITY_UNIT, BLEU_UNIT = 0.01, 0.1
"""Units of the last digits of the printed figures."""

_PAPER_BASE = {"d_model": 512, "d_ff": 2048, "num_layers": 6, "num_heads": 8, "d_k": 64}
"""Sizes of the paper's base row; each change of a size in Table 3 is scaled relative to them."""

Value = int | float | str


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of the printed table."""

    name: str
    """Name of its recipe, `table3/NAME`."""
    group: str
    """Letter of its group, or `big` for the last row; empty for the first row."""
    changes: Mapping[str, Value] = field(default_factory=dict)
    """The paper's values that differ from the base row, by key of a recipe's `model` section, or `label_smoothing` of
    the section `training`."""
    perplexity: float
    """Printed perplexity per word piece, on newstest2013."""
    bleu: float
    """Printed BLEU, on newstest2013."""
    millions: int | None = None
    """Printed number of parameters, in millions; None if the paper omits it."""


ROWS: tuple[Row, ...] = declared("table3/rows.toml", "rows", tuple[Row, ...])
"""The rows in the paper's order. The longer training of `big`, three times as many updates, is stated in its recipe."""
BASE = ROWS[0]
BY_NAME = {row.name: row for row in ROWS}


def full_size(row: Row, overrides: Sequence[str] = ()) -> Recipe:
    """Returns a row's shipped recipe: WMT 2014, 100,000 updates of 25,000 tokens, 300,000 updates for `big`.

    Args:
        row: the row.
        overrides: overrides for `load_recipe`.

    Raises:
        RecipeError: an override is invalid.
    """
    return load_recipe(f"table3/{row.name}", overrides)


def scaled_down(row: Row, scale: str, overrides: Sequence[str] = ()) -> Recipe:
    """Returns a row for a smaller study, which changes the sizes by the paper's factors and keeps the training budget.

    Values that are not sizes (dropout, label smoothing, positions) are the paper's own.

    Args:
        row: the row.
        scale: scale of the study; the shipped recipe `table3/SCALE` is its base row.
        overrides: overrides for `load_recipe`, applied before the row's own changes.

    Raises:
        RecipeError: an override is invalid.
    """
    base = load_recipe(f"table3/{scale}", overrides)
    changes = [setting(key, scaled(key, value, base)) for key, value in row.changes.items()]
    return load_recipe(f"table3/{scale}", [f"name=table3-{scale}-{row.name}", *overrides, *changes])


def scaled(key: str, value: Value, base: Recipe) -> Value:
    """Scales a value of the paper's from its base row to a smaller one; a value that is not a size is unchanged."""
    if key not in _PAPER_BASE:
        return value
    size = Fraction(value) / _PAPER_BASE[key] * _sizes(base)[key]
    assert size.denominator == 1, f"{key}: {size} is no whole number; take a base row that the factors divide"
    return int(size)


def _sizes(base: Recipe) -> dict[str, int]:
    shape = base.model
    return {
        "d_model": shape.d_model,
        "d_ff": shape.d_ff,
        "num_layers": shape.num_layers,
        "num_heads": shape.num_heads,
        "d_k": shape.key_size,
    }


def setting(key: str, value: Value) -> str:
    """Returns a change in the form `SECTION.KEY=VALUE` of `--set`."""
    section = "training" if key == "label_smoothing" else "model"
    return f"{section}.{key}={value}"


_SYMBOLS = {
    "num_heads": "h", "d_k": "d_k", "num_layers": "N", "d_model": "d_model", "d_ff": "d_ff",
    "dropout": "P_drop", "label_smoothing": "eps_ls",
}  # fmt: skip


def described(row: Row, base: Recipe | None = None) -> str:
    """Describes a row's changes in the paper's symbols, such as `h 4, d_k = d_v 128`.

    Args:
        row: the row.
        base: base row of a smaller study; None for the paper's base row.
    """
    values = {key: value if base is None else scaled(key, value, base) for key, value in row.changes.items()}
    parts = [f"{_SYMBOLS[key]} {value}" for key, value in values.items() if key in _SYMBOLS]
    sizes = _PAPER_BASE if base is None else _sizes(base)
    width = int(values.get("d_model", sizes["d_model"])) // int(values.get("num_heads", sizes["num_heads"]))
    if "d_k" not in values and width != sizes["d_k"]:
        parts.append(f"d_k = d_v {width}")
    if "positions" in values:
        parts.append("learned positions")
    return ", ".join(parts)


# --- the study --------------------------------------------------------------------------------------------------------

_TEXT = "table3/page.md"
VOCABULARY = 37_000
"""The paper's vocabulary size, "about 37,000"."""

METRICS = (
    Metric[RunResult](key="perplexity", name="perplexity", of=lambda run: run.perplexity, digits=3),
    Metric[RunResult](key="bleu", name="BLEU", of=lambda run: run.bleu, digits=3),
)

RowComparison = Comparison[str, RunResult]


def compare_rows(results: Sequence[RunResult]) -> tuple[RowComparison, ...]:
    """Compares the rows with finished runs with the base row and with the paper, in the paper's order."""
    runs = {row.name: {result.seed: result for result in results if result.row == row.name} for row in ROWS}
    return compare(runs, BASE.name, METRICS, _expected)


def full_size_millions(row: Row) -> float:
    """The number of parameters of a row's shipped recipe, in millions."""
    return num_parameters(full_size(row).model, VOCABULARY, VOCABULARY) / 1e6


def _expected(name: str, key: str) -> PaperClaim:
    row = BY_NAME[name]
    if key == "perplexity":
        return PaperClaim.of_printed(row.perplexity, BASE.perplexity, PERPLEXITY_UNIT)
    return PaperClaim.of_printed(row.bleu, BASE.bleu, BLEU_UNIT)


def _recipes(request: StudyRequest) -> dict[str, Recipe]:
    overrides = taken_from(corpora_folder(request))
    if request.scale == "paper":
        return {row.name: full_size(row, overrides) for row in ROWS}
    return {row.name: scaled_down(row, request.scale, overrides) for row in ROWS}


def _forecast(request: StudyRequest, reporter: Reporter) -> Forecast:
    recipes = _recipes(request)
    base = recipes[BASE.name]
    plans = forecast_rows(recipes, prepared_so_far(request, base), reporter)
    changes = [(plan, described(BY_NAME[plan.name]), described(BY_NAME[plan.name], base)) for plan in plans]
    note = "forecast at full size" if request.scale == "paper" else "forecast"
    return forecast_of_rows(request, plans, _TEXT, note=note, rows=changes)


def _page(findings: Findings[None, None]) -> Page | None:
    if not findings.runs:
        return None
    text, base = page_text(_TEXT), findings.recipes[BASE.name]
    size = "at full size" if findings.request.scale == "paper" else "smaller"
    rows = compare_rows(findings.results)
    printed = [(comparison, BY_NAME[comparison.row]) for comparison in rows]
    cells = [(comparison, row, described(row), described(row, base)) for comparison, row in printed]
    compared = [comparison for comparison in rows if comparison.differences]
    comparisons = len(METRICS) * (len(rows) - 1)
    runs = [run for comparison in rows for run in comparison.runs]
    return Page(
        values={
            "sizes": text.note(size),
            "schedule": _schedule(text, base),
            "verdicts": [_verdicts(rows, metric) for metric in METRICS],
            "comparisons": comparisons,
            "by_chance": math.ceil(0.05 * comparisons),
            "table": text.blocks(f"table {size}", rows=cells),
            "tables": [difference_table(metric, rows, row="row", baseline="the base row") for metric in METRICS],
            "differences": differences_png(compared) if compared else None,
            "vocabulary": f"{VOCABULARY:,}",
            "full_size": [(row, full_size_millions(row)) for row in ROWS],
            "means": means(runs),
            "runs": runs,
        },
        data={
            "rows": [_row_json(comparison) for comparison in rows],
            "results": [asdict(result) for result in findings.results],
        },
    )


def _schedule(text: PageText, base: Recipe) -> str:
    """The note on the learning rate's cooldown; empty for the paper's schedule, which has none."""
    warmup, cooldown = base.training.warmup_steps, base.training.cooldown_steps
    return text.note("cooldown", warmup_steps=f"{warmup:,}", cooldown_steps=f"{cooldown:,}") if cooldown else ""


def _verdicts(rows: Sequence[RowComparison], metric: Metric[RunResult]) -> str:
    rows_by_verdict = {verdict: with_verdict(rows, metric.key, verdict) for verdict in Verdict}
    parts = [
        f"{verdict.value}: {len(names)} ({', '.join(names)})" for verdict, names in rows_by_verdict.items() if names
    ]
    return f"{metric.title}: {'; '.join(parts) if parts else 'nothing to compare yet'}."


def differences_png(rows: Sequence[RowComparison]) -> bytes:
    """Draws the differences in perplexity and BLEU side by side, one line per row.

    Args:
        rows: the rows that have a difference to the base row.
    """
    figure, (left, right) = panels(11, 1.6 + 0.34 * len(rows), 2, sharey=True)
    _draw(left, rows, "perplexity", "Perplexity per word piece: lower is better")
    _draw(right, rows, "bleu", "BLEU: higher is better")
    left.set_yticks(range(len(rows)), [comparison.row for comparison in rows])
    left.invert_yaxis()
    legend_below(figure, left, 2)
    return png_bytes(figure)


def _draw(axes: Axes, rows: Sequence[RowComparison], key: str, title: str) -> None:
    differences = [comparison.differences[key] for comparison in rows]
    groups = [BY_NAME[comparison.row].group for comparison in rows]
    axes.axvline(0, color="#777777", linewidth=1)
    for place in range(1, len(rows)):
        if groups[place] != groups[place - 1]:
            axes.axhline(place - 0.5, color="#dddddd", linewidth=0.8)
    axes.errorbar(
        [difference.ours.mean for difference in differences],
        [place - 0.14 for place in range(len(rows))],
        xerr=[difference.ours.half_width or 0.0 for difference in differences],
        fmt="o", color=OURS, markersize=5, capsize=3, linewidth=1.4, label="here: mean and 95% interval",
    )  # fmt: skip
    axes.plot(
        [difference.expected.printed or 0.0 for difference in differences],
        [place + 0.18 for place in range(len(rows))],
        "D", color=PAPER, markersize=5, label="the paper, one run each",
    )  # fmt: skip
    finish(axes, title, "difference to the base row", grid="x")


def _row_json(comparison: RowComparison) -> Mapping[str, object]:
    row = BY_NAME[comparison.row]
    data: dict[str, object] = {
        "row": row.name,
        "changes": dict(row.changes),
        "parameters": comparison.runs[0].parameters,
        "perplexity": {**comparison.figures["perplexity"].to_json(), "paper": row.perplexity},
        "bleu": {**comparison.figures["bleu"].to_json(), "paper": row.bleu},
    }
    for key, difference in comparison.differences.items():
        data[f"{key}_difference"] = {
            name: value for name, value in difference.to_json().items() if name != "paper_direction"
        }
    return data


TABLE3 = RowsStudy[None, None](
    name="table3",
    title="Table 3: variations of the base model",
    short_title="Table 3",
    subject="the paper",
    text=_TEXT,
    recipes=_recipes,
    expect=_forecast,
    begin=nothing,
    measure=nothing,
    page=_page,
)
