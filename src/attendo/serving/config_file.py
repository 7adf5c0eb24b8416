"""The configuration of `attendo serve` read from TOML and from settings on the command line."""

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from attendo.errors import RecipeError
from attendo.reading import read_bounded
from attendo.serving.config import (
    BatchingConfig,
    DocumentsConfig,
    KeysConfig,
    LimitsConfig,
    LogConfig,
    ModelsConfig,
    ServerConfig,
    ServingConfig,
)
from attendo.serving.corrections_config import CorrectionsConfig
from attendo.settings.checking import checked
from attendo.settings.overrides import Origins, override
from attendo.settings.toml import MAX_BYTES, one_line, read_toml, toml_text


class _Document(BaseModel):
    """A configuration's TOML, read strictly: no "3" for 3, and no unknown keys here or in a section."""

    model_config = ConfigDict(extra="forbid", strict=True)

    server: ServerConfig = ServerConfig()
    limits: LimitsConfig = LimitsConfig()
    batching: BatchingConfig = BatchingConfig()
    models: ModelsConfig = ModelsConfig()
    keys: KeysConfig = KeysConfig()
    documents: DocumentsConfig = DocumentsConfig()
    corrections: CorrectionsConfig = CorrectionsConfig()
    log: LogConfig = LogConfig()


def _start_from(folder: Path, document: dict[str, Any]) -> None:
    """Makes paths of translation memories relative to the configuration's folder."""
    models = document.get("models")
    memories = models.get("memories") if isinstance(models, dict) else None
    if not isinstance(memories, dict):
        return
    for name, files in memories.items():
        if isinstance(files, list) and all(isinstance(file, str) for file in files):
            memories[name] = [str(folder / file) for file in files]


def load_config(path: Path | None, overrides: Sequence[str] = ()) -> ServingConfig:
    """Reads a configuration.

    Args:
        path: a TOML file; None for the defaults. Paths in it are relative to its folder.
        overrides: assignments `SECTION.KEY=VALUE`, which take precedence over the file.

    Raises:
        RecipeError: keys or values are invalid; the message lists all of them.
        OSError: the file cannot be read.
    """
    origin = "configuration" if path is None else one_line(str(path))
    document: dict[str, Any] = {}
    if path is not None:
        document = read_toml(toml_text(read_bounded(path, MAX_BYTES), origin), origin)
        for section, key in (("keys", "file"), ("server", "state_dir")):
            if isinstance(table := document.get(section), dict) and isinstance(table.get(key), str):
                table[key] = str(path.parent / table[key])
        _start_from(path.parent, document)
    origins = Origins(file=origin, overrides=tuple(override(document, setting) for setting in overrides))
    found = checked(document, _Document, origins)
    try:
        return ServingConfig(**{section.name: getattr(found, section.name) for section in fields(ServingConfig)})
    except ValueError as error:
        raise RecipeError(f"{origins.of_text(str(error))}: {error}") from error
