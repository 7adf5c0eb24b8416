"""Charts as files: PNG or SVG, by the name's ending, each whole or not at all."""

import io
from html import escape
from pathlib import Path

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from attendo.errors import DataError
from attendo.files import write_bytes

FORMATS = (".png", ".svg")
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Of Okabe and Ito, which every kind of colour vision tells apart."""
MARKERS = "os^DvPX"
LINES = ("-", "--", "-.", ":")
"""When colours come again, another line does."""


def check_name(output: Path, formats: tuple[str, ...] = FORMATS) -> str:
    """The ending of a picture's name, in small letters.

    Raises:
        DataError: it says nothing of what can be written.
    """
    suffix = output.suffix.lower()
    if suffix not in formats:
        raise DataError(f"{output}: the name must end in one of {', '.join(formats)}")
    return suffix


def png_bytes(figure: Figure, **metadata: str) -> bytes:
    """A chart as PNG, with metadata; the same figures give the same bytes under any version of attendo."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None, **metadata})
    return buffer.getvalue()


def figure_bytes(figure: Figure, suffix: str, title: str, description: str) -> bytes:
    """A chart as a file: of SVG the text stays text, and both say what is seen.

    Args:
        figure: the chart.
        suffix: `.png` or `.svg`.
        title: of the file.
        description: for who does not see it.
    """
    if suffix == ".png":
        FigureCanvasAgg(figure)
        return png_bytes(figure, Title=title, Description=description)
    buffer = io.BytesIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "attendo"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue().decode()
    start = text.index(">", text.index("<svg")) + 1
    labels = f'<title id="title">{escape(title)}</title>\n<desc id="description">{escape(description)}</desc>'
    opened = text[: start - 1] + ' role="img" aria-labelledby="title description">'
    return f"{opened}\n{labels}{text[start:]}".encode()


def write_figure(figure: Figure, output: Path, title: str, description: str) -> None:
    """Writes a chart; an older file is replaced at once or not at all.

    Raises:
        DataError: the name's ending says nothing of what can be written.
        OSError: the file cannot be written.
    """
    write_bytes(output, figure_bytes(figure, check_name(output), title, description))
