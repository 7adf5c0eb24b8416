"""Each layer type of Table 1 within a Transformer: what holds for the paper's layers holds for all."""

from itertools import product
from typing import Any, get_args

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from attendo.decoding.backends.native_model import can_run
from attendo.model.batch import collate
from attendo.model.config import DecoderLayerType, EncoderLayerType, ModelConfig
from attendo.model.mixing.layer_types import mixing_sub_layer
from attendo.model.transformer import Transformer
from attendo.model.weights.parameters import num_weights
from attendo.model.weights.quantization import quantized
from attendo.training.passes.forward import collate_for
from attendo.training.passes.kernels import training_kernels
from attendo.training.passes.packed import PackedBatch

ENCODERS: tuple[EncoderLayerType, ...] = get_args(EncoderLayerType)
DECODERS: tuple[DecoderLayerType, ...] = get_args(DecoderLayerType)
OTHERS = [pair for pair in product(ENCODERS, DECODERS) if pair != ("self-attention", "self-attention")]
SOURCE = [[5, 9, 3, 7, 11, 2, 8, 4, 0], [4, 0], [8, 8, 2, 6, 0]]
TARGET = [[6, 2, 0], [3, 9, 9, 14, 7, 5, 12, 4, 10, 0], [0]]


def shape(encoder: EncoderLayerType, decoder: DecoderLayerType = "self-attention", **sizes: int) -> ModelConfig:
    fitted: dict[str, Any] = {"d_model": 32, "d_ff": 48, "num_layers": 2, "num_heads": 2, "window": 4} | sizes
    return ModelConfig(encoder_layer=encoder, decoder_layer=decoder, dropout=0.0, **fitted)


def model(config: ModelConfig, vocab_size: int = 16) -> Transformer:
    torch.manual_seed(1)
    return Transformer(config, vocab_size, vocab_size).eval()


@pytest.mark.parametrize(("encoder", "decoder"), OTHERS)
def test_padding_and_other_sentences_change_nothing(encoder: EncoderLayerType, decoder: DecoderLayerType) -> None:
    transformer = model(shape(encoder, decoder))
    together = transformer(collate(SOURCE, TARGET, masked=decoder == "self-attention"))
    turned = transformer(collate(SOURCE[::-1], TARGET[::-1]))
    for row, (source, target) in enumerate(zip(SOURCE, TARGET, strict=True)):
        alone = transformer(collate([source], [target]))[0]
        torch.testing.assert_close(together[row, : len(target)], alone, atol=1e-5, rtol=0)
        torch.testing.assert_close(turned[2 - row, : len(target)], alone, atol=1e-5, rtol=0)
    assert not torch.allclose(together[0, 0], together[2, 0], atol=1e-3), "the source matters"


@pytest.mark.parametrize("window", [1, 2, 4, 50])
@pytest.mark.parametrize(("encoder", "decoder"), OTHERS)
def test_steps_with_a_cache_equal_the_whole_target_at_once(
    encoder: EncoderLayerType, decoder: DecoderLayerType, window: int
) -> None:
    transformer = model(shape(encoder, decoder, window=window))
    batch = collate(SOURCE, TARGET)
    whole = transformer(batch)
    cache = transformer.start_cache(transformer.encode(batch.src_ids, batch.src_mask), batch.src_mask)
    for position in range(batch.tgt_ids.shape[1]):
        logits, cache = transformer.step(batch.tgt_in_ids[:, position], cache)
        torch.testing.assert_close(logits, whole[:, position], atol=1e-5, rtol=0)
        kept = cache.written[0]
        assert kept is not None
        most = window if decoder == "restricted-self-attention" else position + 1
        assert kept.keys.shape[2] == kept.values.shape[2] == min(most, position + 1)


@pytest.mark.parametrize(
    ("encoder", "reach"),
    [
        ("self-attention", 30),
        ("recurrent", 30),
        ("convolutional", 2),
        ("dilated-convolutional", 4),
        ("separable-convolutional", 2),
        ("restricted-self-attention", 4),
    ],
)
def test_how_far_two_layers_see(encoder: EncoderLayerType, reach: int) -> None:
    """By the gradient: 1 + 1 positions ahead for a kernel of 3, 1 + 3 where it is dilated, 2 + 2 for a window of 5."""
    config = shape(encoder, window=5)
    hidden = torch.randn(1, 30, 32, dtype=torch.double, requires_grad=True)
    output: Tensor = hidden
    for index in range(2):
        output = mixing_sub_layer(config, index).double()(output, None)
    (gradient,) = torch.autograd.grad(output[0, 10].sum(), hidden)
    seen = gradient[0].abs().sum(dim=1).nonzero().flatten().tolist()
    assert seen == list(range(max(0, 10 - reach), min(30, 10 + reach + 1)))


@pytest.mark.parametrize("encoder", ENCODERS)
def test_a_new_encoder_keeps_its_positions_apart(encoder: EncoderLayerType) -> None:
    torch.manual_seed(0)
    transformer = model(shape(encoder, d_model=64, num_layers=6, window=9), vocab_size=100)
    memory = F.normalize(transformer.encode(torch.randint(100, (4, 25)), None), dim=-1)
    cosines = memory @ memory.transpose(1, 2)
    assert (cosines.sum() - 4 * 25) / (4 * 25 * 24) < 0.5


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("kernel_size", [1, 5])
def test_weights_are_counted_as_they_are(encoder: EncoderLayerType, kernel_size: int) -> None:
    config = shape(encoder, kernel_size=kernel_size)
    assert num_weights(config, 16, 16) == model(config).num_parameters


def test_restricted_layers_have_the_weights_of_the_papers() -> None:
    full, restricted = model(shape("self-attention")), model(shape("restricted-self-attention", DECODERS[1], window=64))
    restricted.load_state_dict(full.state_dict())
    batch = collate(SOURCE, TARGET)
    torch.testing.assert_close(restricted(batch), full(batch), atol=1e-5, rtol=0)


@pytest.mark.parametrize(("encoder", "decoder"), OTHERS)
def test_int8_is_near_and_its_cache_right(encoder: EncoderLayerType, decoder: DecoderLayerType) -> None:
    transformer, batch = model(shape(encoder, decoder)), collate(SOURCE, TARGET)
    low = quantized(transformer)
    found, exact = low(batch), transformer(batch)
    assert (found - exact).abs().max() < 0.1 * exact.abs().max()
    cache = low.start_cache(low.encode(batch.src_ids, batch.src_mask), batch.src_mask)
    for position in range(batch.tgt_ids.shape[1]):
        logits, cache = low.step(batch.tgt_in_ids[:, position], cache)
        torch.testing.assert_close(logits, found[:, position], atol=2e-2, rtol=0)


@pytest.mark.parametrize(("encoder", "decoder"), OTHERS)
def test_kernels_step_aside(encoder: EncoderLayerType, decoder: DecoderLayerType) -> None:
    transformer = model(shape(encoder, decoder))
    assert training_kernels(transformer.config, torch.device("cpu")) is None
    assert not can_run(transformer)
    batch = collate_for(transformer)(SOURCE, TARGET)
    assert not isinstance(batch, PackedBatch)
    # A mask of n x n is what restricted attention is there to avoid.
    assert (batch.tgt_mask is None) == (decoder == "restricted-self-attention")


@pytest.mark.parametrize("encoder", ["recurrent", "convolutional", "dilated-convolutional", "separable-convolutional"])
def test_an_encoder_without_attention_has_weights_of_no_layer(encoder: EncoderLayerType) -> None:
    transformer, batch = model(shape(encoder)), collate(SOURCE, TARGET)
    weights, looked = transformer.attention(batch), transformer.encoder_decoder_attention(batch, layer=1)
    assert len(weights.encoder) == 0
    torch.testing.assert_close(weights.encoder_decoder[0], looked)
    torch.testing.assert_close(looked.sum(dim=-1), torch.ones(looked.shape[:-1]))


def test_restricted_attention_maps_are_bands() -> None:
    transformer = model(shape("restricted-self-attention", "restricted-self-attention"))
    found = transformer.attention(collate(SOURCE[:1], TARGET[1:2], masked=False))
    for weights, behind, ahead in ((found.encoder, 2, 1), (found.decoder, 3, 0)):
        size = weights.shape[-1]
        expected = [[i - behind <= j <= i + ahead for j in range(size)] for i in range(size)]
        assert (weights[1, 0, 1] > 0).tolist() == expected
