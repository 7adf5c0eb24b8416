"""The attention weights of one sentence pair, with its pieces or words."""

import json
import unicodedata
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from attendo.errors import DataError

Kind = Literal["encoder", "decoder", "cross"]
Unit = Literal["pieces", "words"]

KINDS: tuple[Kind, ...] = ("encoder", "decoder", "cross")
"""The three kinds of attention, in the paper's order (Section 3.2.3; from the bottom of Figure 1)."""

TITLES: dict[Kind, str] = {
    "encoder": "Encoder self-attention",
    "decoder": "Decoder self-attention",
    "cross": "Encoder-decoder attention",
}

START_LABEL = "⟨start⟩"
"""Label of the decoder's first input, which is the zero vector and not a piece."""

VISIBLE_ANYWAY = " \u200c\u200d"
"""The space and the two joiners, which `visible` keeps although it replaces the rest of their categories."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AttentionMap:
    """All attention weights of one pair; every row of every head sums to 1.

    The decoder's input is its output shifted by one position: in row `t` it reads the tokens before `t`, which are the
    columns of its self-attention, and writes token `t`, which names the row.

    Raises:
        DataError: an array's shape does not fit the tokens, or a weight is not between 0 and 1.
    """

    source: tuple[str, ...]
    """The `src_len` pieces or words of the source, `</s>` included."""
    target: tuple[str, ...]
    """The `tgt_len` pieces or words of the target, `</s>` included."""
    encoder: NDArray[np.float32] | None
    """Encoder self-attention, `(num_layers, num_heads, src_len, src_len)`; None if the encoder's layers are not
    attention."""
    decoder: NDArray[np.float32]
    """Decoder self-attention, `(num_layers, num_heads, tgt_len, tgt_len)`; 0 where the mask forbids attention."""
    cross: NDArray[np.float32]
    """Encoder-decoder attention, `(num_layers, num_heads, tgt_len, src_len)`."""
    unit: Unit = "pieces"
    """The kind of token that rows and columns stand for: pieces as the model reads them, or words."""

    def __post_init__(self) -> None:
        problems = []
        for kind in self.kinds:
            weights = self.weights(kind)
            expected = (len(self.queries(kind)), len(self.keys(kind)))
            if weights.ndim != 4 or weights.shape[2:] != expected or 0 in weights.shape:
                problems.append(
                    f"{kind}: shape {weights.shape}, expected (num_layers, num_heads, {expected[0]}, {expected[1]})"
                )
            elif not (np.isfinite(weights).all() and weights.min() >= 0 and weights.max() <= 1 + 1e-3):
                problems.append(f"{kind}: weights outside 0 to 1; give them after the softmax")
        if problems:
            raise DataError("attention map: " + "; ".join(problems))

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention that the model has, in the paper's order."""
        return tuple(kind for kind in KINDS if kind != "encoder" or self.encoder is not None)

    def weights(self, kind: Kind) -> NDArray[np.float32]:
        """Returns the weights of one kind, `(num_layers, num_heads, queries, keys)`.

        Raises:
            DataError: the model has no such attention.
        """
        chosen = {"encoder": self.encoder, "decoder": self.decoder, "cross": self.cross}[kind]
        if chosen is None:
            raise DataError(
                f"the {kind}'s layers are not attention, so there are no weights to show; "
                f"take one of {', '.join(self.kinds)}"
            )
        return chosen

    def queries(self, kind: Kind) -> tuple[str, ...]:
        """Returns the tokens that attend: the rows of a head."""
        return self.source if kind == "encoder" else self.target

    def keys(self, kind: Kind) -> tuple[str, ...]:
        """Returns the tokens attended to: the columns of a head."""
        return (START_LABEL, *self.target[:-1]) if kind == "decoder" else self.source


def to_json(attention: AttentionMap) -> str:
    """Returns the tokens and all weights (6 decimals) as one JSON object, with the meaning of rows and columns."""
    document: dict[str, object] = {
        "format_version": 2,
        "unit": attention.unit,
        "source": list(attention.source),
        "target": list(attention.target),
    }
    # Escaped to ASCII, so that even a lone surrogate in a piece can be written as UTF-8.
    parts = [json.dumps(document)[:-1]]
    for kind in attention.kinds:
        facts: dict[str, object] = {
            "title": TITLES[kind],
            "rows": list(attention.queries(kind)),
            "columns": list(attention.keys(kind)),
            "axes": ["layer", "head", "row", "column"],
        }
        # Row by row: all weights at once as Python numbers would take far more memory and block a server's threads.
        layers = (", ".join(map(_head_json, layer)) for layer in attention.weights(kind))
        weights = ", ".join(f"[{heads}]" for heads in layers)
        parts.append(f', "{kind}": {json.dumps(facts)[:-1]}, "weights": [{weights}]}}')
    return "".join((*parts, "}"))


def _head_json(weights: NDArray[np.float32]) -> str:
    rows = (json.dumps(row.tolist()) for row in np.round(weights.astype(np.float64), 6))
    return f"[{', '.join(rows)}]"


def visible(piece: str) -> str:
    """Returns a piece in a form that can be shown on one line of any document, with markup not yet escaped.

    Control, format and unassigned characters and unusual spaces become their code point in brackets, as they would be
    invisible, reverse the text's direction or are forbidden in XML. The joiners stay: some scripts need them.
    """
    return "".join(
        character
        if unicodedata.category(character)[0] not in "CZ" or character in VISIBLE_ANYWAY
        else f"[U+{ord(character):04X}]"
        for character in piece
    )
