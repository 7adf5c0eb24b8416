"""Table 3: its rows and printed figures, the same rows scaled down, and the study with several seeds of each."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction

from matplotlib.axes import Axes

from attendo.paper.charts import OURS, PAPER, finish, legend_below, panels
from attendo.paper.comparison import Comparison, Expected, Metric, compare, difference_table, with_verdict
from attendo.paper.declared import declared
from attendo.paper.experiment import Order, Reporter
from attendo.paper.forecast import Forecast, forecast_of_rows, forecast_rows, prepared_so_far
from attendo.paper.page_parts import means
from attendo.paper.page_text import PageText, page_text
from attendo.paper.phrasebook_texts import corpora_folder, taken_from
from attendo.paper.rows_study import Findings, Page, RowsStudy, nothing
from attendo.paper.run_results import RunResult, num_parameters
from attendo.paper.statistics import Verdict
from attendo.plots.figure_files import png_bytes
from attendo.recipe import Recipe, load_recipe

# --- rows and recipes -------------------------------------------------------------------------------------------------

PERPLEXITY_UNIT, BLEU_UNIT = 0.01, 0.1
"""The last digits of the printed figures."""

_PAPER_BASE = {"d_model": 512, "d_ff": 2048, "num_layers": 6, "num_heads": 8, "d_k": 64}
"""The base row's sizes, which a change of the paper's is a multiple of."""

Value = int | float | str


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row as it is printed."""

    name: str
    """That of its recipe: `table3/NAME`."""
    group: str
    """The letter it stands under; empty for the first row."""
    changes: Mapping[str, Value] = field(default_factory=dict)
    """Keys of a recipe's `model` section that differ from the base row's, with the paper's values; and
    `label_smoothing`, of the section `training`."""
    perplexity: float
    """Per word piece, on newstest2013."""
    bleu: float
    """On newstest2013."""
    millions: int | None = None
    """Parameters; None where the paper leaves that out."""


ROWS: tuple[Row, ...] = declared("table3/rows.toml", "rows", tuple[Row, ...])
"""In the paper's order. That `big` trains three times as long, its recipe says."""
BASE = ROWS[0]
BY_NAME = {row.name: row for row in ROWS}


def full_size(row: Row, overrides: Sequence[str] = ()) -> Recipe:
    """A row's shipped recipe: WMT 2014, 100,000 updates of 25,000 tokens, 300,000 for `big`.

    Args:
        row: the row.
        overrides: as for `load_recipe`.

    Raises:
        RecipeError: an override cannot be meant.
    """
    return load_recipe(f"table3/{row.name}", overrides)


def scaled_down(row: Row, scale: str, overrides: Sequence[str] = ()) -> Recipe:
    """A row with the base row of a smaller study: the paper's change by the same factor, the same budget.

    What is no size (dropout, label smoothing, positions) is the paper's own value.

    Args:
        row: the row.
        scale: the shipped recipe `table3/SCALE` is the base row.
        overrides: as for `load_recipe`; the row's own changes come behind them.

    Raises:
        RecipeError: an override cannot be meant.
    """
    base = load_recipe(f"table3/{scale}", overrides)
    changes = [setting(key, scaled(key, value, base)) for key, value in row.changes.items()]
    return load_recipe(f"table3/{scale}", [f"name=table3-{scale}-{row.name}", *overrides, *changes])


def scaled(key: str, value: Value, base: Recipe) -> Value:
    """A changed value of the paper's, by the same factor on a smaller base row; itself where it is no size."""
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
    """A change as `--set` has it."""
    section = "training" if key == "label_smoothing" else "model"
    return f"{section}.{key}={value}"


_SYMBOLS = {
    "num_heads": "h", "d_k": "d_k", "num_layers": "N", "d_model": "d_model", "d_ff": "d_ff",
    "dropout": "P_drop", "label_smoothing": "eps_ls",
}  # fmt: skip


def described(row: Row, base: Recipe | None = None) -> str:
    """A row's change in the paper's symbols, such as `h 4, d_k = d_v 128`.

    Args:
        row: the row.
        base: the base row of a smaller study; None for the paper's.
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
    changes = [(plan, described(BY_NAME[plan.name]), described(BY_NAME[plan.name], base)) for plan in plans]
    note = "forecast at full size" if order.scale == "paper" else "forecast"
    return forecast_of_rows(order, plans, _TEXT, note=note, rows=changes)


def _page(found: Findings[None, None]) -> Page | None:
    if not found.runs:
        return None
    text, base = page_text(_TEXT), found.recipes[BASE.name]
    size = "at full size" if found.order.scale == "paper" else "smaller"
    rows = compare_rows(found.results)
    printed = [(one, BY_NAME[one.row]) for one in rows]
    cells = [(one, row, described(row), described(row, base)) for one, row in printed]
    compared = [one for one in rows if one.differences]
    comparisons = len(METRICS) * (len(rows) - 1)
    runs = [run for one in rows for run in one.runs]
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
            "rows": [_row_json(one) for one in rows],
            "results": [asdict(result) for result in found.results],
        },
    )


def _schedule(text: PageText, base: Recipe) -> str:
    """What is said of the learning rate where it ends otherwise than the paper's."""
    warmup, cooldown = base.training.warmup_steps, base.training.cooldown_steps
    return text.note("cooldown", warmup_steps=f"{warmup:,}", cooldown_steps=f"{cooldown:,}") if cooldown else ""


def _verdicts(rows: Sequence[RowComparison], metric: Metric[RunResult]) -> str:
    found = {verdict: with_verdict(rows, metric.key, verdict) for verdict in Verdict}
    told = [f"{verdict.value}: {len(names)} ({', '.join(names)})" for verdict, names in found.items() if names]
    return f"{metric.title}: {'; '.join(told) if told else 'nothing to compare yet'}."


def differences_png(rows: Sequence[RowComparison]) -> bytes:
    """Draws the differences in perplexity and BLEU side by side, a line a row.

    Args:
        rows: that have a difference.
    """
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
    text=_TEXT,
    recipes=_recipes,
    expect=_forecast,
    begin=nothing,
    measure=nothing,
    page=_page,
)
