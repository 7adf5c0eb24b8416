"""Word alignment from the encoder-decoder attention (Section 3.2.3).

The weights are taken from one decoder layer, averaged over its heads and over the models of an ensemble. Unless the
settings name another it is the last layer but one, which Garg et al. (2019, "Jointly Learning to Align and Translate
with Transformer Models") found to align best. A target piece has the weights of the step that wrote it, which had read
the pieces before it, as Garg et al. and CTranslate2 take them. Chen et al. (2020, "Accurate Word Alignment Induction
from Neural Machine Translation") take the step that reads it, of a lower layer; the settings can name step and head
too, and `benchmarks/alignment.py` measures what a model's heads are good for.

They are computed from a finished pair, all target positions at once: so a translation from anywhere can be aligned, and
the search is as fast as without. It is done in float32 with the model's own weights: where int8 or bfloat16 runs on the
native kernels, these are the float32 weights that were rounded for them, or those that the stored int8 stands for.
Padding and the rest of the batch change nothing but a float32 product's last bits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from attendo.decoding.backends.models import DecodingModel
from attendo.decoding.constraints.words import bytes_of
from attendo.decoding.step import FloatArray
from attendo.errors import ModelError

_SPACE_MARK = "\u2581"

Words = tuple[tuple[int, ...], ...]
"""For each word of a sentence, the positions of its pieces."""

AlignmentStep = Literal["writes", "reads"]
"""The decoding step whose weights a target token has: the one that writes it, or the one that reads it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Alignment:
    """Alignment of the pieces and words of a translation with those of its source."""

    source_pieces: tuple[str, ...]
    """The pieces of the source, with `</s>`."""
    target_pieces: tuple[str, ...]
    """The pieces of the translation, with `</s>`."""
    weights: FloatArray
    """float32 `(target pieces, source pieces)`; each row sums to 1."""
    source_words: tuple[str, ...]
    """The words of the source, which spaces separate."""
    target_words: tuple[str, ...]
    """The words of the translation, which spaces separate."""
    links: tuple[tuple[int, int], ...]
    """For each target word the source word that its pieces attend to most, except `</s>`, as `(source word, target
    word)`, both numbered from 0; ordered by target words. Empty if the source has no word."""
    truncated: bool = False
    """Whether the source or the target was cut because it was too long."""

    @property
    def pharaoh(self) -> str:
        """The links as alignment tools write them: `0-0 2-1 1-2`."""
        return " ".join(f"{source}-{target}" for source, target in self.links)


def alignment(
    source_pieces: Sequence[str], target_pieces: Sequence[str], weights: FloatArray, *, truncated: bool = False
) -> Alignment:
    """Builds the alignment of one pair.

    Args:
        source_pieces: the pieces of the source, with `</s>`.
        target_pieces: the pieces of the target, with `</s>`.
        weights: float32 `(target pieces, source pieces)`.
        truncated: whether a side was cut.
    """
    source, target = words_of(source_pieces[:-1]), words_of(target_pieces[:-1])
    return Alignment(
        source_pieces=tuple(source_pieces),
        target_pieces=tuple(target_pieces),
        weights=weights,
        source_words=word_texts(source, source_pieces),
        target_words=word_texts(target, target_pieces),
        links=links(weights, source, target),
        truncated=truncated,
    )


def words_of(pieces: Sequence[str]) -> Words:
    """Groups pieces into words: a piece that begins with a space, U+2581, begins one.

    A separate space piece belongs to the word after it; at the end to none.

    Args:
        pieces: without `</s>`.
    """
    words: list[list[int]] = []
    has_text = True
    for place, piece in enumerate(pieces):
        if not words or (has_text and piece.startswith(_SPACE_MARK)):
            words.append([])
            has_text = False
        words[-1].append(place)
        has_text = has_text or bool(piece.strip(_SPACE_MARK))
    return tuple(map(tuple, words if has_text else words[:-1]))


def links(weights: FloatArray, source: Words, target: Words) -> tuple[tuple[int, int], ...]:
    """For each target word, the source word that receives most of its pieces' weight; the first one if tied.

    Args:
        weights: float32 `(target pieces, source pieces)`.
        source: the source's words.
        target: the target's words.
    """
    if not source:
        return ()
    received = np.stack([weights[:, places].sum(axis=1) for places in source], axis=1)
    return tuple((int(received[places, :].sum(axis=0).argmax()), number) for number, places in enumerate(target))


def attention_batch(
    models: Sequence[DecodingModel],
    source: Sequence[Sequence[int]],
    target: Sequence[Sequence[int]],
    *,
    layer: int | None = None,
    head: int | None = None,
    step: AlignmentStep = "writes",
    between: Callable[[], object] = lambda: None,
) -> list[FloatArray]:
    """Computes the encoder-decoder attention of each pair, all pairs at once.

    Args:
        models: several are one by the mean of their weights.
        source: each source sentence's ids with its `</s>`.
        target: each target sentence's ids with its `</s>`, in the same order.
        layer: the decoder layer, from 1; None for the last but one.
        head: the head of that layer, from 1; None for the mean of all.
        step: the step whose weights a target token has: the one that writes it or the one that reads it. No step reads
            `</s>`, which keeps the weights of the step that writes it.
        between: called between two steps of the computation; an exception from it ends the computation.

    Returns:
        For each pair float32 `(tgt_len, src_len)`, without padding; each row sums to 1.
    """
    by_model = []
    for model in models:
        found = model.encoder_decoder_attention(source, target, layer or _last_but_one(model), between=between)
        by_model.append([(heads if head is None else heads[head - 1 : head]).mean(axis=0) for heads in found])
    pairs = []
    for of_models in zip(*by_model, strict=True):
        weights: FloatArray = np.mean(of_models, axis=0)
        # Of float32 they sum to 1 already; bfloat16 is some hundredths off.
        pairs.append(at_step(weights / weights.sum(axis=-1, keepdims=True), step))
    return pairs


def at_step(weights: FloatArray, step: AlignmentStep) -> FloatArray:
    """The weights of target tokens, `(..., tgt_len, src_len)`: a copy of those of the same steps, or of the next ones.

    Token t is read at step t + 1; `</s>` is read by none and keeps the weights of the step that writes it.
    """
    if step == "writes":
        return weights.copy()
    return np.concatenate([weights[..., 1:, :], weights[..., -1:, :]], axis=-2)


def check_choice(models: Sequence[DecodingModel], layer: int | None, head: int | None) -> None:
    """Refuses a layer or a head that a model does not have.

    Raises:
        ModelError: it is above the topmost, or beyond the last.
    """
    configs = [model.config for model in models]
    layers, heads = min(each.decoder_layers for each in configs), min(each.num_heads for each in configs)
    if layer is not None and layer > layers:
        raise ModelError(
            f"search.alignment_layer = {layer}, but the decoder has {layers} layers; take 1 to {layers}, or none"
        )
    if head is not None and head > heads:
        raise ModelError(
            f"search.alignment_head = {head}, but a layer has {heads} heads; take 1 to {heads}, or none for their mean"
        )


def _last_but_one(model: DecodingModel) -> int:
    return max(1, model.config.decoder_layers - 1)


def word_texts(words: Words, pieces: Sequence[str]) -> tuple[str, ...]:
    """The words themselves; bytes that make no character become U+FFFD."""
    written = (b"".join(bytes_of(pieces[place]) for place in places) for places in words)
    return tuple(text.decode("utf-8", errors="replace").strip(" ") for text in written)
