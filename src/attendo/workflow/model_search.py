"""The search settings that a model folder brings."""

from dataclasses import fields
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from attendo.checkpoint.checksums import CONFIG
from attendo.checkpoint.model_folder import ModelDescription
from attendo.decoding.config import SearchConfig
from attendo.errors import ModelError

_MAX_HYPOTHESES = 1000
"""Of a sentence. Whoever asks for more by himself may have it; a stranger's folder may not cost so much."""


def own_search(folder: Path, description: ModelDescription) -> SearchConfig:
    """The search settings that a model's `config.json` has, and the defaults for the others.

    Args:
        folder: where the model is from, for messages.
        description: what its `config.json` says.

    Raises:
        ModelError: they cannot be meant.
    """
    known = {each.name for each in fields(SearchConfig)}
    faults = [f"{key[:100]!r} is no setting" for key in description.search if key not in known]
    try:
        if not faults:
            own = TypeAdapter(SearchConfig).validate_python(description.search)
            counts = {key: getattr(own, key) for key in ("beam_size", "n_best", "beam_groups")}
            faults = [f"{key} = {count} is too large" for key, count in counts.items() if count > _MAX_HYPOTHESES]
        if not faults:
            return own
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, each['loc']))}: {each['msg'][:300]}" for each in error.errors()]
    raise ModelError(f"{folder / CONFIG}: search: {'; '.join(faults[:3])}; take the folder as it was written")
