"""Settings from model folders: search, parsing, and the conditions of an ensemble."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from attendo.checkpoint.checksums import CONFIG
from attendo.checkpoint.model_folder import LoadedModel, ModelDescription
from attendo.decoding.config import SearchConfig
from attendo.errors import ModelError, RecipeError
from attendo.parsing.config import ParsingConfig
from attendo.settings.exact import checked_table
from attendo.workflow.changed_section import changed_section

_MAX_HYPOTHESES = 1000
"""Maximum number of hypotheses per sentence in a folder's settings, so that an untrusted folder cannot cost too much;
users may ask for more."""


def own_search(folder: Path, description: ModelDescription) -> SearchConfig:
    """Returns the search settings in a model's `config.json`, with defaults for the others.

    Args:
        folder: the folder of the model, for messages.
        description: the content of its `config.json`.

    Raises:
        ModelError: a setting is invalid.
    """
    known = {each.name for each in fields(SearchConfig)}
    faults = [f"{key[:100]!r} is no setting" for key in description.search if key not in known]
    if not faults:
        own, problems = checked_table(SearchConfig, description.search)
        faults = [f"{key}: {message[:300]}" for key, message in problems]
        if own is not None:
            counts = {key: getattr(own, key) for key in ("beam_size", "n_best", "beam_groups")}
            faults = [f"{key} = {count} is too large" for key, count in counts.items() if count > _MAX_HYPOTHESES]
            if not faults:
                return own
    raise ModelError(f"{folder / CONFIG}: search: {'; '.join(faults[:3])}; take the folder as it was written")


def own_parsing(parser: LoadedModel) -> ParsingConfig:
    """Returns the parsing settings in a parser's `config.json`.

    Raises:
        ModelError: they are missing or invalid.
    """
    if parser.description.parsing is None:
        raise ModelError(
            f"{parser.folder / CONFIG}: a parser without the table parsing; take the folder as it was written"
        )
    return parser.description.parsing


def with_parsing(model: LoadedModel, changes: Mapping[str, Any]) -> LoadedModel:
    """Returns a parser with other parsing settings.

    Args:
        model: the parser.
        changes: `constrained`, `max_unary` or both.

    Raises:
        ModelError: the model is not a parser.
        RecipeError: a value is invalid, or belongs to a setting that is fixed by training.
    """
    if model.description.task != "parse":
        raise ModelError(f"{model.folder}: translates, so there is nothing about parsing that could be changed")
    own = own_parsing(model)
    changed = changed_section(own, "parsing", changes=changes)
    if changed.linearization() != own.linearization():
        raise RecipeError(
            f"{model.folder}: has learned to write {own.linearization()}, and that stays; only constrained and "
            "max_unary can be changed"
        )
    return replace(model, description=replace(model.description, parsing=changed))


def check_ensemble(models: Sequence[LoadedModel]) -> None:
    """Refuses models that cannot work together.

    Raises:
        ModelError: their tasks or vocabularies differ.
    """
    first, *others = models
    for other in others:
        ours, theirs = (
            each.description.parsing and each.description.parsing.linearization() for each in (first, other)
        )
        if ours != theirs:
            raise ModelError(
                f"{other.folder}: has another task than {first.folder}; all models of an ensemble need the same one"
            )
        for side in ("source", "target"):
            ours, theirs = (getattr(model, f"{side}_tokenizer").serialized for model in (first, other))
            if ours != theirs:
                raise ModelError(
                    f"{other.folder}: its {side} vocabulary is not that of {first.folder}; an ensemble needs models "
                    "trained on the same prepared data"
                )


def check_reverse(model: LoadedModel, folder: Path, reverse: ModelDescription) -> None:
    """Refuses a reverse model that does not translate in the opposite direction of a model.

    Args:
        model: the model.
        folder: the folder of the reverse model, for messages.
        reverse: the content of its `config.json`.

    Raises:
        ModelError: it does not.
    """
    ours = model.description
    if (ours.task, reverse.task) != ("translate", "translate"):
        raise ModelError(f"{folder}: a reverse model is for translation; {model.folder} and it must both translate")
    there, back = (ours.source_language, ours.target_language), (reverse.target_language, reverse.source_language)
    if there != back:
        raise ModelError(
            f"{folder}: translates from {back[1] or 'an unknown language'} to {back[0] or 'an unknown language'}; the "
            f"reverse model of {model.folder} has to translate from {there[1]} to {there[0]}"
        )
