"""The loop of a trainer's process: it receives a model and batches, trains on request, and reports the time taken.

Requests and answers are one line of JSON each. The first request is a `Job`, answered by the number of parameters and
the versions; the second has the batches; each further one asks for a group of steps and is answered by seconds and
losses. Between two requests the process waits for its pipe and computes nothing. Only the standard library and torch
are needed here, in the versions that a peer may require (Python 3.10 and up): peers run in environments without
attendo.
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
"""Number of warm-up steps: few, so that the first steps of a bench already learn."""
ADAM_BETAS = (0.9, 0.98)
ADAM_EPSILON = 1e-9


@dataclass(frozen=True)
class Job:
    """The model to train and how; the same for every system."""

    d_model: int
    d_ff: int
    num_layers: int
    """Number of layers in each stack."""
    num_heads: int
    vocab_size: int
    """Size of the joint vocabulary of both languages, whose matrix is also the projection before the softmax."""
    dropout: float
    label_smoothing: float
    dtype: str
    """`float32`, or `bfloat16` for products in bfloat16 with weights and Adam in float32."""
    threads: int
    device: str
    seed: int
    max_len: int
    """Number of tokens in the longest side, `</s>` included."""


@dataclass(frozen=True)
class PairBatch:
    """The pairs of one update, as ids that end with `</s>` (0); each system adds padding and a start token itself."""

    source: Sequence[Sequence[int]]
    target: Sequence[Sequence[int]]

    @property
    def num_tokens(self) -> int:
        """Number of target tokens, without padding."""
        return sum(map(len, self.target))


class Trainer(Protocol):
    """A system with the model that it has built."""

    package: str
    """Name of the package whose version is reported."""
    num_parameters: int

    def prepare(self, batch: PairBatch) -> Any:
        """Converts a batch to the input of `step`; not timed."""

    def step(self, batch: Any, learning_rate: float, number: int) -> Tensor:
        """Makes one update.

        Args:
            batch: a batch that `prepare` has returned.
            learning_rate: learning rate of this update.
            number: number of this update, from 1.

        Returns:
            Cross-entropy with the smoothed target in nats per target token, a scalar without gradient.
        """


def learning_rate(number: int) -> float:
    """Returns the rate of an update, from 1: a linear rise, then a fall with the inverse square root, as in attendo."""
    return PEAK_LEARNING_RATE * min(number / WARMUP_STEPS, math.sqrt(WARMUP_STEPS / number))


def smoothing_entropy(eps: float, others: int) -> float:
    """Returns the entropy of the smoothed target, in nats, by which cross-entropy exceeds KL divergence.

    Args:
        eps: the probability that the smoothed target takes from the correct token.
        others: number of tokens that share it equally.
    """
    return -(1 - eps) * math.log(1 - eps) - eps * math.log(eps / others) if eps else 0.0


def serve(build: Callable[[Job], Trainer]) -> None:
    """Answers requests on standard output until standard input ends; all other output goes to standard error.

    Args:
        build: makes the system and its model.
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
    """Makes one update per batch.

    Args:
        trainer: a trainer that has made `done` updates.
        batches: batches that `Trainer.prepare` has returned.
        done: number of updates before these.

    Returns:
        Seconds for all updates together, and the loss of each.
    """
    started = time.perf_counter()
    losses = [
        trainer.step(batch, learning_rate(number), number) for number, batch in enumerate(batches, start=done + 1)
    ]
    values = [float(loss) for loss in losses]  # waits for a GPU to finish
    return time.perf_counter() - started, values


def set_fast_products(on: bool) -> None:
    """Makes float32 products run through oneDNN, with a setting named after bfloat16; see `attendo.model.products`.

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
    """Reserves standard output for the block: other writes to it, in Python or below, go to standard error."""
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
