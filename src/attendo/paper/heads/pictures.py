"""Pictures of heads: their lines in one sentence, with a description in words, and maps of head ablation."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm
from matplotlib.image import AxesImage

from attendo.attention_maps.drawing import draw
from attendo.attention_maps.png import to_png
from attendo.attention_maps.svg import to_svg
from attendo.attention_maps.view import View
from attendo.attention_maps.weights import KINDS, TITLES, Kind
from attendo.paper.heads.ablation import AblationResults, HeadAblation
from attendo.paper.heads.head_attention import Head, SentenceAttention
from attendo.paper.report import Picture
from attendo.plots.figure_files import png_bytes
from attendo.plots.panels import panels

_LEAST_RANGE = 0.5
"""Smallest end of the colour scale, in BLEU, so that negligible differences stay pale."""


def lines_picture(
    name: str, look: SentenceAttention, heads: tuple[Head, ...], caption: str, words: tuple[str, ...] = ()
) -> Picture:
    """Draws heads of one layer as in the paper's Figures 3 to 5.

    Args:
        name: name of the files, without an extension.
        look: the sentence.
        heads: at least one head, all of one kind and layer.
        caption: caption of the picture.
        words: the words whose lines are drawn; empty for all words.
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
    strongest_text = " ".join(strongest(look, heads, word) for word in words)
    return Picture(
        name=f"{name}.png",
        png=to_png(drawing),
        svg=to_svg(drawing),
        alt=f"{drawing.description} The sentence: {side.text} {strongest_text}".strip(),
        caption=caption,
    )


def strongest(look: SentenceAttention, heads: tuple[Head, ...], word: str) -> str:
    """States where self-attention heads attend most from a word, for readers who cannot see the lines.

    Args:
        look: the sentence.
        heads: at least one head, all of one kind and layer.
        word: a word of the sentence; its first occurrence is used.
    """
    kind = heads[0].kind
    rows, columns = look.words.queries(kind), look.words.keys(kind)
    weights = look.words.weights(kind)[heads[0].layer, :, rows.index(word)]
    most = {head.head: int(weights[head.head].argmax()) for head in heads}
    parts = [f"head {head + 1} at {columns[column]} ({weights[head, column]:.0%})" for head, column in most.items()]
    return f"What they look at most from {word}: {', '.join(parts)}."


def cuts_png(found: AblationResults) -> bytes:
    """Draws a panel for each kind: heads that are missed are orange, others purple; a star marks a clear difference."""
    kinds = [kind for kind in KINDS if any(cut.head.kind == kind for cut in found.cuts)]
    by_kind = {kind: [cut for cut in found.cuts if cut.head.kind == kind] for kind in kinds}
    num_heads = 1 + max(cut.head.head for cut in found.cuts)
    num_layers = max(1 + max(cut.head.layer for cut in cuts) for cuts in by_kind.values())
    width = max(1.9, 0.62 * num_heads)
    figure, all_axes = panels(
        1.5 + len(kinds) * (width + 0.9), 1.5 + 0.5 * num_layers, len(kinds), width_ratios=[1] * len(kinds)
    )
    most = max(_LEAST_RANGE, *(abs(cut.difference) for cut in found.cuts))
    norm = TwoSlopeNorm(vmin=-most, vcenter=0, vmax=most)
    images = [_panel(axes, kind, by_kind[kind], norm) for axes, kind in zip(all_axes, kinds, strict=True)]
    figure.colorbar(images[0], ax=all_axes, label="BLEU without the head, difference", shrink=0.85)
    return png_bytes(figure)


def _signed(difference: float) -> str:
    rounded = round(difference, 1)
    return f"{rounded:+.1f}" if rounded else "0.0"


def _panel(axes: Axes, kind: Kind, cuts: Sequence[HeadAblation], norm: TwoSlopeNorm) -> AxesImage:
    layers = sorted({cut.head.layer for cut in cuts})
    num_heads = 1 + max(cut.head.head for cut in cuts)
    values = np.full((len(layers), num_heads), np.nan)
    for cut in cuts:
        values[layers.index(cut.head.layer), cut.head.head] = cut.difference
    image = axes.imshow(values, cmap="PuOr", norm=norm, aspect="auto", origin="lower")
    for cut in cuts:
        is_dark = abs(float(norm(cut.difference)) - 0.5) > 0.33
        axes.text(
            cut.head.head,
            layers.index(cut.head.layer),
            f"{_signed(cut.difference)}{'*' if cut.is_clear else ''}",
            ha="center",
            va="center",
            fontsize=9,
            color="white" if is_dark else "black",
        )
    axes.set_xticks(range(num_heads), [str(head + 1) for head in range(num_heads)])
    axes.set_yticks(range(len(layers)), [str(layer + 1) for layer in layers])
    axes.set_xlabel("head")
    axes.set_ylabel("layer")
    axes.set_title(TITLES[kind], fontsize=10, fontweight="bold")
    axes.set_box_aspect(0.85 * len(layers) / num_heads)
    return image
