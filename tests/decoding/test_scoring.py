"""Expected values: each pair alone and unpadded through the model's own logits, and worked examples."""

import math
from collections.abc import Callable

import pytest
import torch

from attendo.decoding.backends.models import decoding_model
from attendo.decoding.scoring import PairScore, Perplexity, perplexity, score_batch
from attendo.model.batch import collate
from attendo.model.transformer import Transformer

SOURCE = [[5, 9, 3, 7, 0], [4, 0], [8, 8, 2, 0], [0]]
TARGET = [[3, 0], [5, 6, 7, 8, 9, 10, 0], [0], [2, 3, 4, 0]]


@pytest.mark.parametrize("native", [False, True])
def test_padding_changes_nothing(make_model: Callable[..., Transformer], native: bool) -> None:
    model = make_model()
    together = score_batch([decoding_model(model, native=native)], SOURCE, TARGET)
    for source, target, found in zip(SOURCE, TARGET, together, strict=True):
        with torch.no_grad():
            log_probs = model(collate([source], [target])).log_softmax(-1)[0]
        assert found == pytest.approx([float(log_probs[i, token]) for i, token in enumerate(target)], abs=1e-5)


@pytest.mark.parametrize("native", [False, True])
def test_several_models_are_the_mean_of_their_probabilities(
    make_model: Callable[..., Transformer], native: bool
) -> None:
    models = [make_model(1), make_model(2)]
    one, other = (score_batch([decoding_model(model, native=native)], SOURCE, TARGET) for model in models)
    both = score_batch([decoding_model(model, native=native) for model in models], SOURCE, TARGET)
    for a, b, mean in zip(one, other, both, strict=True):
        expected = [math.log((math.exp(x) + math.exp(y)) / 2) for x, y in zip(a, b, strict=True)]
        assert mean == pytest.approx(expected, abs=1e-5)


def test_perplexity_by_hand() -> None:
    # Two tokens of probability 1/4 and two of 1/16: the geometric mean is 1/8.
    scores = [
        PairScore(log_prob=-2 * math.log(4), token_log_probs=(-math.log(4),) * 2),
        PairScore(log_prob=-2 * math.log(16), token_log_probs=(-math.log(16),) * 2),
    ]
    total = perplexity(scores)
    assert total.num_tokens == 4
    assert total.per_token == pytest.approx(8.0)


def test_perplexity_at_its_ends() -> None:
    assert perplexity([]).per_token == 1.0
    assert Perplexity(nll=1e6, num_tokens=1).per_token == math.inf
