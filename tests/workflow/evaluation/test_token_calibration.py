"""Calibration by hand, and teacher forcing against torch's own losses, a sentence at a time."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from attendo.model.batch import collate
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.recipe import load_recipe
from attendo.text.prepared import PreparedData
from attendo.workflow.evaluation.token_calibration import (
    Predictions,
    calibration,
    calibration_error,
    pooled,
    teacher_forced,
)
from attendo.workflow.preparation.prepared_data import prepare_if_missing
from attendo.workflow.runs.reporting import Silence


def told(confidence: list[float], is_right: list[bool], log_prob: list[float] | None = None) -> Predictions:
    return Predictions(
        log_prob=np.array(log_prob or [-1.0] * len(confidence)),
        confidence=np.array(confidence),
        is_right=np.array(is_right),
        entropy=np.array([0.25] * len(confidence)),
    )


def test_a_worked_example() -> None:
    # Two bins. Up to one half: confidences 0.3 and 0.5, one of two right: 0.4 against 0.5. Above: 0.6, 0.8 and 1.0, all
    # right: 0.8 against 1. The error is 2/5 of 0.1 and 3/5 of 0.2.
    found = calibration(
        told([0.3, 0.5, 0.6, 0.8, 1.0], [False, True, True, True, True], [-2.0, -1.0, -0.5, -0.25, 0.0]), num_bins=2
    )
    assert [(each.low, each.high, each.tokens) for each in found.bins] == [(0.0, 0.5, 2), (0.5, 1.0, 3)]
    assert [each.confidence for each in found.bins] == pytest.approx([0.4, 0.8])
    assert [each.accuracy for each in found.bins] == pytest.approx([0.5, 1.0])
    assert found.calibration_error == pytest.approx(0.4 * 0.1 + 0.6 * 0.2)
    assert (found.accuracy, found.confidence, found.entropy) == pytest.approx((0.8, 0.64, 0.25))
    assert found.perplexity == pytest.approx(math.exp(3.75 / 5))
    assert found.tokens == 5


def test_a_bin_without_tokens_counts_for_nothing() -> None:
    found = calibration(told([0.95, 0.85], [True, False]))
    assert [each.tokens for each in found.bins] == [0, 0, 0, 0, 0, 0, 0, 0, 1, 1]
    assert found.calibration_error == pytest.approx((0.85 + 0.05) / 2)


def test_confidence_that_comes_true_has_no_error() -> None:
    # Of many tokens drawn with the probability that they are given, the error is that of sampling alone.
    drawn = np.random.default_rng(1)
    confidence = drawn.uniform(0.05, 1.0, 200_000)
    found = calibration(told(list(confidence), list(drawn.uniform(size=200_000) < confidence)))
    assert found.calibration_error < 0.005


def test_curves_pooled_are_the_curve_of_all_tokens() -> None:
    drawn = np.random.default_rng(2)
    parts = [(list(drawn.uniform(size=count)), list(drawn.uniform(size=count) < 0.6)) for count in (40, 7)]
    together = calibration(told([*parts[0][0], *parts[1][0]], [*parts[0][1], *parts[1][1]]))
    bins = pooled([calibration(told(*part)).bins for part in parts])
    assert [each.tokens for each in bins] == [each.tokens for each in together.bins]
    assert [each.accuracy for each in bins] == pytest.approx([each.accuracy for each in together.bins])
    assert calibration_error(bins) == pytest.approx(together.calibration_error)


@pytest.fixture
def prepared(recipe_path: Path, tmp_path: Path) -> PreparedData:
    return prepare_if_missing(load_recipe(str(recipe_path)), tmp_path / "data", Silence())


def test_teacher_forcing_says_what_torch_says_of_each_sentence_alone(prepared: PreparedData) -> None:
    torch.manual_seed(5)
    size = prepared.target_tokenizer.vocab_size
    model = Transformer(ModelConfig(d_model=16, d_ff=32, num_layers=1, num_heads=2), size, size).eval()
    pairs = prepared.valid
    assert pairs is not None
    losses, confidences, rights, entropies = [], [], [], []
    with torch.no_grad():
        for number in range(len(pairs)):
            batch = collate([pairs.source(number)], [pairs.target(number)])
            [logits], [right] = model(batch), batch.tgt_ids
            losses.append(F.cross_entropy(logits, right, reduction="none"))
            confidences.append(logits.softmax(dim=1).amax(dim=1))
            rights.append(logits.argmax(dim=1) == right)
            entropies.append(torch.special.entr(logits.softmax(dim=1)).sum(dim=1))
    found = teacher_forced(model, pairs)
    for ours, expected in (
        (-found.log_prob, losses), (found.confidence, confidences), (found.entropy, entropies),
        (found.is_right, rights),
    ):  # fmt: skip
        assert sorted(ours) == pytest.approx(sorted(torch.cat(expected).tolist()), abs=1e-5)  # batches have an order
    whole = calibration(found)
    assert whole.tokens == int(pairs.target_lengths.sum())
    assert whole.perplexity == pytest.approx(math.exp(float(torch.cat(losses).double().mean())), rel=1e-6)
    # The token's own log-probability, confidence and rightness belong together.
    assert np.allclose(np.exp(found.log_prob)[found.is_right], found.confidence[found.is_right])
    assert np.all(np.exp(found.log_prob)[~found.is_right] <= found.confidence[~found.is_right] + 1e-12)
