"""What `--dry-run` says: the time that a few updates let expect, and how to start."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attendo.paper.experiment import Order, Reporter
from attendo.paper.phrasebook_texts import phrasebook_folder
from attendo.paper.report import Paragraph, Report, Section, Shell, Table
from attendo.recipe import Recipe
from attendo.text.prepared import PreparedData
from attendo.workflow.estimate import Estimate, estimate
from attendo.workflow.preparation import open_if_prepared

ROWS_CAPTION = "A run of each row; parameters in millions, hours as measured by a few updates here"
"""Of a table of rows that end with updates, parameters and hours."""


@dataclass(frozen=True, kw_only=True)
class RowForecast:
    """A row and what a run of it takes."""

    name: str
    recipe: Recipe
    found: Estimate

    @property
    def updates(self) -> str:
        """Updates of a run, for a table."""
        return f"{self.recipe.training.max_steps:,}"

    @property
    def cost_cells(self) -> tuple[str, str]:
        """Parameters in millions, and hours."""
        return f"{self.found.parameters / 1e6:.2f}", hours_text(self.found.hours)

    def to_json(self) -> dict[str, Any]:
        """All of it."""
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


def all_hours(order: Order, plans: Sequence[RowForecast]) -> float:
    """Of all runs, one by one."""
    return order.seeds * sum(plan.found.hours for plan in plans)


def total_text(order: Order, plans: Sequence[RowForecast]) -> str:
    """How many runs there are and how long they take; without a full stop."""
    first = plans[0].found
    return (
        f"{len(plans)} rows, {order.seeds} of each: {order.seeds * len(plans)} runs, "
        f"{hours_text(all_hours(order, plans))} hours on this machine ({first.device}, threads: {first.threads}), "
        "without validation, one by one"
    )


def forecast_report(
    order: Order, name: str, total: str, tables: Sequence[Table], data: Mapping[str, Any], *, title: str = "Rows"
) -> Report:
    """What is printed instead of a page.

    Args:
        order: how the study is wanted.
        name: what is forecast.
        total: what it comes to, a paragraph.
        tables: its rows or sizes.
        data: all figures; the scale and the seeds are added.
        title: above the tables.
    """
    return Report(
        title=f"{name} at the scale '{order.scale}', in {order.folder}",
        introduction=(total,),
        sections=(Section(title=title, blocks=(*tables, Paragraph(text="To start:"), Shell(lines=(order.command,)))),),
        data={**data, "scale": order.scale, "seeds": order.seeds},
    )


def prepared_so_far(order: Order, recipe: Recipe) -> PreparedData | None:
    """The data of a study, for a forecast; None where it is not prepared yet."""
    if order.scale == "tiny" and not phrasebook_folder(order).is_dir():
        return None
    return open_if_prepared(recipe, order.folder / "prepared")


def hours_text(hours: float) -> str:
    """Hours as a forecast shows them."""
    return f"{hours:,.0f}" if hours >= 100 else f"{hours:.3f}"
