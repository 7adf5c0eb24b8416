"""Charts of Equation 3: the learning rate at each step of a recipe (Section 5.3)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from attendo.plots.figure_files import COLOURS, LINES
from attendo.recipe import Recipe
from attendo.training.schedule import learning_rate

_POINTS = 600


@dataclass(frozen=True, kw_only=True)
class Rates:
    """The learning rates of a recipe."""

    name: str
    steps: tuple[int, ...]
    """The steps that are drawn, in ascending order."""
    rates: tuple[float, ...]
    peak_step: int
    peak: float

    @property
    def text(self) -> str:
        """The name of the recipe and its highest rate."""
        return f"{self.name}: {self.peak:.3g} at step {self.peak_step:,}"


def rates_of(recipe: Recipe, max_steps: int | None = None) -> Rates:
    """Returns the learning rates of a recipe.

    Args:
        recipe: the recipe; one that fine-tunes a model must have the width of that model.
        max_steps: the last step; None for the last step of the recipe.
    """
    last = max_steps or recipe.training.max_steps
    corner = [recipe.training.warmup_steps, recipe.training.max_steps - recipe.training.cooldown_steps]
    spread = np.unique(np.rint(np.linspace(1, last, _POINTS)).astype(int)).tolist()
    steps = sorted({*spread, *(step for step in corner if 1 <= step <= last)})
    rates = [learning_rate(step, recipe.model.d_model, recipe.training) for step in steps]
    peak = max(range(len(steps)), key=lambda place: rates[place])
    return Rates(name=recipe.name, steps=tuple(steps), rates=tuple(rates), peak_step=steps[peak], peak=rates[peak])


def draw_schedules(schedules: Sequence[Rates]) -> Figure:
    """Draws the learning rates of recipes over their steps and marks the highest of each."""
    figure = Figure(figsize=(8, 4.6), dpi=110, layout="constrained", facecolor="white")
    axes = figure.subplots()
    for number, schedule in enumerate(schedules):
        colour, line = COLOURS[number % len(COLOURS)], LINES[number % len(LINES)]
        axes.plot(schedule.steps, schedule.rates, color=colour, linestyle=line, linewidth=1.8, label=schedule.text)
        axes.plot([schedule.peak_step], [schedule.peak], marker="*", markersize=11, color=colour, linestyle="none")
    axes.set_title("Learning rate (Equation 3)", loc="left", fontsize=11, fontweight="bold")
    axes.set_xlabel("training step")
    axes.set_ylabel("learning rate")
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    axes.ticklabel_format(axis="y", style="sci", scilimits=(0, 0), useMathText=True)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, title="highest (star)", alignment="left")
    return figure
