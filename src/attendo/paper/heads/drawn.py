"""Heads' lines in one sentence for a page, and what they show in words."""

from attendo.attention_maps.drawing import draw
from attendo.attention_maps.png import to_png
from attendo.attention_maps.svg import to_svg
from attendo.attention_maps.view import View
from attendo.paper.heads.looks import Head, Look
from attendo.paper.report import Picture


def lines_picture(name: str, look: Look, heads: tuple[Head, ...], caption: str, words: tuple[str, ...] = ()) -> Picture:
    """Draws heads of one layer as in the paper's Figures 3 to 5.

    Args:
        name: of the files, without an ending.
        look: the sentence.
        heads: at least one, all of one layer.
        caption: of the picture.
        words: whose lines are drawn alone; none of them for all.
    """
    view = View(
        kinds=(heads[0].kind,),
        layers=(heads[0].layer + 1,),
        heads=tuple(head.head + 1 for head in heads),
        style="lines",
        words=words,
    )
    drawing = draw(look.words, view)
    side = look.target if heads[0].kind == "decoder" else look.source
    told = " ".join(strongest(look, heads, word) for word in words)
    return Picture(
        name=f"{name}.png",
        png=to_png(drawing),
        svg=to_svg(drawing),
        alt=f"{drawing.description} The sentence: {side.text} {told}".strip(),
        caption=caption,
    )


def strongest(look: Look, heads: tuple[Head, ...], word: str) -> str:
    """Where heads of self-attention look most from a word, in words: for who does not see the lines.

    Args:
        look: the sentence.
        heads: at least one, all of one layer and kind.
        word: of the sentence; where it is there several times, the first.
    """
    kind = heads[0].kind
    rows, columns = look.words.queries(kind), look.words.keys(kind)
    weights = look.words.weights(kind)[heads[0].layer, :, rows.index(word)]
    most = {head.head: int(weights[head.head].argmax()) for head in heads}
    each = [f"head {head + 1} at {columns[place]} ({weights[head, place]:.0%})" for head, place in most.items()]
    return f"What they look at most from {word}: {', '.join(each)}."
