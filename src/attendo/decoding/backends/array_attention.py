"""Attention weights of a model for a pair, computed without torch from the weights as arrays.

It is `Transformer.attention` in float32, for layers of self-attention. The positions of all sentences are rows of one
matrix, so that the products are of all of them at once; only attention goes from sentence to sentence. There is no
padding, and so no mask but the decoder's.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from attendo.decoding.backends.stack_tops import TopOfStack, stack_tops, word_places
from attendo.decoding.step import FloatArray
from attendo.model.encodings import sinusoids, too_long
from attendo.model.weights.arrays import ModelArrays
from attendo.model.words import MAX_DEPTH

Ids = Sequence[int]
Spans = Sequence[slice]
"""The rows of each sentence."""
Between = Callable[[], object]
"""Called between two sublayers; an exception from it ends the computation."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PairAttention:
    """The attention weights of every head and layer, for one pair."""

    encoder: FloatArray | None
    """float32 `(num_layers, num_heads, src_len, src_len)`; None where the encoder's layers do not attend."""
    decoder: FloatArray
    """float32 `(num_layers, num_heads, tgt_len, tgt_len)`."""
    encoder_decoder: FloatArray
    """float32 `(num_layers, num_heads, tgt_len, src_len)`."""


class ArrayAttention:
    """Attention weights of a model.

    Args:
        arrays: the arrays of a model whose layers all have self-attention, scaled or not, over all positions.
    """

    def __init__(self, arrays: ModelArrays) -> None:
        self._arrays, self._config = arrays, arrays.config
        self._floats: dict[str, FloatArray] = {}

    @property
    def num_bytes(self) -> int:
        """Size in bytes of the float32 weights that it keeps because they are stored in int8."""
        return sum(found.nbytes for found in list(self._floats.values()))

    def free(self) -> None:
        """Frees these weights; they are made again when they are needed."""
        self._floats.clear()

    def encoder_decoder(
        self, sources: Sequence[Ids], targets: Sequence[Ids], layer: int, *, between: Between = lambda: None
    ) -> list[FloatArray]:
        """Computes the encoder-decoder attention of one decoder layer, for every head.

        Args:
            sources: each source sentence's ids with its `</s>`.
            targets: each target sentence's ids with its `</s>`, in the same order.
            layer: the layer's number, from 1, the lowest.
            between: called between two sublayers.

        Returns:
            For each pair float32 `(num_heads, tgt_len, src_len)`.
        """
        memory, src_spans = self._read_sources(sources, [], between)
        hidden, tgt_spans = self._read_targets(sources, targets, memory)
        for index in range(layer - 1):
            hidden, _, _ = self._decoder_layer(index, hidden, tgt_spans, memory, src_spans, between)
        return self._decoder_layer(layer - 1, hidden, tgt_spans, memory, src_spans, between)[2]

    def all(self, source: Ids, target: Ids, *, between: Between = lambda: None) -> PairAttention:
        """Computes the attention of every head and layer.

        Args:
            source: its ids with its `</s>`.
            target: its ids with its `</s>`.
            between: called between two sublayers.
        """
        encoder: list[FloatArray] = []
        memory, src_spans = self._read_sources([source], encoder, between)
        hidden, tgt_spans = self._read_targets([source], [target], memory)
        decoder, encoder_decoder = [], []
        for index in range(self._config.decoder_layers):
            hidden, own, across = self._decoder_layer(index, hidden, tgt_spans, memory, src_spans, between)
            decoder += own
            encoder_decoder += across
        return PairAttention(
            encoder=np.stack(encoder), decoder=np.stack(decoder), encoder_decoder=np.stack(encoder_decoder)
        )

    def _read_sources(
        self, sources: Sequence[Ids], looked: list[FloatArray], between: Between
    ) -> tuple[FloatArray, Spans]:
        """Computes the encoder's output, `(source tokens, d_model)`, and adds its attention weights to `looked`."""
        hidden, spans = self._embedded("source", sources)
        for index in range(self._config.encoder_layers):
            layer = f"encoder_layers.{index}"
            context, weights = self._self_attention(f"{layer}.self_attention", hidden, spans, causal=False)
            looked += weights
            hidden = self._normed(f"{layer}.self_attention_norm", hidden + context)
            between()
            hidden = self._fed_forward(layer, hidden)
            between()
        return hidden, spans

    def _read_targets(
        self, sources: Sequence[Ids], targets: Sequence[Ids], memory: FloatArray
    ) -> tuple[FloatArray, Spans]:
        """Computes the input of the decoder's first layer, `(target tokens, d_model)`."""
        read = [[self._config.start_id, *target[:-1]] for target in targets]
        hidden, spans = self._embedded("target", read)
        if self._config.next_word:
            hidden += self._word_inputs(sources, read, memory)
        return hidden, spans

    def _decoder_layer(
        self,
        index: int,
        hidden: FloatArray,
        tgt_spans: Spans,
        memory: FloatArray,
        src_spans: Spans,
        between: Between,
    ) -> tuple[FloatArray, list[FloatArray], list[FloatArray]]:
        """Computes a layer's output, its self-attention weights and its encoder-decoder attention weights."""
        layer, size = f"decoder_layers.{index}", self._config.num_heads * self._config.key_size
        context, own = self._self_attention(f"{layer}.self_attention", hidden, tgt_spans, causal=True)
        hidden = self._normed(f"{layer}.self_attention_norm", hidden + context)
        between()
        across = f"{layer}.encoder_attention"
        query = self._linear(f"{across}.query", hidden)
        seen = self._linear(f"{across}.key_value", memory)
        spans = list(zip(tgt_spans, src_spans, strict=True))
        context, looked = self._attended(query, seen[:, :size], seen[:, size:], spans, causal=False)
        hidden = self._normed(f"{across}_norm", hidden + self._linear(f"{across}.output", context))
        between()
        return self._fed_forward(layer, hidden), own, looked

    def _embedded(self, side: str, sentences: Sequence[Ids]) -> tuple[FloatArray, Spans]:
        """Embeddings with positions, `(tokens, d_model)`, and the rows of each sentence."""
        arrays, spans = self._arrays, spans_of(sentences)
        name = arrays.source_embedding if side == "source" else arrays.target_embedding
        rows = arrays.embedded(name, np.concatenate([np.asarray(ids, dtype=np.int64) for ids in sentences]))
        positions = self._positions(side, max(map(len, sentences)))
        for span in spans:
            rows[span] += positions[: span.stop - span.start]
        return rows, spans

    def _positions(self, side: str, length: int) -> FloatArray:
        """The encodings of that many positions, `(length, d_model)`."""
        if self._config.positions != "learned":
            return sinusoids(length, self._config.d_model, self._config.positions)
        table: FloatArray = self._arrays.values[f"{side}_embedding.positions.table"]
        if length > len(table):
            raise too_long(length, len(table))
        return table

    def _self_attention(
        self, name: str, hidden: FloatArray, spans: Spans, *, causal: bool
    ) -> tuple[FloatArray, list[FloatArray]]:
        size = self._config.num_heads * self._config.key_size
        both = self._linear(f"{name}.query_key_value", hidden)
        query, key, value = both[:, :size], both[:, size : 2 * size], both[:, 2 * size :]
        context, weights = self._attended(query, key, value, [(span, span) for span in spans], causal=causal)
        return self._linear(f"{name}.output", context), weights

    def _attended(
        self,
        query: FloatArray,
        key: FloatArray,
        value: FloatArray,
        spans: Sequence[tuple[slice, slice]],
        *,
        causal: bool,
    ) -> tuple[FloatArray, list[FloatArray]]:
        """Computes the outputs of all heads, `(tokens, num_heads * d_v)`, and each sentence's attention weights."""
        context = np.empty((len(query), value.shape[1]), dtype=np.float32)
        looked = []
        for query_span, key_span in spans:
            q, k, v = (
                _heads(rows, self._config.num_heads) for rows in (query[query_span], key[key_span], value[key_span])
            )
            logits: FloatArray = q @ k.transpose(0, 2, 1)
            logits *= np.float32(self._config.attention_scale)
            if causal:
                logits[:, ~np.tri(logits.shape[1], dtype=np.bool_)] = -np.inf
            weights = softmax(logits)
            context[query_span] = (weights @ v).transpose(1, 0, 2).reshape(context[query_span].shape)
            looked.append(weights)
        return context, looked

    def _fed_forward(self, layer: str, hidden: FloatArray) -> FloatArray:
        inner = self._linear(f"{layer}.feed_forward.inner", hidden)
        if self._config.activation == "relu":
            np.maximum(inner, 0, out=inner)
        else:
            with np.errstate(over="ignore"):
                inner /= 1 + np.exp(-inner)
        return self._normed(f"{layer}.feed_forward_norm", hidden + self._linear(f"{layer}.feed_forward.outer", inner))

    def _normed(self, name: str, rows: FloatArray) -> FloatArray:
        """LayerNorm of each row."""
        values = self._arrays.values
        rows = rows - rows.mean(axis=1, keepdims=True)
        rows /= np.sqrt(np.square(rows).mean(axis=1, keepdims=True) + np.float32(self._config.layer_norm_eps))
        normed: FloatArray = rows * values[f"{name}.norm.weight"] + values[f"{name}.norm.bias"]
        return normed

    def _linear(self, name: str, rows: FloatArray) -> FloatArray:
        product: FloatArray = rows @ self._matrix(f"{name}.weight").T
        bias = self._arrays.bias(name)
        return product if bias is None else product + bias

    def _matrix(self, name: str) -> FloatArray:
        """Returns a weight in float32; one that is stored in int8 is cached."""
        found = self._floats.get(name)
        if found is None:
            found = self._arrays.floats(name)
            if found.flags.owndata:  # and not a view of a file or of a tensor, which may change
                self._floats[name] = found
        return found

    def _word_inputs(self, sources: Sequence[Ids], read: Sequence[Ids], memory: FloatArray) -> FloatArray:
        """Computes the decoder's input from the next word and the parser's stack, `(target tokens, d_model)`."""
        words = self._arrays.words
        assert words is not None
        tables = [self._linear("next_word.memory", memory)]
        if self._config.parser_stack:
            tables += np.split(self._linear("parser_stack.memory", memory), 2, axis=1)
        parts = []
        for span, source, ids in zip(spans_of(sources), sources, read, strict=True):
            places = word_places(source, words.begins)
            tops = stack_tops(ids, words)
            numbers = (tops.next_word, tops.opened_at, tops.completed_at)[: len(tables)]
            inputs = self._labelled(tops) if self._config.parser_stack else np.zeros((), dtype=np.float32)
            for table, number in zip(tables, numbers, strict=True):
                inputs = inputs + table[span][places[np.minimum(number, len(places) - 1)]]
            parts.append(inputs)
        return np.concatenate(parts)

    def _labelled(self, tops: TopOfStack) -> FloatArray:
        """Computes the decoder's input from depth and labels, `(tgt_len, d_model)`."""
        depths, opened, completed = (
            self._arrays.values[f"parser_stack.{name}"] for name in ("depths", "opened", "completed")
        )
        inputs: FloatArray = depths[np.minimum(tops.depth, MAX_DEPTH)] + opened[tops.opened] + completed[tops.completed]
        return inputs


def spans_of(sentences: Sequence[Ids]) -> list[slice]:
    """The rows of each sentence, if the tokens of all sentences are one after the other."""
    ends = accumulate((len(ids) for ids in sentences), initial=0)
    return [slice(start, end) for start, end in pairwise(ends)]


def softmax(logits: FloatArray) -> FloatArray:
    """Shares of one along the last axis, in the memory of the logits."""
    logits -= logits.max(axis=-1, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=-1, keepdims=True)
    return logits


def _heads(rows: FloatArray, num_heads: int) -> FloatArray:
    """`(length, num_heads * size)` to `(num_heads, length, size)`."""
    return rows.reshape(len(rows), num_heads, -1).transpose(1, 0, 2)
