"""Model folders: safetensors and JSON, never a pickle, each written whole or not at all.

config.json  model.safetensors  source.spm  [target.spm]  README.md  checksums.json

In `model.safetensors` of a model in int8 every matrix is its codes, and `NAME.scales` the scale of each row.
"""

import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from torch import Tensor

from attendo.checkpoint.checksums import (
    CARD,
    CONFIG,
    SOURCE_SPM,
    TARGET_SPM,
    WEIGHTS,
    read_json,
    replace_file,
    write_checksums,
)
from attendo.checkpoint.claims import check_claim, claim_problems, not_finite, num_weights
from attendo.checkpoint.weights import check_tensors, load_tensors, load_weights, save_tensors
from attendo.checkpoint.words import know_words
from attendo.errors import ModelError
from attendo.files import atomic_folder, write_json, write_text
from attendo.model.config import ModelConfig
from attendo.model.quantization import from_int8, matrix_names, scales_name, to_int8
from attendo.model.transformer import Transformer
from attendo.parsing.config import ParsingConfig
from attendo.reading import require_inside
from attendo.text.tokenization import Tokenizer

FORMAT_VERSION = 1
_MAX_SHOWN = 5


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True, kw_only=True)
class ModelDescription:
    """What `config.json` says of a model."""

    format_version: int = FORMAT_VERSION
    task: str = "translate"
    source_language: str = ""
    target_language: str = ""
    src_vocab_size: int
    tgt_vocab_size: int
    dtype: Literal["float32", "int8"] = "float32"
    """What its matrices are stored in, and calculated with unless another is asked for."""
    model: ModelConfig
    search: dict[str, Any]
    """Search settings that differ from the defaults, as in a recipe."""
    training: dict[str, Any]
    """How it came to be: steps, data, scores with signatures; for people and reports."""
    parsing: ParsingConfig | None = None
    """Of a parser: how it writes trees."""
    word_tags: dict[str, list[str]] | None = None
    """Of a parser: which tags words can have, see `parsing.word_tags`."""


@dataclass(frozen=True, kw_only=True)
class LoadedModel:
    """A model folder, read."""

    folder: Path
    description: ModelDescription
    transformer: Transformer
    """In evaluation mode, float32 whatever it is stored in, on the CPU; in int8 it gets the codes that are stored."""
    source_tokenizer: Tokenizer
    target_tokenizer: Tokenizer


def save_model(
    folder: Path,
    description: ModelDescription,
    weights: Mapping[str, Tensor],
    source_tokenizer: Tokenizer,
    target_tokenizer: Tokenizer,
    card: str,
) -> None:
    """Writes a model folder, replacing one that is there.

    Args:
        folder: where.
        description: what goes into `config.json`; its dtype is what the matrices are stored in.
        weights: float32, by the names of `Transformer.named_parameters()`, each shared matrix once.
        source_tokenizer: becomes `source.spm`.
        target_tokenizer: becomes `target.spm` where it is another one.
        card: Markdown for `README.md`.

    Raises:
        ModelError: int8, and a weight is not finite.
        OSError: the disk is full, or the folder cannot be written to.
    """
    matrices = matrix_names(skeleton(folder, description)) if description.dtype == "int8" else ()
    try:
        stored = to_int8(weights, matrices)
    except ValueError as error:
        raise ModelError(f"{folder}: {error}; the model is damaged, see `attendo info MODEL --verify`") from error
    with atomic_folder(folder) as draft:
        content = asdict(description)
        if description.parsing is None:
            del content["parsing"], content["word_tags"]
        write_json(draft / CONFIG, content)
        save_tensors(stored, draft / WEIGHTS)
        shutil.copymode(draft / CONFIG, draft / WEIGHTS)  # safetensors lets only the owner read what it writes
        source_tokenizer.save(draft / SOURCE_SPM)
        if target_tokenizer is not source_tokenizer:
            target_tokenizer.save(draft / TARGET_SPM)
        write_text(draft / CARD, card)
        write_checksums(draft)


def load_model(folder: Path) -> LoadedModel:
    """Reads a model folder.

    Raises:
        ModelError: a file is missing, torn or does not fit the others; the message names it.
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
    weights = _load_weights(folder, description)
    transformer = _build(folder, description)
    load_weights(transformer, weights, folder / WEIGHTS)
    know_words(transformer, source, target)
    return LoadedModel(
        folder=folder,
        description=description,
        transformer=transformer.eval(),
        source_tokenizer=source,
        target_tokenizer=target,
    )


def read_description(folder: Path) -> ModelDescription:
    """Reads a model folder's `config.json`.

    Raises:
        ModelError: it is missing or is none of ours.
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
    try:
        description = TypeAdapter(ModelDescription).validate_python(content)
    except ValidationError as error:
        faults = [f"{repr('.'.join(map(str, e['loc'])))[1:-1][:100]}: {e['msg'][:300]}" for e in error.errors()]
    else:
        faults = claim_problems(description.model, description.src_vocab_size, description.tgt_vocab_size)
        if not isinstance(description.training.get("valid", {}), dict):
            faults.append("training.valid: is no table")
    if faults:
        more = f"; and {len(faults) - _MAX_SHOWN} more" * (len(faults) > _MAX_SHOWN)
        raise ModelError(f"{path}: {'; '.join(faults[:_MAX_SHOWN])}{more}")
    return description


def replace_card(folder: Path, card: str) -> None:
    """Writes another card into a model folder, which is whole at every moment: its checksum goes first.

    Args:
        folder: a model folder.
        card: Markdown for `README.md`.

    Raises:
        ModelError: its checksums are missing or torn.
        OSError: the disk is full, or the folder cannot be written to.
    """
    replace_file(folder, CARD, card)


def skeleton(folder: Path, description: ModelDescription) -> Transformer:
    """A model without its weights, names and shapes alone.

    Args:
        folder: where it is from or goes to, for messages.
        description: what its `config.json` says.

    Raises:
        ModelError: there is no such model.
    """
    with torch.device("meta"):
        return _build(folder, description)


def _build(folder: Path, description: ModelDescription) -> Transformer:
    try:
        with torch.random.fork_rng(devices=[]):  # reading a model draws none of the caller's random numbers
            return Transformer(description.model, description.src_vocab_size, description.tgt_vocab_size)
    except ValueError as error:
        raise ModelError(f"{folder / CONFIG}: {error}") from error


def _load_tokenizers(folder: Path) -> tuple[Tokenizer, Tokenizer]:
    """Those of source and target; one object where one file serves both sides."""
    source_path, target_path = folder / SOURCE_SPM, folder / TARGET_SPM
    source = Tokenizer.load(source_path)
    return source, Tokenizer.load(target_path) if os.path.lexists(target_path) else source


def _require_own(path: Path) -> None:
    """Refuses a file that is none of the folder's own."""
    try:
        require_inside(path)
    except FileNotFoundError as error:
        raise ModelError(f"{path}: not found; the folder is not whole, copy or write it again") from error
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror}); copy or write it again") from error


def _load_weights(folder: Path, description: ModelDescription) -> dict[str, Tensor]:
    """The weights of a model folder, float32; what is claimed and stored is checked before it is believed."""
    path = folder / WEIGHTS
    _require_own(path)
    sizes = (description.src_vocab_size, description.tgt_vocab_size)
    header = check_claim(path, num_weights(description.model, *sizes))
    expected = skeleton(folder, description)
    matrices = matrix_names(expected) if description.dtype == "int8" else ()
    shapes = {name: tuple(value.shape) for name, value in expected.named_parameters()}
    shapes |= {scales_name(name): shapes[name][:1] for name in matrices}
    check_tensors(path, header, shapes, codes=matrices)
    try:
        weights = from_int8(load_tensors(path), matrices)
    except ValueError as error:
        raise ModelError(f"{path}: {error}; it was changed or is torn, copy the folder again") from error
    if names := not_finite(weights):
        raise ModelError(
            f"{path}: {names[0]} has numbers that are infinite or none; the model is damaged, copy the folder again"
        )
    return weights
