"""`attendo reproduce label-smoothing`: values of eps_ls (Section 5.4) with seeds, and how sure the models are."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from pydantic import TypeAdapter

from attendo.checkpoint.model_folder import load_model
from attendo.checkpoint.run_checkpoints import Checkpoints
from attendo.checkpoint.weights import load_weights, mean_weights
from attendo.errors import ModelError
from attendo.paper.calibration import Bin, Calibration, calibration, pooled, teacher_forced
from attendo.paper.charts import BLUE, GREEN, GREY, ORANGE, OURS, PAPER, PURPLE, finish, legend_below, panels
from attendo.paper.comparison import Comparison, Expected, Metric, compare, difference_table
from attendo.paper.experiment import Order, Reporter
from attendo.paper.forecast import Forecast, forecast_of_runs
from attendo.paper.phrasebook_texts import corpora_folder, taken_from
from attendo.paper.report import Table
from attendo.paper.rows_study import Findings, MeasuredRun, Page, RowsStudy, Sitting
from attendo.paper.study import Run
from attendo.paper.study_folder import measured_once
from attendo.paper.table3.study import BASE, BLEU_UNIT, PERPLEXITY_UNIT, Row
from attendo.paper.table3.study import BY_NAME as TABLE3_ROWS
from attendo.plots.figure_files import png_bytes
from attendo.recipe import Recipe, load_recipe
from attendo.text.prepared import PreparedData
from attendo.workflow.machine.device import choose_device

# --- rows and recipes -------------------------------------------------------------------------------------------------

EPSILONS = (0.0, 0.1, 0.2, 0.3)
"""eps_ls of the rows; the first is the baseline."""
PAPER_EPSILON = 0.1
"""The paper's (Section 5.4); what it says of accuracy it says of this one."""
PRINTED: Mapping[float, Row] = {0.0: TABLE3_ROWS["d-ls0.0"], 0.1: BASE, 0.2: TABLE3_ROWS["d-ls0.2"]}
"""Table 3's base row and those under D, on newstest2013."""

Read = MeasuredRun[Calibration]
"""A run with the calibration of its model on the validation set."""
RowComparison = Comparison[float, Read]

METRICS = (
    Metric[Read](key="perplexity", name="perplexity", of=lambda run: run.result.perplexity, digits=3),
    Metric[Read](key="accuracy", name="accuracy %", of=lambda run: 100 * run.measured.accuracy, digits=2),
    Metric[Read](key="bleu", name="BLEU", of=lambda run: run.result.bleu, digits=2),
    Metric[Read](key="confidence", name="confidence %", of=lambda run: 100 * run.measured.confidence, digits=2),
    Metric[Read](
        key="calibration_error",
        name="calibration error %",
        of=lambda run: 100 * run.measured.calibration_error,
        digits=2,
    ),
    Metric[Read](key="entropy", name="entropy, nats", of=lambda run: run.measured.entropy, digits=3),
)
"""In the order of the tables. That the model learns to be more unsure (Section 5.4) is entropy."""


BY_NAME = {f"eps-{epsilon}": epsilon for epsilon in EPSILONS}
"""By what the rows are called, as their runs' folders are."""


def recipes(order: Order) -> dict[str, Recipe]:
    """The rows' recipes, which differ in eps_ls alone.

    They are those shipped as `label-smoothing/SCALE`; at full size those of Table 3, WMT 2014 and 100,000 updates.
    """
    name = "table3/base" if order.scale == "paper" else f"label-smoothing/{order.scale}"
    folder = taken_from(corpora_folder(order))
    return {
        row: load_recipe(
            name, [f"name=label-smoothing-{order.scale}-{row}", *folder, f"training.label_smoothing={epsilon}"]
        )
        for row, epsilon in BY_NAME.items()
    }


def compare_rows(runs: Sequence[Read]) -> tuple[RowComparison, ...]:
    """Compares what is done of a study with the row without smoothing and with the paper, eps_ls rising."""
    by_row = {
        epsilon: {run.result.seed: run for run in runs if run.result.row == row} for row, epsilon in BY_NAME.items()
    }
    return compare(by_row, EPSILONS[0], METRICS, _expected)


def _expected(epsilon: float, key: str) -> Expected:
    row, plain = PRINTED.get(epsilon), PRINTED[EPSILONS[0]]
    if row is not None and key == "perplexity":
        return Expected.of_printed(row.perplexity, plain.perplexity, PERPLEXITY_UNIT)
    if row is not None and key == "bleu":
        return Expected.of_printed(row.bleu, plain.bleu, BLEU_UNIT)
    # Section 5.4 says which way these go, for the paper's eps_ls alone.
    return Expected(direction=int(epsilon == PAPER_EPSILON and key in ("accuracy", "entropy")))


def best_probability(epsilon: float, vocab_size: int) -> float:
    """The probability of the right token that the smoothed loss is least at, 1 - eps + eps / vocabulary (Section 5.4).

    The smoothed target gives so much to the right token and eps / vocabulary to every other one; by Gibbs'
    inequality cross-entropy is least where the model says just that.

    Args:
        epsilon: eps_ls.
        vocab_size: of the target.
    """
    return 1 - epsilon + epsilon / vocab_size


# --- the study --------------------------------------------------------------------------------------------------------

_TEXT = "label_smoothing/page.md"
MEASURED = "calibration.json"
"""In a run's folder, beside its result."""

_KEPT = TypeAdapter(Calibration)
_STYLES = ((BLUE, "o", "-"), (ORANGE, "s", "--"), (GREEN, "D", "-."), (PURPLE, "^", ":"))
"""Of the rows in the reliability chart."""
_FEWEST_TOKENS = 20
"""A point of fewer tokens than that would be chance alone."""


@dataclass(frozen=True, kw_only=True)
class DataSizes:
    """The sizes of a study's data."""

    vocab_size: int
    """Of the target."""
    valid_pairs: int
    """Of the validation set."""


def measured_run(run: Path, prepared: PreparedData) -> Calibration:
    """What the weights that a run ended with say of the validation set; measured once, kept in the run's folder.

    Args:
        run: a run folder whose run has ended.
        prepared: its data.

    Raises:
        ModelError: the model or its checkpoints cannot be read.
        OSError: the folder cannot be written to.
    """

    def measure() -> Calibration:
        if prepared.valid is None:
            raise ModelError(f"{prepared.folder}: has no validation set to measure on")
        model = load_model(run / "model").transformer
        # The model that is kept is that of the best validation; a run's result is that of the last.
        last = load_recipe(str(run)).training.average_last
        weights = mean_weights(Checkpoints(run / "checkpoints", last).last_weights(last))
        load_weights(model, weights, run)
        return calibration(teacher_forced(model.to(choose_device("auto")), prepared.valid))

    return measured_once(run / MEASURED, _KEPT, measure)


def _sizes(sitting: Sitting) -> DataSizes:
    prepared = sitting.opened.prepared
    return DataSizes(vocab_size=prepared.target_tokenizer.vocab_size, valid_pairs=len(prepared.valid_source))


def _measured(sitting: Sitting, sizes: DataSizes, run: Run) -> Calibration:
    return measured_run(sitting.folder(run), sitting.opened.prepared)


def _forecast(order: Order, reporter: Reporter) -> Forecast:
    rows = recipes(order)
    recipe = next(iter(rows.values()))
    rows_data = [
        {"row": name, "epsilon": BY_NAME[name], "recipe": row.name, "updates": row.training.max_steps}
        for name, row in rows.items()
    ]
    # One model and one budget: what a row takes, all take.
    return forecast_of_runs(
        order, recipe, reporter, _TEXT, num_rows=len(rows), data={"rows": rows_data}, rows=rows.items()
    )


def _page(found: Findings[DataSizes, Calibration]) -> Page | None:
    if not found.runs:
        return None
    rows = compare_rows(found.runs)
    compared = [one for one in rows if one.differences]
    return Page(
        values={
            "valid_pairs": f"{found.begun.valid_pairs:,}",
            "vocab_size": f"{found.begun.vocab_size:,}",
            "verdicts": _verdicts(compared) or "Nothing to compare yet.",
            "table": [(one, PRINTED.get(one.row)) for one in rows],
            "differences": differences_png(compared) if compared else None,
            "tables": [difference_table(metric, rows, row="eps_ls", baseline="eps_ls 0") for metric in METRICS],
            "calibration": [(one, best_probability(one.row, found.begun.vocab_size)) for one in rows],
            "reliability": reliability_png(rows),
            "curve": _curves(rows),
            "runs": [(one.row, run) for one in rows for run in one.runs],
        },
        data={
            "rows": [_row_json(one) for one in rows],
            "results": [{**asdict(run.result), "calibration": asdict(run.measured)} for run in found.runs],
        },
    )


def _verdicts(compared: Sequence[RowComparison]) -> list[str]:
    """What is said of each metric of which the paper says something."""
    told = []
    for metric in METRICS:
        found = [(one.row, one.differences[metric.key].verdict) for one in compared]
        said = [f"eps_ls {epsilon} {verdict.value}" for epsilon, verdict in found if verdict is not None]
        if said:
            name = metric.title.partition(",")[0].removesuffix(" %")
            told.append(f"{name}: {'; '.join(said)}.")
    return told


def _curves(rows: Sequence[RowComparison]) -> Table:
    curves = [_curve(one) for one in rows]
    return Table(
        columns=("confidence %", *(f"eps_ls {one.row}" for one in rows)),
        rows=tuple(
            (f"{100 * bins[0].low:.0f} to {100 * bins[0].high:.0f}", *_bin_cells(bins, curves))
            for bins in zip(*curves, strict=True)
        ),
        words=1,
    )


def _curve(one: RowComparison) -> tuple[Bin, ...]:
    """The reliability curve of all seeds' tokens."""
    return pooled([run.measured.bins for run in one.runs])


def _bin_cells(bins: Sequence[Bin], curves: Sequence[Sequence[Bin]]) -> Iterable[str]:
    for found, curve in zip(bins, curves, strict=True):
        total = sum(each_bin.tokens for each_bin in curve)
        yield f"{100 * found.accuracy:.1f} ({100 * found.tokens / total:.1f})" if found.tokens else "(0)"


def _row_json(one: RowComparison) -> Mapping[str, object]:
    printed = PRINTED.get(one.row)
    return {
        "epsilon": one.row,
        "paper": printed and {"perplexity": printed.perplexity, "bleu": printed.bleu},
        "figures": {key: found.to_json() for key, found in one.figures.items()},
        "differences": {key: found.to_json() for key, found in one.differences.items()},
        "reliability": [asdict(found) for found in _curve(one)],
    }


def differences_png(rows: Sequence[RowComparison]) -> bytes:
    """Draws perplexity, accuracy and BLEU by eps_ls, as differences to the row without smoothing.

    Args:
        rows: that have a difference.
    """
    figure, all_axes = panels(11, 3.9, 3)
    titles = ("Perplexity: lower is better", "Accuracy: higher is better", "BLEU: higher is better")
    units = ("per word piece", "% points", "BLEU points")
    for axes, metric, title, unit in zip(all_axes, METRICS, titles, units, strict=False):
        _draw(axes, rows, metric.key)
        finish(axes, title, "eps_ls, against 0", f"difference, {unit}")
    legend_below(figure, all_axes[0], 2)
    return png_bytes(figure)


def _draw(axes: Axes, rows: Sequence[RowComparison], key: str) -> None:
    found = [one.differences[key] for one in rows]
    axes.axhline(0, color=GREY, linewidth=1)
    axes.errorbar(
        [one.row - 0.006 for one in rows],
        [one.ours.mean for one in found],
        yerr=[one.ours.half_width or 0.0 for one in found],
        fmt="o", color=OURS, markersize=6, capsize=4, linewidth=1.4, label="here: mean and 95% interval",
    )  # fmt: skip
    printed = [(one.row + 0.006, one.differences[key].expected.printed) for one in rows]
    shown = [(place, value) for place, value in printed if value is not None]
    if shown:
        axes.plot(*zip(*shown, strict=True), "D", color=PAPER, markersize=6, label="the paper, one run each")
    axes.set_xticks([one.row for one in rows])
    axes.margins(x=0.2)


def reliability_png(rows: Sequence[RowComparison]) -> bytes:
    """Draws accuracy by confidence, a curve a row, and how many tokens there are at each confidence."""
    figure, (curves, counts) = panels(11, 4.6, 2)
    curves.plot([0, 100], [0, 100], color=GREY, linewidth=1, label="as sure as it is right")
    for one, (colour, mark, line) in zip(rows, _STYLES, strict=False):
        style: dict[str, Any] = {"color": colour, "marker": mark, "linestyle": line, "markersize": 5, "linewidth": 1.5}
        curve = _curve(one)
        shown = [found for found in curve if found.tokens >= _FEWEST_TOKENS]
        curves.plot(
            [100 * found.confidence for found in shown],
            [100 * found.accuracy for found in shown],
            label=f"eps_ls {one.row}",
            **style,
        )
        total = sum(found.tokens for found in curve)
        counts.plot(
            [50 * (found.low + found.high) for found in curve],
            [100 * found.tokens / total for found in curve],
            label=f"eps_ls {one.row}",
            **style,
        )
    curves.set_aspect("equal")
    counts.set_xlim(0, 100)
    counts.set_ylim(bottom=0)
    curves.legend(frameon=False, loc="upper left")
    counts.legend(frameon=False)
    finish(
        curves,
        "Below the line: too sure; above: too unsure",
        "confidence: probability of the most probable token, %",
        "accuracy: share of right tokens, %",
    )
    finish(counts, "How sure the models are", "confidence, %", "share of all tokens, %")
    return png_bytes(figure)


LABEL_SMOOTHING = RowsStudy[DataSizes, Calibration](
    name="label-smoothing",
    title="Label smoothing: perplexity, accuracy and BLEU",
    short_title="Label smoothing",
    subject="the paper",
    text=_TEXT,
    recipes=recipes,
    expect=_forecast,
    begin=_sizes,
    measure=_measured,
    page=_page,
)
