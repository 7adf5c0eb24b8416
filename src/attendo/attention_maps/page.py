"""Attention as one self-contained HTML page to explore: no network, no other files, nothing to install."""

import base64
import hashlib
import json
import re
import zlib
from html import escape
from importlib.resources import files
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from attendo.attention_maps.drawing import sentence
from attendo.attention_maps.labels import labels
from attendo.attention_maps.palette import head_colours
from attendo.attention_maps.view import Selection, View, select
from attendo.attention_maps.weights import TITLES, AttentionMap, Kind, Unit, visible
from attendo.attention_maps.words import joined, key_sizes, word_sizes

EXPLANATIONS: dict[Kind, str] = {
    "encoder": "Each source word looks at all source words.",
    "decoder": "Before writing a word, the decoder reads the words written so far, never later ones.",
    "cross": "While writing a target word, the decoder looks at the source.",
}

STEPS = 255
"""The page stores a weight w as one byte, round(255 sqrt(w)); it is off by at most 0.004, small weights by less."""

SCRIPTS = ("weights.js", "state.js", "overview.js", "lines.js", "map.js", "page.js")
"""The page's scripts, in the order of loading: each uses those before it."""


def to_html(attention: AttentionMap, view: View | None = None, unit: Unit = "words") -> str:
    """Returns one self-contained page: every head small, any of them enlarged, as lines or a map, of words or pieces.

    All of the user's text is escaped. The page's security policy names its own scripts and styles by their hashes, so
    nothing else can run, and the page loads nothing from anywhere.

    Args:
        attention: the attention between pieces, which the page itself can join to words, or between words only.
        view: the view that the page opens with (the first of several layers and words); by default the lines of the
            top layer's encoder-decoder attention.
        unit: whether the page opens with words or with pieces.

    Raises:
        DataError: the map lacks a kind, layer, head or word of the view.
    """
    assets = files("attendo.attention_maps") / "assets"
    style = (assets / "page.css").read_text(encoding="utf-8")
    script = "".join((assets / name).read_text(encoding="utf-8") for name in SCRIPTS)
    content = {
        "STYLEHASH": _hash(style),
        "SCRIPTHASH": _hash(script),
        "STYLE": style,
        "SCRIPT": script,
        "SOURCE": escape(sentence(attention, attention.source)),
        "TARGET": escape(sentence(attention, attention.target)),
        "ABOUT": _about(attention, view or View(style="lines"), unit),
        "WEIGHTS": _weights(attention),
    }
    page = (assets / "page.html").read_text(encoding="utf-8")
    # In one pass, so that the user's text is never searched for fields to fill.
    return re.sub(r"\{\{([A-Z]+)\}\}", lambda field: content[field[1]], page)


def steps(weights: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Returns weights as bytes; 0 is reserved for weights of exactly 0, where the mask forbids attention."""
    rounded = np.rint(np.sqrt(np.clip(weights, 0, 1)) * STEPS)
    return np.where(weights > 0, np.maximum(rounded, 1), 0).astype(np.uint8)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"


def _weights(attention: AttentionMap) -> str:
    """The weights of all kinds in order as compressed bytes: with 100 words a side, 6 layers of 8 heads, some 1 MB."""
    raw = b"".join(steps(attention.weights(kind)).tobytes() for kind in attention.kinds)
    return base64.b64encode(zlib.compress(raw, 9)).decode("ascii")


def _about(attention: AttentionMap, view: View, unit: Unit) -> str:
    whole = joined(attention)
    kinds = {}
    for kind in attention.kinds:
        num_layers, num_heads = attention.weights(kind).shape[:2]
        kinds[kind] = {
            "title": TITLES[kind],
            "explanation": EXPLANATIONS[kind],
            "layers": num_layers,
            "heads": num_heads,
            "queries": labels(attention.queries(kind), attention.unit),
            "keys": labels(attention.keys(kind), attention.unit),
            "words": _words(attention, whole, kind),
        }
    about = {
        "kinds": kinds,
        "units": ["words", "pieces"] if attention.unit == "pieces" else ["words"],
        "colours": head_colours(max(attention.weights(kind).shape[1] for kind in attention.kinds)),
        "steps": STEPS,
        "start": _start(attention if unit == "pieces" else whole, view),
    }
    # Inside a script element only `</script` and `<!--` could end or hide the data; both need a `<`.
    return json.dumps(about).replace("<", "\\u003c")


def _words(attention: AttentionMap, whole: AttentionMap, kind: Kind) -> dict[str, list[object]]:
    """The words of the rows and columns and their numbers of pieces, with which the page joins pieces to words."""
    source, target = (
        word_sizes(side) if attention.unit == "pieces" else (1,) * len(side)
        for side in (attention.source, attention.target)
    )
    return {
        "queries": [visible(word) for word in whole.queries(kind)],
        "querySizes": list(source if kind == "encoder" else target),
        "keys": [visible(word) for word in whole.keys(kind)],
        "keySizes": list(key_sizes(target) if kind == "decoder" else source),
    }


def _start(shown: AttentionMap, view: View) -> str:
    """The view that the page opens with, in the notation of the page's links."""
    selections = select(shown, view)
    chosen = next((choice for choice in selections if choice.kind == "cross" and len(view.kinds) > 1), selections[0])
    layer = chosen.layers[0] if view.layers else chosen.layers[-1]
    heads = ",".join(str(head + 1) for head in chosen.heads) if view.heads else "all"
    fields = {"kind": chosen.kind, "layer": layer + 1, "heads": heads, "view": view.style, "unit": shown.unit}
    return urlencode({**fields, **_word(chosen)}, safe=",")


def _word(selection: Selection) -> dict[str, str]:
    if selection.queries:
        return {"word": f"q{selection.queries[0] + 1}"}
    return {"word": f"k{selection.keys[0] + 1}"} if selection.keys else {}
