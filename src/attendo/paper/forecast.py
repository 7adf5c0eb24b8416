"""What `--dry-run` says: the time that a few updates let expect, and how to start."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attendo.paper.experiment import Order, Reporter
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
    """What a study says before it starts."""

    blocks: tuple[Block, ...]
    """What it comes to, a paragraph, and tables of its rows or sizes."""
    data: Mapping[str, Any]
    """All figures; the scale and the seeds are added."""
    heading: str = "Rows"
    """Above the tables."""


@dataclass(frozen=True, kw_only=True)
class RowForecast:
    """A row and what a run of it takes."""

    name: str
    recipe: Recipe
    found: Estimate

    @property
    def millions(self) -> float:
        """Parameters."""
        return self.found.parameters / 1e6

    @property
    def hours(self) -> str:
        """Of training, as a table has them."""
        return hours_text(self.found.hours)

    def to_json(self) -> dict[str, Any]:
        """The forecast for `--json`."""
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
    """Measures what a run of each row takes.

    Args:
        rows: recipes by the rows' names.
        prepared: their data; None where it is not prepared yet.
        reporter: who is told.

    Raises:
        RecipeError: a model is more than this machine's memory holds.
    """
    plans = []
    for number, (name, recipe) in enumerate(rows.items()):
        reporter.running(number, len(rows), name)
        plans.append(RowForecast(name=name, recipe=recipe, found=estimate(recipe, prepared)))
    return tuple(plans)


def forecast_of_rows(
    order: Order,
    plans: Sequence[RowForecast],
    text: str,
    *,
    note: str = "forecast",
    row_data: Callable[[RowForecast], Mapping[str, Any]] = lambda plan: {},
    **values: object,
) -> Forecast:
    """The forecast of a study whose rows take different times.

    Args:
        order: how the study is wanted.
        plans: what a run of each row takes.
        text: the file with the words of its page.
        note: the part of it that is the forecast, where `$total` has the number of runs and their time.
        row_data: further figures of a row for `--json`.
        values: what else fills it; `rows` are the plans where nothing else is given.
    """
    first, hours = plans[0].found, order.seeds * sum(plan.found.hours for plan in plans)
    runs = f"{len(plans)} rows, {order.seeds} of each: {order.seeds * len(plans)} runs"
    filled = {"rows": plans, "total": f"{runs}, {hours_here(hours, first)}", **values}
    return Forecast(
        blocks=page_text(text).blocks(note, **filled),
        data={"hours": hours, "rows": [{**plan.to_json(), **row_data(plan)} for plan in plans]},
    )


def forecast_of_runs(
    order: Order,
    recipe: Recipe,
    reporter: Reporter,
    text: str,
    *,
    num_rows: int = 1,
    data: Mapping[str, Any],
    **values: object,
) -> Forecast:
    """The forecast of a study all of whose runs take the same.

    Args:
        order: how the study is wanted.
        recipe: of one of them.
        reporter: who is told.
        text: the file with the words of its page, of which `# forecast` is the forecast.
        num_rows: of the study.
        data: further figures for `--json`.
        values: what else fills the text.

    Raises:
        RecipeError: the model is more than this machine's memory holds.
    """
    reporter.running(0, 1, recipe.name)
    found, num_runs = estimate(recipe, prepared_so_far(order, recipe)), num_rows * order.seeds
    words = page_text(text).blocks(
        "forecast",
        num_rows=num_rows,
        num_seeds=order.seeds,
        num_runs=num_runs,
        updates=f"{recipe.training.max_steps:,}",
        millions=f"{found.parameters / 1e6:.2f}",
        hours=hours_here(num_runs * found.hours, found),
        **values,
    )
    return Forecast(blocks=words, data={"hours": num_runs * found.hours, "parameters": found.parameters, **data})


def forecast_page(order: Order, name: str, title: str, found: Forecast) -> Report:
    """What is printed instead of a page.

    Args:
        order: how the study is wanted.
        name: of the study, as the command has it.
        title: what is forecast, in words.
        found: the forecast.
    """
    total, *tables = found.blocks
    assert isinstance(total, Paragraph), "a forecast begins with what the study comes to"
    blocks: tuple[Block, ...] = (*tables, Paragraph(text="To start:"), Shell(lines=(order.command,)))
    return Report(
        title=f"{title} at the scale '{order.scale}', in {order.folder}",
        introduction=(total.text,),
        sections=(Section(title=found.heading, blocks=blocks),),
        data={result_key(name): name, **found.data, "scale": order.scale, "seeds": order.seeds},
    )


def prepared_so_far(order: Order, recipe: Recipe) -> PreparedData | None:
    """The data of a study, for a forecast; None where it is not prepared yet."""
    if order.scale == "tiny" and not phrasebook_folder(order).is_dir():
        return None
    return open_if_prepared(recipe, order.folder / "prepared")


def hours_text(hours: float) -> str:
    """Hours as a forecast shows them."""
    return f"{hours:,.0f}" if hours >= 100 else f"{hours:.3f}"


def hours_here(hours: float, found: Estimate) -> str:
    """The hours of all runs, and what they are of.

    Args:
        hours: of training.
        found: what they were worked out from.
    """
    place = f"({found.device}, threads: {found.threads})"
    return f"{hours_text(hours)} hours on this machine {place}, without validation, one by one"
