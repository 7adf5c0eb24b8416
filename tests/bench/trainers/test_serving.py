import math
import subprocess
import sys

import pytest
import torch
from torch import Tensor

from attendo.bench.trainers.serving import (
    PEAK_LEARNING_RATE,
    WARMUP_STEPS,
    PairBatch,
    learning_rate,
    set_fast_products,
    smoothing_entropy,
    train,
)
from attendo.training import schedule
from attendo.training.config import TrainingConfig


def test_the_learning_rate_is_attendos_own() -> None:
    config = TrainingConfig(peak_learning_rate=PEAK_LEARNING_RATE, warmup_steps=WARMUP_STEPS)
    for number in (1, 5, WARMUP_STEPS, 11, 300):
        assert learning_rate(number) == pytest.approx(schedule.learning_rate(number, 512, config))


def test_what_divergence_lacks_of_cross_entropy() -> None:
    # The smoothed target over five tokens of which one cannot come and one is right.
    target = torch.tensor([0.9, 0.1 / 3, 0.1 / 3, 0.1 / 3, 0.0])
    log_probs = torch.tensor([0.3, 0.3, 0.2, 0.1, 0.1]).log()
    cross_entropy = -(target * log_probs).sum()
    divergence = torch.nn.functional.kl_div(log_probs, target, reduction="sum")
    assert float(cross_entropy - divergence) == pytest.approx(smoothing_entropy(0.1, 3))
    assert smoothing_entropy(0.0, 3) == 0.0


class Counting:
    """A trainer whose loss is the number of the update, and its batch a string."""

    package, num_parameters = "torch", 0

    def __init__(self) -> None:
        self.seen: list[tuple[str, float, int]] = []

    def prepare(self, batch: PairBatch) -> str:
        return "batch"

    def step(self, batch: str, learning_rate: float, number: int) -> Tensor:
        self.seen.append((batch, learning_rate, number))
        return torch.tensor(float(number))


def test_updates_are_counted_on() -> None:
    trainer = Counting()
    seconds, losses = train(trainer, ["a", "b"], 3)
    assert losses == [4.0, 5.0]
    assert trainer.seen == [("a", learning_rate(4), 4), ("b", learning_rate(5), 5)]
    assert 0 < seconds < 1


def test_what_is_printed_does_not_reach_the_answers() -> None:
    code = (
        "import os; from attendo.bench.trainers.serving import private_stdout\n"
        "with private_stdout() as answers:\n"
        "    print('a greeting', flush=True); os.write(1, b'from below\\n'); print('an answer', file=answers)\n"
    )
    finished = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert (finished.stdout, finished.stderr) == ("an answer\n", "a greeting\nfrom below\n")


def test_the_switch_is_set_and_put_back() -> None:
    setting = torch.backends.mkldnn.matmul  # type: ignore[attr-defined]  # torch makes the attribute at run time
    try:
        set_fast_products(True)
        assert setting.fp32_precision == "bf16"
    finally:
        set_fast_products(False)
    assert setting.fp32_precision == "none"


def test_a_torch_without_the_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends, "mkldnn", object())
    set_fast_products(False)
    with pytest.raises(RuntimeError, match=r"has no backends\.mkldnn\.matmul\.fp32_precision"):
        set_fast_products(True)


def test_tokens_of_a_batch_are_the_targets() -> None:
    assert PairBatch(source=[[4, 0]], target=[[5, 6, 0], [7, 0]]).num_tokens == 5
    assert math.isclose(learning_rate(WARMUP_STEPS), PEAK_LEARNING_RATE)
