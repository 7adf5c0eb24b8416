"""The page of a Table 4 study: our parsers beside the paper's, the effect of each change, and the cost."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from matplotlib.axes import Axes

from attendo.paper.experiment import StudyRequest
from attendo.paper.page_parts import each, head_data, means, seeds_of, totals, versions_of
from attendo.paper.page_text import page_text
from attendo.paper.report import Report
from attendo.paper.run_results import ParserRunResult
from attendo.paper.table4.evaluation import (
    PRINTED,
    UNCONSTRAINED,
    Cell,
    TestResult,
    cells,
    changes,
)
from attendo.paper.table4.rows import Plan
from attendo.plots.figure_files import png_bytes
from attendo.plots.panels import BLUE, GREEN, ORANGE, PAPER, PURPLE, finish, legend_below, new_figure, set_title

_NUM_LABELS = 12
_COLOURS, _SHAPES = (BLUE, GREEN, PURPLE, ORANGE), "os^v"
"""Colours and markers of the test sets in the chart."""


@dataclass(frozen=True, kw_only=True)
class ParserRuns:
    """The outcome of the training."""

    results: tuple[ParserRunResult, ...]
    folders: Mapping[tuple[str, int], Path]
    """The run folders, by row and seed."""
    failures: tuple[str, ...]
    interrupted: bool
    kept: Mapping[str, str]
    """One line for each self-trained run, on the automatic trees that were kept for it."""


@dataclass(frozen=True, kw_only=True)
class Findings:
    """Everything that the page is made of."""

    plan: Plan
    trained: ParserRuns | None
    """Outcome of the training; None if `--run` named parsers to test instead."""
    tested: tuple[TestResult, ...]
    """Results of the parsers on the test sets, at least one."""
    failures: tuple[str, ...]


def table4_report(request: StudyRequest, findings: Findings) -> Report:
    """Makes the page of the results so far."""
    text, grouped = page_text("table4/page.md"), cells(findings.tested)
    compared = changes(findings.plan.rows, findings.tested)
    runs = findings.trained.results if findings.trained else ()
    best = max(grouped, key=lambda cell: cell.f1.mean)
    parser = max(best.members, key=lambda member: member.f1)
    tests = "; ".join(f"{bank.name} is {bank.what}" for bank in findings.plan.banks)
    notes = {"tiny": ("smaller", "tiny"), "small": ("smaller",), "paper": ()}[request.scale]
    words = text.fill(
        trained=text.note(
            "here" if findings.trained else "elsewhere", tests=tests, scale=request.scale, seeds=seeds_of(request)
        ),
        limits=[text.note(name) for name in notes],
        missing=[
            *(f"Left out: {line}." for line in findings.plan.missing),
            *(f"Failed: {failure}" for failure in findings.failures),
        ],
        ours=grouped,
        theirs=PRINTED,
        f1=f1_png(grouped),
        changes=compared or None,
        malformed=grouped,
        unconstrained=UNCONSTRAINED,
        best_parser=parser.system,
        best_test=parser.test,
        labels=parser.labels[:_NUM_LABELS],
        figures=grouped,
        kernels=each(member.kernel for cell in grouped for member in cell.members),
        **totals(runs),
        means=means(runs) if runs else None,
        command=request.command,
        searched=each(f"beam {result.beam_size}, alpha {result.length_penalty:g}" for result in findings.tested),
        versions=_versions(findings.trained) if findings.trained else "",
    )
    return Report(
        title="Table 4: English constituency parsing",
        introduction=words.introduction,
        sections=words.sections,
        data={
            **head_data(request, "table4"),
            "failures": list(findings.failures),
            "missing": list(findings.plan.missing),
            "rows": [cell.to_json() for cell in grouped],
            "changes": [change.to_json() for change in compared],
            "paper": [asdict(row) for row in PRINTED],
            "tested": [asdict(result) for result in findings.tested],
            "runs": [asdict(run) for run in runs],
        },
    )


def _versions(trained: ParserRuns) -> list[str]:
    """Lines on the automatic trees that were kept, and on the versions of the software."""
    return [
        *(f"{name}: {line}" for name, line in trained.kept.items()),
        f"Versions: {versions_of(trained.results)}",
    ]


def f1_png(cells: Sequence[Cell]) -> bytes:
    """Draws the F1 of our parsers above that of the paper's rows, one line each.

    Args:
        cells: results of our parsers, at least one.
    """
    names = list(dict.fromkeys(cell.name for cell in cells))
    height = 1.7 + 0.3 * (len(names) + len(PRINTED))
    figure = new_figure(9.5, height)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(len(names) + 1, len(PRINTED) + 1))
    _draw_ours(upper, names, cells)
    _draw_paper(lower)
    for axes in (upper, lower):
        axes.invert_yaxis()
        finish(axes, grid="x")
    lower.set_xlabel("F1 in percent; the test sets differ, so that lines of the two panels cannot be compared")
    legend_below(figure, upper, min(3, len(upper.get_legend_handles_labels()[1])))
    return png_bytes(figure)


def _draw_ours(axes: Axes, names: Sequence[str], cells: Sequence[Cell]) -> None:
    tests = list(dict.fromkeys(cell.test for cell in cells))
    for number, test in enumerate(tests):
        of_test = [cell for cell in cells if cell.test == test]
        shift = 0.5 * ((number + 1) / (len(tests) + 1) - 0.5)
        axes.errorbar(
            [cell.f1.mean for cell in of_test],
            [names.index(cell.name) + shift for cell in of_test],
            xerr=[math.nan if cell.f1.half_width is None else cell.f1.half_width for cell in of_test],
            fmt=_SHAPES[number % len(_SHAPES)],
            color=_COLOURS[number % len(_COLOURS)],
            markersize=5,
            capsize=3,
            linewidth=1.3,
            label=f"tested on {test}",
        )
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(-0.7, len(names) - 0.3)
    set_title(axes, "Here, every sentence counted")


def _draw_paper(axes: Axes) -> None:
    for place, row in enumerate(PRINTED):
        axes.plot(row.f1, place, "D" if row.is_transformer else "x", color=PAPER, markersize=6)
    axes.set_yticks(range(len(PRINTED)), [f"{row.parser}, {row.training}" for row in PRINTED], fontsize=8)
    axes.set_ylim(-0.7, len(PRINTED) - 0.3)
    set_title(axes, "The paper: WSJ section 23")
