"""Charts of positional encodings (Section 3.5): a table of sines and cosines, or a learned one."""

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from attendo.checkpoint.model_folder import load_model
from attendo.errors import DataError
from attendo.model.positions import LearnedPositions, sinusoids
from attendo.plots.figure_files import COLOURS, LINES
from attendo.plots.subject import Subject, require_model


def table_of(subject: Subject, length: int) -> NDArray[np.float32]:
    """Returns the vectors that a model adds to the embeddings of its first positions.

    Args:
        subject: a model, or a recipe whose positions are sinusoids.
        length: number of rows, from position 0.

    Returns:
        float32 `(length, d_model)`.

    Raises:
        ModelError: the positions are learned, and there is no trained model.
        DataError: the learned table has fewer rows.
    """
    config = subject.config
    if config.positions != "learned":
        return sinusoids(length, config.d_model, config.positions).numpy()
    folder = require_model(subject, "its positions are learned in training")
    if length > config.max_positions:
        raise DataError(f"{subject.name}: has {config.max_positions} learned positions; take a --length up to that")
    positions = load_model(folder).transformer.source_embedding.positions
    assert isinstance(positions, LearnedPositions)
    with torch.no_grad():
        table: NDArray[np.float32] = positions(0, length).numpy()
    return table


def draw_positions(table: NDArray[np.float32], layout: str, name: str) -> Figure:
    """Draws a table of positions as heat maps, sines separate from cosines, and some of its columns as curves.

    Args:
        table: float32 `(length, d_model)`.
        layout: `interleaved`, `halves` or `learned`.
        name: name of the model.
    """
    figure = Figure(figsize=(12.4, 4.6), dpi=100, layout="constrained", facecolor="white")
    maps = _halves(table, layout)
    panels = figure.subplots(1, len(maps) + 1, width_ratios=(*(1.1 * 2 / len(maps) for _ in maps), 1.2))
    most = 1.0 if layout != "learned" else float(np.abs(table).max())
    for axes, (title, columns) in zip(panels[:-1], maps, strict=True):
        # Within a half neighbouring columns differ by one step of frequency, so only the waves are visible.
        image = axes.imshow(
            table[:, columns], aspect="auto", cmap="RdBu_r", vmin=-most, vmax=most, interpolation="nearest"
        )
        axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
        axes.set_xlabel("dimension")
        ticks = np.linspace(0, len(columns) - 1, 5).astype(int)
        axes.set_xticks(ticks, [str(columns[tick]) for tick in ticks])
    panels[0].set_ylabel("position, in tokens")
    figure.colorbar(image, ax=panels[len(maps) - 1], pad=0.02, label="what is added to the embedding")
    _draw_curves(panels[-1], table, layout)
    figure.suptitle(f"Positional encodings of {name}", x=0.01, ha="left", fontsize=13, fontweight="bold")
    return figure


def _halves(table: NDArray[np.float32], layout: str) -> list[tuple[str, list[int]]]:
    """Returns the titles of the heat maps and the columns that each of them shows."""
    columns = list(range(table.shape[1]))
    if layout == "learned":
        return [("Learned, all dimensions", columns)]
    if layout == "halves":
        half = len(columns) // 2
        return [("First half: sines", columns[:half]), ("Second half: cosines", columns[half:])]
    return [("Even dimensions: sines", columns[::2]), ("Odd dimensions: cosines", columns[1::2])]


def _draw_curves(axes: Axes, table: NDArray[np.float32], layout: str) -> None:
    for number, column in enumerate(_columns(table.shape[1], layout)):
        line = LINES[number % len(LINES)]
        axes.plot(table[:, column], color=COLOURS[number], linestyle=line, label=f"dimension {column}")
    axes.set_title("Some dimensions", loc="left", fontsize=11, fontweight="bold")
    axes.set_xlabel("position, in tokens")
    axes.set_xlim(0, max(1, len(table) - 1))
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, frameon=False)


def _columns(width: int, layout: str) -> list[int]:
    """Chooses columns for the curves: a sine, its cosine and lower frequencies, or evenly spread ones if learned."""
    if layout == "learned" or width < 16:
        return sorted({0, width // 3, 2 * width // 3, width - 1})
    if layout == "halves":
        return [width // 16, width // 2 + width // 16, width // 8, width // 5]
    # Interleaved columns: an even one is a sine, the odd one after it the cosine of the same frequency.
    pair = width // 8 // 2 * 2
    return [pair, pair + 1, width // 4 // 2 * 2, width * 3 // 8 // 2 * 2]
