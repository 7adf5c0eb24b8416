"""The page of a drawn figure, and its files."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from attendo.bench.machine import this_machine, versions
from attendo.diagrams.png import to_png
from attendo.diagrams.shapes import Diagram
from attendo.diagrams.structure import Structure
from attendo.diagrams.svg import to_svg
from attendo.files import write_json
from attendo.paper.drawn.model import check_no_data, drawn_model
from attendo.paper.experiment import Order, Outcome, Reporter
from attendo.paper.lock import alone
from attendo.paper.report import Paragraph, Picture, Report, Section, Shell, Table, write_report


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A figure and what is told of it."""

    name: str
    """Of its files, as `architecture`."""
    title: str
    introduction: tuple[str, ...]
    caption: str
    structure: Structure
    diagram: Diagram
    tables: tuple[Table, ...]
    findings: tuple[str, ...]
    """Sentences above the tables."""
    how: tuple[str, ...]
    """Sentences on how it was found."""
    other_models: str
    """The command that draws another model."""
    data: dict[str, Any]
    processor_s: float
    """That finding, drawing and checking took, of all threads together."""


def reproduce_drawn(
    order: Order, reporter: Reporter, should_stop: Callable[[], bool], figure: str, drawn: Callable[[Order], Drawn]
) -> Outcome:
    """Draws a figure anew and writes its page: nothing is worth keeping from an earlier try.

    Args:
        order: how it is wanted.
        reporter: who is told.
        should_stop: asked once, before the work of a second.
        figure: as it is asked for, `figure1`.
        drawn: makes it.

    Raises:
        AttendoError: data is given, which nothing here reads; or another process is at this folder.
        OSError: the folder cannot be written to.
    """
    check_no_data(order, figure)
    with alone(order.folder):
        if should_stop():
            return Outcome(report=None, interrupted=True)
        reporter.running(0, 1, figure)
        report = write_drawn(order, drawn(order))
        reporter.running(1, 1, "")
    return Outcome(report=report)


def write_drawn(order: Order, drawn: Drawn) -> Report:
    """Writes the picture, the data and the page of a figure.

    Raises:
        OSError: the folder cannot be written to.
    """
    picture = Picture(
        name=f"{drawn.name}.png",
        png=to_png(drawn.diagram),
        svg=to_svg(drawn.diagram),
        alt=drawn.diagram.description,
        caption=drawn.caption,
    )
    report = Report(
        title=drawn.title,
        introduction=drawn.introduction,
        sections=(
            Section(title="The figure", blocks=(picture,)),
            Section(
                title="Beside the paper", blocks=(*(Paragraph(text=text) for text in drawn.findings), *drawn.tables)
            ),
            Section(
                title="How it was found",
                blocks=tuple(Paragraph(text=text) for text in drawn.how),
            ),
            _how_to_repeat(order, drawn),
        ),
        data={**drawn.data, "scale": order.scale, "command": order.command, "structure": drawn.structure.to_json()},
    )
    write_json(order.folder / f"{drawn.name}.json", drawn.structure.to_json())
    write_report(order.folder, report)
    return report


def forecast_drawn(order: Order, reporter: Reporter, figure: str, name: str) -> Report:
    """What will be drawn.

    Args:
        order: how it is wanted.
        reporter: who is told.
        figure: as it is asked for, `figure1`.
        name: of its files, as `architecture`.

    Raises:
        AttendoError: data is given, which nothing here reads.
    """
    check_no_data(order, figure)
    reporter.running(0, 1, figure)
    of = drawn_model(order).note
    files = [f"{name}.svg", f"{name}.png", f"{name}.json", "index.html"]
    return Report(
        title=f"{figure.replace('figure', 'Figure ')} at the scale '{order.scale}', in {order.folder}",
        introduction=(
            f"Draws {of}, in a few seconds: nothing is trained and no corpus is read. Files: {', '.join(files)}.",
        ),
        sections=(Section(title="To start", blocks=(Shell(lines=(order.command,)),)),),
        data={"scale": order.scale, "model": of, "files": files},
    )


def _how_to_repeat(order: Order, drawn: Drawn) -> Section:
    software = ", ".join(f"{name} {version}" for name, version in versions().items())
    return Section(
        title="How to repeat it",
        blocks=(
            Shell(lines=(order.command,)),
            Paragraph(
                text=f"Beside this page lie {drawn.name}.svg, which is light or dark as its reader's system is, and "
                f"{drawn.name}.json, its blocks as data. The same of any other recipe or model:"
            ),
            Shell(lines=(drawn.other_models,)),
            Paragraph(
                text=f"It took {drawn.processor_s:.1f} s of processor time on {this_machine().to_text()}. Versions: "
                f"{software}"
            ),
        ),
    )
