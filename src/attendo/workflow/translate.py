"""From a model folder to an engine: `attendo.load`."""

import warnings
import weakref
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Literal

import torch

from attendo.checkpoint.finding import find_model
from attendo.checkpoint.model_folder import LoadedModel, load_model
from attendo.decoding.config import SearchConfig
from attendo.decoding.native_model import Dtype
from attendo.errors import RecipeError
from attendo.recipe import override_section
from attendo.workflow.brief_waits import brief_waits
from attendo.workflow.device import choose_device, set_threads, waiting_advice
from attendo.workflow.engine import Engine
from attendo.workflow.model_search import own_search, with_parsing


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
) -> Engine:
    """Loads a model to translate or parse with.

    Args:
        model: a model folder; a run folder, for its best averaged model; or the name of a shipped model.
        ensemble: further models; the mean of the probabilities of all models is searched.
        search: search settings to change, such as `{"beam_size": 8}`; the others are as the model's recipe has them.
        overrides: the same as a recipe writes it, such as `"search.beam_size=8"`.
        parsing: for a parser, what it may write: `{"constrained": False}` or `{"max_unary": 6}`.
        dtype: the numbers that products are calculated with: `"float32"`, `"bfloat16"` or `"int8"`; None for those that
            the models are stored in.
        device: where to work; `"auto"` takes a GPU where there is one.
        threads: processor threads, for the whole process; None for as many as this process may use
            (its affinity and its container's quota).

    Raises:
        ModelError: a folder is missing or torn, the models do not go together, or the dtype is unknown.
        RecipeError: a setting is unknown, or its value cannot be used.
        AttendoError: the device is unknown or not there.
    """
    loaded = [load_model(find_model(str(name))) for name in (model, *ensemble)]
    if threads is not None and threads < 1:
        raise RecipeError(f"threads = {threads} is too small; take 1 or more")
    set_threads(threads)
    settings = search_settings(loaded[0], search or {}, overrides)
    if parsing:
        loaded[0] = with_parsing(loaded[0], parsing)
    where = choose_device(device)
    again = partial(
        load, _lasting(model), ensemble=tuple(map(_lasting, ensemble)), parsing=parsing, dtype=dtype, device=device,
        threads=threads,
    )  # fmt: skip
    engine = Engine(
        loaded, settings, dtype=dtype or own_dtype(loaded, where), device=where, name=str(model), reload=again
    )
    if not engine.concurrent and where.type == "cpu":  # the native kernels have threads of their own
        waits = ExitStack()
        waits.enter_context(brief_waits())
        weakref.finalize(engine, waits.close)
        if advice := waiting_advice(where):
            warnings.warn(advice, RuntimeWarning, stacklevel=2)
    return engine


def _lasting(model: str | Path) -> str:
    """The name of a model that is right in another folder too."""
    return str(Path(model).absolute()) if Path(model).exists() else str(model)


def own_dtype(models: Sequence[LoadedModel], device: torch.device) -> Dtype:
    """What models calculate with where nothing is asked for: int8 if all are stored in it and on a CPU, else float32.

    Args:
        models: one, or those of an ensemble.
        device: where they are to work.
    """
    return "int8" if device.type == "cpu" and all(each.description.dtype == "int8" for each in models) else "float32"


def search_settings(model: LoadedModel, search: Mapping[str, Any], overrides: Sequence[str]) -> SearchConfig:
    """The model's own search settings with some changed.

    Raises:
        ModelError: the model's own cannot be meant.
        RecipeError: the changes cannot.
    """
    own = own_search(model.folder, model.description)
    return override_section(own, "search", overrides, changes=search)
