"""Writing a model folder, whole or not at all; `model_folder` says what is in it and reads it."""

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
        shutil.copymode(draft / CONFIG, draft / WEIGHTS)  # safetensors lets only the owner read what it writes
        source_tokenizer.save(draft / SOURCE_SPM)
        if target_tokenizer is not source_tokenizer:
            target_tokenizer.save(draft / TARGET_SPM)
        write_text(draft / CARD, card)
        write_checksums(draft)
