"""A sentence's log-probabilities are the same bits alone, at any place in any batch, with any number of threads."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from tests.native.conftest import assert_same_bits, decode, each_variant, make_stories, random_model

from attendo.decoding.backends.native_model import Dtype, NativeModel
from attendo.native.library import Kernels, available_kernels

# More rows than a tile has, and chunks of the vocabulary that do not divide evenly among threads.
LENGTHS = (34, 0, 9, 2, 9, 20, 5, 1, 12, 4, 8)
VOCAB_SIZE = 1100
DTYPES: tuple[Dtype, ...] = ("float32", "bfloat16", "int8")

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


@pytest.mark.parametrize("d_model", [32, 80, 128])
def test_int8_is_the_same_bits_with_amx_and_without(d_model: int) -> None:
    found = {kernels.variant: kernels for kernels in available_kernels()}
    if "avx512amx" not in found:
        pytest.skip("this processor or this build has no AMX")
    model = random_model(VOCAB_SIZE, d_model=d_model, d_ff=3 * d_model, attention_bias=True)
    # Up to 78 rows, down to two.
    stories = make_stories((8, 8, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 1, 0) * 2, (VOCAB_SIZE, VOCAB_SIZE))
    without, with_amx = (
        decode(NativeModel(model, dtype="int8", kernels=found[name]).step, stories)
        for name in ("avx512vnni", "avx512amx")
    )
    for one, other in zip(without, with_amx, strict=True):
        assert_same_bits(one, other)
