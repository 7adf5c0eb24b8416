"""A sentence's log-probabilities are the same bits alone, at any place in any batch, with any number of threads."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from tests.native.conftest import assert_same_bits, decode, each_variant, make_stories, random_model

from attendo.decoding.backends.native_model import Dtype, NativeModel
from attendo.native.library import Kernels, available_kernels

# More rows than a tile has, and chunks of the vocabulary that do not divide evenly among threads.
LENGTHS = (34, 0, 9, 2, 9, 20, 5, 1, 12, 4, 8)
VOCAB_SIZE = 1100
DTYPES: tuple[Dtype, ...] = ("float32", "bfloat16", "int8")

_FUSED = ("avx2", "avx512vnni", "avx512bf16", "avx512amx")

each_dtype = pytest.mark.parametrize("dtype", DTYPES)


@each_variant
@each_dtype
def test_alone_in_a_batch_and_with_threads(kernels: Kernels, dtype: Dtype) -> None:
    model = random_model(VOCAB_SIZE, d_k=6, d_v=20, activation="swish", attention_bias=True)
    native = NativeModel(model, dtype=dtype, kernels=kernels)
    stories = make_stories(LENGTHS, (VOCAB_SIZE, VOCAB_SIZE))
    alone = [decode(native.step, [story])[0] for story in stories]
    # Sessions are used again: by more sentences, by fewer, and by longer ones.
    for order, threads in (
        (range(11), 1), ((10, 3, 0, 7, 5), 1), ((2, 9), 1), ((8, 6, 4, 1), 1), ((0, 5), 1),
        ((9, 2, 7, 10, 1), 2), ((5,), 2), ((3, 5, 8), 3), ((4,), 3),
    ):  # fmt: skip
        step = partial(native.step, threads=threads)
        for sentence, found in zip(order, decode(step, [stories[i] for i in order]), strict=True):
            assert_same_bits(alone[sentence], found)


@each_variant
@each_dtype
def test_where_each_hypothesis_is_told_where_it_is(kernels: Kernels, dtype: Dtype) -> None:
    native = NativeModel(random_model(VOCAB_SIZE, next_word=True, parser_stack=True), dtype=dtype, kernels=kernels)
    stories = make_stories(LENGTHS[:5], (VOCAB_SIZE, VOCAB_SIZE), seed=1)
    alone = [decode(native.step, [story])[0] for story in stories]
    for order, threads in (((3, 0, 4, 1, 2), 1), ((1, 4), 2), ((2, 3, 0), 1)):
        step = partial(native.step, threads=threads)
        for sentence, found in zip(order, decode(step, [stories[i] for i in order]), strict=True):
            assert_same_bits(alone[sentence], found)


@each_variant
@each_dtype
def test_while_other_threads_decode_other_batches(kernels: Kernels, dtype: Dtype) -> None:
    native = NativeModel(random_model(VOCAB_SIZE), dtype=dtype, kernels=kernels)
    stories = make_stories(LENGTHS, (VOCAB_SIZE, VOCAB_SIZE))
    alone = [decode(native.step, [story])[0] for story in stories]
    batches = [[0, 1, 2], [3, 4, 5, 6, 7], [8], [9, 10], [5, 0], [4, 4, 4], [10, 1]]

    def work(number: int) -> None:
        step = partial(native.step, threads=1 + (number == 3))
        for sentence, found in zip(batches[number], decode(step, [stories[i] for i in batches[number]]), strict=True):
            assert_same_bits(alone[sentence], found)

    with ThreadPoolExecutor(3) as pool:
        assert len(list(pool.map(work, range(len(batches))))) == len(batches)


@pytest.mark.parametrize(
    "shape",
    [
        {"d_model": 32, "d_ff": 96},
        {"d_model": 80, "d_ff": 240, "d_k": 20, "d_v": 12, "activation": "swish"},
        {"d_model": 128, "d_ff": 384, "num_heads": 4},  # d_k = 32, and below 64, which have kernels of their own
        {"d_model": 128, "d_ff": 384, "attention_bias": True},
    ],
    ids=str,
)
def test_int8_is_the_same_bits_by_all_vector_instructions(shape: dict[str, Any]) -> None:
    """With registers of 8 and 16 floats; `test_aarch64.py` has those of 4. Portable x86 has no fused products."""
    variants = [kernels for kernels in available_kernels() if kernels.variant in _FUSED]
    if len(variants) < 2:
        pytest.skip("this processor or this build has at most one of these variants")
    model = random_model(VOCAB_SIZE, **shape)
    # Up to 78 rows, down to two.
    stories = make_stories((8, 8, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 1, 0) * 2, (VOCAB_SIZE, VOCAB_SIZE))
    first, *others = (decode(NativeModel(model, dtype="int8", kernels=kernels).step, stories) for kernels in variants)
    for other in others:
        for one, found in zip(first, other, strict=True):
            assert_same_bits(one, found)
