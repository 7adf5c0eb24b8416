"""Attention of made-up pairs, shared by the tests of this folder."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from attendo.attention_maps.weights import AttentionMap


@pytest.fixture
def random_map() -> Callable[..., AttentionMap]:
    """Gives a function from pieces to a map: random rows that sum to 1, one encoder layer, two decoder layers."""

    def rows(*shape: int, causal: bool = False) -> NDArray[np.float32]:
        raw = np.random.default_rng(sum(shape)).random(shape) ** 4
        raw = raw * np.tri(shape[-1]) if causal else raw
        normalised: NDArray[np.float32] = (raw / raw.sum(axis=-1, keepdims=True)).astype(np.float32)
        return normalised

    def make(source: tuple[str, ...], target: tuple[str, ...], num_heads: int = 3) -> AttentionMap:
        src_len, tgt_len = len(source), len(target)
        return AttentionMap(
            source=source,
            target=target,
            encoder=rows(1, num_heads, src_len, src_len),
            decoder=rows(2, num_heads, tgt_len, tgt_len, causal=True),
            cross=rows(2, num_heads, tgt_len, src_len),
        )

    return make
