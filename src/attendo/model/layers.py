"""The layers of both stacks (Section 3.1): sub-layers, each within LayerNorm(x + Dropout(Sublayer(x)))."""

from torch import Tensor, nn
from torch.nn import functional as F

from attendo.model.attention import EncoderDecoderAttention, KeysValues
from attendo.model.config import ModelConfig
from attendo.model.dropout import Dropout
from attendo.model.mixing.layer_types import decoder_self_attention, encoder_self_attention, mixing_sub_layer


class FeedForward(nn.Module):
    """The position-wise network max(0, x W1 + b1) W2 + b2 (Section 3.3, Equation 2)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.inner = nn.Linear(config.d_model, config.d_ff)
        self.outer = nn.Linear(config.d_ff, config.d_model)
        self.activation = F.relu if config.activation == "relu" else F.silu
        self.dropout = Dropout(config.activation_dropout)

    def forward(self, hidden: Tensor) -> Tensor:
        """`(batch, length, d_model)` to the same shape, each position separately."""
        output: Tensor = self.outer(self.dropout(self.activation(self.inner(hidden))))
        return output


class AddAndNorm(nn.Module):
    """LayerNorm(x + Dropout(Sublayer(x))): the residual connection around each sub-layer (Section 3.1)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.d_model, config.layer_norm_eps)
        self.dropout = Dropout(config.dropout)

    def forward(self, hidden: Tensor, output: Tensor) -> Tensor:
        """Joins a sub-layer's input and its output, both `(batch, length, d_model)`."""
        normed: Tensor = self.norm(hidden + self.dropout(output))
        return normed


class EncoderLayer(nn.Module):
    """Self-attention, over all positions or restricted, then feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = encoder_self_attention(config)
        self.self_attention_norm = AddAndNorm(config)
        self.feed_forward = FeedForward(config)
        self.feed_forward_norm = AddAndNorm(config)

    def forward(self, hidden: Tensor, src_mask: Tensor | None) -> Tensor:
        """Computes the layer's output.

        Args:
            hidden: `(batch, src_len, d_model)`.
            src_mask: boolean `(batch, 1, 1, src_len)`, True at tokens; None without padding.

        Returns:
            `(batch, src_len, d_model)`.
        """
        hidden = self.self_attention_norm(hidden, self.self_attention(hidden, src_mask))
        normed: Tensor = self.feed_forward_norm(hidden, self.feed_forward(hidden))
        return normed


class AttentionFreeLayer(nn.Module):
    """An encoder layer with a recurrence or a convolution in place of self-attention (Table 1), then feed-forward.

    Args:
        config: the architecture; `encoder_layer` is the type.
        index: the layer's index, 0 the lowest.
    """

    def __init__(self, config: ModelConfig, index: int) -> None:
        super().__init__()
        self.mixing = mixing_sub_layer(config, index)
        self.mixing_norm = AddAndNorm(config)
        self.feed_forward = FeedForward(config)
        self.feed_forward_norm = AddAndNorm(config)

    def forward(self, hidden: Tensor, src_mask: Tensor | None) -> Tensor:
        """Computes the layer's output; arguments and result as for `EncoderLayer`."""
        hidden = self.mixing_norm(hidden, self.mixing(hidden, src_mask))
        normed: Tensor = self.feed_forward_norm(hidden, self.feed_forward(hidden))
        return normed


def encoder_layer(config: ModelConfig, index: int) -> EncoderLayer | AttentionFreeLayer:
    """Builds layer `index` of an encoder, 0 the lowest, of the configured type."""
    if config.encoder_layer in ("self-attention", "restricted-self-attention"):
        return EncoderLayer(config)
    return AttentionFreeLayer(config, index)


class DecoderLayer(nn.Module):
    """Masked self-attention, encoder-decoder attention, then feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = decoder_self_attention(config)
        self.self_attention_norm = AddAndNorm(config)
        self.encoder_attention = EncoderDecoderAttention(config)
        self.encoder_attention_norm = AddAndNorm(config)
        self.feed_forward = FeedForward(config)
        self.feed_forward_norm = AddAndNorm(config)

    def forward(self, hidden: Tensor, tgt_mask: Tensor | None, seen: KeysValues, src_mask: Tensor | None) -> Tensor:
        """Computes the layer's output for all target positions.

        Args:
            hidden: `(batch, tgt_len, d_model)`.
            tgt_mask: boolean `(1 or batch, 1, tgt_len, tgt_len)`, True where a position may attend; restricted
                self-attention uses its window instead, and needs no mask.
            seen: the memory's keys and values for this layer.
            src_mask: boolean `(batch, 1, 1, src_len)`; None without padding.

        Returns:
            `(batch, tgt_len, d_model)`.
        """
        hidden = self.self_attention_norm(hidden, self.self_attention(hidden, tgt_mask))
        return self.after_self_attention(hidden, seen, src_mask)

    def after_self_attention(self, hidden: Tensor, seen: KeysValues, src_mask: Tensor | None) -> Tensor:
        """The layer's second and third sub-layers, which are the same with and without a cache."""
        hidden = self.encoder_attention_norm(hidden, self.encoder_attention(hidden, seen, src_mask))
        normed: Tensor = self.feed_forward_norm(hidden, self.feed_forward(hidden))
        return normed
