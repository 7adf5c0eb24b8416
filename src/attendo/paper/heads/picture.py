"""Heads as squares of a figure, layer by layer: what cutting each one does, with the numbers in them."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from attendo.attention_maps.weights import KINDS, TITLES, Kind
from attendo.paper.heads.cuts import Cut, Cuts
from attendo.plots.figure_files import png_bytes

_LEAST_RANGE = 0.5
"""BLEU, so that differences of nothing stay pale."""


def cuts_png(found: Cuts) -> bytes:
    """Draws a panel for each kind: orange squares are missed, blue ones are not; a star where it is clear."""
    kinds = [kind for kind in KINDS if any(cut.head.kind == kind for cut in found.cuts)]
    by_kind = {kind: [cut for cut in found.cuts if cut.head.kind == kind] for kind in kinds}
    num_heads = 1 + max(cut.head.head for cut in found.cuts)
    num_layers = max(1 + max(cut.head.layer for cut in cuts) for cuts in by_kind.values())
    width = max(1.9, 0.62 * num_heads)
    figure = Figure(figsize=(1.5 + len(kinds) * (width + 0.9), 1.5 + 0.5 * num_layers), layout="constrained", dpi=110)
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(kinds), squeeze=False, width_ratios=[1] * len(kinds))[0]
    most = max(_LEAST_RANGE, *(abs(cut.difference) for cut in found.cuts))
    norm = TwoSlopeNorm(vmin=-most, vcenter=0, vmax=most)
    images = [_panel(axes, kind, by_kind[kind], norm) for axes, kind in zip(panels, kinds, strict=True)]
    figure.colorbar(images[0], ax=list(panels), label="BLEU without the head, difference", shrink=0.85)
    return png_bytes(figure)


def _signed(difference: float) -> str:
    rounded = round(difference, 1)
    return f"{rounded:+.1f}" if rounded else "0.0"


def _panel(axes: Axes, kind: Kind, cuts: Sequence[Cut], norm: TwoSlopeNorm) -> AxesImage:
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
