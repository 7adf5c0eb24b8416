"""The sections of Table 2's page on BLEU, with their picture."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from attendo.evaluation.tokenized import PAPER
from attendo.paper.charts import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, finish, panels, set_title
from attendo.paper.report import Paragraph, Section, Table, paragraphs, table_of
from attendo.paper.table2.comparison import (
    DISAGREEMENTS,
    ROWS,
    Group,
    Printed,
    Test,
    gain,
    printed_points,
    told,
    two_digits,
)
from attendo.paper.table2.systems import EXAMPLES, Counted, Kind, Translated, ladder, worked
from attendo.plots.figure_files import png_bytes

# --- the picture ------------------------------------------------------------------------------------------------------

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
    title = "Ours: newstest2014" if is_the_papers else "Ours: other test sets, not comparable with the left"
    set_title(axes, title)
    axes.legend(loc="best", fontsize=8, frameon=False)


def _name(axes: Axes, name: str, at: tuple[float, float], place: tuple[int, int]) -> None:
    side = "left" if place[0] > 0 else "right" if place[0] < 0 else "center"
    axes.annotate(name, at, xytext=place, textcoords="offset points", fontsize=8, ha=side)


# --- sections ---------------------------------------------------------------------------------------------------------

_SIGNIFICANT = 0.05


def as_printed() -> Section:
    """The paper's own table."""
    table = Table(
        caption="newstest2014, as printed; cost in FLOPs",
        columns=("model", "BLEU en-de", "BLEU en-fr", "cost en-de", "cost en-fr"),
        rows=tuple(_printed_cells(row) for row in ROWS),
        words=1,
    )
    note = "BLEU here is tokenised BLEU, explained below: no sacreBLEU score can be compared with it."
    return Section(title="The paper's table", blocks=(table, Paragraph(text=note)))


def _printed_cells(row: Printed) -> tuple[str, ...]:
    bleu = ("" if value is None else f"{value:g}" for value in (row.bleu_de, row.bleu_fr))
    cost = ("" if value is None else two_digits(value) for value in (row.cost_de, row.cost_fr))
    return (row.name, *bleu, *cost)


def disagreements() -> Section:
    """Cells of which sources have more than one version."""
    blocks: list[Paragraph | Table] = [
        Paragraph(
            text="The table was read from several copies and translations of the paper. Two of them have it whole; "
            "they and the others disagree in these cells."
        )
    ]
    blocks += [Paragraph(text=f"{one.cell}: {one.found}. Taken here: {one.taken}; {one.why}.") for one in DISAGREEMENTS]
    return Section(title="Where the sources disagree", blocks=tuple(blocks))


def conventions(translations: Sequence[Translated]) -> Section:
    """Why one output has two figures.

    Args:
        translations: outputs to show the way from one figure to the other on.
    """
    return Section(
        title="Two figures for one output",
        blocks=(
            Paragraph(
                text="sacreBLEU takes text as people read it and makes tokens of it by a rule of its own (13a), "
                "the same for everybody; its signature says all that is needed to repeat a figure. It is the one "
                "to publish. The paper's figure comes from a script of its time. Output and reference are made "
                "into Moses' tokens, which take elisions apart and know each language's abbreviations; quotation "
                "marks are made plain before, so that one in any shape counts as another; and in German a "
                "hyphenated word is split, its hyphen a token of its own. Then n-grams of one to four tokens are "
                "counted as always: the geometric mean of the four precisions, times exp(1 - r/c) where the "
                "output's length c is below the reference's r."
            ),
            Paragraph(
                text="So the same output has two figures. A compound that is half right is wrong for sacreBLEU and "
                "gets part of its n-grams in the paper's; quotation marks of another shape are wrong for one and "
                "right for the other. More tokens can also mean more wrong ones, as in the third line below. On "
                "news, with its quotations and compounds, others report the paper's figure 0.7 to 1.5 higher for one "
                "output; the second table below has what it is here."
            ),
            _worked(),
            _ladders(translations),
            Paragraph(text=f"The paper's convention, exactly: {PAPER.recipe}."),
        ),
    )


def _worked() -> Table:
    rows: list[tuple[str, ...]] = []
    for example in EXAMPLES:
        found = worked(example)
        rows.append((f"{example.shows} ({example.language})", "reference", example.reference, "", ""))
        rows.append(("", "output", example.output, "", ""))
        rows += [_counted_cells("sacreBLEU", found.sacrebleu), _counted_cells("as in the paper", found.paper)]
    return Table(
        caption="Worked examples: the output's tokens; n-grams of 1 to 4 tokens that match, of how many; BLEU of "
        "the line",
        columns=("what it shows", "", "text, or tokens", "matches", "BLEU"),
        rows=tuple(rows),
        words=3,
    )


def _counted_cells(name: str, found: Counted) -> tuple[str, ...]:
    return ("", name, found.tokens, found.precisions, f"{found.bleu:.2f}")


def _ladders(translations: Sequence[Translated]) -> Table:
    rows = []
    for one in translations:
        figures = [f"{step.bleu:.2f}" for step in ladder(one.outputs, one.references, one.system.languages[1])]
        rows.append((told(one), one.system.test.name, *figures, *[""] * (4 - len(figures))))
    return Table(
        caption="From one figure to the other, a change at a time, each on top of the one before; a line ends with the "
        "paper's",
        columns=("system", "test set", "sacreBLEU", "Moses tokens", "plain punctuation", "compounds split"),
        rows=tuple(rows),
        words=2,
    )


def gains(groups: Sequence[Group], tests: Sequence[Test]) -> Section:
    """What averages bring over last updates, and ensembles over averages.

    Args:
        groups: all systems.
        tests: of them, at least one.
    """
    table = table_of(
        tests,
        (
            ("A", lambda test: told(test.a)),
            ("B", lambda test: told(test.b)),
            ("A", lambda test: f"{test.found.a.score:.2f}"),
            ("B", lambda test: f"{test.found.b.score:.2f}"),
            ("B - A", lambda test: f"{test.difference:+.2f}"),
            ("p, bootstrap", lambda test: f"{test.p_values[0]:.4f}"),
            ("p, randomised", lambda test: f"{test.p_values[1]:.4f}"),
        ),
        words=2,
        caption="Paired tests over the sentences of the test set, by sacreBLEU's BLEU",
    )
    note = (
        "A p below 0.05 means: were the two equally good, other sentences would seldom show such a difference. It "
        "says nothing of other seeds; the interval over seeds above says that, from few of them. Of systems "
        "whose BLEU is near 0 the tests say nothing. The paper averages its checkpoints and gives no figure of Table 2 "
        "without; the ensembles in it are its rivals'."
    )
    return Section(
        title="What an average and an ensemble bring",
        blocks=(*paragraphs(*_gain_texts(groups, tests)), table, Paragraph(text=note)),
    )


def _gain_texts(groups: Sequence[Group], tests: Sequence[Test]) -> Iterable[str]:
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
    """How often systems of a kind are told apart from the simpler ones."""
    ours = [test for test in tests if (test.b.system.trained, test.b.system.kind) == (trained, kind)]
    apart = [test.difference > 0 for test in ours if max(test.p_values) < _SIGNIFICANT]
    return (
        f"better by both tests (p < {_SIGNIFICANT}) in {sum(apart)} of {len(ours)} comparisons, "
        f"worse in {len(apart) - sum(apart)}."
    )
