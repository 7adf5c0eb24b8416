"""A model's weights in the layout of the native kernels: matrices are packed, the rest is used in place."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from attendo.decoding.step import FloatArray
from attendo.model.config import ModelConfig
from attendo.model.weights.arrays import Array, ModelArrays
from attendo.model.weights.int8_rows import quantize_rows
from attendo.model.words import MAX_DEPTH
from attendo.native.library import PADDED, PRECISIONS, Kernels
from attendo.text.subwords.tokenization import EOS_ID

_PROJECTION, _ENCODER, _DECODER, _DRAFTER, _NEXT_WORD, _PARSER_STACK = 0, 1, 5, 12, 18, 19
"""First index of each group of matrices in `model.h`."""


def pack_weights(kernels: Kernels, handle: int, arrays: ModelArrays, dtype: str) -> list[object]:
    """Hands over all weights of a model.

    Args:
        kernels: the functions to call.
        handle: the handle of the kernels' model.
        arrays: the weights.
        dtype: the dtype of the matrix products, one of `PRECISIONS`.

    Returns:
        The objects that the kernels point to, which have to live as long as the kernels' model.
    """
    packing = _Packing(kernels, handle, arrays, dtype)
    packing.layers()
    packing.embeddings()
    if arrays.config.draft_tokens:
        packing.drafter()
    if arrays.words is not None:
        packing.word_inputs()
    return packing.kept


class _Packing:
    """Hands weights over to the kernels by name.

    Args:
        kernels: the functions to call.
        handle: the handle of the kernels' model.
        arrays: the weights.
        dtype: the dtype of the matrix products.
    """

    def __init__(self, kernels: Kernels, handle: int, arrays: ModelArrays, dtype: str) -> None:
        self.kept: list[object] = []
        self._kernels, self._handle, self._arrays = kernels, handle, arrays
        self._int8, self._precision = dtype == "int8", PRECISIONS.index(dtype)
        self._feed_forward_places = _Places.plain(arrays.config.d_ff)

    def layers(self) -> None:
        """The projection and the layers of both stacks."""
        config, values = self._arrays.config, self._arrays.values
        self._named_matrix(_PROJECTION, 0, "output_weight", values.get("output_bias"))
        for index in range(config.encoder_layers):
            layer = f"encoder_layers.{index}"
            self._self_attention(_ENCODER, index, f"{layer}.self_attention")
            self._feed_forward(_ENCODER + 2, index, layer)
            self._norms(0, index, f"{layer}.self_attention_norm", f"{layer}.feed_forward_norm")
        for index in range(config.decoder_layers):
            layer = f"decoder_layers.{index}"
            across = f"{layer}.encoder_attention"
            self._self_attention(_DECODER, index, f"{layer}.self_attention")
            self._linear(_DECODER + 2, index, f"{across}.query", outputs=_head_places(config, "q"))
            self._linear(_DECODER + 3, index, f"{across}.key_value", outputs=_head_places(config, "kv"))
            self._linear(_DECODER + 4, index, f"{across}.output", inputs=_head_places(config, "v"))
            self._feed_forward(_DECODER + 5, index, layer)
            self._norms(2, index, f"{layer}.self_attention_norm", f"{across}_norm", f"{layer}.feed_forward_norm")

    def embeddings(self) -> None:
        """Hands over the embedding matrices, a shared one once."""
        names = (self._arrays.source_embedding, self._arrays.target_embedding)
        pointers = {name: self._embedding(name) for name in dict.fromkeys(names)}
        for side, name in enumerate(names):
            self._kernels.call("model_embedding", self._handle, side, *pointers[name])

    def drafter(self) -> None:
        """Packs the drafter and its output matrix, some products computed beforehand; see `Drafter.adjusted`."""
        arrays, config = self._arrays, self._arrays.config
        self._linear(_DRAFTER, 0, "drafter.joined")
        self._linear(_DRAFTER + 1, 0, "drafter.attention.query", outputs=_head_places(config, "q"))
        self._linear(_DRAFTER + 2, 0, "drafter.attention.output", inputs=_head_places(config, "v"))
        self._feed_forward(_DRAFTER + 3, 0, "drafter")
        for number, name in enumerate(("joined_norm", "attention_norm", "feed_forward_norm"), start=5):
            self._norms(number, 0, f"drafter.{name}")
        ids = arrays.shortlist()
        rows, beside = arrays.floats("output_weight")[ids], arrays.floats("drafter.beside.weight")
        own, before = beside[:, : config.d_model], beside[:, config.d_model :]
        output_bias = arrays.values.get("output_bias")
        bias = np.zeros(len(ids), dtype=np.float32) if output_bias is None else output_bias[ids]
        self._matrix(
            _DRAFTER + 5, 0, np.concatenate((own, rows)),
            np.concatenate((arrays.values["drafter.beside.bias"], bias)),
        )  # fmt: skip
        befores = arrays.embedded(arrays.target_embedding, ids) @ before.T
        adjusted = rows @ arrays.floats("drafter.adjustment.weight")
        shifts = rows @ arrays.values["drafter.adjustment.bias"]
        tables = (arrays.values["drafter.places"], ids, befores, adjusted, shifts)
        self._kernels.call("model_drafter", self._handle, *map(self._keep, tables))

    def word_inputs(self) -> None:
        """Packs the embeddings of the next word and of the top of the parser's stack."""
        words = self._arrays.words
        assert words is not None
        self._linear(_NEXT_WORD, 0, "next_word.memory")
        begins, writes = self._keep(words.begins), self._keep(words.writes)
        self._kernels.call("model_next_word", self._handle, begins, writes, EOS_ID)
        if self._arrays.config.parser_stack:
            self._linear(_PARSER_STACK, 0, "parser_stack.memory")
            tables = [self._arrays.values[f"parser_stack.{name}"] for name in ("depths", "opened", "completed")]
            pointers = map(self._keep, (*tables, words.kinds))
            self._kernels.call("model_parser_stack", self._handle, *pointers, MAX_DEPTH)

    def _embedding(self, name: str) -> tuple[int | None, int | None, int | None]:
        """Locates an embedding matrix: its numbers, or its codes and scales."""
        if not self._int8:
            return self._keep(self._arrays.floats(name)), None, None
        codes, scales = self._arrays.codes(name)
        return None, self._keep(codes), self._keep(scales)

    def _self_attention(self, which: int, index: int, name: str) -> None:
        config = self._arrays.config
        self._linear(which, index, f"{name}.query_key_value", outputs=_head_places(config, "qkv"))
        self._linear(which + 1, index, f"{name}.output", inputs=_head_places(config, "v"))

    def _feed_forward(self, which: int, index: int, layer: str) -> None:
        self._linear(which, index, f"{layer}.feed_forward.inner", outputs=self._feed_forward_places)
        self._linear(which + 1, index, f"{layer}.feed_forward.outer", inputs=self._feed_forward_places)

    def _linear(
        self, which: int, layer: int, name: str, *, outputs: "_Places | None" = None, inputs: "_Places | None" = None
    ) -> None:
        self._named_matrix(which, layer, f"{name}.weight", self._arrays.bias(name), outputs=outputs, inputs=inputs)

    def _named_matrix(
        self,
        which: int,
        layer: int,
        name: str,
        bias: FloatArray | None,
        *,
        outputs: "_Places | None" = None,
        inputs: "_Places | None" = None,
    ) -> None:
        if self._int8:
            codes, scales = self._arrays.codes(name)
            self._hand_over(which, layer, codes, scales, bias, outputs=outputs, inputs=inputs)
        else:
            self._hand_over(which, layer, self._arrays.floats(name), None, bias, outputs=outputs, inputs=inputs)

    def _matrix(self, which: int, layer: int, weight: FloatArray, bias: FloatArray) -> None:
        """A matrix without a name."""
        values, scales = quantize_rows(weight) if self._int8 else (weight, None)
        self._hand_over(which, layer, values, scales, bias)

    def _hand_over(
        self,
        which: int,
        layer: int,
        values: Array,
        scales: FloatArray | None,
        bias: FloatArray | None,
        *,
        outputs: "_Places | None" = None,
        inputs: "_Places | None" = None,
    ) -> None:
        """Hands over a weight `(outputs, inputs)`, its rows or columns moved to the places that the kernels expect."""
        if outputs is not None:
            values = outputs.spread(values, 0)
            scales = None if scales is None else outputs.spread(scales, 0)
            bias = None if bias is None else outputs.spread(bias, 0)
        if inputs is not None:
            values = inputs.spread(values, 1)
        given = [None if each is None else np.require(each, requirements=("C", "A")) for each in (values, scales, bias)]
        rows, columns = values.shape
        pointers = [None if each is None else each.ctypes.data for each in given]
        floats, codes = (None, pointers[0]) if self._int8 else (pointers[0], None)
        self._kernels.call(
            "model_matrix", self._handle, which, layer, self._precision, rows, columns, floats, codes, *pointers[1:]
        )

    def _norms(self, which: int, layer: int, *names: str) -> None:
        for number, name in enumerate(names, start=which):
            values = self._arrays.values
            gain, bias = (self._keep(values[f"{name}.norm.{kind}"]) for kind in ("weight", "bias"))
            self._kernels.call("model_norm", self._handle, number, layer, gain, bias)

    def _keep(self, values: Array) -> int:
        """The address of values that stay in place as long as the kernels' model.

        Memory-mapped values, which are read-only, are copied, so that a loaded model does not depend on the file.
        """
        kept = np.require(values, requirements=("C", "A", "W"))
        self.kept.append(kept)
        return kept.ctypes.data


class _Places:
    """The positions of rows or columns when every head is padded with zeros to a multiple of `PADDED`."""

    def __init__(self, places: npt.NDArray[np.int64], size: int) -> None:
        self._places, self._size = places, size

    @classmethod
    def plain(cls, size: int) -> "_Places":
        """Keeps the order and adds zeros at the end."""
        return cls(np.arange(size), padded(size))

    @classmethod
    def heads(cls, num_heads: int, sizes: Sequence[int]) -> "_Places":
        """Blocks of `num_heads` heads, one block for each of the sizes."""
        parts, first = [], 0
        for size in sizes:
            starts = first + np.arange(num_heads) * padded(size)
            parts.append((starts[:, None] + np.arange(size)).ravel())
            first += num_heads * padded(size)
        return cls(np.concatenate(parts), first)

    def spread(self, values: Array, axis: int) -> Array:
        """The values with zeros between them."""
        if len(self._places) == self._size:
            return values
        shape = list(values.shape)
        shape[axis] = self._size
        spread = np.zeros(shape, dtype=values.dtype)
        spread[(slice(None),) * axis + (self._places,)] = values
        return spread


def _head_places(config: ModelConfig, letters: str) -> _Places:
    """The layout of a row of concatenated heads: q, k and v."""
    sizes = {"q": config.key_size, "k": config.key_size, "v": config.value_size}
    return _Places.heads(config.num_heads, [sizes[letter] for letter in letters])


def padded(size: int) -> int:
    """A size rounded up to a multiple of `PADDED`."""
    return -(-size // PADDED) * PADDED
