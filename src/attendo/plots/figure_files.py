"""Charts as PNG or SVG files, by the ending of the name, written atomically."""

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
"""The palette of Okabe and Ito, whose colours every kind of colour vision can distinguish."""
MARKERS = "os^DvPX"
LINES = ("-", "--", "-.", ":")
"""Line styles; each repetition of the colours takes the next style."""


def check_name(output: Path, formats: tuple[str, ...] = FORMATS) -> str:
    """Returns the ending of a picture's name in lower case.

    Raises:
        DataError: the ending is none of `formats`.
    """
    suffix = output.suffix.lower()
    if suffix not in formats:
        raise DataError(f"{output}: the name must end in one of {', '.join(formats)}")
    return suffix


def png_bytes(figure: Figure, **metadata: str) -> bytes:
    """Returns a chart as PNG, with metadata; the same chart gives the same bytes under any version of attendo."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None, **metadata})
    return buffer.getvalue()


def figure_bytes(figure: Figure, suffix: str, title: str, description: str) -> bytes:
    """Returns a chart as the bytes of a file; text in SVG stays text.

    Args:
        figure: the chart.
        suffix: `.png` or `.svg`.
        title: title of the file, kept in its metadata.
        description: text alternative for people who cannot see the chart, kept in the metadata too.
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
    """Writes a chart; an older file is replaced atomically.

    Raises:
        DataError: the name ends neither in `.png` nor in `.svg`.
        OSError: the file cannot be written.
    """
    write_bytes(output, figure_bytes(figure, check_name(output), title, description))
