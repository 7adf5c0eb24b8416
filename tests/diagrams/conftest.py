"""Models that diagrams are drawn of: small ones without numbers, and one whose norms stand before the sub-layers."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from attendo.model.config import ModelConfig
from attendo.model.layers import EncoderLayer
from attendo.model.transformer import Transformer

MakeModel = Callable[..., Transformer]


class PreNormLayer(EncoderLayer):
    """x + Dropout(Sublayer(LayerNorm(x))), of the same parts."""

    def forward(self, hidden: Tensor, src_mask: Tensor | None) -> Tensor:
        """As `EncoderLayer`'s."""
        seen = self.self_attention_norm.norm(hidden)
        hidden = hidden + self.self_attention_norm.dropout(self.self_attention(seen, src_mask))
        seen = self.feed_forward_norm.norm(hidden)
        summed: Tensor = hidden + self.feed_forward_norm.dropout(self.feed_forward(seen))
        return summed


class FinalNorm(Transformer):
    """With a norm behind the last encoder layer, as pre-norm models have it."""

    final_norm: nn.LayerNorm

    def encode(self, src_ids: Tensor, src_mask: Tensor | None) -> Tensor:
        """As `Transformer`'s."""
        normed: Tensor = self.final_norm(super().encode(src_ids, src_mask))
        return normed


@pytest.fixture
def make_model() -> MakeModel:
    """A model on the meta device: 11 ids of the source, 13 of the target, or 13 of both."""

    def make(**changes: Any) -> Transformer:
        sizes = {"d_model": 16, "d_ff": 40, "num_layers": 3, "num_heads": 2}
        config = ModelConfig(**{**sizes, **changes})
        with torch.device("meta"):
            return Transformer(config, 13 if config.shared_embeddings == "all" else 11, 13)

    return make


@pytest.fixture(scope="session")
def pre_norm() -> Transformer:
    """Two pre-norm layers below one of the paper's, then a norm."""
    config = ModelConfig(d_model=16, d_ff=40, num_layers=3, num_heads=2)
    with torch.device("meta"):
        model = FinalNorm(config, 13, 13)
        model.final_norm = nn.LayerNorm(16)
        model.encoder_layers = nn.ModuleList([PreNormLayer(config), PreNormLayer(config), EncoderLayer(config)])
    return model
