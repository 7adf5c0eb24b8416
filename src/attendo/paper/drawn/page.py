"""The page of a drawn figure, and its files."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from attendo.bench.machine import this_machine, versions
from attendo.diagrams.png import to_png
from attendo.diagrams.shapes import Diagram
from attendo.diagrams.structure import Structure
from attendo.diagrams.svg import to_svg
from attendo.files import write_json, write_text
from attendo.paper.experiment import Order
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
    seconds: float
    """That finding, drawing and checking took."""


def write_drawn(order: Order, drawn: Drawn) -> Report:
    """Writes picture, data and page of a figure.

    Raises:
        OSError: the folder cannot be written to.
    """
    picture = Picture(
        name=f"{drawn.name}.png", png=to_png(drawn.diagram), alt=drawn.diagram.description, caption=drawn.caption
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
    write_text(order.folder / f"{drawn.name}.svg", to_svg(drawn.diagram))
    write_json(order.folder / f"{drawn.name}.json", drawn.structure.to_json())
    write_report(order.folder, report)
    return report


def forecast_text(order: Order, what: str, of: str, files: Sequence[str]) -> Report:
    """What `--dry-run` says."""
    return Report(
        title=f"{what} at the scale '{order.scale}', in {order.folder}",
        introduction=(
            f"Draws {of}, in a few seconds: nothing is trained and no corpus is read. Files: {', '.join(files)}.",
        ),
        sections=(Section(title="To start", blocks=(Shell(lines=(order.command,)),)),),
        data={"scale": order.scale, "model": of, "files": list(files)},
    )


def _how_to_repeat(order: Order, drawn: Drawn) -> Section:
    software = ", ".join(f"{name} {version}" for name, version in versions().items())
    return Section(
        title="How to repeat it",
        blocks=(
            Shell(lines=(order.command,)),
            Paragraph(
                text=f"Beside this page lie {drawn.name}.svg, whose text can be selected and which is light or dark as "
                f"its reader's system is, and {drawn.name}.json, its blocks as data. Of any other recipe or model:"
            ),
            Shell(lines=(drawn.other_models,)),
            Paragraph(text=f"It took {drawn.seconds:.1f} s on {this_machine().to_text()}. Versions: {software}"),
        ),
    )
