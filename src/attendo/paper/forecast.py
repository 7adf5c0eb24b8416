"""The output of `--dry-run`: the expected time, extrapolated from a few updates, and the command to start."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attendo.paper.experiment import Reporter, StudyRequest
from attendo.paper.page_parts import result_key
from attendo.paper.page_text import page_text
from attendo.paper.phrasebook_texts import phrasebook_folder
from attendo.paper.report import Block, Paragraph, Report, Section, Shell
from attendo.recipe import Recipe
from attendo.text.prepared import PreparedData
from attendo.workflow.preparation.prepared_data import open_if_prepared
from attendo.workflow.runs.estimate import Estimate, estimate


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """A study's forecast, shown before it starts."""

    blocks: tuple[Block, ...]
    """A paragraph with the total, then tables of rows or sizes."""
    data: Mapping[str, Any]
    """All figures, for `--json`; the scale and the number of seeds are added."""
    heading: str = "Rows"
    """Heading above the tables."""


@dataclass(frozen=True, kw_only=True)
class RowForecast:
    """A row and the estimated cost of one of its runs."""

    name: str
    recipe: Recipe
    found: Estimate

    @property
    def millions(self) -> float:
        """Number of parameters, in millions."""
        return self.found.parameters / 1e6

    @property
    def hours(self) -> str:
        """Hours of training, formatted for a table."""
        return hours_text(self.found.hours)

    def to_json(self) -> dict[str, Any]:
        """Returns the forecast for `--json`."""
        return {
            "row": self.name,
            "recipe": self.recipe.name,
            "max_steps": self.recipe.training.max_steps,
            "parameters": self.found.parameters,
            "hours": self.found.hours,
        }


def forecast_rows(
    rows: Mapping[str, Recipe], prepared: PreparedData | None, reporter: Reporter
) -> tuple[RowForecast, ...]:
    """Estimates the cost of a run of each row.

    Args:
        rows: recipes by the rows' names.
        prepared: data of the recipes; None if it is not prepared yet.
        reporter: receives the progress.

    Raises:
        RecipeError: a model does not fit in this machine's memory.
    """
    plans = []
    for number, (name, recipe) in enumerate(rows.items()):
        reporter.running(number, len(rows), name)
        plans.append(RowForecast(name=name, recipe=recipe, found=estimate(recipe, prepared)))
    return tuple(plans)


def forecast_of_rows(
    request: StudyRequest,
    plans: Sequence[RowForecast],
    text: str,
    *,
    note: str = "forecast",
    row_data: Callable[[RowForecast], Mapping[str, Any]] = lambda plan: {},
    **values: object,
) -> Forecast:
    """Returns the forecast of a study whose rows take different times.

    Args:
        request: options of the study.
        plans: estimated cost of a run of each row.
        text: file with the text of the study's page.
        note: the note in that file that is the forecast; `$total` in it is the number of runs and their time.
        row_data: returns further figures of a row for `--json`.
        values: further values of the note; `rows` defaults to the plans.
    """
    first_cost, hours = plans[0].found, request.seeds * sum(plan.found.hours for plan in plans)
    runs = f"{len(plans)} rows, {request.seeds} of each: {request.seeds * len(plans)} runs"
    filled = {"rows": plans, "total": f"{runs}, {hours_here(hours, first_cost)}", **values}
    return Forecast(
        blocks=page_text(text).blocks(note, **filled),
        data={"hours": hours, "rows": [{**plan.to_json(), **row_data(plan)} for plan in plans]},
    )


def forecast_of_runs(
    request: StudyRequest,
    recipe: Recipe,
    reporter: Reporter,
    text: str,
    *,
    num_rows: int = 1,
    data: Mapping[str, Any],
    **values: object,
) -> Forecast:
    """Returns the forecast of a study whose runs all take the same time.

    Args:
        request: options of the study.
        recipe: recipe of one of the runs.
        reporter: receives the progress.
        text: file with the text of the study's page; its note `# forecast` is the forecast.
        num_rows: number of rows of the study.
        data: further figures for `--json`.
        values: further values of the note.

    Raises:
        RecipeError: the model does not fit in this machine's memory.
    """
    reporter.running(0, 1, recipe.name)
    cost, num_runs = estimate(recipe, prepared_so_far(request, recipe)), num_rows * request.seeds
    blocks = page_text(text).blocks(
        "forecast",
        num_rows=num_rows,
        num_seeds=request.seeds,
        num_runs=num_runs,
        updates=f"{recipe.training.max_steps:,}",
        millions=f"{cost.parameters / 1e6:.2f}",
        hours=hours_here(num_runs * cost.hours, cost),
        **values,
    )
    return Forecast(blocks=blocks, data={"hours": num_runs * cost.hours, "parameters": cost.parameters, **data})


def forecast_page(request: StudyRequest, name: str, title: str, forecast: Forecast) -> Report:
    """Returns the report that `--dry-run` prints instead of a page.

    Args:
        request: options of the study.
        name: name of the study in the command, such as `label-smoothing`.
        title: title of the study.
        forecast: the forecast.
    """
    total, *tables = forecast.blocks
    assert isinstance(total, Paragraph), "a forecast begins with what the study comes to"
    blocks: tuple[Block, ...] = (*tables, Paragraph(text="To start:"), Shell(lines=(request.command,)))
    return Report(
        title=f"{title} at the scale '{request.scale}', in {request.folder}",
        introduction=(total.text,),
        sections=(Section(title=forecast.heading, blocks=blocks),),
        data={result_key(name): name, **forecast.data, "scale": request.scale, "seeds": request.seeds},
    )


def prepared_so_far(request: StudyRequest, recipe: Recipe) -> PreparedData | None:
    """The data of a study, for a forecast; None if it is not prepared yet."""
    if request.scale == "tiny" and not phrasebook_folder(request).is_dir():
        return None
    return open_if_prepared(recipe, request.folder / "prepared")


def hours_text(hours: float) -> str:
    """Formats a number of hours: whole from 100 on, else with three decimals."""
    return f"{hours:,.0f}" if hours >= 100 else f"{hours:.3f}"


def hours_here(hours: float, cost: Estimate) -> str:
    """Formats the hours of all runs, with the device and threads that they are for.

    Args:
        hours: hours of training.
        cost: the estimate that they come from.
    """
    place = f"({cost.device}, threads: {cost.threads})"
    return f"{hours_text(hours)} hours on this machine {place}, without validation, one by one"
