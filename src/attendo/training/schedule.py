"""The learning rate (Section 5.3, Equation 3)."""

import math

from attendo.training.config import TrainingConfig


def learning_rate(step: int, d_model: int, config: TrainingConfig) -> float:
    """d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5), times the recipe's factor.

    Args:
        step: the update about to be made, from 1.
        d_model: the model's width.
        config: has `warmup_steps`, `learning_rate_factor` or, in its place, `peak_learning_rate`, and `cooldown_steps`
            before `max_steps`, in which the rate falls to 0 in a straight line (not in the paper; 0 steps by default).
    """
    if config.peak_learning_rate is not None:
        rate = config.peak_learning_rate * math.sqrt(config.warmup_steps)  # Equation 3 is highest at warmup_steps
    else:
        rate = config.learning_rate_factor / math.sqrt(d_model)
    rate *= min(1 / math.sqrt(step), step / (config.warmup_steps * math.sqrt(config.warmup_steps)))
    if config.cooldown_steps:
        rate *= min(1.0, (config.max_steps - step + 1) / (config.cooldown_steps + 1))
    return rate
