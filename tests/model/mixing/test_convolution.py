"""Convolutions against their definition, written out position by position."""

import pytest
import torch
from torch import Tensor

from attendo.model.mixing.convolution import Convolution, SeparableConvolution


def taps(hidden: Tensor, place: int, kernel_size: int, dilation: int) -> list[Tensor]:
    """What a kernel has under it at a place, `(d_model,)` each; zeros outside of the sequence `(length, d_model)`."""
    places = (place + dilation * (tap - kernel_size // 2) for tap in range(kernel_size))
    return [hidden[each] if 0 <= each < len(hidden) else torch.zeros_like(hidden[0]) for each in places]


@pytest.mark.parametrize(("kernel_size", "dilation"), [(1, 1), (3, 1), (5, 1), (3, 3), (3, 9), (5, 25)])
@pytest.mark.parametrize("length", [1, 2, 11])
def test_every_channel_of_every_tap_counts(kernel_size: int, dilation: int, length: int) -> None:
    torch.manual_seed(0)
    layer, hidden = Convolution(6, kernel_size, dilation), torch.randn(2, length, 6)
    weight, bias = layer.convolution.weight, layer.convolution.bias
    assert bias is not None
    expected = [
        [
            bias
            + torch.stack([weight[:, :, i] @ tap for i, tap in enumerate(taps(row, at, kernel_size, dilation))]).sum(0)
            for at in range(length)
        ]
        for row in hidden
    ]
    torch.testing.assert_close(layer(hidden, None), torch.stack([torch.stack(row) for row in expected]))


@pytest.mark.parametrize("kernel_size", [1, 3, 7])
@pytest.mark.parametrize("length", [1, 2, 11])
def test_separable_is_within_channels_and_then_across(kernel_size: int, length: int) -> None:
    torch.manual_seed(0)
    layer, hidden = SeparableConvolution(6, kernel_size), torch.randn(2, length, 6)
    weight = layer.within_channels.weight[:, 0]  # (d_model, kernel_size)
    mixed = [
        torch.stack([(weight * torch.stack(taps(row, at, kernel_size, 1), dim=1)).sum(dim=1) for at in range(length)])
        for row in hidden
    ]
    torch.testing.assert_close(layer(hidden, None), torch.stack(mixed) @ layer.output.weight.T + layer.output.bias)


@pytest.mark.parametrize("layer", [Convolution(6, 5), Convolution(6, 3, 3), SeparableConvolution(6, 5)])
def test_padding_is_as_the_end_of_a_sequence(layer: Convolution | SeparableConvolution) -> None:
    hidden = torch.randn(2, 9, 6)
    tokens = torch.arange(9) < torch.tensor([[9], [4]])
    torch.testing.assert_close(layer(hidden, tokens[:, None, None])[1:, :4], layer(hidden[1:, :4], None))
