"""The models of a server: named at its start, verified and loaded on demand, replaced without interruption.

A model in memory is a `LoadedModel`, one generation of its folder. A request has it on loan from before its lines are
queued until they are done, so that all its lines are translated by one generation. When the folder changes, the next
generation is loaded in addition, and the old one leaves with its last loan. The least recently used model is unloaded
in the same way when memory runs short.
"""

import asyncio
import gc
import os
import re
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from attendo.checkpoint.checksums import verify_folder
from attendo.checkpoint.finding import find_model
from attendo.checkpoint.model_folder import ModelDescription, read_description
from attendo.decoding.backends.native_model import Dtype
from attendo.decoding.lines.translation import Candidate, Translation
from attendo.errors import AttendoError, ModelError
from attendo.markup.text_types import Confidence
from attendo.model.weights.parameters import num_weights
from attendo.serving.config import ModelsConfig
from attendo.serving.core.loaded_model import LoadedModel, Signature
from attendo.serving.core.model_names import ModelSource
from attendo.serving.errors import ServingError, overdue, unknown_pair
from attendo.serving.logs import Log
from attendo.serving.metrics import Metrics
from attendo.serving.translating import Pair
from attendo.workflow.confidence import load_confidence
from attendo.workflow.engines.aids import Aids
from attendo.workflow.engines.translate import load
from attendo.workflow.extras import need_packages

_CODES = re.compile(r"(?P<source>[a-z]{2,3})-(?P<target>[a-z]{2,3})")
_BASE_BYTES = 32 << 20
"""Estimated bytes of a model besides its weights, for vocabularies and sessions."""
_BYTES_PER_WEIGHT = 8
"""Bytes per weight: float32 as read, for alignment and attention, and the packed form of the kernels."""
_ATTEMPTS = 3
_FAILURE_S = 5.0
"""Seconds before another attempt to load a model that could not be loaded."""


@dataclass(kw_only=True, eq=False)
class _Served:
    """A served model, in memory or not."""

    source: ModelSource
    folder: Path
    description: ModelDescription
    signature: Signature
    """Signature of the folder when the description was read."""
    current: LoadedModel | None = None
    """The generation for new loans."""
    loading: "asyncio.Task[None] | None" = None
    used_at: float = 0.0
    failed_at: float | None = None
    failed_signature: Signature = ()
    """Signature of a folder that could not be loaded; it is not tried again until it changes."""


class ModelPool:
    """The models that are served. All methods except the constructor must be called in the event loop.

    Args:
        sources: the models in order of preference.
        config: the memory bound, and the models to load at the start.
        metrics: the counters.
        log: receives the loading of models.

    Raises:
        ModelError: a folder is missing, damaged or larger than the memory bound.
        AttendoError: a model is a parser, and NLTK is not installed.
    """

    def __init__(self, sources: Sequence[ModelSource], config: ModelsConfig, metrics: Metrics, log: Log) -> None:
        self._config, self._metrics, self._log = config, metrics, log
        self._served = {source.name: self._look_at(source) for source in sources}
        self._alive: set[LoadedModel] = set()
        self._room = asyncio.Event()
        self._one_at_a_time = asyncio.Lock()
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="attendo-loading")

    def pairs(self) -> tuple[Pair, ...]:
        """Lists the language pairs in the order of preference."""
        translators = ((name, each.description) for name, each in self._served.items())
        return tuple(
            Pair(source=description.source_language, target=description.target_language, model=name)
            for name, description in translators
            if description.task == "translate"
        )

    def parsers(self) -> tuple[str, ...]:
        """The names of the models that parse."""
        return tuple(name for name, each in self._served.items() if each.description.task == "parse")

    def names(self) -> tuple[str, ...]:
        """Lists the names of all models."""
        return tuple(self._served)

    def description(self, name: str) -> ModelDescription:
        """Returns a model's `config.json`.

        Raises:
            ServingError: there is no such model.
        """
        return self._find(name).description

    def folder(self, name: str) -> Path:
        """Returns a model's folder.

        Raises:
            ServingError: there is no such model.
        """
        return self._find(name).folder

    def confidence(self, name: str) -> Confidence:
        """Returns the confidence function of the generation of a model that is in memory at the time of the call.

        Raises:
            ServingError: there is no such model.
        """
        served = self._find(name)

        def confidence(translation: Translation, candidate: Candidate) -> float | None:
            known = None if served.current is None else served.current.confidence
            return None if known is None else known(translation, candidate)

        return confidence

    def is_loaded(self, name: str) -> bool:
        """Whether a model is in memory."""
        return self._find(name).current is not None

    async def load_first(self) -> None:
        """Loads the models that must be in memory before the server is ready: all, or the first that translates.

        Raises:
            ModelError: a model cannot be loaded.
        """
        for served in sorted(self._served.values(), key=lambda each: each.description.task == "parse"):
            if served.current is None:
                served.loading = asyncio.create_task(self._load(served, "start"))
                await served.loading
            if not self._config.eager:
                return

    @asynccontextmanager
    async def on_loan(self, name: str, *, deadline: float | None = None) -> AsyncIterator[LoadedModel]:
        """Lends a model, and loads it first if necessary.

        Args:
            name: the name of the model.
            deadline: the deadline by `time.monotonic()`; None waits for ever.

        Raises:
            ServingError: there is no such model, it cannot be loaded, or not in time.
        """
        served = self._find(name)
        while (loaded := served.current) is None:
            await self._wanted(served, deadline)
        loaded.loans += 1
        served.used_at = time.monotonic()
        try:
            yield loaded
        finally:
            loaded.loans -= 1
            if loaded is not served.current and not loaded.loans:
                self._free(loaded)

    async def look_for_changes(self) -> None:
        """Reloads models whose folders have changed; if that fails, the old one stays and the failure is logged."""
        loop = asyncio.get_running_loop()
        for served in list(self._served.values()):
            with suppress(OSError, AttendoError):  # a missing folder: the model in memory stays in use
                found = await loop.run_in_executor(self._reader, _signature_of, served.source)
                known = served.signature if served.current is None else served.current.signature
                if found not in (known, served.failed_signature) and served.loading is None:
                    await self._renew(served, found)

    def free_unused(self, most: int) -> int:
        """Frees memory that models in memory keep for later batches; see `Engine.free_unused`."""
        loaded = [served.current for served in self._served.values() if served.current is not None]
        return sum(each.engine.free_unused(most) for each in loaded)

    async def close(self) -> None:
        """Ends the loading thread."""
        await asyncio.to_thread(self._reader.shutdown)

    # --- loading ------------------------------------------------------------------------------------------------------

    def _look_at(self, source: ModelSource) -> _Served:
        folder = find_model(source.path)
        signature = _signature(folder)
        if problems := verify_folder(folder):
            raise ModelError("\n".join(problems))
        description = _with_languages(source, folder, read_description(folder))
        if description.task == "parse":
            need_packages(["nltk"], "parse")
        limit = self._config.memory_mb
        if limit is not None and (needed := _num_bytes(description)) > limit << 20:
            raise ModelError(
                f"{folder}: takes about {needed >> 20:,} MiB, more than models.memory_mb = {limit}; take more"
            )
        return _Served(source=source, folder=folder, description=description, signature=signature)

    def _find(self, name: str) -> _Served:
        if (served := self._served.get(name)) is None:
            raise unknown_pair(f"no model is called {name[:64]!r} here; there are {', '.join(self._served)}")
        return served

    async def _wanted(self, served: _Served, deadline: float | None) -> None:
        """Waits until a model is loaded; the first caller starts the loading."""
        if served.failed_at is not None and time.monotonic() < served.failed_at + _FAILURE_S:
            raise _unavailable(served)
        if served.loading is None:
            served.loading = asyncio.create_task(self._load(served, "wanted"))
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        try:
            # Shielded: a caller who leaves does not cancel the loading for the others.
            await asyncio.wait_for(asyncio.shield(served.loading), left)
        except TimeoutError:
            raise overdue(f"the model {served.source.name} is being loaded; try again", 1.0) from None
        except (AttendoError, OSError):
            raise _unavailable(served) from None

    async def _renew(self, served: _Served, signature: Signature) -> None:
        """Loads the next generation of a model, or only its description if it is not in memory."""
        if served.current is None:
            loop = asyncio.get_running_loop()
            fresh = await loop.run_in_executor(self._reader, self._look_at, served.source)
            served.folder, served.description, served.signature = fresh.folder, fresh.description, fresh.signature
            served.failed_at = None
            return
        served.loading = asyncio.create_task(self._load(served, "changed"))
        try:
            await asyncio.shield(served.loading)
        except (AttendoError, OSError):
            served.failed_signature = signature

    async def _load(self, served: _Served, reason: str) -> None:
        """Loads a model, after making room for it.

        Raises:
            ModelError: it cannot be loaded; it stays unchanged.
        """
        name, started = served.source.name, time.monotonic()
        loop = asyncio.get_running_loop()
        try:
            async with self._one_at_a_time:
                # Damage is detected before anything is unloaded to make room.
                fresh = await loop.run_in_executor(self._reader, self._look_at, served.source)
                await self._make_room(_num_bytes(fresh.description), served)
                dtype = cast(Dtype | None, self._config.dtype)
                loaded = await loop.run_in_executor(self._reader, _read, served.source, dtype, fresh.signature)
                self._put_in_place(served, loaded, fresh.description)
        except (AttendoError, OSError) as error:
            served.failed_at = time.monotonic()
            self._metrics.model_load_failures.labels(name).inc()
            self._log.error("model-failed", model=name, reason=reason, message=str(error))
            raise
        finally:
            served.loading = None
        self._metrics.model_loads.labels(name, reason).inc()
        seconds = round(time.monotonic() - started, 3)
        self._log.info("model-loaded", model=name, reason=reason, seconds=seconds, kernel=loaded.engine.kernel)

    def _put_in_place(self, served: _Served, loaded: LoadedModel, description: ModelDescription) -> None:
        self._alive.add(loaded)
        self._retire(served)
        served.current, served.description, served.folder = loaded, description, loaded.folder
        served.signature, served.failed_at, served.failed_signature = loaded.signature, None, ()
        served.used_at = time.monotonic()
        self._show()

    async def _make_room(self, needed: int, wanted: _Served) -> None:
        """Unloads models, least recently used first, until another has room; waits for their last loans."""
        if self._config.memory_mb is None:
            return
        limit = self._config.memory_mb << 20
        while sum(each.num_bytes for each in self._alive) + needed > limit:
            staying = [each for each in self._served.values() if each.current is not None]
            # The requested model may be in memory in its old generation, which leaves last.
            staying.sort(key=lambda each: (each is wanted, each.used_at))
            leaving = sum(each.num_bytes for each in self._alive) - sum(
                each.current.num_bytes for each in staying if each.current is not None
            )
            if staying and sum(each.num_bytes for each in self._alive) - leaving + needed > limit:
                self._retire(staying[0])
            elif self._alive:
                self._room.clear()
                await self._room.wait()
            else:
                return

    def _retire(self, served: _Served) -> None:
        """Stops lending a generation, which is unloaded after its last loan."""
        loaded, served.current = served.current, None
        if loaded is not None and not loaded.loans:
            self._free(loaded)

    def _free(self, loaded: LoadedModel) -> None:
        self._alive.discard(loaded)
        self._room.set()
        self._show()
        # An engine and its parts refer to each other, so only the garbage collector frees them.
        asyncio.get_running_loop().call_soon(gc.collect)

    def _show(self) -> None:
        self._metrics.models_in_memory.set(len(self._alive))
        for name, served in self._served.items():
            size = 0 if served.current is None else served.current.num_bytes
            self._metrics.model_bytes.labels(name).set(size)


def _read(source: ModelSource, dtype: Dtype | None, verified: Signature) -> LoadedModel:
    """Loads a model, and checks all files against their checksums and for changes meanwhile."""
    for _ in range(_ATTEMPTS):
        folder = find_model(source.path)
        signature = _signature(folder)
        if signature != verified and (problems := verify_folder(folder)):
            raise ModelError("\n".join(problems))
        # Samples would depend on the position in a batch. A thread works on one batch at a time.
        settings = {"sampling": False, "n_best": 1}
        aids = Aids(memory=source.memories, memory_threshold=source.memory_threshold)
        engine = load(folder, search=settings, dtype=dtype, threads=1, aids=aids)
        if _signature(find_model(source.path)) == signature:
            num_bytes = _num_bytes(engine.description)
            confidence = load_confidence(folder)
            return LoadedModel(source.name, engine, confidence, folder=folder, signature=signature, num_bytes=num_bytes)
    raise ModelError(f"{source.path}: keeps changing while it is read; write the new folder elsewhere and rename it")


def _with_languages(source: ModelSource, folder: Path, description: ModelDescription) -> ModelDescription:
    """Returns a translator's description with its languages, which requests need and some models lack."""
    if description.task != "translate" or (description.source_language and description.target_language):
        return description
    codes = _CODES.fullmatch(source.name)
    if codes is None:
        raise ModelError(
            f"{folder}: does not say what languages it is for, which requests have to name; give it a name that does: "
            f"attendo serve en-de={source.path}"
        )
    return replace(description, source_language=codes["source"], target_language=codes["target"])


def _unavailable(served: _Served) -> ServingError:
    name = served.source.name
    return ServingError(503, "model-unavailable", f"the model {name} cannot be loaded now", retry_after_s=_FAILURE_S)


def _signature_of(source: ModelSource) -> Signature:
    return _signature(find_model(source.path))


def _signature(folder: Path) -> Signature:
    return tuple(sorted(_stats(folder)))


def _stats(folder: Path) -> Iterator[tuple[str, int, int, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith("."):
                found = entry.stat()
                yield entry.name, found.st_ino, found.st_size, found.st_mtime_ns


def _num_bytes(description: ModelDescription) -> int:
    """Estimates the memory of a model in bytes."""
    weights = num_weights(description.model, description.src_vocab_size, description.tgt_vocab_size)
    return _BASE_BYTES + weights * _BYTES_PER_WEIGHT
