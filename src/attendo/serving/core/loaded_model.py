"""A model in memory that a server lends: one generation of a folder, with an engine for each thread and options."""

from pathlib import Path

from attendo.checkpoint.model_folder import ModelDescription
from attendo.decoding.search_settings import SearchSettings
from attendo.markup.text_types import Confidence
from attendo.serving.translating import Options
from attendo.workflow.engines.engine import Engine

_MAX_ENGINES = 4
"""Maximum number of engines per thread and model for options other than the model's own."""
_MOST_TOKENS = 1280
"""Maximum number of tokens of sources that are searched together, as no other work is done during one of their steps; a
quarter more than a batch's estimate, which is too small for text that is hardly language."""

Signature = tuple[tuple[str, int, int, int], ...]
"""Names, inodes, sizes and times of the files in a folder."""


class LoadedModel:
    """A generation of a model in memory.

    Args:
        name: the name in requests.
        engine: the engine as loaded, with an n-best list of one.
        confidence: the confidence of its translations; None if it has not been calibrated.
        folder: the folder.
        signature: the signature of the folder.
        num_bytes: its approximate size in memory.
    """

    def __init__(
        self,
        name: str,
        engine: Engine,
        confidence: Confidence | None,
        *,
        folder: Path,
        signature: Signature,
        num_bytes: int,
    ) -> None:
        self.name, self.confidence = name, confidence
        self.engine, self.folder, self.signature, self.num_bytes = engine, folder, signature, num_bytes
        self.loans = 0
        """Number of jobs that wait for it or use it."""
        self._engines: dict[int, dict[Options, Engine]] = {}

    @property
    def description(self) -> ModelDescription:
        """The model's `config.json`."""
        return self.engine.description

    @property
    def concurrent(self) -> bool:
        """Whether several threads may use it at once."""
        return self.engine.concurrent

    def engine_for(self, options: Options, thread: int) -> Engine:
        """Returns a thread's engine for some options, which shares the model with all others.

        Args:
            options: the requested options.
            thread: the thread's number; only that thread uses its engines.

        Raises:
            RecipeError: the options are invalid.
        """
        engines = self._engines.setdefault(thread, {})
        engine = engines.pop(options, None)
        if engine is None:
            if len(engines) > _MAX_ENGINES:  # the least recently used one comes first
                del engines[next(other for other in engines if other != Options())]
            engine = self.engine.with_search(**self._changes(options))
        engines[options] = engine
        return engine

    def _changes(self, options: Options) -> SearchSettings:
        own = self.engine.search
        beam_size = max(own.beam_size if options.beam_size is None else options.beam_size, options.n_best)
        most_tokens = min(own.max_batch_tokens, _MOST_TOKENS)
        changes: SearchSettings = {"n_best": options.n_best, "max_batch_tokens": most_tokens}
        if beam_size != own.beam_size:
            changes["beam_size"], changes["beam_groups"] = beam_size, 1
        if options.length_penalty is not None:
            changes["length_penalty"] = options.length_penalty
        return changes
