"""Restricted self-attention against torch's attention over all positions with a mask that is a band."""

from dataclasses import replace
from itertools import product

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from attendo.model.attention import KeysValues, SelfAttention
from attendo.model.batch import causal_mask
from attendo.model.config import AttentionFunction, ModelConfig
from attendo.model.mixing.layer_types import decoder_self_attention, encoder_self_attention
from attendo.model.mixing.restricted import RestrictedSelfAttention

SHAPE = ModelConfig(d_model=12, num_heads=3, d_k=4, d_v=5, attention_bias=True)
LENGTHS = (1, 2, 7, 63, 64, 130, 193, 300)


def restricted(behind: int, ahead: int, function: AttentionFunction = "scaled-dot-product") -> RestrictedSelfAttention:
    torch.manual_seed(behind + ahead)
    made = RestrictedSelfAttention(replace(SHAPE, attention_function=function), behind=behind, ahead=ahead)
    return made.double()


def band(length: int, behind: int, ahead: int) -> Tensor:
    """Row by row, which positions each sees."""
    rows = [[i - behind <= j <= i + ahead for j in range(length)] for i in range(length)]
    return torch.tensor(rows)


def torchs(layer: SelfAttention, hidden: Tensor, mask: Tensor) -> Tensor:
    """What torch's own function gives with a mask, `(batch, 1, length, length)`."""
    query, seen = layer.project(hidden)
    looked = F.scaled_dot_product_attention(query, seen.keys, seen.values, attn_mask=mask)
    joined: Tensor = layer.output(looked.transpose(1, 2).flatten(2))
    return joined


def gradients(layer: SelfAttention, hidden: Tensor, output: Tensor, upstream: Tensor) -> tuple[Tensor, ...]:
    return torch.autograd.grad((output * upstream).sum(), [hidden, *layer.parameters()], retain_graph=True)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize(("behind", "ahead"), [(0, 0), (1, 0), (0, 2), (3, 2), (31, 0), (40, 39), (149, 0), (200, 199)])
def test_it_is_attention_with_a_band_for_a_mask(length: int, behind: int, ahead: int) -> None:
    layer = restricted(behind, ahead)
    hidden = torch.randn(2, length, SHAPE.d_model, dtype=torch.double, requires_grad=True)
    ours, theirs = layer(hidden, None), torchs(layer, hidden, band(length, behind, ahead)[None, None])
    torch.testing.assert_close(ours, theirs)
    upstream = torch.randn_like(ours)
    both = zip(*(gradients(layer, hidden, output, upstream) for output in (ours, theirs)), strict=True)
    for found, expected in both:
        torch.testing.assert_close(found, expected)


@pytest.mark.parametrize(("length", "shorter"), [(2, 1), (30, 3), (300, 299), (300, 100), (300, 1)])
def test_padding_is_not_seen(length: int, shorter: int) -> None:
    layer = restricted(20, 9)
    hidden = torch.randn(3, length, SHAPE.d_model, dtype=torch.double, requires_grad=True)
    tokens = torch.arange(length) < torch.tensor([[length], [shorter], [length]])
    ours = layer(hidden, tokens[:, None, None])
    # Torch is shown each sentence without its padding.
    alone = [
        torchs(layer, hidden[row : row + 1, :size], band(size, 20, 9)) for row, size in ((0, length), (1, shorter))
    ]
    for row, expected in enumerate(alone):
        torch.testing.assert_close(ours[row : row + 1, : expected.shape[1]], expected)
    upstream = torch.randn_like(ours) * tokens[..., None]
    upstream[2] = 0
    found = gradients(layer, hidden, ours, upstream)
    parts = (gradients(layer, hidden, each, upstream[row, : each.shape[1]]) for row, each in enumerate(alone))
    for value, first, second in zip(found, *parts, strict=True):
        assert value.isfinite().all()
        torch.testing.assert_close(value, first + second)


@pytest.mark.parametrize("length", [5, 90, 260])
@pytest.mark.parametrize("function", ["dot-product", "additive"])
def test_the_other_attention_functions_are_restricted_too(function: AttentionFunction, length: int) -> None:
    layer = restricted(11, 6, function)
    full = SelfAttention(replace(SHAPE, attention_function=function)).double()
    full.load_state_dict(layer.state_dict())
    hidden = torch.randn(2, length, SHAPE.d_model, dtype=torch.double)
    torch.testing.assert_close(layer(hidden, None), full(hidden, band(length, 11, 6)[None, None]))


@pytest.mark.parametrize("length", [3, 300])
def test_a_decoder_may_come_with_the_causal_mask(length: int) -> None:
    layer = restricted(17, 0)
    hidden = torch.randn(2, length, SHAPE.d_model, dtype=torch.double)
    torch.testing.assert_close(layer(hidden, causal_mask(length)), layer(hidden, None), rtol=0, atol=0)


def test_an_encoders_window_takes_no_mask_for_each_query() -> None:
    with pytest.raises(AssertionError):
        restricted(2, 2)(torch.zeros(1, 300, SHAPE.d_model, dtype=torch.double), causal_mask(300))


@pytest.mark.parametrize(("window", "length"), list(product((1, 2, 5, 8), (3, 20))))
def test_a_window_is_so_many_positions(window: int, length: int) -> None:
    config = ModelConfig(
        d_model=8,
        num_heads=2,
        encoder_layer="restricted-self-attention",
        decoder_layer="restricted-self-attention",
        window=window,
    )
    for layer, behind, ahead in (
        (encoder_self_attention(config), window // 2, window - window // 2 - 1),
        (decoder_self_attention(config), window - 1, 0),
    ):
        hidden = torch.randn(1, length, 8, requires_grad=True)
        output = layer(hidden, None)
        for place in range(length):
            (gradient,) = torch.autograd.grad(output[0, place].sum(), hidden, retain_graph=True)
            seen = gradient[0].abs().sum(dim=1).nonzero().flatten().tolist()
            assert seen == list(range(max(0, place - behind), min(length, place + ahead + 1)))
            assert len(seen) <= window


def test_weights_are_a_band_and_what_it_sums_with() -> None:
    layer, length = restricted(9, 4), 200
    hidden = torch.randn(1, length, SHAPE.d_model, dtype=torch.double)
    query, seen = layer.project(hidden)
    weights = layer.weights(query, seen, None)
    assert (weights[0, 0] > 0).equal(band(length, 9, 4))
    expected = layer.output((weights @ seen.values).transpose(1, 2).flatten(2))
    torch.testing.assert_close(layer(hidden, None), expected)


@pytest.mark.parametrize("behind", [0, 1, 4])
def test_only_what_the_next_position_sees_is_kept(behind: int) -> None:
    layer = restricted(behind, 0)
    keys, values = torch.randn(2, 3, 7, 4), torch.randn(2, 3, 7, 5)
    kept = layer.still_seen(KeysValues(keys, values))
    assert kept.keys.equal(keys[:, :, 7 - behind :])
    assert kept.values.equal(values[:, :, 7 - behind :])


class Largest(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch leaves it untyped
    """The most numbers that a tensor had in its block."""

    numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        """Runs the operation."""
        found = func(*args, **(kwargs or {}))
        for each in found if isinstance(found, tuple | list) else [found]:
            if isinstance(each, Tensor):
                self.numbers = max(self.numbers, each.numel())
        return found


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("training", [False, True])
def test_no_tensor_grows_with_the_square_of_the_length(padded: bool, training: bool) -> None:
    window = 64
    config = ModelConfig(
        d_model=16,
        num_heads=2,
        attention_dropout=0.1 if training else 0.0,
        encoder_layer="restricted-self-attention",
        window=window,
    )
    layer = encoder_self_attention(config)

    def largest(length: int) -> int:
        mask = torch.arange(length)[None, None, None] < length - 5 if padded else None
        hidden = torch.randn(1, length, 16, requires_grad=True)
        with Largest() as found:  # type: ignore[no-untyped-call]
            layer(hidden, mask).sum().backward()
        return int(found.numbers)

    # Twice the length, twice the numbers at most, forward and back; and far fewer than n x n.
    assert largest(4096) <= 2 * largest(2048)
    assert largest(4096) <= 4096 * 2 * 3 * window


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("length", [50, 1000])
def test_a_gpu_gives_the_same(length: int) -> None:
    layer = restricted(40, 39).float()
    hidden = torch.randn(2, length, SHAPE.d_model)
    tokens = (torch.arange(length) < torch.tensor([[length], [length - 20]]))[:, None, None]
    expected = layer(hidden, tokens)
    found = layer.cuda()(hidden.cuda(), tokens.cuda()).cpu()
    real = tokens.flatten(1)[..., None]
    torch.testing.assert_close(found * real, expected * real, atol=1e-4, rtol=1e-4)
