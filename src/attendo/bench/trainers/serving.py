"""What a trainer's process does: it is told a model and batches, trains on those it is asked for, and tells how long.

A line of JSON each way. The first line in is a `Job`, answered by what has been built; the next has the batches; each
further one asks for a group of steps and is answered by seconds and losses. Between two requests the process waits for
its pipe and computes nothing. Only the standard library and torch are needed here, in versions that a peer may insist
on (Python 3.10 and up): the peers run in environments without attendo.
"""

import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol, TextIO

import torch
from torch import Tensor

PEAK_LEARNING_RATE = 5e-4
WARMUP_STEPS = 10
"""A short warm-up, so that the first steps of a bench already learn."""
ADAM_BETAS = (0.9, 0.98)
ADAM_EPSILON = 1e-9


@dataclass(frozen=True)
class Job:
    """The model to train and how; every system is given the same."""

    d_model: int
    d_ff: int
    num_layers: int
    """Of each stack."""
    num_heads: int
    vocab_size: int
    """Of one vocabulary for both languages, whose matrix is also the projection before the softmax."""
    dropout: float
    label_smoothing: float
    dtype: str
    """`float32`, or `bfloat16` for products in bfloat16 with weights and Adam in float32."""
    threads: int
    device: str
    seed: int
    max_len: int
    """Tokens of the longest side, `</s>` counted."""


@dataclass(frozen=True)
class PairBatch:
    """The pairs of one update, as ids with `</s>` (0) at the end of each; padding and a start are each system's own."""

    source: Sequence[Sequence[int]]
    target: Sequence[Sequence[int]]

    @property
    def num_tokens(self) -> int:
        """Target tokens, without padding."""
        return sum(map(len, self.target))


class Trainer(Protocol):
    """A system that has built its model."""

    package: str
    """Whose version is told."""
    num_parameters: int

    def prepare(self, batch: PairBatch) -> Any:
        """A batch as `step` takes it; not timed."""

    def step(self, batch: Any, learning_rate: float, number: int) -> Tensor:
        """One update.

        Args:
            batch: as `prepare` gave it.
            learning_rate: of this update.
            number: of this update, from 1.

        Returns:
            Cross-entropy with the smoothed target in nats a target token, a scalar without gradient.
        """


def learning_rate(number: int) -> float:
    """Of an update, counted from 1: rises in a straight line, then falls with the root, as attendo's own does."""
    return PEAK_LEARNING_RATE * min(number / WARMUP_STEPS, math.sqrt(WARMUP_STEPS / number))


def smoothing_entropy(eps: float, others: int) -> float:
    """Nats by which cross-entropy is above KL divergence.

    Args:
        eps: the share of probability that the right token does not have.
        others: tokens that have it, in equal parts.
    """
    return -(1 - eps) * math.log(1 - eps) - eps * math.log(eps / others) if eps else 0.0


def serve(build: Callable[[Job], Trainer]) -> None:
    """Answers on standard output until standard input ends; what else the process prints goes to standard error.

    Args:
        build: makes the system's model.
    """
    with private_stdout() as answers:
        job = Job(**json.loads(sys.stdin.readline()))
        torch.set_num_threads(job.threads)
        torch.manual_seed(job.seed)
        trainer = build(job)
        versions = {"torch": torch.__version__, trainer.package: _version(trainer.package)}
        _answer(answers, {"parameters": trainer.num_parameters, "versions": versions})
        batches = [trainer.prepare(PairBatch(**content)) for content in json.loads(sys.stdin.readline())["batches"]]
        _answer(answers, {"batches": len(batches)})
        done = 0
        for line in sys.stdin:
            request = json.loads(line)
            set_fast_products(request["fast_products"])
            seconds, losses = train(trainer, [batches[i] for i in request["batches"]], done)
            done += len(losses)
            _answer(answers, {"seconds": seconds, "losses": losses})


def train(trainer: Trainer, batches: Sequence[Any], done: int) -> tuple[float, list[float]]:
    """Makes an update a batch.

    Args:
        trainer: which has made `done` updates.
        batches: as `Trainer.prepare` gave them.
        done: updates before these.

    Returns:
        Seconds for all of them, and each one's loss.
    """
    started = time.perf_counter()
    losses = [
        trainer.step(batch, learning_rate(number), number) for number, batch in enumerate(batches, start=done + 1)
    ]
    values = [float(loss) for loss in losses]  # which waits for a GPU
    return time.perf_counter() - started, values


def set_fast_products(on: bool) -> None:
    """Has float32 products run through oneDNN, whose setting is called after bfloat16; see `attendo.model.products`.

    Raises:
        RuntimeError: this torch has no such setting.
    """
    settings: Any = getattr(torch.backends.mkldnn, "matmul", None)
    if hasattr(settings, "fp32_precision"):
        settings.fp32_precision = "bf16" if on else "none"
    elif on:
        raise RuntimeError(f"torch {torch.__version__} has no backends.mkldnn.matmul.fp32_precision")


@contextmanager
def private_stdout() -> Iterator[TextIO]:
    """Standard output for the block alone: whatever else writes to it, in Python or below, writes to standard error."""
    sys.stdout.flush()
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as stream:
        os.dup2(2, 1)
        yield stream


def _answer(stream: TextIO, content: dict[str, Any]) -> None:
    print(json.dumps(content), file=stream, flush=True)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # run from its source
        return "unknown"
