"""The work of an engine, counted instead of timed."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import attendo
from attendo.decoding.backends.array_attention import PairAttention
from attendo.decoding.backends.models import DecodingModel, decoding_model
from attendo.decoding.step import FloatArray, IntArray, NextTokens, Step
from attendo.model.config import ModelConfig

Ids = Sequence[Sequence[int]]


@dataclass
class CountingModel:
    """A model that counts the tokens that are read and the hypotheses that are continued by a token."""

    model: DecodingModel
    work: int = 0
    """Tokens of sources, and rows of all decoder steps."""

    concurrent = False

    @property
    def config(self) -> ModelConfig:
        return self.model.config

    @property
    def src_vocab_size(self) -> int:
        return self.model.src_vocab_size

    @property
    def tgt_vocab_size(self) -> int:
        return self.model.tgt_vocab_size

    @property
    def kernel(self) -> str:
        return self.model.kernel

    def at_work(self) -> AbstractContextManager[None]:
        return self.model.at_work()

    def step(self, sources: Sequence[Sequence[int]], *, threads: int = 1) -> Step:
        self.work += sum(map(len, sources)) + len(sources)
        return _CountingStep(self.model.step(sources, threads=threads), self)

    def token_log_probs(self, sources: Ids, targets: Ids, **options: Any) -> FloatArray:
        return self.model.token_log_probs(sources, targets, **options)

    def encoder_decoder_attention(self, sources: Ids, targets: Ids, layer: int, **options: Any) -> list[FloatArray]:
        return self.model.encoder_decoder_attention(sources, targets, layer, **options)

    def attention(self, source: Sequence[int], target: Sequence[int], **options: Any) -> PairAttention:
        return self.model.attention(source, target, **options)

    def free_unused(self, most: int) -> int:
        return self.model.free_unused(most)


class _CountingStep:
    def __init__(self, step: Step, counts: CountingModel) -> None:
        self._step, self._counts = step, counts

    def start(self) -> NextTokens:
        return self._step.start()

    def advance(self, last_ids: IntArray) -> NextTokens:
        self._counts.work += len(last_ids)
        return self._step.advance(last_ids)

    def select(self, rows: IntArray) -> None:
        self._step.select(rows)


@contextmanager
def counting_engine(name: str) -> Iterator[tuple[attendo.Engine, CountingModel]]:
    """An engine in int8 whose work is counted."""
    made: list[CountingModel] = []

    def counting(*arguments: Any, **options: Any) -> CountingModel:
        made.append(CountingModel(decoding_model(*arguments, **options)))
        return made[-1]

    with patch("attendo.workflow.engines.engine_base.decoding_model", counting):
        engine = attendo.load(name, dtype="int8")
    with engine:
        yield engine, made[0]
