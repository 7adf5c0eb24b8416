"""Models whose every number counts: biases and norms are not what they begin with."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from attendo.model.batch import collate
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.synthetic.phrasebook import generate

SIZES: dict[str, Any] = {"d_model": 16, "d_ff": 32, "num_heads": 2, "num_encoder_layers": 2, "num_decoder_layers": 3}


@pytest.fixture
def model() -> Callable[..., Transformer]:
    """Makes a model of 3 and 2 layers with random weights, biases and norms included."""

    def model(src_size: int = 40, tgt_size: int = 40, **options: Any) -> Transformer:
        torch.manual_seed(3)
        made = Transformer(ModelConfig(**(SIZES | options)), src_size, tgt_size).eval()
        for parameter in made.parameters():
            parameter.data += 0.2 * torch.randn_like(parameter)
        return made

    return model


@pytest.fixture(scope="session")
def phrases() -> tuple[tuple[str, str], ...]:
    """300 English sentences and their German translations."""
    return tuple((pair.source, pair.target) for pair in generate(300, seed=2))


def greedy(model: Transformer, source: list[int], length: int) -> tuple[list[int], float]:
    """So many of the most probable tokens, and the sum of their log-probabilities, where `</s>` cannot come.

    Everything again for every token, by the model's forward alone: no cache and no search of ours.
    """
    written: list[int] = []
    for _ in range(length):
        written.append(int(_log_probs(model, source, written)[-1].argmax()) + 1)
    return written, log_prob(model, source, written)


def log_prob(model: Transformer, source: list[int], target: list[int]) -> float:
    """The sum of a target's log-probabilities, where `</s>` cannot come."""
    ids = torch.tensor(target)[:, None] - 1
    return float(_log_probs(model, source, target)[:-1].gather(1, ids).sum())


def _log_probs(model: Transformer, source: list[int], written: list[int]) -> torch.Tensor:
    with torch.no_grad():
        logits: torch.Tensor = model(collate([source], [[*written, 0]], start=model.config.start_id))
    return logits[0, :, 1:].log_softmax(-1)
