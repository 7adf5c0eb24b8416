"""Attention weights out of arrays; expected values: `Transformer.attention`, in torch, with the same weights."""

import numpy as np
import pytest
import torch
from tests.decoding.backends.test_native_model import MODELS, sizes_of
from tests.native.conftest import random_model

from attendo.decoding.backends.array_attention import ArrayAttention
from attendo.decoding.backends.torch_model import TorchModel
from attendo.decoding.step import FloatArray
from attendo.errors import DataError
from attendo.model.transformer import Transformer
from attendo.model.weights.arrays import ModelArrays
from attendo.model.weights.building import built
from attendo.model.weights.quantization import matrix_names, to_int8

LENGTHS = ((9, 7), (1, 1), (3, 22))


def arrays_of(model: Transformer) -> ModelArrays:
    arrays = model.arrays()
    assert arrays is not None
    return arrays


def pairs_of(name: str) -> tuple[list[list[int]], list[list[int]]]:
    rng, (source, target) = np.random.default_rng(7), sizes_of(name)
    drawn = [(rng.integers(source, size=m).tolist(), rng.integers(target, size=n).tolist()) for m, n in LENGTHS]
    return [[*ids, 0] for ids, _ in drawn], [[*ids, 0] for _, ids in drawn]


def assert_close(found: FloatArray | None, expected: FloatArray | None) -> None:
    assert found is not None
    assert expected is not None
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-4, rtol=0)  # of logits that are sharp, in float32


@pytest.mark.parametrize("name", MODELS)
def test_every_head_of_every_layer_looks_where_it_does_in_torch(name: str) -> None:
    model = random_model(**MODELS[name])
    with torch.no_grad():  # so that heads look somewhere, and words and stacks count
        for parameter, values in model.named_parameters():
            if "attention.query" in parameter or "memory" in parameter or "parser_stack" in parameter:
                values.mul_(3)
    found, expected = ArrayAttention(arrays_of(model)), TorchModel(model)
    sources, targets = pairs_of(name)
    for source, target in zip(sources, targets, strict=True):
        one, other = found.all(source, target), expected.attention(source, target)
        assert_close(one.encoder, other.encoder)
        assert_close(one.decoder, other.decoder)
        assert_close(one.encoder_decoder, other.encoder_decoder)
    for layer in range(1, model.config.decoder_layers + 1):
        ours = found.encoder_decoder(sources, targets, layer)
        theirs = expected.encoder_decoder_attention(sources, targets, layer)
        for heads, others in zip(ours, theirs, strict=True):
            assert_close(heads, others)


def test_stored_int8_is_what_it_stands_for() -> None:
    model = random_model()
    weights = to_int8({name: value.detach() for name, value in model.named_parameters()}, matrix_names(model))
    arrays = ModelArrays(model.config, 40, 40, {name: value.numpy() for name, value in weights.items()})
    found = ArrayAttention(arrays).all([3, 4, 0], [5, 0])
    assert_close(found.encoder_decoder, TorchModel(built(arrays)).attention([3, 4, 0], [5, 0]).encoder_decoder)


def test_longer_than_learned_positions() -> None:
    found = ArrayAttention(arrays_of(random_model(positions="learned", max_positions=5)))
    with pytest.raises(DataError, match=r"a text of 6 tokens is longer than the 5 learned positions of this model"):
        found.all([1] * 6, [1])


def test_others_can_work_between_two_sublayers() -> None:
    model = random_model()
    found = ArrayAttention(arrays_of(model))
    pauses: list[None] = []
    paused = found.all([3, 4, 0], [5, 0], between=lambda: pauses.append(None))
    # Section 3.1: two sublayers in each layer of the encoder, three in the decoder's; none behind the last.
    assert len(pauses) == 2 * model.config.encoder_layers + 2 * model.config.decoder_layers
    np.testing.assert_array_equal(paused.encoder_decoder, found.all([3, 4, 0], [5, 0]).encoder_decoder)

    def stopped() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        found.encoder_decoder([[3, 0]], [[5, 0]], 1, between=stopped)
