"""A tiny Transformer with random weights, and a tokenizer whose pieces are characters."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch

from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer

ALPHABET = "\0?abcdefghijklmnopqrstuvwxyz .,"


class Letters:
    """A character a token; id 0 is `</s>`, id 1 any other character."""

    vocab_size = len(ALPHABET)

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        return [[max(1, ALPHABET.find(character)) for character in text] + [0] for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(ALPHABET[i] for i in ids)


@pytest.fixture
def letters() -> Letters:
    return Letters()


@pytest.fixture
def make_model() -> Callable[..., Transformer]:
    def make(seed: int = 0, *, end: float = 2.0, vocab_size: int = len(ALPHABET), **options: Any) -> Transformer:
        """A model in evaluation mode; `end` is added to the logit of `</s>`, so that lengths vary."""
        torch.manual_seed(seed)
        shape: dict[str, Any] = {"d_model": 16, "d_ff": 24, "num_layers": 2, "num_heads": 2, "output_bias": True}
        model = Transformer(ModelConfig(**(shape | options)), vocab_size, vocab_size)
        if model.output_bias is not None:
            torch.nn.init.normal_(model.output_bias)
            with torch.no_grad():
                model.output_bias[0] = end
        return model.eval()

    return make
