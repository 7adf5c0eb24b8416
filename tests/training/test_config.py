"""A regime that cannot be meant is refused with the way out."""

import re
from typing import Any

import pytest

from attendo.training.config import TrainingConfig


def test_defaults_are_the_papers() -> None:
    config = TrainingConfig()
    assert (config.adam_beta1, config.adam_beta2, config.adam_epsilon) == (0.9, 0.98, 1e-9)
    assert (config.warmup_steps, config.label_smoothing, config.max_tokens) == (4000, 0.1, 25_000)
    assert (config.max_steps, config.average_last, config.checkpoint_minutes) == (100_000, 5, 10.0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"max_steps": 0}, "max_steps = 0 is below 1; take 1 or more"),
        ({"r_drop": -1.0}, "r_drop = -1.0 is outside 0 to 100"),
        ({"label_smoothing": 1.0}, "label_smoothing = 1.0 is outside 0 to 1"),
        ({"max_minutes": 0.0}, "max_minutes = 0.0 is not above 0"),
        ({"max_gradient_norm": float("inf")}, "max_gradient_norm = inf is not above 0"),
        ({"cooldown_steps": 11, "max_steps": 10}, "cooldown_steps = 11 is more than max_steps; take 10 or less"),
        ({"checkpoint_minutes": None}, "neither checkpoint_steps nor checkpoint_minutes is set"),
        ({"peak_learning_rate": 0.0}, "peak_learning_rate = 0.0 is not above 0"),
        ({"peak_learning_rate": 1e-4, "learning_rate_factor": 2.0}, "say the same in two ways; leave one out"),
        ({"patience": 0}, "patience = 0 is below 1"),
    ],
)
def test_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        TrainingConfig(**wrong)
