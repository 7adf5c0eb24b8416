"""Where a model's heads look in the sentences, between words whose structure is known."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attendo.attention_maps.weights import AttentionMap, Kind
from attendo.attention_maps.words import joined
from attendo.paper.heads.markup import Pair, Side
from attendo.workflow.engines.engine import Engine

Heads = NDArray[np.float64]
"""A figure of each head of one kind, `(num_layers, num_heads)`."""


@dataclass(frozen=True, kw_only=True)
class Head:
    """One of a model's heads; written as layer and head, from 1."""

    kind: Kind
    layer: int
    """From 0."""
    head: int
    """From 0."""

    def to_text(self) -> str:
        """Layer and head, as `5.2`."""
        return f"{self.layer + 1}.{self.head + 1}"

    def __format__(self, form: str) -> str:
        """As `to_text` has it, for the cells of tables."""
        return self.to_text()


def ranked(scores: Heads) -> list[Head]:
    """The encoder's heads, those of the highest scores first."""
    order, num_heads = np.argsort(-scores, axis=None, kind="stable"), scores.shape[1]
    return [Head(kind="encoder", layer=int(place) // num_heads, head=int(place) % num_heads) for place in order]


@dataclass(frozen=True, kw_only=True, eq=False)
class Look:
    """A sentence and the attention of every head in it."""

    pair: Pair
    source: Side
    target: Side
    words: AttentionMap
    """Between words, which are those of the sides and `</s>`."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Looks:
    """All sentences of one kind, as a model sees them."""

    all: tuple[Look, ...]
    skipped: int
    """Sentences whose pieces straddle words, which a vocabulary may do with punctuation."""

    def half(self, *, held_out: bool) -> tuple[Look, ...]:
        """Those that heads are chosen on, or scored on."""
        return tuple(look for look in self.all if look.pair.held_out == held_out)


def look_at(engine: Engine, pairs: Iterable[Pair], should_stop: Callable[[], bool] = lambda: False) -> Looks | None:
    """Reads sentences with their given translations.

    Args:
        engine: with a model between English and German.
        pairs: the sentences.
        should_stop: asked before each.

    Returns:
        What every head does; None where it was to stop.
    """
    found, skipped = [], 0
    for pair in pairs:
        if should_stop():
            return None
        source, target = pair.sides(engine.description.source_language)
        words = joined(engine.attention(source.text, target.text))
        if words.source[:-1] == source.words and words.target[:-1] == target.words:
            found.append(Look(pair=pair, source=source, target=target, words=words))
        else:
            skipped += 1
    return Looks(all=tuple(found), skipped=skipped)


def encoder_weights(look: Look) -> NDArray[np.float64]:
    """Encoder self-attention between words, `(num_layers, num_heads, src_len, src_len)`, `</s>` last."""
    return look.words.weights("encoder").astype(np.float64)


def decoder_weights(look: Look) -> NDArray[np.float64]:
    """Decoder self-attention from words that are written to words, in the same form: the start is the last column."""
    weights = look.words.weights("decoder").astype(np.float64)
    # A column is the word before the row of the same number; the first is the start.
    moved: NDArray[np.float64] = np.concatenate([weights[..., 1:], weights[..., :1]], axis=-1)
    return moved
