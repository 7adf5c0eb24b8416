"""The core of a server: `Translating` with models on loan, and a batcher whose threads work with them."""

import time
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attendo.attention_maps.weights import AttentionMap
from attendo.checkpoint.model_folder import ModelDescription
from attendo.decoding.constraints.line_constraints import Constraints
from attendo.decoding.lines.translation import Translation
from attendo.decoding.watch import BetweenSteps
from attendo.errors import AttendoError, DataError, RecipeError
from attendo.markup.text_types import Confidence, TranslatedLine
from attendo.serving.config import BatchingConfig
from attendo.serving.core.batching import Batcher
from attendo.serving.core.jobs import WorkItem
from attendo.serving.core.loaded_model import LoadedModel
from attendo.serving.core.models import ModelPool
from attendo.serving.errors import ServingError, bad_request
from attendo.serving.logs import Log, error_place
from attendo.serving.metrics import Metrics
from attendo.serving.translating import Caller, Options, Pair
from attendo.threads import usable_cores
from attendo.workflow.engines.engine import Engine
from attendo.workflow.engines.parse import Parse

_UNCONSTRAINED = Constraints()
_ALIGNED_TOKENS = 256
"""Maximum number of tokens of translations that are aligned together."""
_TORCH = "torch"
"""The name of work that only one thread at a time may do."""


@dataclass(frozen=True, kw_only=True)
class _Task:
    """The task for lines; lines of equal tasks share a batch."""

    model: LoadedModel
    """Compared by identity."""
    options: Options


@dataclass(frozen=True, kw_only=True)
class _TranslationTask(_Task):
    alignment: bool


@dataclass(frozen=True, kw_only=True)
class _ParsingTask(_Task):
    """Parsing, with the options' number of trees for each sentence."""


@dataclass(frozen=True, kw_only=True)
class _AttentionTask(_Task):
    """Computation of a pair's attention."""


class Core:
    """Translates, parses and computes attention for many callers at the same time.

    Args:
        pool: the models.
        config: the configuration of batches.
        metrics: the counters.
        log: receives faults.
    """

    def __init__(self, pool: ModelPool, config: BatchingConfig, metrics: Metrics, log: Log) -> None:
        self._pool, self._metrics, self._log = pool, metrics, log
        self.threads = config.threads or usable_cores()
        """Number of working threads."""
        self._batcher = Batcher(self._work, threads=self.threads, config=config, metrics=metrics, excludes=_excludes)

    def start(self) -> None:
        """Starts the threads, in a running event loop."""
        self._batcher.start()

    async def stop(self) -> None:
        """Ends the threads; waiting work is dropped."""
        await self._batcher.stop()

    @property
    def waiting(self) -> int:
        """The number of lines in the queue."""
        return self._batcher.waiting

    def pairs(self) -> tuple[Pair, ...]:
        """Lists the language pairs that can be translated now; see `Translating`."""
        return self._pool.pairs()

    def parsers(self) -> tuple[str, ...]:
        """The names of the models that parse."""
        return self._pool.parsers()

    def names(self) -> tuple[str, ...]:
        """The names of all models."""
        return self._pool.names()

    def confidence(self, model: str) -> Confidence:
        """Returns a model's confidence function; see `Translating`."""
        return self._pool.confidence(model)

    def folder(self, model: str) -> Path:
        """Returns the folder of a served model."""
        return self._pool.folder(model)

    def description(self, model: str) -> ModelDescription:
        """Returns the `config.json` of a served model."""
        return self._pool.description(model)

    def is_loaded(self, model: str) -> bool:
        """Whether a served model is in memory."""
        return self._pool.is_loaded(model)

    async def translate(
        self,
        pair: Pair,
        lines: Sequence[str],
        options: Options,
        caller: Caller,
        *,
        deadline: float | None = None,
        constraints: Sequence[Constraints] | None = None,
        alignment: bool = False,
    ) -> list[TranslatedLine]:
        """Translates lines; see `Translating`."""
        constrained = zip(lines, constraints or [_UNCONSTRAINED] * len(lines), strict=True)
        items = [WorkItem(content=(line, its_constraints), text=line) for line, its_constraints in constrained]
        async with self._pool.on_loan(pair.model, deadline=deadline) as model:
            task = _TranslationTask(model=model, options=options, alignment=alignment)
            return await self._submit(task, items, caller, deadline)

    async def attention(
        self, pair: Pair, source: str, target: str | None, caller: Caller, *, deadline: float | None = None
    ) -> AttentionMap:
        """Computes the attention of every head; see `Translating`."""
        item = WorkItem(content=(source, target), text=source + (target or ""))
        async with self._pool.on_loan(pair.model, deadline=deadline) as model:
            [found] = await self._submit(_AttentionTask(model=model, options=Options()), [item], caller, deadline)
        assert isinstance(found, AttentionMap)
        return found

    async def parse(
        self, model: str, sentences: Sequence[str], n_best: int, caller: Caller, *, deadline: float | None = None
    ) -> list[Parse]:
        """Parses sentences; see `Translating`."""
        items = [WorkItem(content=sentence, text=sentence) for sentence in sentences]
        async with self._pool.on_loan(model, deadline=deadline) as loaded:
            task = _ParsingTask(model=loaded, options=Options(n_best=n_best))
            return await self._submit(task, items, caller, deadline)

    async def _submit(
        self, task: _Task, items: Sequence[WorkItem], caller: Caller, deadline: float | None
    ) -> list[Any]:
        return await self._batcher.submit(task, items, caller.name, deadline=deadline, background=caller.background)

    # --- in the batcher's threads -------------------------------------------------------------------------------------

    def _work(self, task: _Task, contents: Sequence[Any], thread: int, between_steps: BetweenSteps) -> Sequence[Any]:
        started = time.monotonic()
        name = task.model.name
        try:
            engine = task.model.engine_for(task.options, thread)
            match task:
                case _TranslationTask():
                    results: Sequence[Any] = self._translated(engine, contents, between_steps, alignment=task.alignment)
                case _ParsingTask():
                    results = engine.parse_watched(contents, between_steps)
                case _:
                    results = [
                        self._attention(engine, source, target, _only(number, between_steps))
                        for number, (source, target) in enumerate(contents, start=1)
                    ]
        except (DataError, RecipeError) as error:
            return [bad_request(str(error))] * len(contents)
        except Exception as error:
            self._log.error("work-failed", model=name, work=_name(task), error=error_place(error))
            return [_failed(error)] * len(contents)
        self._count(name, task, results, time.monotonic() - started)
        return results

    def _translated(
        self,
        engine: Engine,
        contents: Sequence[tuple[str, Constraints]],
        between_steps: BetweenSteps,
        *,
        alignment: bool,
    ) -> Sequence[TranslatedLine | ServingError | None]:
        lines, constraints = [line for line, _ in contents], [its_constraints for _, its_constraints in contents]
        try:
            translations = engine.translate_watched(lines, constraints, between_steps)
        except DataError as error:
            if len(contents) == 1:
                return [bad_request(str(error).removeprefix("line 1: "))]
            # One line of several requests has impossible constraints: the others must not be affected.
            return [
                found
                for number, each in enumerate(contents, start=1)
                for found in self._translated(engine, [each], _only(number, between_steps), alignment=alignment)
            ]
        if alignment:
            return self._aligned(engine, translations, between_steps)
        return [None if each is None else TranslatedLine(translation=each) for each in translations]

    def _attention(
        self, engine: Engine, source: str, target: str | None, between_steps: BetweenSteps
    ) -> AttentionMap | ServingError | None:
        """Computes the attention of every head; a sentence that fails is an error of its request only."""
        try:
            pair = engine.attention_pair(source, target, between_steps)
            return None if pair is None else engine.attention_of(pair, between_steps)
        except DataError as error:
            return bad_request(str(error))

    def _aligned(
        self, engine: Engine, translations: Sequence[Translation | None], between_steps: BetweenSteps
    ) -> Sequence[TranslatedLine | None]:
        """Aligns translations, a few at a time; returns None for those cancelled before."""
        found: list[TranslatedLine | None] = [None] * len(translations)
        for places in _few_at_a_time(translations):
            cancelled = between_steps()
            wanted = {place: each for place in places if place + 1 not in cancelled and (each := translations[place])}
            aligned = engine.align_watched(list(wanted.values()), between_steps)
            for (place, translation), alignments in zip(wanted.items(), aligned, strict=True):
                found[place] = TranslatedLine(translation=translation, alignments=alignments)
        return found

    def _count(self, name: str, task: _Task, results: Sequence[Any], seconds: float) -> None:
        metrics = self._metrics
        metrics.batch_seconds.labels(name).observe(seconds)
        metrics.lines.labels(name, _name(task)).inc(sum(result is not None for result in results))
        written = [each.translation for each in results if isinstance(each, TranslatedLine)]
        if written:
            target = sum(len(each.n_best[0].token_log_probs) for each in written)
            metrics.tokens.labels(name, "target").inc(target)


def _few_at_a_time(translations: Sequence[Translation | None]) -> Iterator[list[int]]:
    """Yields groups of translations, by index, that are aligned together without a stop."""
    places: list[int] = []
    tokens = 0
    for place, translation in enumerate(translations):
        if translation is not None:
            its_tokens = sum(len(candidate.ids) for candidate in translation.n_best)
            if places and tokens + its_tokens > _ALIGNED_TOKENS:
                yield places
                places, tokens = [], 0
            places.append(place)
            tokens += its_tokens
    if places:
        yield places


def _only(number: int, between_steps: BetweenSteps) -> BetweenSteps:
    """Returns the cancellation of one line, which is number 1 because it is processed alone."""
    return lambda: frozenset({1} if number in between_steps() else ())


def _excludes(task: Hashable) -> str | None:
    """Returns a name that serializes models in plain torch.

    They use all threads of the processor or the GPU, and torch sets for the whole process how exactly it multiplies.
    """
    assert isinstance(task, _Task)
    return None if task.model.concurrent else _TORCH


def _name(task: _Task) -> str:
    return {_TranslationTask: "translate", _ParsingTask: "parse"}.get(type(task), "attention")


def _failed(error: Exception) -> ServingError:
    """Returns the error for a fault that is not the caller's."""
    if isinstance(error, AttendoError):
        return ServingError(503, "model-failed", "the model failed; the server's log has the reason")
    return ServingError(500, "internal", "internal error in the server")
