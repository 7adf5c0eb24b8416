"""A model in memory, as a server lends it: one generation of a folder, with an engine for each thread and options."""

from pathlib import Path

from attendo.checkpoint.model_folder import ModelDescription
from attendo.decoding.search_settings import SearchSettings
from attendo.markup.text_types import Confidence
from attendo.serving.translating import Options
from attendo.workflow.engines.engine import Engine

_MAX_ENGINES = 4
"""Maximum number of engines per thread and model for options other than the model's own."""

Signature = tuple[tuple[str, int, int, int], ...]
"""Names, inodes, sizes and times of the files in a folder."""


class LoadedModel:
    """A generation of a model, in memory.

    Args:
        name: what requests call it.
        engine: as it was loaded; searches, n best 1.
        confidence: how sure its translations are; None where it was not calibrated.
        folder: where it was read.
        signature: of the folder.
        num_bytes: about what it takes.
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
        """Jobs that wait for it, or for which it works."""
        self._engines: dict[int, dict[Options, Engine]] = {}

    @property
    def description(self) -> ModelDescription:
        """Its `config.json`."""
        return self.engine.description

    @property
    def concurrent(self) -> bool:
        """Whether several threads may work with it."""
        return self.engine.concurrent

    def engine_for(self, options: Options, thread: int) -> Engine:
        """The engine of a thread for some options, which shares the model with all others.

        Args:
            options: as they were asked for.
            thread: its number; only that thread asks for it.

        Raises:
            RecipeError: options that cannot be meant.
        """
        engines = self._engines.setdefault(thread, {})
        engine = engines.pop(options, None)
        if engine is None:
            if len(engines) > _MAX_ENGINES:  # the one used longest ago comes first
                del engines[next(other for other in engines if other != Options())]
            engine = self.engine.with_search(**self._changes(options))
        engines[options] = engine
        return engine

    def _changes(self, options: Options) -> SearchSettings:
        own = self.engine.search
        beam_size = max(own.beam_size if options.beam_size is None else options.beam_size, options.n_best)
        changes: SearchSettings = {"n_best": options.n_best}
        if beam_size != own.beam_size:
            changes["beam_size"], changes["beam_groups"] = beam_size, 1
        if options.length_penalty is not None:
            changes["length_penalty"] = options.length_penalty
        return changes
