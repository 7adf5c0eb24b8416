"""Pictures and tables of a search-settings study: averages and time, search errors, longest outputs."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from attendo.paper.search_settings.decoding import DecodedSet, differing
from attendo.paper.search_settings.results import Results
from attendo.paper.search_settings.rows import GREEDY, PAPER, PAPER_ALPHA, SETS, Grid, SetName, Setting
from attendo.plots.figure_files import png_bytes
from attendo.plots.panels import BLUE, GREEN, PURPLE, VERMILION, finish, new_figure, set_title

# --- pictures ---------------------------------------------------------------------------------------------------------

_LINES = ((BLUE, "o", "-"), (VERMILION, "D", "--"), (GREEN, "s", "-."), (PURPLE, "^", ":"))
_MAP_COLOURS = "cividis"
"""A colour map for every kind of colour vision; each cell shows its number too."""
_OUTLINE = VERMILION

Figures = npt.NDArray[np.float64]
"""The numbers of a map, `(beams, alphas)`."""


def setting_at(average: int, beam: int, alpha: float) -> Setting:
    """Returns the setting of a map's cell; greedy search is decoded once for all alphas."""
    return Setting(average=average, beam=beam, alpha=PAPER_ALPHA if beam == 1 else alpha)


def cells(
    results: Results, which: SetName, grid: Grid, average: int, of: Callable[[DecodedSet], float]
) -> Figures:  # fmt: skip
    """Returns the means of a measurement over the seeds, `(beams, alphas)`; NaN where nothing is decoded yet."""
    rows = [[results.mean(which, setting_at(average, beam, alpha), of) for alpha in grid.alphas] for beam in grid.beams]
    return np.array([[np.nan if value is None else value for value in row] for row in rows], dtype=np.float64)


def bleu_maps_png(results: Results, which: SetName, grid: Grid, best: Setting | None) -> bytes:
    """Draws BLEU by beam and alpha, for the last checkpoint and for the paper's average, on one scale of colours.

    Args:
        results: the results of the study.
        which: the set.
        grid: the settings that are tried.
        best: the best setting, which is marked if it is on a map; None marks none.
    """
    figure = new_figure(11.5, 4.3)
    maps = [cells(results, which, grid, average, lambda decoded: decoded.bleu) for average in grid.map_averages]
    drawn = []
    for axes, average, values in zip(figure.subplots(1, 2), grid.map_averages, maps, strict=True):
        title = "last checkpoint" if average == 1 else f"mean of the last {average} checkpoints"
        drawn.append(_map(axes, values, grid, f"BLEU, {title}", "{:.2f}", _scale(maps)))
        _mark(axes, grid, average, best)
    figure.colorbar(drawn[-1], ax=figure.axes, label="BLEU", shrink=0.85)
    return png_bytes(figure)


def length_maps_png(results: Results, grid: Grid) -> bytes:
    """Draws the length ratio and the log-probability by beam and alpha, for the paper's average."""
    figure = new_figure(11.5, 4.3)
    shown: Sequence[tuple[str, str, Callable[[DecodedSet], float]]] = (
        ("Length: words to the references' words", "{:.3f}", lambda decoded: decoded.length_ratio),
        ("Log-probability of a translation, nats", "{:.2f}", lambda decoded: decoded.log_prob),
    )
    for axes, (title, form, of) in zip(figure.subplots(1, 2), shown, strict=True):
        values = cells(results, "dev", grid, PAPER.average, of)
        figure.colorbar(_map(axes, values, grid, title, form, _scale([values])), ax=axes, shrink=0.85)
        _mark(axes, grid, PAPER.average, None)
    return png_bytes(figure)


def lines_png(results: Results, grid: Grid) -> bytes:
    """Draws BLEU by the number of averaged checkpoints, BLEU by beam, and the processor time per sentence by beam."""
    figure = new_figure(12.5, 4.0)
    averages, beams, times = figure.subplots(1, 3)
    kinds: Sequence[tuple[str, SetName, int]] = (
        ("dev, beam 4", "dev", PAPER.beam), ("dev, greedy", "dev", 1),
        ("test, beam 4", "test", PAPER.beam), ("test, greedy", "test", 1),
    )  # fmt: skip
    for (label, which, beam), style in zip(kinds, _LINES, strict=True):
        settings = [setting_at(average, beam, PAPER.alpha) for average in grid.averages]
        _line(averages, grid.averages, [_bleu(results, which, setting) for setting in settings], label, style)
    alphas = (grid.alphas[0], PAPER.alpha, grid.alphas[-1])
    for alpha, style in zip(alphas, _LINES, strict=False):
        settings = [setting_at(PAPER.average, beam, alpha) for beam in grid.beams]
        _line(beams, grid.beams, [_bleu(results, "dev", setting) for setting in settings], f"dev, alpha {alpha}", style)
    settings = [setting_at(PAPER.average, beam, PAPER.alpha) for beam in grid.beams]
    ms = [results.mean("dev", setting, lambda decoded: decoded.processor_ms) for setting in settings]
    _line(times, grid.beams, ms, f"dev, alpha {PAPER.alpha}", _LINES[0])
    _dress(averages, "Averaging", "checkpoints averaged", "BLEU", grid.averages)
    _dress(beams, f"Beam, mean of {PAPER.average}", "beam", "BLEU", grid.beams)
    _dress(times, "Time", "beam", "processor milliseconds a sentence", grid.beams)
    times.set_ylim(bottom=0)
    return png_bytes(figure)


def _bleu(results: Results, which: SetName, setting: Setting) -> float | None:
    return results.mean(which, setting, lambda decoded: decoded.bleu)


def _scale(maps: Sequence[Figures]) -> Normalize:
    """Returns one scale of colours for all maps; at least one of their cells must have a number."""
    values = np.concatenate([values_of_map[~np.isnan(values_of_map)] for values_of_map in maps])
    return Normalize(float(values.min()), float(values.max()))


def _map(axes: Axes, values: Figures, grid: Grid, title: str, form: str, scale: Normalize) -> AxesImage:
    drawn = axes.imshow(values, aspect="auto", cmap=_MAP_COLOURS, norm=scale)
    for (row, column), value in np.ndenumerate(values):
        if not np.isnan(value):
            colour = "white" if scale(value) < 0.55 else "black"
            axes.text(column, row, form.format(value), ha="center", va="center", fontsize=9, color=colour)
    axes.set_xticks(range(len(grid.alphas)), [f"{alpha}" for alpha in grid.alphas])
    axes.set_yticks(range(len(grid.beams)), [str(beam) for beam in grid.beams])
    axes.set_xlabel("alpha of the length penalty")
    axes.set_ylabel("beam (1: greedy, alpha plays no part)")
    set_title(axes, title)
    return drawn


def _mark(axes: Axes, grid: Grid, average: int, best: Setting | None) -> None:
    """Outlines the paper's cell, and the best one with a dashed line; greedy search is a whole row."""
    for setting, line in ((PAPER, "-"), (best, "--")):
        if setting is None or setting.average != average or setting.beam not in grid.beams:
            continue
        row = grid.beams.index(setting.beam)
        first, width = (0, len(grid.alphas)) if setting.beam == 1 else (grid.alphas.index(setting.alpha), 1)
        inset = 0.03 if line == "-" else 0.09
        axes.add_patch(
            Rectangle(
                (first - 0.5 + inset, row - 0.5 + inset), width - 2 * inset, 1 - 2 * inset,
                fill=False, edgecolor=_OUTLINE, linewidth=2.2, linestyle=line,
            )
        )  # fmt: skip


def _line(
    axes: Axes, places: Sequence[int], values: Sequence[float | None], label: str, style: tuple[str, str, str]
) -> None:
    shown = [(place, value) for place, value in zip(places, values, strict=True) if value is not None]
    colour, mark, line = style
    if shown:
        axes.plot(*zip(*shown, strict=True), color=colour, marker=mark, linestyle=line, label=label)


def _dress(axes: Axes, title: str, x_label: str, y_label: str, places: Sequence[int]) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xticks(places, [str(place) for place in places])
    axes.minorticks_off()
    finish(axes, title, x_label, y_label)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize=9)


# --- tables -----------------------------------------------------------------------------------------------------------


def averages(grid: Grid, results: Results) -> list[tuple[object, ...]]:
    """Rows of BLEU by the number of averaged checkpoints: for both sets, with greedy search and the paper's beam."""
    settings = {
        average: [replace(setting, average=average) for setting in (GREEDY, PAPER)] for average in grid.averages
    }
    return [
        (average, *(results.bleu(which, setting) for which in SETS for setting in both))
        for average, both in settings.items()
    ]


def search_errors(grid: Grid, results: Results) -> list[tuple[object, ...]]:
    """Rows that show whether a wider beam finds more probable translations, and whether these are better."""
    settings = {
        "1, greedy" if beam == 1 else str(beam): setting_at(PAPER.average, beam, grid.alphas[0]) for beam in grid.beams
    }
    return [
        (beam, _better_references(results, setting), results.figures("dev", setting))
        for beam, setting in settings.items()
    ]


def _better_references(results: Results, setting: Setting) -> str:
    """Percentage of sentences whose reference is more probable than the translation; empty if not known yet."""
    shares = [
        np.mean(np.array(seed.reference_log_probs) > np.array(seed.sets["dev"][setting].log_probs))
        for seed in results.seeds
        if seed.reference_log_probs and setting in seed.sets["dev"]
    ]
    return f"{100 * np.mean(shares):.1f}" if shares else ""


def longest_outputs(grid: Grid, results: Results) -> list[tuple[object, ...]]:
    """Rows that show whether a longer or shorter limit of the output, or a later stop, changes translations."""
    settings = {f"input + {setting.offset}": setting for setting in grid.lengths()}
    settings[f"input + {PAPER.offset}, to the best {PAPER.beam}"] = replace(PAPER, all_of_the_beam=True)
    return [
        (longest, _changed(results, setting), _unfinished(results, setting), results.figures("dev", setting))
        for longest, setting in settings.items()
    ]


def _changed(results: Results, setting: Setting) -> str:
    """Number of translations that differ from those of the paper's setting, of all; empty if not known yet."""
    sets = [seed.sets["dev"] for seed in results.seeds]
    comparable = [decoded for decoded in sets if setting in decoded and PAPER in decoded]
    if not comparable:
        return ""
    total = sum(len(decoded[PAPER].outputs) for decoded in comparable)
    return (
        f"{sum(differing(decoded[setting].outputs, decoded[PAPER].outputs) for decoded in comparable):,} of {total:,}"
    )


def _unfinished(results: Results, setting: Setting) -> str:
    """Number of translations that the length limit ended, in all seeds; empty if not known yet."""
    decoded = results.of("dev", setting)
    return f"{sum(result.unfinished for result in decoded):,}" if decoded else ""
