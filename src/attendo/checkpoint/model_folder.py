"""Model folders: safetensors and JSON, never a pickle, each folder written atomically.

config.json  model.safetensors  source.spm  [target.spm]  README.md  checksums.json

In the `model.safetensors` of an int8 model every matrix is stored as codes, with the scales of its rows in
`NAME.scales`.
"""

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from attendo.checkpoint.checksums import (
    CARD,
    CONFIG,
    SOURCE_SPM,
    TARGET_SPM,
    WEIGHTS,
    read_json,
    replace_file,
)
from attendo.checkpoint.claims import check_claim, check_shortlist, check_tensors, claim_problems, not_finite
from attendo.checkpoint.mapped import MappedTensors
from attendo.checkpoint.words import word_tables
from attendo.errors import ModelError
from attendo.model.config import ModelConfig
from attendo.model.weights.arrays import ModelArrays
from attendo.model.weights.int8_rows import check_stored, scales_name
from attendo.model.weights.parameters import matrix_names, num_weights, parameter_shapes
from attendo.parsing.config import ParsingConfig
from attendo.reading import require_inside
from attendo.settings.exact import checked_table
from attendo.text.subwords.tokenization import Tokenizer

if TYPE_CHECKING:
    from attendo.model.transformer import Transformer

FORMAT_VERSION = 1
_MAX_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class ModelDescription:
    """The content of a model's `config.json`."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    format_version: int = FORMAT_VERSION
    task: str = "translate"
    source_language: str = ""
    target_language: str = ""
    src_vocab_size: int
    tgt_vocab_size: int
    dtype: Literal["float32", "int8"] = "float32"
    """Number type in which the matrices are stored, and computed with unless another one is requested."""
    model: ModelConfig
    search: dict[str, Any]
    """Search settings that differ from the defaults, as in a recipe."""
    training: dict[str, Any]
    """Origin of the model: steps, data, scores with signatures; for people and reports."""
    parsing: ParsingConfig | None = None
    """Notation of trees, for a parser."""
    word_tags: dict[str, list[str]] | None = None
    """Possible tags of words, for a parser; see `parsing.word_tags`."""


@dataclass(frozen=True, kw_only=True)
class LoadedModel:
    """The content of a model folder."""

    folder: Path
    description: ModelDescription
    arrays: ModelArrays
    """The weights as stored, memory-mapped from their file."""
    source_tokenizer: Tokenizer
    target_tokenizer: Tokenizer

    @cached_property
    def transformer(self) -> "Transformer":
        """The model in torch, in evaluation mode, on the CPU, in float32 whatever it is stored in; imports torch."""
        from attendo.model.weights.building import built

        return built(self.arrays)


def load_model(folder: Path) -> LoadedModel:
    """Reads a model folder.

    Raises:
        ModelError: a file is missing, is torn or does not fit the others; the message names it.
    """
    description = read_description(folder)
    source, target = _load_tokenizers(folder)
    for name, tokenizer, size in (
        (SOURCE_SPM, source, description.src_vocab_size),
        (TARGET_SPM, target, description.tgt_vocab_size),
    ):
        if tokenizer.vocab_size != size:
            raise ModelError(
                f"{folder / name}: has {tokenizer.vocab_size} pieces but {CONFIG} says {size}; the files are not of "
                "one model, copy the folder again"
            )
    arrays = ModelArrays(
        description.model,
        description.src_vocab_size,
        description.tgt_vocab_size,
        _map_weights(folder, description),
        word_tables(description.model, source, target),
    )
    return LoadedModel(
        folder=folder, description=description, arrays=arrays, source_tokenizer=source, target_tokenizer=target
    )


def read_description(folder: Path) -> ModelDescription:
    """Reads a model folder's `config.json`.

    Raises:
        ModelError: the file is missing, or is not the description of a model.
    """
    path = folder / CONFIG
    missing = ModelError(f"{path}: not found, so {folder} is no model folder")
    if not os.path.lexists(path):
        raise missing
    _require_own(path)
    content = read_json(path, missing)
    version = content.get("format_version") if isinstance(content, dict) else None
    if version != FORMAT_VERSION:
        raise ModelError(
            f"{path}: format_version is {repr(version)[:40]}, this attendo reads {FORMAT_VERSION}; take the one that "
            "wrote it"
        )
    description, problems = checked_table(ModelDescription, content)
    faults = [f"{repr(key)[1:-1][:100]}: {message[:300]}" for key, message in problems]
    if description is not None:
        faults = claim_problems(description.model, description.src_vocab_size, description.tgt_vocab_size)
        if not isinstance(description.training.get("valid", {}), dict):
            faults.append("training.valid: is not an object")
    if faults or description is None:
        more = f"; and {len(faults) - _MAX_SHOWN} more" * (len(faults) > _MAX_SHOWN)
        raise ModelError(f"{path}: {'; '.join(faults[:_MAX_SHOWN])}{more}")
    return description


def replace_card(folder: Path, card: str) -> None:
    """Writes another card into a model folder, which stays intact at every moment, as the checksum is removed first.

    Args:
        folder: a model folder.
        card: Markdown for `README.md`.

    Raises:
        ModelError: the checksums are missing or cannot be read.
        OSError: the disk is full, or the folder cannot be written to.
    """
    replace_file(folder, CARD, card)


def _load_tokenizers(folder: Path) -> tuple[Tokenizer, Tokenizer]:
    """Returns the tokenizers of source and target, the same object if one file serves both sides."""
    source_path, target_path = folder / SOURCE_SPM, folder / TARGET_SPM
    source = Tokenizer.load(source_path)
    return source, Tokenizer.load(target_path) if os.path.lexists(target_path) else source


def _require_own(path: Path) -> None:
    """Refuses a file that does not lie in its folder itself."""
    try:
        require_inside(path)
    except FileNotFoundError as error:
        raise ModelError(f"{path}: not found; the folder is incomplete; copy or write it again") from error
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror}); copy or write it again") from error


def stored_matrices(description: ModelDescription) -> tuple[str, ...]:
    """Returns the names of the weights that are stored as codes and scales; none for a float32 model."""
    if description.dtype != "int8":
        return ()
    return matrix_names(description.model, description.src_vocab_size, description.tgt_vocab_size)


def _map_weights(folder: Path, description: ModelDescription) -> MappedTensors:
    """Maps the weights of a model folder, after checking their header and values."""
    path = folder / WEIGHTS
    _require_own(path)
    sizes = (description.src_vocab_size, description.tgt_vocab_size)
    header = check_claim(path, num_weights(description.model, *sizes))
    matrices, shapes = stored_matrices(description), parameter_shapes(description.model, *sizes)
    shapes |= {scales_name(name): shapes[name][:1] for name in matrices}
    check_tensors(path, header, shapes, codes=matrices)
    weights = MappedTensors(path, header)
    try:
        check_stored(weights, matrices)
    except ValueError as error:
        raise ModelError(f"{path}: {error}; it was changed or is torn, copy the folder again") from error
    if names := not_finite(weights):
        raise ModelError(f"{path}: {names[0]} has infinite or NaN values; the model is damaged, copy the folder again")
    if description.model.draft_tokens:
        check_shortlist(path, weights["drafter.shortlist"], description.tgt_vocab_size)
    return weights
