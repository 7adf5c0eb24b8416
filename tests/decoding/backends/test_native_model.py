"""The native kernels against plain torch: the decoder that computes everything again, and int8 in torch."""

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from tests.native.conftest import Story, decode, each_variant, make_stories, random_model

from attendo.decoding.backends.models import decoding_model
from attendo.decoding.backends.native_model import NativeModel
from attendo.decoding.backends.steps import RecomputingStep
from attendo.decoding.backends.torch_model import TorchModel
from attendo.decoding.step import FloatArray
from attendo.model.batch import pad_source
from attendo.model.weights.quantization import quantized
from attendo.native.library import Kernels, find_kernels

# Positions past 32 and 64, where the kernels' memory grows; sentences leave at different times.
LENGTHS = (70, 3, 0, 35, 12)
MODELS: dict[str, dict[str, Any]] = {
    "the paper's": {},
    "odd heads": {"d_k": 6, "d_v": 10, "num_heads": 3},
    "one head of 64": {"d_model": 64, "num_heads": 1},
    "wide heads": {"d_k": 20, "d_v": 70, "d_model": 16, "num_heads": 1},
    "imported": {"activation": "swish", "attention_bias": True, "output_bias": True, "start": 7, "positions": "halves"},
    "odd d_ff": {"d_ff": 37},
    "unscaled": {"attention_function": "dot-product", "d_k": 6, "d_v": 10, "num_heads": 3},
    "learned positions": {"positions": "learned", "max_positions": 80},
    "unequal stacks": {"num_encoder_layers": 3, "num_decoder_layers": 1, "d_model": 48, "layer_norm_eps": 1e-3},
    "two vocabularies": {"vocab_size": (70, 50), "shared_embeddings": "none", "output_bias": True},
    "two vocabularies, two matrices": {"vocab_size": (30, 90), "shared_embeddings": "target"},
    "next word": {"next_word": True},
    "parser stack": {"next_word": True, "parser_stack": True, "d_model": 48},
    "next word, two vocabularies": {"next_word": True, "vocab_size": (70, 30), "shared_embeddings": "none", "start": 7},
    "a few tokens": {"vocab_size": 9},
    "a chunk": {"vocab_size": 512},
    "a chunk and one": {"vocab_size": 513, "output_bias": True},
    "several chunks": {"vocab_size": 1700},
}


def sizes_of(name: str) -> tuple[int, int]:
    sizes = MODELS[name].get("vocab_size", 40)
    return sizes if isinstance(sizes, tuple) else (sizes, sizes)


def stories_of(name: str) -> list[Story]:
    return make_stories(LENGTHS, sizes_of(name), with_eos=MODELS[name].get("next_word", False))


@cache
def reference(name: str) -> list[list[FloatArray]]:
    """Log-probabilities of a model's stories, computed again at each position in plain torch."""
    model = random_model(**MODELS[name])
    return decode(lambda sources: RecomputingStep(model, *pad_source(sources)), stories_of(name))


@cache
def int8_reference(name: str) -> list[list[FloatArray]]:
    """The same of a model whose weights and rows are codes, in plain torch."""
    return decode(TorchModel(quantized(random_model(**MODELS[name]))).step, stories_of(name))


@each_variant
@pytest.mark.parametrize("name", MODELS)
def test_float32_log_probs_are_those_computed_again(kernels: Kernels, name: str) -> None:
    native = NativeModel(random_model(**MODELS[name]), dtype="float32", kernels=kernels)
    found = decode(native.step, stories_of(name))
    for sentence, expected in zip(found, reference(name), strict=True):
        for at, (one, other) in enumerate(zip(sentence, expected, strict=True)):
            np.testing.assert_allclose(one, other, atol=1e-5, rtol=0, err_msg=f"position {at}")


@each_variant
def test_long_texts(kernels: Kernels) -> None:
    model = random_model(num_layers=1)
    native = NativeModel(model, dtype="float32", kernels=kernels)
    ids = np.random.default_rng(5).integers(40, size=(2, 1100)).tolist()
    found = native.token_log_probs([ids[0], ids[0][:40]], [ids[1], ids[1][:3]])
    torch.testing.assert_close(found, TorchModel(model).token_log_probs([ids[0], ids[0][:40]], [ids[1], ids[1][:3]]))


@each_variant
@pytest.mark.parametrize("name", ["the paper's", "odd heads", "imported", "two vocabularies", "next word"])
def test_bfloat16_is_near_float32(kernels: Kernels, name: str) -> None:
    native = NativeModel(random_model(**MODELS[name]), dtype="bfloat16", kernels=kernels)
    found = decode(native.step, stories_of(name))
    differences = np.concatenate(
        [np.abs(one - other).ravel() for each, others in zip(found, reference(name), strict=True)
         for one, other in zip(each, others, strict=True)]
    )  # fmt: skip
    # bfloat16 has 8 bits: 0.4% of numbers around 1, in some ten roundings one after the other.
    assert 1e-4 < differences.mean() < 0.03


@each_variant
@pytest.mark.parametrize(
    "name", ["the paper's", "odd heads", "imported", "two vocabularies", "several chunks", "next word"]
)
def test_int8_is_int8_in_torch(kernels: Kernels, name: str) -> None:
    found = decode(NativeModel(random_model(**MODELS[name]), dtype="int8", kernels=kernels).step, stories_of(name))
    pairs = [
        (one[row], other[row], exact[row])
        for each, others, exacts in zip(found, int8_reference(name), reference(name), strict=True)
        for one, other, exact in zip(each, others, exacts, strict=True)
        for row in range(len(one))
    ]
    errors = np.array([np.abs(one - other).max() for one, other, _ in pairs])
    noise = np.array([np.abs(other - exact).max() for _, other, exact in pairs])
    # Sums in another order may put a number on the other side of a half, and it gets the next code. That is rare, and
    # no more than one of all the roundings whose effect is the distance of int8 from float32.
    assert np.mean(errors < 1e-5) > 0.9
    assert errors.max() < noise.max()
    assert noise.max() < 0.1


@each_variant
def test_the_next_word_is_the_one_that_plain_torch_finds(kernels: Kernels) -> None:
    model = random_model(next_word=True, num_layers=1)
    assert model.next_word is not None
    torch.nn.init.normal_(model.next_word.memory.weight)  # so that the wrong word would be far off
    native, plain = NativeModel(model, dtype="float32", kernels=kernels), TorchModel(model)
    # No words, no </s> but at the end, several of them, nothing but words, and more words out than in.
    sources = [[0], [2, 3, 0], [1, 0, 4, 0, 2, 0], [1, 4, 7, 10, 0], [13, 2, 0]]
    targets = [[1, 2, 0], [0], [1, 1, 2, 3, 0], [2, 1, 2, 3, 5, 2, 7, 0], [9, 9, 9, 9, 0]]
    found, expected = native.token_log_probs(sources, targets), plain.token_log_probs(sources, targets)
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)
    # What begins a word is looked up where it stands, so a model may still be told later.
    model.next_word.know(torch.arange(40) % 4 == 2, torch.arange(40) > 5)
    again = native.token_log_probs(sources, targets)
    torch.testing.assert_close(again, plain.token_log_probs(sources, targets), atol=1e-4, rtol=0)
    assert np.abs(again - found).max() > 0.1


def test_what_the_kernels_cannot_run_is_torch() -> None:
    for model in (random_model(d_model=24), random_model().double(), random_model(attention_function="additive")):
        assert decoding_model(model).kernel == "torch float32"
    assert decoding_model(random_model(d_model=24), dtype="int8").kernel == "torch int8"
    assert decoding_model(random_model(), native=False).kernel == "torch float32"


def test_the_best_kernels_are_taken_and_named() -> None:
    found = find_kernels().kernels
    if found is None:
        pytest.skip(find_kernels().reason)
    for dtype in ("float32", "bfloat16", "int8"):
        assert decoding_model(random_model(), dtype=dtype).kernel == f"native {found.variant} {dtype}"
