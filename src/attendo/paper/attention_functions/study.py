"""`attendo reproduce attention-functions`: the footnote's variance, rows of function and d_k, speed and memory."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from pydantic import TypeAdapter

from attendo.bench.machine import this_machine
from attendo.paper.attention_functions.cost import SETTINGS, Cost, measure_cost
from attendo.paper.attention_functions.heads import (
    MeasuredHeads,
    Products,
    Softmax,
    heads_of_run,
    measure_products,
    measure_softmax,
)
from attendo.paper.attention_functions.rows import (
    KEY_SIZES,
    SHORT,
    Difference,
    RowSummary,
    differences,
    recipes,
    row_of,
    summarise,
)
from attendo.paper.attention_functions.sections import (
    claims,
    outcome,
    quality_png,
    softmax,
    speed_and_memory,
    variance,
    with_interval,
)
from attendo.paper.experiment import Order, Reporter, Scale, Stopped
from attendo.paper.forecast import RECIPE, ROW, UPDATES, Forecast, forecast_of_rows, forecast_rows, prepared_so_far
from attendo.paper.page_parts import budget_of, corpora_of, each, seeds_of, signatures_of
from attendo.paper.report import Paragraph, Picture, Section, Table, table_of
from attendo.paper.rows_study import Findings, Page, RowsStudy, Sitting
from attendo.paper.run_columns import each_run
from attendo.paper.statistics import CONFIDENCE
from attendo.paper.study import Run
from attendo.paper.study_folder import keep, kept
from attendo.recipe import Recipe
from attendo.workflow.machine.device import choose_device

MEASURED = "functions.json"
"""What was measured of the functions themselves, in the study's folder."""


@dataclass(frozen=True, kw_only=True)
class MeasuredFunctions:
    """What was measured of the functions themselves."""

    scale: Scale
    products: tuple[Products, ...]
    softmax: tuple[Softmax, ...]
    costs: tuple[Cost, ...]
    machine: str
    """That the costs are of."""


_KEPT = TypeAdapter(MeasuredFunctions)


def _functions(sitting: Sitting) -> MeasuredFunctions | Stopped:
    """Measures the functions themselves, once a study folder and scale."""
    path, scale, tell = sitting.order.folder / MEASURED, sitting.order.scale, sitting.reporter.message
    if (known := kept(path, _KEPT)) is not None and known.scale == scale:
        return known
    device = choose_device("auto")
    tell("the variance of q·k, and the softmax")
    products, softmax_ = measure_products(scale), measure_softmax(scale)
    costs = []
    for setting in SETTINGS[scale]:
        if sitting.should_stop():
            return Stopped()
        tell(f"time and memory with n {setting.n}, d_k {setting.d_k}")
        costs.append(measure_cost(scale, setting, device))
    measured = MeasuredFunctions(
        scale=scale, products=products, softmax=softmax_, costs=tuple(costs), machine=this_machine().to_text()
    )
    keep(path, measured)
    return measured


def _heads_of(sitting: Sitting, functions: MeasuredFunctions, run: Run) -> MeasuredHeads:
    return heads_of_run(sitting.folder(run), run.seed, sitting.opened.prepared)


def _recipes(order: Order) -> Mapping[str, Recipe]:
    return {row.name: recipe for row, recipe in recipes(order).items()}


def _forecast(order: Order, reporter: Reporter) -> Forecast:
    rows = _recipes(order)
    plans = forecast_rows(rows, prepared_so_far(order, next(iter(rows.values()))), reporter)
    return forecast_of_rows(
        order,
        plans,
        (
            ROW,
            ("function", lambda plan: SHORT[row_of(plan.name).function]),
            RECIPE,
            ("d_k", lambda plan: str(row_of(plan.name).d_k)),
            UPDATES,
        ),
        ". Before them the variance of q·k, and time and memory of the functions alone, take a minute or so at the "
        "scales tiny and small.",
        words=3,
        row_data=lambda plan: asdict(row_of(plan.name)),
    )


def _page(found: Findings[MeasuredFunctions, MeasuredHeads]) -> Page:
    """The page, which has something to say before any run is done."""
    functions, summaries, apart = found.begun, summarise(found.runs), differences(found.runs)
    told = claims(apart, functions.costs, KEY_SIZES[found.order.scale])
    return Page(
        introduction=_introduction(found.order, found.any_recipe),
        sections=(
            outcome(found.order, told),
            variance(functions.products),
            softmax(functions.products, functions.softmax),
            *((_quality(summaries, apart), _heads(summaries)) if summaries else ()),
            speed_and_memory(functions.costs, functions.machine),
            *((_runs(summaries),) if summaries else ()),
        ),
        bleu=f"BLEU is sacreBLEU's: {signatures_of(found.results)}",
        data={
            "claims": [asdict(claim) for claim in told],
            "products": [asdict(one) for one in functions.products],
            "softmax": [asdict(one) for one in functions.softmax],
            "rows": [one.to_json() for one in summaries],
            "differences": [asdict(one) for one in apart],
            "costs": [asdict(one) for one in functions.costs],
            "results": [asdict(result) for result in found.results],
        },
    )


def _introduction(order: Order, recipe: Recipe) -> tuple[str, ...]:
    model = recipe.model
    parts = [
        "A head weighs values by how well each key fits its query. Scaled: q·k / sqrt(d_k), the paper's. Unscaled: "
        "q·k. Additive: v·tanh(q + k) with a learned v in each head, which is Bahdanau et al.'s function, as the "
        "projections of a head are its matrices already. A recipe chooses by the key model.attention_function.",
        f"Trained here on {corpora_of(recipe)} at the scale '{order.scale}', {seeds_of(order)} "
        f"a row; the rows differ in function and d_k alone: d_model "
        f"{model.d_model}, N {model.encoder_layers}, h {model.num_heads}, d_v {model.value_size}, "
        f"{budget_of(recipe)}. Perplexity is per word piece "
        "of the validation set, without label smoothing, and BLEU is of its translations with beam "
        f"{recipe.search.beam_size}, both by the weights of the last update.",
    ]
    if order.scale == "small":
        parts.append(
            "These runs are short: their models have only begun to translate, and what comes of longer training may "
            "differ."
        )
    return tuple(parts)


def _quality(summaries: Sequence[RowSummary], apart: Sequence[Difference]) -> Section:
    table = table_of(
        f"Mean over seeds and half of the {CONFIDENCE:.0%} interval",
        summaries,
        (
            ("function", lambda one: SHORT[one.row.function]),
            ("d_k", lambda one: str(one.row.d_k)),
            ("params", lambda one: f"{one.runs[0].parameters:,}"),
            ("seeds", lambda one: str(len(one.runs))),
            ("PPL", lambda one: one.perplexity.to_text()),
            ("BLEU", lambda one: one.bleu.to_text()),
        ),
        words=1,
    )
    paired = table_of(
        f"Differences, paired by seed, with their {CONFIDENCE:.0%} intervals",
        apart,
        (
            ("difference", lambda one: one.name),
            ("d_k", lambda one: str(one.d_k)),
            ("PPL", lambda one: with_interval(one.perplexity)),
            ("BLEU", lambda one: with_interval(one.bleu)),
        ),
        words=1,
    )
    picture = Picture(
        name="quality.png",
        png=quality_png(summaries),
        alt="Validation perplexity, and the variance of the heads' logits, of each function against d_k",
        caption=f"Means over seeds; bars are {CONFIDENCE:.0%} intervals. Right: new models and trained ones.",
    )
    return Section(title="Trained, by d_k", blocks=(table, paired, picture))


def _heads(summaries: Sequence[RowSummary]) -> Section:
    figures = ("variance", "entropy", "jacobian")
    table = Table(
        caption="All heads of all layers on 50 validation pairs at most: new weights, then trained; means over queries "
        "and runs",
        columns=(
            "function",
            "d_k",
            *(f"{n}, {k}" for n in ("variance", "entropy", "derivative") for k in ("new", "trained")),
        ),
        rows=tuple(
            (
                SHORT[one.row.function],
                str(one.row.d_k),
                *(f"{one.head_mean(kind, name):.3f}" for name in figures for kind in ("new", "trained")),
            )
            for one in summaries
        ),
        words=1,
    )
    text = (
        "The variance is that of a query's logits over the keys it sees. The footnote's argument is about new "
        "weights: there unscaled logits grow with d_k. Training is free to shrink or stretch the projections, so that "
        "what comes of it need not be d_k."
    )
    return Section(title="The logits of real heads", blocks=(Paragraph(text=text), table))


def _runs(summaries: Sequence[RowSummary]) -> Section:
    results = [result for one in summaries for result in one.runs]
    text = (
        f"In all {len(results)} runs: {sum(run.seconds for run in results) / 60:.1f} minutes of wall time with "
        f"validation, {sum(run.target_tokens for run in results):,} target tokens; threads each: "
        f"{each(run.threads for run in results)}. Machine: {each(run.machine for run in results)}; it may have had "
        "other work. On a processor attendo's own kernels train scaled and unscaled attention and plain torch trains "
        "additive attention, so that minutes are no comparison of the functions; the section before is."
    )
    return Section(title="The runs and their cost", blocks=(Paragraph(text=text), each_run(results)))


ATTENTION_FUNCTIONS = RowsStudy[MeasuredFunctions, MeasuredHeads](
    name="attention-functions",
    title="Attention functions: scaled, unscaled and additive (Section 3.2.1)",
    short_title="Attention functions",
    subject="the functions",
    recipes=_recipes,
    expect=_forecast,
    begin=_functions,
    measure=_heads_of,
    page=_page,
)
