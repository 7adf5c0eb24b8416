"""Each system's trainer, of the peers that are installed: what its loss is, that it learns, that padding is nothing.

The loss of a model whose weights are all 0 is known: every token of its vocabulary is as likely as another.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest
import torch

from attendo.bench.trainers.serving import Job, PairBatch, learning_rate
from attendo.bench.training import PACKAGES

JOB = Job(
    d_model=16,
    d_ff=32,
    num_layers=2,
    num_heads=2,
    vocab_size=40,
    dropout=0.0,
    label_smoothing=0.1,
    dtype="float32",
    threads=1,
    device="cpu",
    seed=1,
    max_len=12,
)
BATCH = PairBatch(source=[[5, 6, 7, 0], [9, 0], [30, 31, 0]], target=[[8, 0], [10, 11, 39, 13, 0], [1, 0]])
CLASSES = {
    "attendo": "OwnTrainer",
    "torch": "TorchTrainer",
    "huggingface": "HuggingFaceTrainer",
    "joeynmt": "JoeyNMTTrainer",
    "opennmt": "OpenNMTTrainer",
    "eole": "EoleTrainer",
}

Build = Callable[[Job], Any]


@pytest.fixture(params=PACKAGES)
def build(request: pytest.FixtureRequest) -> Build:
    """Makes a system's trainer with a fixed seed."""
    package = PACKAGES[request.param]
    if find_spec(package.imported) is None:
        pytest.skip(f"{request.param} is not installed")
    trainer = getattr(import_module(f"attendo.bench.trainers.{package.module}"), CLASSES[request.param])

    def seeded(job: Job) -> Any:
        torch.manual_seed(job.seed)
        return trainer(job)

    return seeded


def loss_of(trainer: Any, batch: PairBatch) -> float:
    return float(trainer.step(trainer.prepare(batch), 0.0, 1))


def test_without_weights_every_token_is_as_likely(build: Build) -> None:
    trainer = build(JOB)
    with torch.no_grad():
        for parameter in trainer.model.parameters():
            parameter.zero_()
    own_symbols = (0, 1, 3)  # a start or a padding of its own, or both and <unk>
    assert any(loss_of(trainer, BATCH) == pytest.approx(math.log(JOB.vocab_size + more)) for more in own_symbols)


def test_padding_changes_nothing(build: Build) -> None:
    alone = [PairBatch(source=[s], target=[t]) for s, t in zip(BATCH.source, BATCH.target, strict=True)]
    # A fresh model each: even with a learning rate of 0 a step may count.
    total = sum(loss_of(build(JOB), pair) * pair.num_tokens for pair in alone)
    assert loss_of(build(JOB), BATCH) == pytest.approx(total / BATCH.num_tokens, rel=1e-5)


def test_it_learns_a_batch_by_heart(build: Build) -> None:
    trainer = build(replace(JOB, dropout=0.1))
    batch = trainer.prepare(BATCH)
    losses = [float(trainer.step(batch, learning_rate(number), number)) for number in range(1, 201)]
    assert losses[-1] < 0.85 * losses[0]


def test_it_has_the_parameters_of_the_shape(build: Build) -> None:
    trainer = build(JOB)
    # Without biases and norms: the matrices of two stacks and one vocabulary.
    matrices = 2 * (3 * 4 * 16 * 16 + 2 * 2 * 16 * 32) + 40 * 16
    assert matrices <= trainer.num_parameters <= 1.25 * matrices
