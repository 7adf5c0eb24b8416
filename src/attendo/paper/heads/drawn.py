"""A head's lines in one sentence for a page: the picture, and the same as SVG in a file beside it."""

from pathlib import Path

from attendo.attention_maps.drawing import draw
from attendo.attention_maps.png import to_png
from attendo.attention_maps.svg import to_svg
from attendo.attention_maps.view import View
from attendo.files import write_text
from attendo.paper.heads.looks import Head, Look
from attendo.paper.report import Picture


def lines_picture(
    folder: Path, name: str, look: Look, heads: tuple[Head, ...], caption: str, words: tuple[str, ...] = ()
) -> Picture:
    """Draws heads of one layer as in the paper's Figures 3 to 5, and writes `NAME.svg`.

    Args:
        folder: of the page.
        name: of the files, without an ending.
        look: the sentence.
        heads: at least one, all of one layer.
        caption: of the picture.
        words: whose lines are drawn alone; none of them for all.

    Raises:
        OSError: the folder cannot be written to.
    """
    view = View(
        kinds=(heads[0].kind,),
        layers=(heads[0].layer + 1,),
        heads=tuple(head.head + 1 for head in heads),
        style="lines",
        words=words,
    )
    drawing = draw(look.words, view)
    write_text(folder / f"{name}.svg", to_svg(drawing))
    return Picture(
        name=f"{name}.png",
        png=to_png(drawing),
        alt=f"{drawing.description} The sentence: {look.source.text}",
        caption=f"{caption} Also as {name}.svg.",
    )
