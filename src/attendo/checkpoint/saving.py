"""Writes model folders atomically; `model_folder` describes and reads them."""

import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from torch import Tensor

from attendo.checkpoint.checksums import CARD, CONFIG, SOURCE_SPM, TARGET_SPM, WEIGHTS, write_checksums
from attendo.checkpoint.model_folder import ModelDescription, stored_matrices
from attendo.checkpoint.weights import save_tensors
from attendo.errors import ModelError
from attendo.files import atomic_folder, write_json, write_text
from attendo.model.weights.quantization import to_int8
from attendo.text.subwords.tokenization import Tokenizer


def save_model(
    folder: Path,
    description: ModelDescription,
    weights: Mapping[str, Tensor],
    source_tokenizer: Tokenizer,
    target_tokenizer: Tokenizer,
    card: str,
) -> None:
    """Writes a model folder, replacing an existing one.

    Args:
        folder: the folder to write.
        description: the content of `config.json`; its dtype is the number type in which the matrices are stored.
        weights: float32, by the names of `Transformer.named_parameters()`, each shared matrix once.
        source_tokenizer: written to `source.spm`.
        target_tokenizer: written to `target.spm` unless it is the same object as `source_tokenizer`.
        card: Markdown for `README.md`.

    Raises:
        ModelError: the model is to be stored in int8, and a weight is not finite.
        OSError: the disk is full, or the folder cannot be written to.
    """
    try:
        stored = to_int8(weights, stored_matrices(description))
    except ValueError as error:
        raise ModelError(f"{folder}: {error}; the model is damaged, see `attendo info MODEL --verify`") from error
    with atomic_folder(folder) as draft:
        content = asdict(description)
        if description.parsing is None:
            del content["parsing"], content["word_tags"]
        write_json(draft / CONFIG, content)
        save_tensors(stored, draft / WEIGHTS)
        shutil.copymode(draft / CONFIG, draft / WEIGHTS)  # safetensors makes its files readable by the owner only
        source_tokenizer.save(draft / SOURCE_SPM)
        if target_tokenizer is not source_tokenizer:
            target_tokenizer.save(draft / TARGET_SPM)
        write_text(draft / CARD, card)
        write_checksums(draft)
