"""Equation 3 drawn: the learning rate of each step that a recipe would take (Section 5.3)."""

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
    """Those that are drawn, from the first to the last."""
    rates: tuple[float, ...]
    peak_step: int
    peak: float

    @property
    def text(self) -> str:
        """Name and highest rate."""
        return f"{self.name}: {self.peak:.3g} at step {self.peak_step:,}"


def rates_of(recipe: Recipe, max_steps: int | None = None) -> Rates:
    """What a recipe trains with.

    Args:
        recipe: as it trains: where it fine-tunes a model, with that model's width.
        max_steps: the last step to look at; the recipe's own where left out.
    """
    last = max_steps or recipe.training.max_steps
    corner = [recipe.training.warmup_steps, recipe.training.max_steps - recipe.training.cooldown_steps]
    spread = np.unique(np.rint(np.linspace(1, last, _POINTS)).astype(int)).tolist()
    steps = sorted({*spread, *(step for step in corner if 1 <= step <= last)})
    rates = [learning_rate(step, recipe.model.d_model, recipe.training) for step in steps]
    peak = max(range(len(steps)), key=lambda place: rates[place])
    return Rates(name=recipe.name, steps=tuple(steps), rates=tuple(rates), peak_step=steps[peak], peak=rates[peak])


def draw_schedules(schedules: Sequence[Rates]) -> Figure:
    """The learning rates of recipes over their steps, the highest of each marked."""
    figure = Figure(figsize=(8, 4.6), dpi=110, layout="constrained", facecolor="white")
    axes = figure.subplots()
    for number, own in enumerate(schedules):
        colour, line = COLOURS[number % len(COLOURS)], LINES[number % len(LINES)]
        axes.plot(own.steps, own.rates, color=colour, linestyle=line, linewidth=1.8, label=own.text)
        axes.plot([own.peak_step], [own.peak], marker="*", markersize=11, color=colour, linestyle="none")
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
