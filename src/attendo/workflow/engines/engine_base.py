"""The common part of all engines: models in memory, search settings, copies, pickling, closing."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from attendo.checkpoint.model_folder import LoadedModel, ModelDescription
from attendo.decoding.backends.models import DecodingModel, decoding_model
from attendo.decoding.backends.native_model import Dtype
from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.line_constraints import Constraints
from attendo.decoding.lines.reverse import ReverseModel
from attendo.decoding.lines.translation import Counts
from attendo.decoding.lines.translator import Translator
from attendo.decoding.search_settings import SearchSettings
from attendo.decoding.watch import nobody
from attendo.errors import ModelError
from attendo.workflow.changed_section import changed_section
from attendo.workflow.engines.aids import NO_AIDS, Aids
from attendo.workflow.engines.arguments import check_settings, checked_aids, with_terms
from attendo.workflow.engines.model_search import check_ensemble, check_reverse, own_parsing
from attendo.workflow.extras import need_packages
from attendo.workflow.machine.devices import device_type
from attendo.workflow.machine.place import choose_threads

if TYPE_CHECKING:
    import torch

    from attendo.memory.lookup import Memory
    from attendo.workflow.engines.parse import Parser

_MAX_SET_UPS = 16
"""Maximum number of settings of calls that an engine keeps ready."""


@dataclass(frozen=True)
class _Ready:
    """The models in memory of an open engine."""

    first: LoadedModel
    models: tuple[DecodingModel, ...]


@dataclass(frozen=True)
class SetUp:
    """The translator and parser for some search settings."""

    translator: Translator
    parser: "Parser | None"


class EngineBase:
    """The common part of all engines: models, settings, attributes, copies and closing.

    Args:
        models: the models, as read from their folders; all with the same task and vocabularies.
        search: the search settings.
        dtype: the numbers that products are calculated with; on a processor without matrix units bfloat16 only saves
            memory.
        device: the device to work on, as torch or `place.choose_place` names it.
        threads: number of threads that work at the same time; None for the result of `place.choose_threads`.
        name: name of the model in `repr`; by default its folder.
        reload: makes this engine again in another process; without it, the engine cannot be pickled.
        aids: the glossary and translation memories that calls use which bring no aids of their own.
        reverse: a model of the opposite direction, which helps to choose among translations.

    Raises:
        AttendoError: a package that translation memories need is not installed.
        DataError: a translation memory cannot be read, or is of other languages.
        ModelError: the models do not fit together, or the dtype is unknown or not available on the device.
    """

    def __init__(
        self,
        models: Sequence[LoadedModel],
        search: SearchConfig,
        *,
        dtype: Dtype,
        device: "torch.device | str",
        threads: int | None = None,
        name: str = "",
        reload: "Callable[[], EngineBase] | None" = None,
        aids: Aids = NO_AIDS,
        reverse: "EngineBase | None" = None,
    ) -> None:
        check_ensemble(models)
        if reverse is not None:
            check_reverse(models[0], reverse.folder, reverse.description)
        ready = tuple(decoding_model(model.arrays, dtype=dtype, device=device) for model in models)
        first = models[0]
        self.description: ModelDescription = first.description
        """The content of the (first) model's `config.json`: languages, shapes, scores."""
        self.folder: Path = first.folder
        """The folder of the (first) model."""
        self.dtype: Dtype = dtype
        """The numbers that products are calculated with."""
        self.kernel: str = ", ".join(dict.fromkeys(model.kernel for model in ready))
        """Description of the kernels and numbers that calculate products; for an ensemble, each kind once."""
        self.concurrent: bool = all(model.concurrent for model in ready)
        """Whether several threads may work at the same time, each with an engine from `with_search`."""
        self.aids: Aids = checked_aids("load", aids)
        """The glossary and translation memories that calls use which bring no aids of their own."""
        self._name, self._reload = name or str(first.folder), reload
        self.device_type: str = device_type(device)
        """The kind of device that the models work on, `cpu` or `cuda`; known without torch."""
        self._device, self._threads = str(device), choose_threads(threads)
        self._ready: _Ready | None = _Ready(first, ready)
        self._reverse = reverse
        self._memory = self._opened_memory(aids)
        self._begin(search)

    def free_unused(self, most: int) -> int:
        """Frees the memory that is kept for later batches, of any thread, where it is more than some bytes.

        It makes the next batches a little slower.

        Args:
            most: the number of bytes, for each model of an ensemble.

        Returns:
            The number of bytes that were freed.

        Raises:
            ModelError: the engine is closed.
        """
        freed = sum(model.free_unused(most) for model in self._open().models)
        return freed + (self._reverse.free_unused(most) if self._reverse else 0)

    def _begin(self, search: SearchConfig) -> None:
        """Starts with search settings, and with counts of its own."""
        self._search, self._counts = search, Counts()
        self._others: dict[str, SetUp] = {}
        self._own: SetUp | None = self._set_up(search, self._memory)

    def _open(self) -> _Ready:
        """The models in memory, unless the engine is closed.

        Raises:
            ModelError: the engine is closed.
        """
        if self._ready is None:
            raise ModelError(f"{self!r} is closed; load the model again with attendo.load")
        return self._ready

    def _while_open(self) -> AbstractSet[int]:
        """Cancels no line: the `BetweenSteps` of calls without one of their own.

        Raises:
            ModelError: the engine has been closed meanwhile, by another thread.
        """
        self._open()
        return nobody()

    def _using(self, method: str, changes: Mapping[str, Any], aids: Aids | None = None) -> SetUp:
        """The objects that work with the engine's settings and those of a call; cached for the next call with the same.

        Args:
            method: the called method, for messages.
            changes: the search settings of the call.
            aids: the aids of the call; None for the engine's.

        Raises:
            TypeError: a keyword is not a search setting.
            DataError: a translation memory cannot be read, or is of other languages.
            RecipeError: a value cannot be used.
            ModelError: the engine is closed.
        """
        self._open()
        others = None if aids is None or checked_aids(method, aids).has_memory_of(self.aids) else aids
        if not changes and others is None and self._own is not None:
            return self._own
        key = repr((sorted(changes.items()), others and (others.memory_files, others.memory_threshold)))
        found = self._others.get(key)
        if found is None:
            check_settings(method, changes)
            search = changed_section(self.search, "search", changes=changes)
            own = self._own if search == self.search and others is None else None
            found = own or self._set_up(search, self._memory if others is None else self._opened_memory(others))
            if len(self._others) >= _MAX_SET_UPS:
                self._others = {}
            self._others[key] = found
        return found

    def _opened_memory(self, aids: Aids) -> "Memory | None":
        """The translation memories of aids; None if they have none.

        Raises:
            ModelError: the model does not translate.
        """
        if aids.memory_files and self.description.task != "translate":
            raise ModelError(f"{self.folder}: this model does not translate, so that it has no use for a memory")
        return aids.open_memory((self.source_language, self.target_language))

    def _constrained(
        self, lines: Iterator[tuple[str, Constraints]], aids: Aids | None = None
    ) -> Iterator[tuple[str, Constraints]]:
        """Lines, each with all constraints on its translation: its own constraints, and the terms of the aids.

        Args:
            lines: each with its own constraints.
            aids: the aids of the call; None for the engine's.
        """
        return with_terms(lines, (aids or self.aids).glossary)

    def _translator(self, method: str, changes: Mapping[str, Any], aids: Aids | None = None) -> Translator:
        """The translator with the settings and aids of a call.

        Raises:
            ModelError: the model is a parser.
        """
        found = self._using(method, changes, aids)
        if found.parser is not None:
            raise ModelError(
                "this model parses sentences and does not translate; use `attendo parse`, or `parse` in Python"
            )
        return found.translator

    def _parser(self, method: str, changes: Mapping[str, Any]) -> "Parser":
        """The parser with the settings of a call.

        Raises:
            ModelError: the model translates.
        """
        found = self._using(method, changes)
        if found.parser is None:
            raise ModelError(
                "this model translates and does not parse; use `attendo translate`, or `translate` in Python"
            )
        return found.parser

    def _set_up(self, search: SearchConfig, memory: "Memory | None") -> SetUp:
        ready, threads = self._open(), self._threads
        first = ready.first
        sides = first.source_tokenizer, first.target_tokenizer
        languages = self.source_language, self.target_language
        translates: Callable[..., Translator] = Translator
        if memory is not None:
            from attendo.memory.translator import MemoryTranslator

            translates = partial(MemoryTranslator, memory)
        translator = translates(
            ready.models,
            *sides,
            search,
            threads=threads,
            languages=languages,
            counts=self._counts,
            between_steps=self._while_open,
            reverse=self.reverse_model(search),
        )
        if first.description.task != "parse":
            return SetUp(translator, None)
        from attendo.workflow.engines.parse import Parser

        word_tags = first.description.word_tags
        parser = Parser(
            ready.models,
            *sides,
            search,
            own_parsing(first),
            word_tags=word_tags,
            threads=threads,
            between_steps=self._while_open,
        )
        return SetUp(translator, parser)

    def reverse_model(self, search: SearchConfig) -> ReverseModel | None:
        """Returns the reverse model with the weight of some settings; None without one, or with weight 0."""
        if self._reverse is None or not search.reverse_weight:
            return None
        return ReverseModel(
            score_pairs=self._reverse._using("score", {}).translator.score_pairs, weight=search.reverse_weight
        )

    @property
    def device(self) -> "torch.device":
        """The device of the models; reading it needs torch.

        Raises:
            AttendoError: torch is not installed.
        """
        need_packages(["torch"], "train")
        import torch

        return torch.device(self._device)

    @property
    def source_language(self) -> str:
        """The language that the model reads, as an ISO 639-1 code; empty if the model does not name it."""
        return self.description.source_language

    @property
    def target_language(self) -> str:
        """The language that the model writes, as an ISO 639-1 code; empty if the model does not name it."""
        return self.description.target_language

    @property
    def search(self) -> SearchConfig:
        """The search settings, unless a call changes them."""
        return self._search

    @property
    def counts(self) -> Counts:
        """Counts of the translated text, and of the lines cut."""
        return self._counts

    def __repr__(self) -> str:
        languages = f"{self.source_language} -> {self.target_language}" if self.source_language else ""
        kind = "parser" if self.description.task == "parse" else languages
        kernel = self.kernel.replace(f" {self.dtype}", "")
        facts = ("closed",) if self._ready is None else tuple(filter(None, (kind, self.dtype, kernel)))
        return f"{type(self).__name__}({', '.join((repr(self._name), *facts))})"

    def with_search(self, **changes: Unpack[SearchSettings]) -> Self:
        """Returns an engine of the same models, in memory once, with other search settings and counts of its own.

        Args:
            changes: the settings to change; none for a second engine with the same settings.

        Raises:
            RecipeError: a setting is unknown or its value cannot be used.
        """
        self._open()
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        other._begin(changed_section(self.search, "search", changes=changes) if changes else self.search)
        return other

    def with_aids(self, aids: Aids) -> Self:
        """Returns an engine of the same models, in memory once, with another glossary and other translation memories.

        Args:
            aids: what it uses in place of this engine's; `dataclasses.replace(engine.aids, ...)` keeps a part of them.

        Raises:
            AttendoError: a package that translation memories need is not installed.
            DataError: a translation memory cannot be read, or is of other languages.
            ModelError: there is a translation memory, but the model does not translate.
        """
        self._open()
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        other._take(aids, self.search)
        return other

    def _take(self, aids: Aids, search: SearchConfig) -> None:
        """Changes the aids, and sets the search settings up again."""
        if not checked_aids("with_aids", aids).has_memory_of(self.aids):
            self._memory = self._opened_memory(aids)
        self.aids = aids
        self._begin(search)

    @property
    def memory(self) -> "Memory | None":
        """The translation memory that the engine looks texts up in; None if it has none."""
        return self._memory

    def close(self) -> None:
        """Ends the engine and gives its memory back, once no other engine of the same models is in use.

        Whatever the engine is asked afterwards raises a `ModelError`, and so does, within a decoder step, what another
        thread has in work; closing it again does nothing.
        """
        self._ready = self._own = self._reverse = None
        self._others = {}

    def __enter__(self) -> Self:
        self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __copy__(self) -> Self:
        return self.with_search()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.with_search()

    def __reduce__(self) -> tuple[Callable[..., "EngineBase"], tuple[Any, ...]]:
        self._open()
        if self._reload is None:
            raise TypeError(
                f"{self!r} cannot be pickled, since attendo.load did not make it; load the model where it is needed"
            )
        return _reloaded, (self._reload, self.search, self.aids)


def _reloaded(reload: Callable[[], EngineBase], search: SearchConfig, aids: Aids) -> EngineBase:
    """Loads an engine that was pickled."""
    engine = reload()
    if (engine.search, engine.aids) != (search, aids):
        engine._take(aids, search)
    return engine
