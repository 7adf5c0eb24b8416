"""What a step is asked: the k best, given tokens and all, of known logits; and int8 codes seen from outside."""

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import pytest
import torch
from tests.native.conftest import as_ids, each_variant, model_with_hidden, random_model

from attendo.decoding.backends.native_model import Dtype, NativeModel, NativeStep
from attendo.decoding.backends.torch_model import TorchModel
from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.constraint import Rules
from attendo.decoding.searches.search import search
from attendo.decoding.step import FloatArray, Limits
from attendo.errors import ModelError
from attendo.model.transformer import Transformer
from attendo.model.weights.quantization import quantized
from attendo.native.library import Kernels

D_MODEL = 16
SOURCES = [[1, 2, 0], [3, 0], [4, 4, 4, 1, 0], [0], [2, 0]]
SEVERAL_CHUNKS = 1300


def model_with_logits(logits: FloatArray, bias: FloatArray | None = None) -> Transformer:
    """A model that gives these logits for every row: 1 times the first column of its output matrix."""
    output = np.zeros((len(logits), D_MODEL), dtype=np.float32)
    output[:, 0] = logits
    return model_with_hidden([1.0] + [0.0] * (D_MODEL - 1), output, bias)


def step_with_logits(
    logits: FloatArray, kernels: Kernels, *, threads: int = 1, dtype: Dtype = "float32", bias: FloatArray | None = None
) -> NativeStep:
    native = NativeModel(model_with_logits(logits, bias), dtype=dtype, kernels=kernels)
    return native.step(SOURCES, threads=threads).start()


def log_softmax(logits: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """In float64, by definition."""
    shifted = logits.astype(np.float64) - float(logits.max())
    return shifted - float(np.log(np.exp(shifted).sum()))


def some_logits(size: int, *, distinct: int | None = None, seed: int = 0) -> FloatArray:
    """Random logits; few distinct values make ties."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(scale=3, size=size) if distinct is None else rng.integers(distinct, size=size) / 2
    return logits.astype(np.float32)


def limits_from(rows: Sequence[Sequence[int]], only: Sequence[bool] | None = None) -> Limits:
    """Each row's list; what may not be chosen, but in the rows of `only` what alone may be."""
    ids = as_ids([token for row in rows for token in sorted(row)])
    return Limits(offsets=np.cumsum([0, *map(len, rows)]), ids=ids, only=np.array(only or [False] * len(rows)))


def best_of(logits: FloatArray, k: int, banned: Sequence[int] = ()) -> list[int]:
    """By sorting all: largest first, of equal ones the lower id."""
    return sorted(set(range(len(logits))) - set(banned), key=lambda token: (-logits[token], token))[:k]


@each_variant
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("size", [20, 32, 512, SEVERAL_CHUNKS])
@pytest.mark.parametrize("distinct", [None, 1, 4])
def test_top_k_is_the_beginning_of_all_in_order(
    kernels: Kernels, threads: int, size: int, distinct: int | None
) -> None:
    logits = some_logits(size, distinct=distinct)
    step = step_with_logits(logits, kernels, threads=threads)
    everything = step.all()
    np.testing.assert_allclose(everything, np.tile(log_softmax(logits), (5, 1)), atol=2e-6)
    for k in (0, 1, 2, 7, 64, size, size + 3):
        values, ids = step.top_k(k)
        assert ids.tolist() == [best_of(logits, k)] * 5
        np.testing.assert_array_equal(values, np.take_along_axis(everything, ids, axis=1))
    asked = np.random.default_rng(1).integers(size, size=(5, 40))
    np.testing.assert_array_equal(step.of(asked), np.take_along_axis(everything, asked, axis=1))
    assert step.of(asked[:, :0]).shape == (5, 0)


@each_variant
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("distinct", [None, 4])
def test_banned_tokens_are_passed_over(kernels: Kernels, threads: int, distinct: int | None) -> None:
    logits = some_logits(SEVERAL_CHUNKS, distinct=distinct)
    best = best_of(logits, 20)
    random = np.random.default_rng(2).permutation(SEVERAL_CHUNKS)[:900].tolist()
    rows: list[Sequence[int]] = [[], [best[0]], best, random, [0, 511, 512, SEVERAL_CHUNKS - 1]]
    step = step_with_logits(logits, kernels, threads=threads)
    everything = step.all()
    for k in (1, 5, 40):
        values, ids = step.top_k(k, limits_from(rows))
        assert ids.tolist() == [best_of(logits, k, row) for row in rows]
        np.testing.assert_array_equal(values, np.take_along_axis(everything, ids, axis=1))
    np.testing.assert_array_equal(step.all(), everything)
    assert step.top_k(3)[1].tolist() == [best[:3]] * 5


@each_variant
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("distinct", [None, 4])
def test_rows_that_have_a_list_choose_from_it_alone(kernels: Kernels, threads: int, distinct: int | None) -> None:
    logits = some_logits(SEVERAL_CHUNKS, distinct=distinct)
    random = np.random.default_rng(5).permutation(SEVERAL_CHUNKS)[:300].tolist()
    rows: list[Sequence[int]] = [[7], random, [0, 511, 512, SEVERAL_CHUNKS - 1], best_of(logits, 3), random]
    only = [True, True, True, False, False]
    step = step_with_logits(logits, kernels, threads=threads)
    everything = step.all()
    for k in (1, 4, 40):
        values, ids = step.top_k(k, limits_from(rows, only))
        for row, (listed, alone) in enumerate(zip(rows, only, strict=True)):
            left = sorted(listed, key=lambda token: (-logits[token], token))[:k]
            left = left if alone else best_of(logits, k, listed)
            assert ids[row, : len(left)].tolist() == left
            np.testing.assert_array_equal(values[row, : len(left)], everything[row, left])
            assert np.isneginf(values[row, len(left) :]).all()
    assert np.isneginf(step.top_k(2, limits_from([[]] * 5, [True] * 5))[0]).all()
    np.testing.assert_array_equal(step.all(), everything)


@each_variant
def test_where_fewer_are_left_the_rest_is_impossible(kernels: Kernels) -> None:
    logits = some_logits(600)
    rows: list[Sequence[int]] = [range(600), range(599), range(3, 600), range(590), range(1, 600)]
    values, ids = step_with_logits(logits, kernels, threads=2).top_k(4, limits_from(rows))
    for row, number_left in enumerate((0, 1, 3, 4, 1)):
        assert ids[row, :number_left].tolist() == best_of(logits, 4, rows[row])
        assert np.isfinite(values[row, :number_left]).all()
        assert np.isneginf(values[row, number_left:]).all()
        assert ((ids[row] >= 0) & (ids[row] < 600)).all()


@each_variant
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8"])
def test_extreme_logits(kernels: Kernels, dtype: Dtype) -> None:
    # Multiples of 1/4 below 64 are bfloat16 numbers.
    logits = (np.random.default_rng(3).integers(-255, 256, size=700) / 4).astype(np.float32)
    for scale in (1, 4, 1000) if dtype == "float32" else (1, 4):
        step = step_with_logits(logits * scale, kernels, dtype=dtype)
        np.testing.assert_allclose(step.all()[0], log_softmax(logits * scale), rtol=1e-6, atol=1e-5)


@each_variant
def test_a_chunk_of_impossible_tokens(kernels: Kernels) -> None:
    logits, bias = some_logits(1025), np.zeros(1025, dtype=np.float32)
    bias[:512] = bias[1024:] = -np.inf
    step = step_with_logits(logits, kernels, bias=bias)
    np.testing.assert_allclose(step.all()[1, 512:1024], log_softmax(logits[512:1024]), atol=2e-6)
    assert np.isneginf(step.all()[:, :512]).all()
    assert step.top_k(3)[1].tolist() == [[512 + token for token in best_of(logits[512:1024], 3)]] * 5


@each_variant
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("place", [0, 17, 700])
def test_what_is_no_number_is_reported(kernels: Kernels, threads: int, value: float, place: int) -> None:
    logits = some_logits(701)
    logits[place] = value
    model = NativeModel(model_with_logits(logits), dtype="float32", kernels=kernels)
    step = model.step(SOURCES, threads=threads).start()
    assert np.isnan(step.top_k(2)[0]).all()
    assert np.isnan(step.of(np.full((5, 1), 3))).all()
    rules = [Rules(max_len=3)] * 5
    for config in (SearchConfig(beam_size=1), SearchConfig(beam_size=4)):
        with pytest.raises(ModelError, match="not numbers"):
            search(model.step(SOURCES), rules, eos_id=0, config=config)


@each_variant
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8"])
@pytest.mark.parametrize("bits", [0x7FC00000, 0x7F800001, 0x7FFFFFFF, -1])
def test_damaged_weights_anywhere_are_reported(kernels: Kernels, dtype: Dtype, bits: int) -> None:
    model = random_model(attention_bias=True)
    values_of = {name: values.data for name, values in model.named_parameters()}
    for name, _ in random_model().named_parameters():
        intact = values_of[name].clone()
        values_of[name].view(-1)[::7].view(torch.int32).fill_(bits)
        step = NativeModel(model, dtype=dtype, kernels=kernels).step([[5, 7, 14, 21]]).start()
        step = step.advance(as_ids([7]))
        assert np.isnan(step.top_k(1)[0]).all(), name
        values_of[name].copy_(intact)
    step = NativeModel(model, dtype=dtype, kernels=kernels).step([[5, 7, 14, 21]]).start()
    assert np.isfinite(step.advance(as_ids([7])).top_k(1)[0]).all(), "what was damaged is intact again"


def int8_codes_seen(hidden: Sequence[float], kernels: Kernels) -> tuple[FloatArray, FloatArray]:
    """Each number of a hidden state as its code times 127 * 1e38 / 127 / 127 times its scale, native and in torch."""
    # Row j of the output matrix asks for the hidden state's number j; the last row asks for nothing.
    output = np.concatenate((np.eye(len(hidden)), np.zeros((1, len(hidden))))).astype(np.float32)
    if max(map(abs, hidden)) < 1:
        output *= 1e38
    model = model_with_hidden(hidden, output)
    native = NativeModel(model, dtype="int8", kernels=kernels).step([[1, 0]]).start().all()[0]
    plain = TorchModel(quantized(model)).step([[1, 0]]).start().all()[0]
    return native - native[-1], plain - plain[-1]


@each_variant
def test_halves_are_rounded_to_even(kernels: Kernels) -> None:
    hidden = [127.0, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 3.49, 3.51, -126.5, -125.5, 125.5, 0.49, -0.51, 64.5, -127.0]
    seen, _ = int8_codes_seen(hidden, kernels)
    by_hand = [127, 0, 2, 2, 0, -2, -2, 3, 4, -126, -126, 126, 0, -1, 64, -127]
    assert np.rint(seen[:-1]).tolist() == by_hand
    np.testing.assert_allclose(seen[:-1], by_hand, atol=1e-4)


@each_variant
@pytest.mark.parametrize(
    "largest",
    [
        0.0,
        1e-45,
        1e-39,
        3.73e-37,
        3.7320e-37,
        3.7322e-37,
        3.74e-37,
        1e-36,
        1e-20,
        1.0,
        1e20,
        3.4e38,
        math.inf,
        math.nan,
    ],
)
def test_unusual_rows_are_quantised_as_in_torch(kernels: Kernels, largest: float) -> None:
    hidden = [share * largest for share in (1, -1, 0.5, 0.3, -0.004, 0.0039, 0, -0.25) * 2]
    native, plain = int8_codes_seen(hidden, kernels)
    np.testing.assert_allclose(native, plain, rtol=1e-6, atol=1e-6)


@each_variant
def test_the_smallest_numbers_that_have_codes_are_torchs(kernels: Kernels) -> None:
    threshold = np.float32(127) / np.finfo(np.float32).max
    for steps in range(-4, 5):
        largest = (threshold.view(np.int32) + np.int32(steps)).view(np.float32)
        native, plain = int8_codes_seen([float(largest), *[0.0] * 15], kernels)
        np.testing.assert_allclose(native, plain, rtol=1e-6, atol=1e-6)


@each_variant
@pytest.mark.parametrize("width", [16, 48, 512, 2048])
def test_int8_products_are_exact_at_the_extremes(kernels: Kernels, width: int) -> None:
    rng = np.random.default_rng(4)
    hidden = np.where(rng.random(width) < 0.5, 1, -1)
    signs = np.stack([hidden, -hidden, np.ones(width), *rng.choice([-1, 1], size=(30, width))]).astype(np.float32)
    # All codes are 127 or -127: sums of pairs just fit into 16 bits, and sums of all into the integers of float32.
    step = NativeModel(
        model_with_hidden(hidden.tolist(), signs / np.float32(width)), dtype="int8", kernels=kernels
    ).step([[1, 0]])
    sums = (signs * hidden).sum(axis=1)
    np.testing.assert_allclose(step.start().all()[0], log_softmax(sums / width), atol=1e-6)


@each_variant
def test_what_would_be_wild_memory_is_refused(kernels: Kernels) -> None:
    native = NativeModel(random_model((30, 20), shared_embeddings="none"), dtype="float32", kernels=kernels)
    refused = partial(pytest.raises, ModelError, match="the native kernels reject .* token id outside the vocabulary")
    for sources in ([[1, 30]], [[2], [1, 10**9]], [[2], []]):
        with refused():
            native.step(sources)

    def begun() -> NativeStep:
        step = native.step([[29, 1], [2], [3, 4, 5]]).start()
        step.select(np.array([[0, 0], [1, 1], [2, 2]]))
        return step.advance(as_ids([0, 19, 3, 4, -1, 6]))

    assert np.isfinite(begun().all()).all()
    for rows in ([[0, 6]], [[-1, 0]], [[1, 2]], [[0, 1], [1, 0]], [[2, 10**12]], np.zeros((2, 0)), [[0]] * 4):
        with refused():
            begun().select(np.array(rows, dtype=np.int64))
    for ids in ([0, 0, 0, 0, 0, 20], [10**12] * 6):
        with refused():
            begun().advance(as_ids(ids))
    for ids in ([20], [-1]):
        with refused():
            begun().of(as_ids(ids * 6)[:, None])


@each_variant
def test_arrays_of_any_layout(kernels: Kernels) -> None:
    native = NativeModel(random_model(), dtype="float32", kernels=kernels)
    answers = []
    for contiguous in (True, False):
        step = native.step(SOURCES).start()
        rows, ids = np.array([[4, 2, 0]]).repeat(2, 0).T, np.arange(12)[::2]
        step.select(np.ascontiguousarray(rows) if contiguous else rows)
        step.advance(np.ascontiguousarray(ids) if contiguous else ids)
        wide = np.arange(80).reshape(2, 40).T[:6] % 40
        answers.append((step.of(np.ascontiguousarray(wide) if contiguous else wide), step.top_k(3)[1]))
    for one, other in zip(*answers, strict=True):
        np.testing.assert_array_equal(one, other)


@each_variant
def test_all_sentences_may_leave(kernels: Kernels) -> None:
    step = NativeModel(random_model(), dtype="int8", kernels=kernels).step(SOURCES).start()
    step.select(np.empty((0, 3), dtype=np.int64))
    nothing = step.advance(as_ids([]))
    assert nothing.top_k(2)[0].shape == (0, 2)
    assert nothing.all().shape == (0, 40)
