"""The models that a server serves, from the names on the command line; without torch."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from attendo.checkpoint.finding import shipped_models
from attendo.errors import ModelError, RecipeError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, kw_only=True)
class ModelSource:
    """A served model."""

    name: str
    """The name that requests use."""
    path: str
    """A model folder, a run folder or a shipped model."""
    memories: tuple[str, ...] = ()
    """Translation memories in which its lines are looked up."""
    memory_threshold: int = 75
    """The minimum similarity of a text, in per cent of its words."""


def model_sources(arguments: Sequence[str]) -> tuple[ModelSource, ...]:
    """Returns the models that a command line names.

    Args:
        arguments: `PATH` or `NAME=PATH` each; none for the shipped models.

    Raises:
        ModelError: a name is invalid, or two models have the same name.
    """
    found = [_source(argument) for argument in arguments or shipped_models()]
    if not found:
        raise ModelError("no model is shipped with this attendo; name a model folder or a run")
    names = [each.name for each in found]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise ModelError(f"two models are called {twice[0]}; name them: attendo serve NAME=PATH NAME=PATH")
    return tuple(found)


def with_memories(
    sources: Sequence[ModelSource], memories: Mapping[str, tuple[str, ...]], threshold: int
) -> tuple[ModelSource, ...]:
    """Returns models with the translation memories that the configuration names.

    Args:
        sources: the models.
        memories: files by model name.
        threshold: the minimum similarity of a text, in per cent of its words.

    Raises:
        RecipeError: a memory is for a model that is not served.
    """
    names = [source.name for source in sources]
    if unknown := [name for name in memories if name not in names]:
        raise RecipeError(f"models.memories.{unknown[0]}: no such model is served; take one of {', '.join(names)}")
    return tuple(
        replace(source, memories=tuple(memories.get(source.name, ())), memory_threshold=threshold) for source in sources
    )


def _source(argument: str) -> ModelSource:
    name, equals, path = argument.partition("=")
    if not equals or not _NAME.fullmatch(name):
        path = argument
        resolved = Path(argument).resolve()
        name = (resolved.parent if resolved.name == "model" else resolved).name
    if not path or not _NAME.fullmatch(name):
        raise ModelError(
            f"{argument[:100]!r}: requests have to call the model something; write NAME={path[:80]}, a name of "
            "letters, digits, ., - and _"
        )
    return ModelSource(name=name, path=path)
