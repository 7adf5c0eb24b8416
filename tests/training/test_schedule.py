"""The learning rate against the paper's formula, worked out by hand."""

import pytest

from attendo.training.config import TrainingConfig
from attendo.training.schedule import learning_rate


def test_the_base_models_rate() -> None:
    config = TrainingConfig()
    # d_model = 512, warm-up 4000: the peak is 512^-0.5 * 4000^-0.5 = 1 / sqrt(2,048,000) = 6.98771e-4.
    assert learning_rate(4000, 512, config) == pytest.approx(6.98771e-4, rel=1e-5)
    assert learning_rate(1, 512, config) == pytest.approx(6.98771e-4 / 4000, rel=1e-5)
    assert learning_rate(2000, 512, config) == pytest.approx(6.98771e-4 / 2, rel=1e-5)
    assert learning_rate(16_000, 512, config) == pytest.approx(6.98771e-4 / 2, rel=1e-5)


def test_factor() -> None:
    config = TrainingConfig(learning_rate_factor=2.5)
    assert learning_rate(4000, 512, config) == pytest.approx(2.5 * 6.98771e-4, rel=1e-5)


def test_a_peak_in_place_of_the_factor() -> None:
    config = TrainingConfig(peak_learning_rate=2e-4, warmup_steps=100)
    # Equation 3's shape, whatever the model's width: up in a line to the end of the warm-up, then as 1 / sqrt(step).
    for d_model in (64, 512):
        rates = [learning_rate(step, d_model, config) for step in (1, 50, 100, 400, 900)]
        assert rates == pytest.approx([2e-6, 1e-4, 2e-4, 1e-4, 2e-4 / 3])


def test_cooldown_ends_just_above_zero() -> None:
    config = TrainingConfig(max_steps=100, warmup_steps=10, cooldown_steps=9)
    plain = TrainingConfig(max_steps=100, warmup_steps=10)
    shares = [learning_rate(step, 64, config) / learning_rate(step, 64, plain) for step in range(90, 101)]
    assert shares == pytest.approx([1, 1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1])
