"""The attention weights of one sentence pair, with the pieces they lie between."""

import json
import unicodedata
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from attendo.errors import DataError

Kind = Literal["encoder", "decoder", "cross"]

KINDS: tuple[Kind, ...] = ("encoder", "decoder", "cross")
"""The three places of attention, in the paper's order (Section 3.2.3, from below in Figure 1)."""

TITLES: dict[Kind, str] = {
    "encoder": "Encoder self-attention",
    "decoder": "Decoder self-attention",
    "cross": "Encoder-decoder attention",
}

START_LABEL = "⟨start⟩"
"""How the decoder's first input is shown, which is no piece but the zero vector."""

VISIBLE_ANYWAY = " \u200c\u200d"
"""Space and the two joiners, which are of the categories that `visible` replaces."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AttentionMap:
    """All attention weights of one pair; every row of every head sums to 1.

    The decoder works one position behind itself: at row `t` it reads the pieces before `t`, which are the columns of
    its self-attention, and writes piece `t`, which names the row.

    Attributes:
        source_pieces: `src_len` pieces, `</s>` included.
        target_pieces: `tgt_len` pieces as written, `</s>` included.
        encoder: `(num_layers, num_heads, src_len, src_len)` float32.
        decoder: self-attention, `(num_layers, num_heads, tgt_len, tgt_len)` float32; 0 where the mask forbids.
        cross: encoder-decoder attention, `(num_layers, num_heads, tgt_len, src_len)` float32.

    Raises:
        DataError: an array's shape does not fit the pieces, or a weight is not between 0 and 1.
    """

    source_pieces: tuple[str, ...]
    target_pieces: tuple[str, ...]
    encoder: NDArray[np.float32]
    decoder: NDArray[np.float32]
    cross: NDArray[np.float32]

    def __post_init__(self) -> None:
        problems = []
        for kind in KINDS:
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

    def weights(self, kind: Kind) -> NDArray[np.float32]:
        """One kind's weights, `(num_layers, num_heads, queries, keys)`."""
        return {"encoder": self.encoder, "decoder": self.decoder, "cross": self.cross}[kind]

    def queries(self, kind: Kind) -> tuple[str, ...]:
        """The pieces that look: the rows of a head."""
        return self.source_pieces if kind == "encoder" else self.target_pieces

    def keys(self, kind: Kind) -> tuple[str, ...]:
        """The pieces looked at: the columns of a head."""
        if kind == "decoder":
            return (START_LABEL, *self.target_pieces[:-1])
        return self.source_pieces


def to_json(attention: AttentionMap) -> str:
    """The pieces and every weight (6 decimals) as one JSON object, with what rows and columns stand for."""
    kinds: dict[str, object] = {
        kind: {
            "title": TITLES[kind],
            "rows": list(attention.queries(kind)),
            "columns": list(attention.keys(kind)),
            "axes": ["layer", "head", "row", "column"],
            "weights": np.round(attention.weights(kind).astype(np.float64), 6).tolist(),
        }
        for kind in KINDS
    }
    document: dict[str, object] = {
        "format_version": 1,
        "source_pieces": list(attention.source_pieces),
        "target_pieces": list(attention.target_pieces),
        **kinds,
    }
    # Escaped to ASCII, so that also a lone surrogate in a piece can be written as UTF-8.
    return json.dumps(document)


def visible(piece: str) -> str:
    """A piece as it can be shown on one line of any document, markup not yet escaped.

    Control, format and unassigned characters and odd spaces, which would be invisible, turn the text around or are
    forbidden in XML, become their code point in brackets. The joiners stay, without which some scripts fall apart.
    """
    return "".join(
        character
        if unicodedata.category(character)[0] not in "CZ" or character in VISIBLE_ANYWAY
        else f"[U+{ord(character):04X}]"
        for character in piece
    )
