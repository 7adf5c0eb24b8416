"""The chart and tables of Table 2's page: BLEU, and training costs on the paper's GPUs and on present-day ones."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from attendo.paper.table2.comparison import (
    ROWS,
    SETUPS,
    Group,
    Test,
    agrees,
    gain,
    printed_points,
)
from attendo.paper.table2.costs import TODAYS_GPUS, Gpu, full_size_flops
from attendo.paper.table2.systems import EXAMPLES, Kind, SystemOutput, ladder, work_out
from attendo.plots.figure_files import png_bytes
from attendo.plots.panels import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, finish, panels, set_title
from attendo.recipe import load_recipe

# --- the chart --------------------------------------------------------------------------------------------------------

_PAIRS = {"en-de": BLUE, "en-fr": VERMILION}
_GROUPS = {"single": "o", "ensemble": "s", "Transformer": "*"}
_KINDS: dict[Kind, str] = {"last": ORANGE, "average": SKY, "ensemble": GREEN, "shipped": PURPLE}
_SIDES = ((-9, -3), (9, -3))
"""Label offsets of the two shipped models, whose points may lie close together; as in `Printed.place_de`."""
_SHAPES = ("o", "s", "D", "^", "v", "P")


@dataclass(frozen=True, kw_only=True)
class Point:
    """The point of one of our systems in the chart."""

    label: str
    """Kind of its weights, for the legend; for a shipped model its name, which is written beside the mark."""
    kind: Kind
    test: str
    """Name of its test set; only points of the same test set can be compared."""
    bleu: float
    estimated: float | None
    """FLOPs by the paper's estimate; None where it is not known."""
    counted: float | None
    """FLOPs counted in matrix products; None where it is not known."""


def costs_png(points: Sequence[Point], counted: Mapping[str, float]) -> bytes:
    """Draws the paper's rows and our systems side by side, each on axes of its own.

    Args:
        points: points of our systems.
        counted: FLOPs counted for the Transformer's rows, by row name.
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
        _name(axes, row.name.removesuffix(" ensemble"), (cost, bleu), row.place_de if pair == "en-de" else row.place_fr)
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
    title = "Ours: newstest2014" if is_the_papers else "Ours: other test sets, not comparable with the left"
    set_title(axes, title)
    axes.legend(loc="best", fontsize=8, frameon=False)


def _name(axes: Axes, name: str, at: tuple[float, float], place: tuple[int, int]) -> None:
    side = "left" if place[0] > 0 else "right" if place[0] < 0 else "center"
    axes.annotate(name, at, xytext=place, textcoords="offset points", fontsize=8, ha=side)


# --- tables -----------------------------------------------------------------------------------------------------------

_SIGNIFICANT = 0.05


def worked_examples() -> list[tuple[str, ...]]:
    """Rows of the worked examples, which show why one output has two BLEU figures."""
    rows: list[tuple[str, ...]] = []
    for example in EXAMPLES:
        result = work_out(example)
        rows.append((f"{example.shows} ({example.language})", "reference", example.reference, "", ""))
        rows.append(("", "output", example.output, "", ""))
        for name, line in (("sacreBLEU", result.sacrebleu), ("as in the paper", result.paper)):
            rows.append(("", name, line.tokens, line.precisions, f"{line.bleu:.2f}"))
    return rows


def ladders(translations: Sequence[SystemOutput]) -> list[tuple[object, ...]]:
    """Rows with the steps from sacreBLEU's figure to the paper's, one row for each system's output."""
    ladder_rows = [
        (translated, ladder(translated.outputs, translated.references, translated.system.languages[1]))
        for translated in translations
    ]
    return [
        (translated, *(step.bleu for step in steps), *[None] * (4 - len(steps))) for translated, steps in ladder_rows
    ]


def gains(groups: Sequence[Group], tests: Sequence[Test]) -> Iterable[str]:
    """States the gains of averages over last updates and of ensembles over averages, one paragraph each.

    Args:
        groups: groups of all systems.
        tests: paired tests between these systems, at least one.
    """
    by_kind = {(group.trained, group.kind): group for group in groups}
    for (trained, kind), group in by_kind.items():
        if kind != "average":
            continue
        gained = gain(group.members, by_kind[trained, "last"].members)
        assert gained is not None, "every run has both"
        yield (
            f"{trained}: the average of the last checkpoints against the last one alone, paired by seed: "
            f"{gained.to_text('+.2f')} BLEU; {_significant(trained, 'average', tests)}"
        )
        ensemble = by_kind.get((trained, "ensemble"))
        if ensemble is not None:
            yield (
                f"{trained}: the ensemble of {len(group.members)} averages against their mean: "
                f"{ensemble.bleu.mean - group.bleu.mean:+.2f} BLEU, at {len(group.members)} times the training and the "
                f"time of translating; {_significant(trained, 'ensemble', tests)}"
            )


def _significant(trained: str, kind: Kind, tests: Sequence[Test]) -> str:
    """How often systems of a kind are significantly better or worse than the simpler ones, by both tests."""
    of_kind = [test for test in tests if (test.b.system.trained, test.b.system.kind) == (trained, kind)]
    is_better = [test.difference > 0 for test in of_kind if max(test.p_values) < _SIGNIFICANT]
    return (
        f"better by both tests (p < {_SIGNIFICANT}) in {sum(is_better)} of {len(of_kind)} comparisons, "
        f"worse in {len(is_better) - sum(is_better)}."
    )


# --- cost -------------------------------------------------------------------------------------------------------------

FULL_SIZE_LENGTH = 28
"""Mean tokens of a WMT 2014 sentence, `</s>` included: 4.5 million pairs make some 5,000 updates of 25,000 tokens."""

_FULL_SIZE = (("Transformer (base)", "base"), ("Transformer (big)", "big"))


@dataclass(frozen=True, kw_only=True)
class FullSize:
    """One of the Transformer's rows in Table 2, with its counted and its printed cost."""

    row: str
    counted: float
    """FLOPs counted in the matrix products of its training."""
    printed: float
    """The paper's estimate in FLOPs."""


def hours_on(gpu: Gpu, flops: float, gpus: int = 1) -> float:
    """Hours that a training takes on present-day GPUs, if each sustains the assumed share of its data sheet."""
    return flops / (gpus * gpu.sustained * 1e12) / 3600


def formula_values() -> dict[str, str]:
    """The values for what the page says about the cost formula."""
    base, steps = (setup for setup in SETUPS if setup.row == "Transformer (base)")
    big, _ = (setup for setup in SETUPS if setup.row == "Transformer (big)")
    return {
        "base_cost": f"{base.cost / 1e18:.3f}",
        "big_cost": f"{big.cost / 1e19:.3f}",
        "steps_cost": f"{steps.cost / 1e18:.2f}",
        "differing": "; ".join(f"{setup.row} {setup.pair}, by {setup.source}" for setup in SETUPS if not agrees(setup)),
    }


def full_sizes() -> tuple[FullSize, ...]:
    """Counts the FLOPs of the Transformer's rows in Table 2, which takes a second or two."""
    printed = {row.name: row.cost_de or 0.0 for row in ROWS}
    return tuple(
        FullSize(row=row, counted=full_size_flops(load_recipe(recipe), FULL_SIZE_LENGTH), printed=printed[row])
        for row, recipe in _FULL_SIZE
    )


def todays_gpus(sizes: Sequence[FullSize]) -> list[tuple[object, ...]]:
    """Rows of present-day GPUs, with the hours of the paper's trainings on one and on eight of them.

    Args:
        sizes: the Transformer's rows in Table 2, base and big.
    """
    return [(gpu, *(hours_on(gpu, size.counted, gpus) for size in sizes for gpus in (1, 8))) for gpu in TODAYS_GPUS]
