"""`attendo reproduce label-smoothing`: values of eps_ls with several seeds each, and how sure the models are."""

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
from attendo.paper.comparison import difference_table
from attendo.paper.experiment import Order, Reporter
from attendo.paper.forecast import Forecast, estimated, hours_text
from attendo.paper.label_smoothing.rows import (
    EPSILONS,
    METRICS,
    PRINTED,
    RowComparison,
    best_probability,
    compare_rows,
    recipes,
    row_name,
)
from attendo.paper.page_parts import budget_of, corpora_of, each, seeds_of, signatures_of
from attendo.paper.phrasebook_texts import corpora_folder
from attendo.paper.report import Paragraph, Picture, Section, Table, paragraphs, table_of
from attendo.paper.rows_study import Findings, Page, RowsStudy, Sitting
from attendo.paper.run_results import RunResult
from attendo.paper.study import Run
from attendo.paper.study_folder import measured_once
from attendo.plots.figure_files import png_bytes
from attendo.recipe import Recipe, load_recipe
from attendo.text.prepared import PreparedData
from attendo.workflow.machine.device import choose_device

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


def _recipes(order: Order) -> Mapping[str, Recipe]:
    rows = recipes(order.scale, corpora_folder(order))
    return {row_name(epsilon): recipe for epsilon, recipe in rows.items()}


def _sizes(sitting: Sitting) -> DataSizes:
    prepared = sitting.opened.prepared
    return DataSizes(vocab_size=prepared.target_tokenizer.vocab_size, valid_pairs=len(prepared.valid_source))


def _measured(sitting: Sitting, sizes: DataSizes, run: Run) -> Calibration:
    return measured_run(sitting.folder(run), sitting.opened.prepared)


def _forecast(order: Order, reporter: Reporter) -> Forecast:
    rows = recipes(order.scale, corpora_folder(order))
    recipe = rows[EPSILONS[0]]
    found = estimated(order, recipe, reporter)  # one model and one budget: what a row takes, all take
    hours = found.hours * len(rows) * order.seeds
    total = (
        f"{len(rows)} rows, {order.seeds} of each: {len(rows) * order.seeds} runs of {recipe.training.max_steps:,} "
        f"updates, {found.parameters / 1e6:.2f} million parameters each; {hours_text(hours)} hours on this machine "
        f"({found.device}, threads: {found.threads}), without validation, one by one."
    )
    table = table_of(
        "The rows, which differ in eps_ls alone",
        rows.items(),
        (
            ("row", lambda row: row_name(row[0])),
            ("recipe", lambda row: row[1].name),
            ("eps_ls", lambda row: str(row[1].training.label_smoothing)),
            ("updates", lambda row: f"{row[1].training.max_steps:,}"),
        ),
        words=2,
    )
    rows_data = [
        {"row": row_name(epsilon), "epsilon": epsilon, "recipe": row.name, "updates": row.training.max_steps}
        for epsilon, row in rows.items()
    ]
    return Forecast(
        total=total, tables=(table,), data={"hours": hours, "parameters": found.parameters, "rows": rows_data}
    )


def _page(found: Findings[DataSizes, Calibration]) -> Page | None:
    if not found.runs:
        return None
    rows = compare_rows(found.runs)
    return Page(
        introduction=_introduction(found),
        sections=(
            _outcome(rows),
            _table(rows),
            *_differences(rows),
            _calibration(rows, found.begun),
            _cost(found.results),
            _runs(rows),
        ),
        bleu=f"BLEU is sacreBLEU's: {signatures_of(found.results)}",
        data={
            "rows": [_row_json(one) for one in rows],
            "results": [{**asdict(run.result), "calibration": asdict(run.measured)} for run in found.runs],
        },
    )


def _introduction(found: Findings[DataSizes, Calibration]) -> tuple[str, ...]:
    recipe = found.any_recipe
    return (
        "Section 5.4 of the paper: the base models were trained with label smoothing of 0.1; this hurts perplexity, "
        "as the model learns to be more unsure, but improves accuracy and BLEU. Its Table 3 has perplexity and BLEU "
        "without smoothing, with 0.1 and with 0.2; accuracy it does not print.",
        f"Here the same model is trained on {corpora_of(recipe)} at the scale '{found.order.scale}' with each eps_ls "
        f"and {seeds_of(found.order)}; nothing else differs: {budget_of(recipe)}. All is measured on the "
        f"{found.begun.valid_pairs:,} pairs of the validation set by the weights of the last update. Perplexity is "
        "plain cross-entropy's, never the smoothed loss', per word piece; accuracy is the share of word pieces that "
        "are the model's first choice when all before them are given; BLEU is of real translations with beam 4 and "
        "length penalty 0.6.",
    )


def _outcome(rows: Sequence[RowComparison]) -> Section:
    told = []
    for metric in METRICS:
        found = [(one.row, one.differences[metric.key].verdict) for one in rows if one.differences]
        said = [f"eps_ls {epsilon} {verdict.value}" for epsilon, verdict in found if verdict is not None]
        if said:
            name = metric.title.partition(",")[0].removesuffix(" %")
            told.append(f"{name}: {'; '.join(said)}.")
    how = (
        "A row differs significantly from the one without smoothing if the 95% interval of its difference, paired by "
        "seed, excludes zero. "
        "'Not significant' means that there are too few seeds to decide, not that there is no effect. The paper "
        "has one run a row and no intervals. It says nothing of eps_ls 0.3, which shows how things go on."
    )
    return Section(title="Comparison with the paper", blocks=paragraphs(*(told or ["Nothing to compare yet."]), how))


def _table(rows: Sequence[RowComparison]) -> Section:
    table = table_of(
        "Mean over seeds and half of the 95% interval; the paper's are those of newstest2013",
        rows,
        (
            ("eps_ls", lambda one: str(one.row)),
            ("perplexity", lambda one: one.figures["perplexity"].to_text()),
            ("paper", lambda one: f"{PRINTED[one.row].perplexity:.2f}" if one.row in PRINTED else ""),
            ("accuracy %", lambda one: one.figures["accuracy"].to_text()),
            ("BLEU", lambda one: one.figures["bleu"].to_text()),
            ("paper", lambda one: f"{PRINTED[one.row].bleu:.1f}" if one.row in PRINTED else ""),
        ),
        words=1,
    )
    return Section(title="The table", blocks=(table,))


def _differences(rows: Sequence[RowComparison]) -> tuple[Section, ...]:
    """A section on the differences to the row without smoothing, where there are any."""
    if not any(one.differences for one in rows):
        return ()
    tables = (difference_table(metric, rows, row="eps_ls", baseline="eps_ls 0") for metric in METRICS)
    picture = Picture(
        name="differences.png",
        png=differences_png(rows),
        alt="Differences to the row without smoothing in perplexity, accuracy and BLEU, here and in the paper",
        caption="Differences to no smoothing, paired by seed. The data differ: look at the side of zero, not at the "
        "size. The paper prints no accuracy.",
    )
    return (Section(title="Differences to no smoothing", blocks=(picture, *tables)),)


def _calibration(rows: Sequence[RowComparison], sizes: DataSizes) -> Section:
    table = table_of(
        "Mean over seeds and half of the 95% interval",
        rows,
        (
            ("eps_ls", lambda one: str(one.row)),
            ("best for the loss %", lambda one: f"{100 * best_probability(one.row, sizes.vocab_size):.2f}"),
            ("confidence %", lambda one: one.figures["confidence"].to_text()),
            ("accuracy %", lambda one: one.figures["accuracy"].to_text()),
            ("calibration error %", lambda one: one.figures["calibration_error"].to_text()),
            ("entropy, nats", lambda one: one.figures["entropy"].to_text()),
        ),
        words=1,
    )
    curves = [_curve(one) for one in rows]
    curve = Table(
        caption="Accuracy in % of the tokens by the model's confidence; in brackets their share of all tokens in %",
        columns=("confidence %", *(f"eps_ls {one.row}" for one in rows)),
        rows=tuple(
            (f"{100 * bins[0].low:.0f} to {100 * bins[0].high:.0f}", *_bin_cells(bins, curves))
            for bins in zip(*curves, strict=True)
        ),
        words=1,
    )
    text = (
        "The smoothed loss is least where the right token has 1 - eps_ls + eps_ls / V of the probability, V the "
        f"vocabulary's {sizes.vocab_size:,} pieces ('best for the loss'). A model that is certain is punished, and so "
        "what plain cross-entropy calls worse is what smoothing asks for. Confidence is the probability of the first "
        "choice; the calibration error is its mean distance from the share of right choices, in ten bins of equal "
        "width (Guo et al., 2017). All of it is with the right words before; of its own translations it says nothing."
    )
    picture = Picture(
        name="reliability.png",
        png=reliability_png(rows),
        alt="Left: accuracy by confidence, a curve for each eps_ls; right: the share of tokens at each confidence",
        caption="Reliability of the probabilities, all seeds together.",
    )
    return Section(title="How sure the models are", blocks=(Paragraph(text=text), table, picture, curve))


def _curve(one: RowComparison) -> tuple[Bin, ...]:
    """The reliability curve of all seeds' tokens."""
    return pooled([run.measured.bins for run in one.runs])


def _bin_cells(bins: Sequence[Bin], curves: Sequence[Sequence[Bin]]) -> Iterable[str]:
    for found, curve in zip(bins, curves, strict=True):
        total = sum(each_bin.tokens for each_bin in curve)
        yield f"{100 * found.accuracy:.1f} ({100 * found.tokens / total:.1f})" if found.tokens else "(0)"


def _cost(results: Sequence[RunResult]) -> Section:
    hours, tokens = sum(result.seconds for result in results) / 3600, sum(result.target_tokens for result in results)
    text = (
        f"Runs: {len(results)}; {hours:.2f} hours of wall time with validation, CPU threads per run: "
        f"{each(result.threads for result in results)}, on a machine that may have had other work; "
        f"{tokens:,} target tokens; {sum(result.flops for result in results):.2e} FLOPs of matrix products; "
        f"{each(f'{result.parameters:,}' for result in results)} parameters. "
        f"Machine: {each(result.machine for result in results)}."
    )
    return Section(title="Cost", blocks=(Paragraph(text=text),))


def _runs(rows: Sequence[RowComparison]) -> Section:
    table = Table(
        caption="Each run",
        columns=("eps_ls", "seed", *(metric.name for metric in METRICS), "minutes"),
        rows=tuple(
            (
                str(one.row),
                str(run.result.seed),
                *(f"{metric.of(run):.{metric.digits}f}" for metric in METRICS),
                f"{run.result.seconds / 60:.1f}",
            )
            for one in rows
            for run in one.runs
        ),
        words=1,
    )
    return Section(title="The runs", blocks=(table,))


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
        rows: those without a difference are left out.
    """
    shown = [one for one in rows if one.differences]
    figure, all_axes = panels(11, 3.9, 3)
    titles = ("Perplexity: lower is better", "Accuracy: higher is better", "BLEU: higher is better")
    units = ("per word piece", "% points", "BLEU points")
    for axes, metric, title, unit in zip(all_axes, METRICS, titles, units, strict=False):
        _draw(axes, shown, metric.key)
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
    recipes=_recipes,
    expect=_forecast,
    begin=_sizes,
    measure=_measured,
    page=_page,
)
