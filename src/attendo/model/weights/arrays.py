"""A Transformer's weights as numpy arrays, for decoding without torch."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from attendo.model.config import ModelConfig
from attendo.model.weights.int8_rows import Codes, FloatArray, dequantize_rows, quantize_rows, scales_name
from attendo.model.words import WordTables

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class ModelArrays:
    """A Transformer's shape, and its weights in main memory."""

    config: ModelConfig
    src_vocab_size: int
    tgt_vocab_size: int
    values: Mapping[str, Array]
    """The weights by the names of `Transformer.named_parameters()`: float32, or int8 codes with float32 scales as
    `NAME.scales`."""
    words: WordTables | None = None
    """The vocabularies' word tables, for a model with `next_word`."""

    def arrays(self) -> "ModelArrays":
        """Returns itself; a `Transformer` returns its own weights."""
        return self

    def floats(self, name: str) -> FloatArray:
        """A weight in float32, whatever its stored type."""
        scales = self.values.get(scales_name(name))
        return self.values[name] if scales is None else dequantize_rows(self.values[name], scales)

    def codes(self, name: str) -> tuple[Codes, FloatArray]:
        """Returns a matrix `(rows, columns)` in int8 and its rows' scales, as stored or by rounding."""
        scales = self.values.get(scales_name(name))
        return quantize_rows(self.values[name]) if scales is None else (self.values[name], scales)

    def bias(self, name: str) -> FloatArray | None:
        """Returns the bias of a linear layer; None if it has none."""
        return self.values.get(f"{name}.bias")

    @property
    def source_embedding(self) -> str:
        """The name of the source's embedding matrix."""
        return "output_weight" if self.config.shared_embeddings == "all" else "source_embedding.weight"

    @property
    def target_embedding(self) -> str:
        """The name of the target's embedding matrix."""
        return "target_embedding.weight" if self.config.shared_embeddings == "none" else "output_weight"

    def embedded(self, name: str, ids: Sequence[int] | npt.NDArray[np.int64]) -> FloatArray:
        """Embeddings times sqrt(d_model), float32 `(ids, d_model)`; `START` is the zero vector.

        Args:
            name: the name of the embedding matrix.
            ids: int64 `(ids,)`.
        """
        places = np.asarray(ids, dtype=np.int64)
        rows = np.maximum(places, 0)
        found: FloatArray = self.values[name][rows].astype(np.float32)
        scales = self.values.get(scales_name(name))
        if scales is not None:
            found *= scales[rows, None]
        found *= np.float32(math.sqrt(self.config.d_model))
        found[places < 0] = 0
        return found

    def shortlist(self) -> npt.NDArray[np.int64]:
        """The ids that a drafter proposes."""
        ids: npt.NDArray[np.int64] = self.values["drafter.shortlist"].astype(np.int64)
        return ids


class HasArrays(Protocol):
    """A `Transformer`, or its arrays where torch is not used."""

    def arrays(self) -> ModelArrays | None:
        """The weights as arrays; None if they are not float32 or int8 in main memory."""
