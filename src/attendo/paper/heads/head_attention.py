"""The attention of a model's heads between the words of sentences whose structure is known."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attendo.attention_maps.weights import AttentionMap, Kind
from attendo.attention_maps.words import joined
from attendo.synthetic.annotated.markup import Pair, Side
from attendo.workflow.engines.engine import Engine

Heads = NDArray[np.float64]
"""One number for each head of one kind, `(num_layers, num_heads)`; of weights, with further axes."""


@dataclass(frozen=True, kw_only=True)
class Head:
    """One of a model's heads; its text is layer and head, both from 1."""

    kind: Kind
    layer: int
    """Index of the layer, from 0."""
    head: int
    """Index of the head in its layer, from 0."""

    def to_text(self) -> str:
        """Layer and head from 1, such as `5.2`."""
        return f"{self.layer + 1}.{self.head + 1}"

    def __format__(self, form: str) -> str:
        """Returns `to_text()`, whatever the format, for the cells of tables."""
        return self.to_text()


def ranked(scores: Heads) -> list[Head]:
    """Returns the encoder's heads, those with the highest scores first."""
    order, num_heads = np.argsort(-scores, axis=None, kind="stable"), scores.shape[1]
    return [Head(kind="encoder", layer=int(index) // num_heads, head=int(index) % num_heads) for index in order]


@dataclass(frozen=True, kw_only=True, eq=False)
class SentenceAttention:
    """A sentence pair and the attention of every head on it."""

    pair: Pair
    source: Side
    target: Side
    words: AttentionMap
    """Attention between words; these are the words of the sides, and `</s>`."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CorpusAttention:
    """A model's attention on all sentences of one kind."""

    all: tuple[SentenceAttention, ...]
    skipped: int
    """Number of skipped sentences: their pieces straddle words, which some vocabularies do with punctuation."""

    def half(self, *, held_out: bool) -> tuple[SentenceAttention, ...]:
        """Returns the sentences that heads are scored on if `held_out`, otherwise those that they are chosen on."""
        return tuple(look for look in self.all if look.pair.held_out == held_out)


def collect_attention(
    engine: Engine, pairs: Iterable[Pair], should_stop: Callable[[], bool] = lambda: False
) -> CorpusAttention | None:
    """Reads sentences with their given translations.

    Args:
        engine: an engine whose model translates between English and German.
        pairs: the sentences.
        should_stop: asked before each sentence.

    Returns:
        The attention of every head; None if stopped.
    """
    looks, skipped = [], 0
    for pair in pairs:
        if should_stop():
            return None
        source, target = pair.sides(engine.description.source_language)
        words = joined(engine.attention(source.text, target.text))
        if words.source[:-1] == source.words and words.target[:-1] == target.words:
            looks.append(SentenceAttention(pair=pair, source=source, target=target, words=words))
        else:
            skipped += 1
    return CorpusAttention(all=tuple(looks), skipped=skipped)


def encoder_weights(look: SentenceAttention) -> NDArray[np.float64]:
    """Returns encoder self-attention between words, `(num_layers, num_heads, src_len, src_len)`, `</s>` last."""
    return look.words.weights("encoder").astype(np.float64)


def decoder_weights(look: SentenceAttention) -> NDArray[np.float64]:
    """Returns decoder self-attention between words, `(num_layers, num_heads, tgt_len, tgt_len)`.

    A row is the word that is being written, with `</s>` last; a column is a word that it attends to, the start last.
    """
    weights = look.words.weights("decoder").astype(np.float64)
    # Column n is the word before that of row n, and the first column is the start.
    moved: NDArray[np.float64] = np.concatenate([weights[..., 1:], weights[..., :1]], axis=-1)
    return moved
