"""`attendo reproduce attention-functions`: the footnote's variance, rows by function and d_k, time and memory."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from pydantic import TypeAdapter

from attendo.bench.machine import this_machine
from attendo.evaluation.estimates import CONFIDENCE
from attendo.paper.attention_functions.measures import (
    SCALED,
    SETTINGS,
    Cost,
    MeasuredHeads,
    Products,
    Softmax,
    heads_of_run,
    measure_cost,
    measure_products,
    measure_softmax,
)
from attendo.paper.attention_functions.rows import (
    KEY_SIZES,
    SHORT,
    differences,
    recipes,
    row_of,
    summarise,
)
from attendo.paper.attention_functions.sections import (
    by_width,
    claims,
    cost_png,
    quality_png,
    softmax_values,
    variance_png,
)
from attendo.paper.experiment import Reporter, Scale, Stopped, StudyRequest
from attendo.paper.forecast import Forecast, forecast_of_rows, forecast_rows, prepared_so_far
from attendo.paper.page_text import page_text
from attendo.paper.rows_study import Findings, Page, RowsStudy, StudySession
from attendo.paper.study import Run
from attendo.paper.study_folder import keep, kept
from attendo.recipe import Recipe
from attendo.workflow.machine.device import choose_device

_TEXT = "attention_functions/page.md"
MEASURED = "functions.json"
"""Name of the file in the study's folder with the measurements of the functions themselves."""


@dataclass(frozen=True, kw_only=True)
class MeasuredFunctions:
    """The measurements of the functions themselves, apart from trained models."""

    scale: Scale
    products: tuple[Products, ...]
    softmax: tuple[Softmax, ...]
    costs: tuple[Cost, ...]
    machine: str
    """Machine on which the costs were measured."""


_KEPT = TypeAdapter(MeasuredFunctions)


def _functions(session: StudySession) -> MeasuredFunctions | Stopped:
    """Measures the functions themselves, or reads the measurements if they are kept for the same scale."""
    path, scale, message = session.request.folder / MEASURED, session.request.scale, session.reporter.message
    if (recorded := kept(path, _KEPT)) is not None and recorded.scale == scale:
        return recorded
    device = choose_device("auto")
    message("the variance of q·k, and the softmax")
    products, softmax_ = measure_products(scale), measure_softmax(scale)
    costs = []
    for setting in SETTINGS[scale]:
        if session.should_stop():
            return Stopped()
        message(f"time and memory with n {setting.n}, d_k {setting.d_k}")
        costs.append(measure_cost(scale, setting, device))
    measured = MeasuredFunctions(
        scale=scale, products=products, softmax=softmax_, costs=tuple(costs), machine=this_machine().to_text()
    )
    keep(path, measured)
    return measured


def _heads_of(session: StudySession, functions: MeasuredFunctions, run: Run) -> MeasuredHeads:
    return heads_of_run(session.folder(run), run.seed, session.opened.prepared)


def _recipes(request: StudyRequest) -> Mapping[str, Recipe]:
    return {row.name: recipe for row, recipe in recipes(request).items()}


def _forecast(request: StudyRequest, reporter: Reporter) -> Forecast:
    rows = _recipes(request)
    plans = forecast_rows(rows, prepared_so_far(request, next(iter(rows.values()))), reporter)
    return forecast_of_rows(
        request,
        plans,
        _TEXT,
        rows=[(plan, SHORT[row.function], row.d_k) for plan in plans for row in [row_of(plan.name)]],
        row_data=lambda plan: asdict(row_of(plan.name)),
    )


def _page(findings: Findings[MeasuredFunctions, MeasuredHeads]) -> Page:
    """Returns the page, which has results before any run is done."""
    functions, summaries, compared = findings.begun, summarise(findings.runs), differences(findings.runs)
    checked_claims = claims(compared, functions.costs, KEY_SIZES[findings.request.scale])
    text, recipe = page_text(_TEXT), findings.any_recipe
    return Page(
        values={
            "d_model": recipe.model.d_model,
            "num_layers": recipe.model.encoder_layers,
            "num_heads": recipe.model.num_heads,
            "d_v": recipe.model.value_size,
            "beam": recipe.search.beam_size,
            "short_runs": text.note("short runs") if findings.request.scale == "small" else "",
            "num_seeds": findings.request.seeds,
            "confidence": f"{CONFIDENCE:.0%}",
            "claims": checked_claims,
            "num_intervals": len(functions.products),
            "num_covering": sum(product.variance.covers(product.d_k) for product in functions.products),
            "products": by_width(functions.products),
            **softmax_values(functions.softmax),
            "softmax": functions.softmax,
            "variance": variance_png(functions.products, functions.softmax),
            "quality_table": summaries,
            "paired": compared,
            "quality": quality_png(summaries) if summaries else None,
            "heads": summaries or None,
            "cost_machine": functions.machine,
            "costs": [(cost, 1e3 * cost.scaled_s, cost.bytes[SCALED] / 2**20) for cost in functions.costs],
            "cost": cost_png(functions.costs),
            "runs": [result for summary in summaries for result in summary.runs] or None,
        },
        data={
            "claims": [asdict(claim) for claim in checked_claims],
            "products": [asdict(product) for product in functions.products],
            "softmax": [asdict(softmax) for softmax in functions.softmax],
            "rows": [summary.to_json() for summary in summaries],
            "differences": [asdict(difference) for difference in compared],
            "costs": [asdict(cost) for cost in functions.costs],
            "results": [asdict(result) for result in findings.results],
        },
    )


ATTENTION_FUNCTIONS = RowsStudy[MeasuredFunctions, MeasuredHeads](
    name="attention-functions",
    title="Attention functions: scaled, unscaled and additive (Section 3.2.1)",
    short_title="Attention functions",
    subject="the functions",
    text=_TEXT,
    recipes=_recipes,
    expect=_forecast,
    begin=_functions,
    measure=_heads_of,
    page=_page,
)
