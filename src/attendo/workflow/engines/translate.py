"""`attendo.load`: from a model folder to an engine, and the request for it as a value that other processes can use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from attendo.checkpoint.finding import find_model, shipped_models
from attendo.checkpoint.model_folder import LoadedModel, load_model
from attendo.decoding.backends.native_model import Dtype
from attendo.decoding.config import SearchConfig
from attendo.errors import AttendoError, RecipeError
from attendo.native.library import find_kernels
from attendo.workflow.changed_section import changed_section
from attendo.workflow.engines.aids import NO_AIDS, Aids
from attendo.workflow.engines.engine import Engine
from attendo.workflow.engines.model_search import own_search, with_parsing
from attendo.workflow.machine.devices import device_type
from attendo.workflow.machine.place import choose_place, choose_threads

Device = Literal["auto", "cpu", "cuda"]


def load(
    model: str | Path,
    *,
    ensemble: Sequence[str | Path] = (),
    search: Mapping[str, Any] | None = None,
    overrides: Sequence[str] = (),
    parsing: Mapping[str, Any] | None = None,
    dtype: Dtype | None = None,
    device: Literal["auto", "cpu", "cuda"] = "auto",
    threads: int | None = None,
    aids: Aids = NO_AIDS,
    reverse: str | Path | None = None,
) -> Engine:
    """Loads a model to translate or parse with.

    Args:
        model: a model folder; a run folder, for its best averaged model; or the name of a shipped model.
        ensemble: further models; the mean of the probabilities of all models is searched.
        search: search settings to change, such as `{"beam_size": 8}`; the model's recipe has the others.
        overrides: search settings as assignments, such as `"search.beam_size=8"`.
        parsing: settings of a parser to change, such as `{"constrained": False}` or `{"max_unary": 6}`.
        dtype: the numbers to calculate with: `"float32"`, `"bfloat16"` or `"int8"`; None for those in which the models
            are stored.
        device: the device to work on; `"auto"` takes a GPU if there is one.
        threads: number of processor threads, which applies to the whole process if torch is loaded; None for as many
            as this process may use (its affinity and its container's quota).
        aids: a glossary and translation memories for all translations.
        reverse: a model of the opposite direction, such as `"de-en"` for `"en-de"`. It ranks the candidates of beam
            search too, so that translations are better and leave less out, in about twice the time.

    Returns:
        An engine that translates or parses.

    Raises:
        DataError: a translation memory cannot be read, or is of other languages than the model.
        ModelError: a folder is missing or damaged, the models do not fit together, or the dtype is unknown.
        RecipeError: a setting is unknown, or its value cannot be used.
        AttendoError: the device is unknown or not available; the model needs torch, or a memory rapidfuzz, which is not
            installed.
    """
    loaded = [load_model(find_model(str(name))) for name in (model, *ensemble)]
    if threads is not None and threads < 1:
        raise RecipeError(f"threads = {threads} is too small; take 1 or more")
    threads_now = choose_threads(threads)
    settings = search_settings(loaded[0], search or {}, overrides)
    if parsing:
        loaded[0] = with_parsing(loaded[0], parsing)
    where = choose_place(device)
    again = partial(
        load, _lasting(model), ensemble=tuple(map(_lasting, ensemble)), parsing=parsing, dtype=dtype, device=device,
        threads=threads, aids=aids, reverse=None if reverse is None else _lasting(reverse),
    )  # fmt: skip
    opposite = None if reverse is None else load(reverse, dtype=dtype, device=device, threads=threads)
    try:
        engine = Engine(
            loaded, settings, dtype=dtype or own_dtype(loaded, where), device=where, threads=threads_now,
            name=str(model), reload=again, aids=aids, reverse=opposite,
        )  # fmt: skip
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise AttendoError(
            f"{model}: {find_kernels().reason or 'has layers that the native kernels do not know'}, so that it needs "
            'torch, which is not installed; pip install "attendo[train]"'
        ) from error
    if not engine.concurrent and where == "cpu":  # the native kernels have threads of their own
        from attendo.workflow.machine.brief_waits import keep_waits_brief

        keep_waits_brief(engine, threads)
    return engine


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """The arguments of `load` except the device and the threads."""

    model: str
    ensemble: tuple[str, ...] = ()
    search: Mapping[str, Any] = field(default_factory=dict)
    overrides: tuple[str, ...] = ()
    dtype: Dtype | None = None
    aids: Aids = NO_AIDS
    reverse: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all models: the first, those of an ensemble, and the reverse model."""
        return (self.model, *self.ensemble, *([] if self.reverse is None else [self.reverse]))

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders of the models on this machine, in the order of `names`.

        Raises:
            ModelError: there is no such model.
        """
        return tuple(map(find_model, self.names))

    def load(self, device: Device, *, threads: int | None = None) -> Engine:
        """Loads the models.

        Raises:
            ModelError: a folder is missing or damaged, or the models do not fit together.
            RecipeError: a search setting is invalid.
        """
        return load(
            self.model,
            ensemble=self.ensemble,
            search=self.search,
            overrides=self.overrides,
            dtype=self.dtype,
            device=device,
            threads=threads,
            aids=self.aids,
            reverse=self.reverse,
        )

    def elsewhere(self) -> "Decoding":
        """Returns the same for other machines: a shipped model by its name, any other by its absolute path."""
        shipped = {folder: name for name, folder in shipped_models().items()}
        model, *others = (shipped.get(folder) or str(folder.absolute()) for folder in self.folders)
        reverse = None if self.reverse is None else others.pop()
        return replace(self, model=model, ensemble=tuple(others), reverse=reverse)


def _lasting(model: str | Path) -> str:
    """Returns a model's name or absolute path, which is valid in any working directory."""
    return str(Path(model).absolute()) if Path(model).exists() else str(model)


def own_dtype(models: Sequence[LoadedModel], device: object) -> Dtype:
    """Returns the default dtype: int8 if all models are stored in it and run on a CPU, otherwise float32.

    Args:
        models: one model, or those of an ensemble.
        device: the device, as torch or `place.choose_place` names it.
    """
    is_cpu = device_type(device) == "cpu"
    return "int8" if is_cpu and all(each.description.dtype == "int8" for each in models) else "float32"


def search_settings(model: LoadedModel, search: Mapping[str, Any], overrides: Sequence[str]) -> SearchConfig:
    """Returns the model's own search settings with some changes.

    Raises:
        ModelError: one of the model's own settings is invalid.
        RecipeError: a change is invalid.
    """
    own = own_search(model.folder, model.description)
    return changed_section(own, "search", overrides, changes=search)
