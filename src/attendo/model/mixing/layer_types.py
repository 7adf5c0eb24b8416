"""The layer types of Table 1 as modules that mix the positions of a layer, by their names in recipes."""

from torch import nn

from attendo.model.attention import SelfAttention
from attendo.model.config import ModelConfig
from attendo.model.mixing.convolution import Convolution, SeparableConvolution
from attendo.model.mixing.recurrent import Recurrence
from attendo.model.mixing.restricted import RestrictedSelfAttention


def mixing_sub_layer(config: ModelConfig, index: int) -> nn.Module:
    """The sub-layer of an encoder layer that mixes positions.

    It is called with `hidden`, float `(batch, length, d_model)`, and a mask, boolean `(batch, 1, 1, length)` with True
    at tokens, or None without padding; it returns `(batch, length, d_model)`. Padding does not affect the results at
    tokens, and the results at padding are meaningless.

    Args:
        config: the architecture; `encoder_layer` is the type.
        index: the layer's index, 0 the lowest; the dilation of `dilated-convolutional` grows with it.
    """
    match config.encoder_layer:
        case "self-attention" | "restricted-self-attention":
            return encoder_self_attention(config)
        case "recurrent":
            return Recurrence(config.d_model)
        case "convolutional":
            return Convolution(config.d_model, config.kernel_size)
        case "dilated-convolutional":
            return Convolution(config.d_model, config.kernel_size, config.kernel_size**index)
        case "separable-convolutional":
            return SeparableConvolution(config.d_model, config.kernel_size)


def encoder_self_attention(config: ModelConfig) -> SelfAttention:
    """The self-attention of an encoder layer: over all positions, or restricted to those around."""
    if config.encoder_layer != "restricted-self-attention":
        return SelfAttention(config)
    return RestrictedSelfAttention(config, behind=config.window // 2, ahead=(config.window - 1) // 2)


def decoder_self_attention(config: ModelConfig) -> SelfAttention:
    """The self-attention of a decoder layer: over all preceding positions, or restricted to the last ones."""
    if config.decoder_layer != "restricted-self-attention":
        return SelfAttention(config)
    return RestrictedSelfAttention(config, behind=config.window - 1, ahead=0)
