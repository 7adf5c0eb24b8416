"""Reads the files of Hugging Face's Marian checkpoints safely, and refuses models that attendo cannot represent."""

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors.torch import load_file
from torch import Tensor

from attendo.checkpoint.claims import read_header
from attendo.errors import ModelError
from attendo.interop.pieces import EOS, UNK
from attendo.reading import parse_json, read_bounded

Weights = Mapping[str, Tensor]

_MAX_BYTES = 64 << 20
"""Maximum size of a vocabulary, a SentencePiece file or a table of settings; the largest known ones have a tenth."""
_MAX_SHARING = 4
"""Maximum number of names of one tensor: embeddings of both sides, the projection, and the matrix shared by them."""

ACTIVATIONS: dict[str, Literal["relu", "swish"]] = {"relu": "relu", "swish": "swish", "silu": "swish"}
"""Attendo's activation functions by Hugging Face's names."""
REQUIRED = (
    "d_model",
    *(f"{side}_{key}" for key in ("layers", "attention_heads", "ffn_dim") for side in ("encoder", "decoder")),
)
"""Keys that `config.json` must have, with whole numbers."""


def check_settings(settings: Mapping[str, Any], folder: Path) -> None:
    """Refuses settings that attendo's Transformer does not have; the message names all of them.

    Raises:
        ModelError: the checkpoint is not a Marian model, or has something that attendo's Transformer lacks.
    """
    if settings.get("model_type") != "marian":
        raise ModelError(
            f"{folder / 'config.json'}: model_type is {shown(settings.get('model_type'))}, only 'marian' can be "
            "imported"
        )
    problems = [f"{key} is missing" for key in REQUIRED if not isinstance(settings.get(key), int)]
    for key in ("attention_heads", "ffn_dim"):
        sizes = [settings.get(f"{side}_{key}") for side in ("encoder", "decoder")]
        if sizes[0] != sizes[1]:
            problems.append(f"encoder and decoder differ in {key}: {shown(sizes[0])} and {shown(sizes[1])}")
    if not isinstance(activation := settings.get("activation_function"), str) or activation not in ACTIVATIONS:
        known = ", ".join(ACTIVATIONS)
        problems.append(f"activation_function is {shown(activation)}, known are {known}")
    for key in ("num_beams", "max_position_embeddings"):
        if not isinstance(settings.get(key, 1), int | None):
            problems.append(f"{key} is {shown(settings[key])}, no whole number")
    if not settings.get("scale_embedding"):
        problems.append("scale_embedding is not set, but our embeddings are always times sqrt(d_model)")
    for key in ("normalize_before", "normalize_embedding", "add_final_layer_norm"):
        if settings.get(key):
            problems.append(f"{key} is set, but our layers are post-norm with nothing before or behind")
    if problems:
        raise ModelError(f"{folder / 'config.json'}: {'; '.join(problems)}")


def read_weights(folder: Path) -> Weights:
    """Reads the tensors by name, as float32.

    Raises:
        ModelError: there are no weights, or they cannot be read as plain tensors.
    """
    for name in ("model.safetensors", "pytorch_model.bin"):
        path = folder / name
        if not path.is_file():
            continue
        try:
            if path.suffix == ".safetensors":
                read_header(path)
                content = load_file(path)
            else:
                _check_archive(path)
                # weights_only: tensors and plain containers; any other object in the pickle is an error.
                content = torch.load(path, "cpu", weights_only=True)
        except Exception as error:  # torch raises errors of any kind for files that are not pickles
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise ModelError(f"{path}: cannot be read as plain tensors ({reason})") from error
        if not isinstance(content, dict):
            raise ModelError(f"{path}: holds no tensors by name")
        tensors = {
            name: value for name, value in content.items() if isinstance(name, str) and isinstance(value, Tensor)
        }
        # A pickle can claim that a single number is a matrix of any size.
        claimed = sum(value.numel() * value.element_size() for value in tensors.values())
        if claimed > _MAX_SHARING * path.stat().st_size or not all(map(_is_plain, tensors.values())):
            raise ModelError(f"{path}: its tensors claim {claimed:,} bytes, far more than it has, or are not numeric")
        return {name: value.float() for name, value in tensors.items()}
    raise ModelError(
        f"{folder}: has neither model.safetensors nor pytorch_model.bin; name a folder with a Hugging Face checkpoint"
    )


def read_vocabulary(path: Path) -> dict[str, int]:
    """Reads a table of pieces and their ids.

    Raises:
        ModelError: the file is not such a table, or has no `</s>` or `<unk>`.
    """
    content = read_json(path)
    if not all(isinstance(number, int) for number in content.values()):
        raise ModelError(f"{path}: is no table of pieces and their ids")
    if missing := [name for name in (EOS, UNK) if name not in content]:
        raise ModelError(f"{path}: has no {' and no '.join(missing)}")
    return content


def read_json(path: Path, *, needed: bool = True) -> dict[str, Any]:
    """Reads a JSON file that holds an object; returns an empty one if the file is missing and not needed.

    Raises:
        ModelError: the file cannot be read, or holds something else.
    """
    if not needed and not path.exists():
        return {}
    try:
        content = parse_json(read_bytes(path))
    except ValueError as error:
        raise ModelError(f"{path}: is no JSON ({error})") from error
    if not isinstance(content, dict):
        raise ModelError(f"{path}: holds no table")
    return content


def read_bytes(path: Path) -> bytes:
    """Reads a whole file of bounded size.

    Raises:
        ModelError: the file cannot be read, or is too large.
    """
    try:
        return read_bounded(path, _MAX_BYTES)
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror}); a Marian checkpoint has this file") from error


def read_card(folder: Path) -> str:
    """Reads the `README.md`; returns an empty text if there is none."""
    path = folder / "README.md"
    return read_bounded(path, _MAX_BYTES).decode("utf-8", errors="replace") if path.is_file() else ""


def shown(value: Any) -> str:
    """Returns a value of the settings for a message, cut to 80 characters."""
    return repr(value)[:80]


def _check_archive(path: Path) -> None:
    """Refuses a zip with compressed members, which torch never writes: a few bytes could become gigabytes.

    Raises:
        ValueError: a member is compressed.
        zipfile.BadZipFile: the file is torn.
    """
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            if any(member.file_size > member.compress_size for member in archive.infolist()):
                raise ValueError("it is packed")


def _is_plain(tensor: Tensor) -> bool:
    return tensor.layout == torch.strided and tensor.device.type == "cpu" and tensor.dtype.is_floating_point
