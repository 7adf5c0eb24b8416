"""Attention as one HTML page to explore: no network, no file beside it, nothing to install."""

import base64
import json
import re
from html import escape
from importlib.resources import files

import numpy as np

from attendo.attention_maps.drawing import head_markup
from attendo.attention_maps.palette import head_colours
from attendo.attention_maps.weights import KINDS, TITLES, AttentionMap, Kind, visible

EXPLANATIONS: dict[Kind, str] = {
    "encoder": "Each source piece (row) looks at all source pieces (columns).",
    "decoder": "Before writing a piece (row), the decoder reads the pieces written so far (columns), never later ones.",
    "cross": "While writing a target piece (row), the decoder looks at the source (columns).",
}

WEIGHT_STEPS = 65535
"""The page holds each weight as 16 bits, fine to 0.00002."""


def to_html(attention: AttentionMap) -> str:
    """One self-contained page: every head small, any of them enlarged, lines or matrix, light or dark.

    Small maps show without JavaScript too; the text is escaped, whatever the pieces hold.
    """
    folder = files("attendo.attention_maps")
    content = {
        "STYLE": (folder / "page.css").read_text(encoding="utf-8"),
        "SCRIPT": (folder / "page.js").read_text(encoding="utf-8"),
        "SOURCE": _sentence(attention.source_pieces),
        "TARGET": _sentence(attention.target_pieces),
        "MAPS": "".join(_section(attention, kind) for kind in KINDS),
        "WEIGHTS": _weights_json(attention),
    }
    page = (folder / "page.html").read_text(encoding="utf-8")
    # In one pass, so that no text of the user's is ever searched for a place to fill.
    return re.sub(r"\{\{([A-Z]+)\}\}", lambda place: content[place[1]], page)


def _sentence(pieces: tuple[str, ...]) -> str:
    return escape("".join(map(visible, pieces)).replace("▁", " ").strip())


def _section(attention: AttentionMap, kind: Kind) -> str:
    num_layers, num_heads = attention.weights(kind).shape[:2]
    rows = "".join(_layer(attention, kind, layer) for layer in range(num_layers))
    return (
        f'<section class="kind" aria-labelledby="kind-{kind}"><h2 id="kind-{kind}">{TITLES[kind]}</h2>'
        f"<p>{EXPLANATIONS[kind]} {num_layers} layers of {num_heads} heads.</p>{rows}</section>"
    )


def _layer(attention: AttentionMap, kind: Kind, layer: int) -> str:
    weights = attention.weights(kind)[layer]
    num_heads, num_queries, num_keys = weights.shape
    buttons = []
    for head, colour in enumerate(head_colours(num_heads)):
        # The tab key stops once a section; the arrow keys go on from there (page.js).
        stop = 0 if layer == head == 0 else -1
        buttons.append(
            f'<button type="button" class="map" data-kind="{kind}" data-layer="{layer}" data-head="{head}" '
            f'tabindex="{stop}" aria-pressed="false" aria-label="{TITLES[kind]}, layer {layer + 1}, head {head + 1}" '
            f'style="--head:{colour}"><svg viewBox="0 0 {num_keys} {num_queries}" preserveAspectRatio="none" '
            f'style="aspect-ratio:{num_keys}/{num_queries}" aria-hidden="true">{head_markup(weights[head])}</svg>'
            f"<span>{head + 1}</span></button>"
        )
    columns = min(num_heads, 8)
    return (
        f'<div class="layer"><h3>layer {layer + 1}</h3>'
        f'<div class="maps" style="--columns:{columns}">{"".join(buttons)}</div></div>'
    )


def _weights_json(attention: AttentionMap) -> str:
    kinds = {}
    for kind in KINDS:
        weights = attention.weights(kind)
        steps = np.rint(np.clip(weights, 0, 1) * WEIGHT_STEPS).astype("<u2")
        kinds[kind] = {
            "title": TITLES[kind],
            "layers": weights.shape[0],
            "heads": weights.shape[1],
            "queries": [visible(piece) for piece in attention.queries(kind)],
            "keys": [visible(piece) for piece in attention.keys(kind)],
            "steps": base64.b64encode(steps.tobytes()).decode("ascii"),
        }
    colours = head_colours(max(attention.weights(kind).shape[1] for kind in KINDS))
    text = json.dumps({"kinds": kinds, "colours": colours, "weight_steps": WEIGHT_STEPS})
    # Inside a script element only `</script` and `<!--` could end or hide the data; without `<` there is neither.
    return text.replace("<", "\\u003c")
