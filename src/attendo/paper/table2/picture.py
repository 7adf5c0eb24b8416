"""BLEU against training cost as a picture: the paper's rows on newstest2014, and ours on the test sets that we had."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from attendo.paper.charts import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, finish, panels, set_title
from attendo.paper.table2.printed import ROWS, printed_points
from attendo.paper.table2.systems import Kind
from attendo.plots.figure_files import png_bytes

_PAIRS = {"en-de": BLUE, "en-fr": VERMILION}
_GROUPS = {"single": "o", "ensemble": "s", "Transformer": "*"}
_KINDS: dict[Kind, str] = {"last": ORANGE, "average": SKY, "ensemble": GREEN, "shipped": PURPLE}
_LEFT, _BELOW = (-9, -3), (0, -15)
_SIDES = (_LEFT, (9, -3))
"""Of the names of the two shipped models, whose figures may lie close together."""
_PLACES = {
    ("GNMT + RL", "en-de"): _BELOW,
    ("ConvS2S", "en-de"): _LEFT,
    ("MoE", "en-de"): _LEFT,
    ("GNMT + RL ensemble", "en-de"): (9, -4),
    ("ConvS2S ensemble", "en-de"): _LEFT,
    ("Deep-Att + PosUnk", "en-fr"): _BELOW,
    ("GNMT + RL", "en-fr"): (-9, -6),
    ("ConvS2S", "en-fr"): (9, -1),
    ("MoE", "en-fr"): _LEFT,
    ("Deep-Att + PosUnk ensemble", "en-fr"): _BELOW,
    ("GNMT + RL ensemble", "en-fr"): _LEFT,
    ("ConvS2S ensemble", "en-fr"): (0, 9),
}
"""Points from a mark to its name, which ends there on the left of a mark, and has its middle there above and below."""
_ABOVE = (0, 11)
"""For all others."""
_SHAPES = ("o", "s", "D", "^", "v", "P")


@dataclass(frozen=True, kw_only=True)
class Point:
    """A system of ours."""

    label: str
    """What its weights are, for the legend; of a shipped model its name, to stand beside the mark."""
    kind: Kind
    test: str
    """Its test set: only points of one compare."""
    bleu: float
    estimated: float | None
    """FLOPs by the paper's estimate."""
    counted: float | None
    """FLOPs of the products."""


def costs_png(points: Sequence[Point], counted: Mapping[str, float]) -> bytes:
    """Draws both, side by side, with axes of their own.

    Args:
        points: ours.
        counted: FLOPs of the products of the Transformer's rows, by their names.
    """
    figure, (left, right) = panels(12, 5.6, 2)
    _draw_printed(left, counted)
    _draw_ours(right, points)
    for axes in (left, right):
        axes.set_xscale("log")
        finish(axes, across="training cost, FLOPs", upright="BLEU, as the paper counts it")
        axes.margins(x=0.14, y=0.12)
    return png_bytes(figure)


def _draw_printed(axes: Axes, counted: Mapping[str, float]) -> None:
    for row, pair, cost, bleu in printed_points(ROWS):
        if row.name in counted:
            axes.plot([counted[row.name], cost], [bleu, bleu], color=_PAIRS[pair], linewidth=1, zorder=1)
            axes.plot(counted[row.name], bleu, "|", color=_PAIRS[pair], markersize=10)
        size = 13 if row.group == "Transformer" else 7
        axes.plot(cost, bleu, _GROUPS[row.group], color=_PAIRS[pair], markersize=size, zorder=2)
        _name(axes, row.name.removesuffix(" ensemble"), (cost, bleu), _PLACES.get((row.name, pair), _ABOVE))
    for pair, colour in _PAIRS.items():
        axes.plot([], [], "o", color=colour, label=pair)
    for group, shape in _GROUPS.items():
        axes.plot([], [], shape, color=GREY, label=group if group == "Transformer" else f"{group}, not a Transformer")
    set_title(axes, "The paper: newstest2014, as printed")
    axes.legend(loc="center", fontsize=8, frameon=False)


def _draw_ours(axes: Axes, points: Sequence[Point]) -> None:
    shapes = dict(zip(dict.fromkeys(point.test for point in points), _SHAPES, strict=False))
    sides = dict(zip(dict.fromkeys(point.label for point in points if point.kind == "shipped"), _SIDES, strict=False))
    for point in points:
        ends = [cost for cost in (point.counted, point.estimated) if cost is not None]
        if not ends:
            continue
        colour = _KINDS[point.kind]
        axes.plot(ends, [point.bleu] * len(ends), color=colour, linewidth=1, zorder=1)
        axes.plot(ends[0], point.bleu, "|", color=colour, markersize=10)
        is_bound = point.kind == "shipped"
        axes.plot(
            ends[-1], point.bleu, shapes[point.test], color=colour, markersize=8, zorder=2,
            markerfacecolor="none" if is_bound else colour,
        )  # fmt: skip
        if is_bound:
            _name(axes, point.label, (ends[-1], point.bleu), sides[point.label])
    labels = dict.fromkeys((point.label, point.kind) for point in points if point.kind != "shipped")
    for label, kind in labels:
        axes.plot([], [], "-", color=_KINDS[kind], linewidth=3, label=label)
    if any(point.kind == "shipped" for point in points):
        axes.plot([], [], "-", color=_KINDS["shipped"], linewidth=3, label="comes with attendo, cost at most")
    for test, shape in shapes.items():
        axes.plot([], [], shape, color=GREY, label=f"on {test}")
    is_the_papers = set(shapes) == {"newstest2014"}
    title = "Ours: newstest2014" if is_the_papers else "Ours: other test sets, not to be held against the left"
    set_title(axes, title)
    axes.legend(loc="best", fontsize=8, frameon=False)


def _name(axes: Axes, name: str, at: tuple[float, float], place: tuple[int, int]) -> None:
    side = "left" if place[0] > 0 else "right" if place[0] < 0 else "center"
    axes.annotate(name, at, xytext=place, textcoords="offset points", fontsize=8, ha=side)
