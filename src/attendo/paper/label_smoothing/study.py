"""`attendo reproduce label-smoothing`: values of eps_ls (Section 5.4) with several seeds, and model calibration."""

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
from attendo.paper.comparison import Comparison, Metric, PaperClaim, compare, difference_table
from attendo.paper.experiment import Reporter, StudyRequest
from attendo.paper.forecast import Forecast, forecast_of_runs
from attendo.paper.phrasebook_texts import corpora_folder, taken_from
from attendo.paper.report import Table
from attendo.paper.rows_study import Findings, MeasuredRun, Page, RowsStudy, StudySession
from attendo.paper.study import Run
from attendo.paper.study_folder import measured_once
from attendo.paper.table3.study import BASE, BLEU_UNIT, PERPLEXITY_UNIT, Row
from attendo.paper.table3.study import BY_NAME as TABLE3_ROWS
from attendo.plots.figure_files import png_bytes
from attendo.plots.panels import BLUE, GREEN, GREY, ORANGE, OURS, PAPER, PURPLE, finish, legend_below, panels
from attendo.recipe import Recipe, load_recipe
from attendo.text.prepared import PreparedData
from attendo.workflow.evaluation.token_calibration import Bin, Calibration, calibration, pooled, teacher_forced
from attendo.workflow.machine.device import choose_device

# --- rows and recipes -------------------------------------------------------------------------------------------------

EPSILONS = (0.0, 0.1, 0.2, 0.3)
"""Values of eps_ls of the rows; the first is the baseline."""
PAPER_EPSILON = 0.1
"""The paper's value (Section 5.4), the only one whose effect on accuracy and certainty it states."""
PRINTED: Mapping[float, Row] = {0.0: TABLE3_ROWS["d-ls0.0"], 0.1: BASE, 0.2: TABLE3_ROWS["d-ls0.2"]}
"""Table 3's base row and those under D, on newstest2013."""

Read = MeasuredRun[Calibration]
"""A finished run with the calibration of its model on the validation set."""
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
"""The metrics in the order of the tables. Entropy measures how unsure the model learns to be (Section 5.4)."""


BY_NAME = {f"eps-{epsilon}": epsilon for epsilon in EPSILONS}
"""Values of eps_ls by the rows' names, which are also the names of their runs."""


def recipes(request: StudyRequest) -> dict[str, Recipe]:
    """Returns the rows' recipes, which differ only in eps_ls.

    They derive from the shipped recipe `label-smoothing/SCALE`; at full size from Table 3's base row, WMT 2014 and
    100,000 updates.
    """
    name = "table3/base" if request.scale == "paper" else f"label-smoothing/{request.scale}"
    folder = taken_from(corpora_folder(request))
    return {
        row: load_recipe(
            name, [f"name=label-smoothing-{request.scale}-{row}", *folder, f"training.label_smoothing={epsilon}"]
        )
        for row, epsilon in BY_NAME.items()
    }


def compare_rows(runs: Sequence[Read]) -> tuple[RowComparison, ...]:
    """Compares the rows with finished runs with the row without smoothing and with the paper, by rising eps_ls."""
    by_row = {
        epsilon: {run.result.seed: run for run in runs if run.result.row == row} for row, epsilon in BY_NAME.items()
    }
    return compare(by_row, EPSILONS[0], METRICS, _expected)


def _expected(epsilon: float, key: str) -> PaperClaim:
    row, plain = PRINTED.get(epsilon), PRINTED[EPSILONS[0]]
    if row is not None and key == "perplexity":
        return PaperClaim.of_printed(row.perplexity, plain.perplexity, PERPLEXITY_UNIT)
    if row is not None and key == "bleu":
        return PaperClaim.of_printed(row.bleu, plain.bleu, BLEU_UNIT)
    # Section 5.4 states the direction of these two, for the paper's eps_ls alone.
    return PaperClaim(direction=int(epsilon == PAPER_EPSILON and key in ("accuracy", "entropy")))


def best_probability(epsilon: float, vocab_size: int) -> float:
    """Returns the right token's probability that minimises the smoothed loss, 1 - eps + eps / V (Section 5.4).

    The smoothed target gives that probability to the right token and eps / V to every other one; by Gibbs' inequality
    cross-entropy is lowest if the model predicts the same distribution.

    Args:
        epsilon: the value eps of eps_ls.
        vocab_size: size V of the target vocabulary.
    """
    return 1 - epsilon + epsilon / vocab_size


# --- the study --------------------------------------------------------------------------------------------------------

_TEXT = "label_smoothing/page.md"
MEASURED = "calibration.json"
"""Name of the file in a run's folder, beside its result."""

_KEPT = TypeAdapter(Calibration)
_STYLES = ((BLUE, "o", "-"), (ORANGE, "s", "--"), (GREEN, "D", "-."), (PURPLE, "^", ":"))
"""Colour, marker and line style of each row in the reliability chart."""
_FEWEST_TOKENS = 20
"""Smallest number of tokens of a point in the reliability chart; fewer would show little but chance."""


@dataclass(frozen=True, kw_only=True)
class DataSizes:
    """The sizes of a study's data."""

    vocab_size: int
    """Size of the target vocabulary."""
    valid_pairs: int
    """Number of pairs in the validation set."""


def measured_run(run: Path, prepared: PreparedData) -> Calibration:
    """Measures the calibration of a run's last weights on the validation set, once; it is kept in the run's folder.

    Args:
        run: folder of a run that has ended.
        prepared: data of the run.

    Raises:
        ModelError: the model or its checkpoints cannot be read.
        OSError: the folder cannot be written to.
    """

    def measure() -> Calibration:
        if prepared.valid is None:
            raise ModelError(f"{prepared.folder}: has no validation set to measure on")
        model = load_model(run / "model").transformer
        # The model folder holds the weights of the best validation; a run's result is that of the last one.
        last = load_recipe(str(run)).training.average_last
        weights = mean_weights(Checkpoints(run / "checkpoints", last).last_weights(last))
        load_weights(model, weights, run)
        return calibration(teacher_forced(model.to(choose_device("auto")), prepared.valid))

    return measured_once(run / MEASURED, _KEPT, measure)


def _sizes(session: StudySession) -> DataSizes:
    prepared = session.opened.prepared
    return DataSizes(vocab_size=prepared.target_tokenizer.vocab_size, valid_pairs=len(prepared.valid_source))


def _measured(session: StudySession, sizes: DataSizes, run: Run) -> Calibration:
    return measured_run(session.folder(run), session.opened.prepared)


def _forecast(request: StudyRequest, reporter: Reporter) -> Forecast:
    rows = recipes(request)
    recipe = next(iter(rows.values()))
    rows_data = [
        {"row": name, "epsilon": BY_NAME[name], "recipe": row.name, "updates": row.training.max_steps}
        for name, row in rows.items()
    ]
    # All rows have the same model and budget, so they take the same time.
    return forecast_of_runs(
        request, recipe, reporter, _TEXT, num_rows=len(rows), data={"rows": rows_data}, rows=rows.items()
    )


def _page(findings: Findings[DataSizes, Calibration]) -> Page | None:
    if not findings.runs:
        return None
    rows = compare_rows(findings.runs)
    compared = [comparison for comparison in rows if comparison.differences]
    return Page(
        values={
            "valid_pairs": f"{findings.begun.valid_pairs:,}",
            "vocab_size": f"{findings.begun.vocab_size:,}",
            "verdicts": _verdicts(compared) or "Nothing to compare yet.",
            "table": [(comparison, PRINTED.get(comparison.row)) for comparison in rows],
            "differences": differences_png(compared) if compared else None,
            "tables": [difference_table(metric, rows, row="eps_ls", baseline="eps_ls 0") for metric in METRICS],
            "calibration": [
                (comparison, best_probability(comparison.row, findings.begun.vocab_size)) for comparison in rows
            ],
            "reliability": reliability_png(rows),
            "curve": _curves(rows),
            "runs": [(comparison.row, run) for comparison in rows for run in comparison.runs],
        },
        data={
            "rows": [_row_json(comparison) for comparison in rows],
            "results": [{**asdict(run.result), "calibration": asdict(run.measured)} for run in findings.runs],
        },
    )


def _verdicts(compared: Sequence[RowComparison]) -> list[str]:
    """Returns a sentence on each metric that the paper makes a statement about."""
    sentences = []
    for metric in METRICS:
        verdicts = [(comparison.row, comparison.differences[metric.key].verdict) for comparison in compared]
        parts = [f"eps_ls {epsilon} {verdict.value}" for epsilon, verdict in verdicts if verdict is not None]
        if parts:
            name = metric.title.partition(",")[0].removesuffix(" %")
            sentences.append(f"{name}: {'; '.join(parts)}.")
    return sentences


def _curves(rows: Sequence[RowComparison]) -> Table:
    curves = [_curve(comparison) for comparison in rows]
    return Table(
        columns=("confidence %", *(f"eps_ls {comparison.row}" for comparison in rows)),
        rows=tuple(
            (f"{100 * bins[0].low:.0f} to {100 * bins[0].high:.0f}", *_bin_cells(bins, curves))
            for bins in zip(*curves, strict=True)
        ),
        words=1,
    )


def _curve(comparison: RowComparison) -> tuple[Bin, ...]:
    """The reliability curve of the tokens of all seeds."""
    return pooled([run.measured.bins for run in comparison.runs])


def _bin_cells(bins: Sequence[Bin], curves: Sequence[Sequence[Bin]]) -> Iterable[str]:
    for bin_, curve in zip(bins, curves, strict=True):
        total = sum(each_bin.tokens for each_bin in curve)
        yield f"{100 * bin_.accuracy:.1f} ({100 * bin_.tokens / total:.1f})" if bin_.tokens else "(0)"


def _row_json(comparison: RowComparison) -> Mapping[str, object]:
    printed = PRINTED.get(comparison.row)
    return {
        "epsilon": comparison.row,
        "paper": printed and {"perplexity": printed.perplexity, "bleu": printed.bleu},
        "figures": {key: figure.to_json() for key, figure in comparison.figures.items()},
        "differences": {key: difference.to_json() for key, difference in comparison.differences.items()},
        "reliability": [asdict(bin_) for bin_ in _curve(comparison)],
    }


def differences_png(rows: Sequence[RowComparison]) -> bytes:
    """Draws perplexity, accuracy and BLEU by eps_ls, as differences to the row without smoothing.

    Args:
        rows: the rows that have a difference.
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
    differences = [comparison.differences[key] for comparison in rows]
    axes.axhline(0, color=GREY, linewidth=1)
    axes.errorbar(
        [comparison.row - 0.006 for comparison in rows],
        [difference.ours.mean for difference in differences],
        yerr=[difference.ours.half_width or 0.0 for difference in differences],
        fmt="o", color=OURS, markersize=6, capsize=4, linewidth=1.4, label="here: mean and 95% interval",
    )  # fmt: skip
    printed = [(comparison.row + 0.006, comparison.differences[key].expected.printed) for comparison in rows]
    shown = [(place, value) for place, value in printed if value is not None]
    if shown:
        axes.plot(*zip(*shown, strict=True), "D", color=PAPER, markersize=6, label="the paper, one run each")
    axes.set_xticks([comparison.row for comparison in rows])
    axes.margins(x=0.2)


def reliability_png(rows: Sequence[RowComparison]) -> bytes:
    """Draws accuracy by confidence, one curve per row, and the share of tokens at each confidence."""
    figure, (curves, counts) = panels(11, 4.6, 2)
    curves.plot([0, 100], [0, 100], color=GREY, linewidth=1, label="as sure as it is right")
    for comparison, (colour, mark, line) in zip(rows, _STYLES, strict=False):
        style: dict[str, Any] = {"color": colour, "marker": mark, "linestyle": line, "markersize": 5, "linewidth": 1.5}
        curve = _curve(comparison)
        shown = [bin_ for bin_ in curve if bin_.tokens >= _FEWEST_TOKENS]
        curves.plot(
            [100 * bin_.confidence for bin_ in shown],
            [100 * bin_.accuracy for bin_ in shown],
            label=f"eps_ls {comparison.row}",
            **style,
        )
        total = sum(bin_.tokens for bin_ in curve)
        counts.plot(
            [50 * (bin_.low + bin_.high) for bin_ in curve],
            [100 * bin_.tokens / total for bin_ in curve],
            label=f"eps_ls {comparison.row}",
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
