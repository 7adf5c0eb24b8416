"""Checks the sizes that an untrusted model claims against its files before memory of that size is allocated.

`config.json` can claim d_model = 10^9 in a few bytes, and so can the header of a safetensors file. Here both are only
read as short texts; the model is built only if they agree with each other and with the size of the file.
"""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from attendo.checkpoint.checksums import CONFIG
from attendo.errors import ModelError
from attendo.model.config import ModelConfig
from attendo.model.weights.arrays import Array
from attendo.model.weights.parameters import num_weights
from attendo.reading import parse_json, require_regular

MAX_NUMBERS = 1 << 48
"""Maximum number of weights of a model, 281 trillion; sizes up to it can be computed with in 64 bits."""

_LENGTH_BYTES = 8
_MAX_AXES, _MAX_NAME = 8, 300
_DTYPES = {
    "F32": ("float32", 4),
    "I8": ("int8", 1),
    "BF16": ("bfloat16", 2),
    "F16": ("float16", 2),
    "F64": ("float64", 8),
    "U8": ("uint8", 1),
    "I32": ("int32", 4),
    "I64": ("int64", 8),
}
"""Names and sizes in bytes of number types, by their safetensors names. Attendo's files use the first two; the others
occur in imported models, and in files that are refused with a message that names the type."""
_MAX_HEADER_BYTES = 8 << 20
"""Room for names, shapes and offsets of 40,000 tensors, more than two stacks of 1,000 layers have."""


@dataclass(frozen=True)
class TensorClaim:
    """The description of a tensor in the header of a safetensors file."""

    shape: tuple[int, ...]
    dtype: str
    """Name of the number type in torch and numpy, such as `float32`."""
    start: int
    """Offset of the tensor's first byte in the file."""
    nbytes: int


class ArrayLike(Protocol):
    """A `TensorClaim`, a torch tensor or a numpy array."""

    @property
    def shape(self) -> Sequence[int]:
        """Size along each axis."""

    @property
    def dtype(self) -> object:
        """The number type, or its name."""


def claim_problems(config: ModelConfig, src_vocab_size: int, tgt_vocab_size: int) -> list[str]:
    """Returns the reasons why no model can have this description, whatever its files hold; empty for a possible one.

    Args:
        config: the architecture.
        src_vocab_size: number of source ids.
        tgt_vocab_size: number of target ids.
    """
    problems = [
        f"{key} = {size} is no vocabulary; take 2 or more"
        for key, size in (("src_vocab_size", src_vocab_size), ("tgt_vocab_size", tgt_vocab_size))
        if size < 2
    ]
    if isinstance(config.start, int) and config.start >= tgt_vocab_size:
        problems.append(f"model.start = {config.start} is not an id of the {tgt_vocab_size} in the vocabulary")
    if problem := config.vocabulary_problem(src_vocab_size, tgt_vocab_size):
        problems.append(problem)
    if not problems and num_weights(config, src_vocab_size, tgt_vocab_size) > MAX_NUMBERS:
        problems.append("model: claims more weights than any file holds")
    return problems


def check_claim(path: Path, weights: int) -> dict[str, TensorClaim]:
    """Compares a model's claimed number of weights with its file, by the length and header of the file alone.

    Only claims far beyond the content of the file are refused here; `check_tensors` reports single tensors by name.

    Args:
        path: a safetensors file.
        weights: number of weights that the model claims.

    Returns:
        The header, as `read_header` returns it.

    Raises:
        ModelError: the file is missing or torn, or holds far less than is claimed.
    """
    header = read_header(path)
    stored = sum(value.nbytes for value in header.values())
    if weights > 2 * stored:  # a weight takes a byte in int8 and four in float32
        raise ModelError(
            f"{path}: holds {stored:,} bytes, but {CONFIG} describes a model of {weights:,} weights, which need far "
            "more; the files are not of one model, copy the folder again"
        )
    return header


def read_header(path: Path) -> dict[str, TensorClaim]:
    """Reads the header of a safetensors file and checks that it fits the file.

    Args:
        path: the file.

    Returns:
        The description of each tensor, by name; the file has room for all of them.

    Raises:
        ModelError: the file is missing, is not a safetensors file, or its header claims another number of bytes.
    """
    try:
        require_regular(path)
        with path.open("rb") as file:
            file_bytes = os.fstat(file.fileno()).st_size
            length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
            if file_bytes < _LENGTH_BYTES or length > file_bytes - _LENGTH_BYTES:
                raise ValueError(f"it has {file_bytes:,} bytes, and its header alone claims {length:,}")
            if length > _MAX_HEADER_BYTES:
                raise ValueError(f"its header has {length:,} bytes, far more than the names of its weights need")
            content = parse_json(file.read(length))
        return _claims(content, _LENGTH_BYTES + length, file_bytes)
    except FileNotFoundError as error:
        raise ModelError(f"{path}: not found; the folder is incomplete; copy or write it again") from error
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror}); copy or write it again") from error
    except ValueError as error:
        raise ModelError(f"{path}: cannot be read ({error}); copy or write it again") from error


def _claims(content: Any, first: int, file_bytes: int) -> dict[str, TensorClaim]:
    """Returns the tensors of a header, which have to fill the file without gaps from byte `first` on.

    Raises:
        ValueError: the tensors leave gaps or overlap, or the header is invalid.
    """
    if not isinstance(content, dict):
        raise ValueError("its header is not a JSON object")
    data_bytes = file_bytes - first
    tensors: dict[str, TensorClaim] = {}
    for name, entry in content.items():
        if len(name) > _MAX_NAME or not name.isprintable():
            raise ValueError("its header has a tensor with an invalid name")
        if name != "__metadata__":
            tensors[name] = _entry(name, entry, first, data_bytes)
    end = first
    for start, nbytes in sorted((claim.start, claim.nbytes) for claim in tensors.values()):
        if start != end:
            raise ValueError("its tensors overlap or leave gaps")
        end = start + nbytes
    if end != file_bytes:
        raise ValueError(f"its header claims {end - first:,} bytes of tensors, and it has {data_bytes:,}")
    return tensors


def _entry(name: str, entry: Any, first: int, data_bytes: int) -> TensorClaim:
    """Reads the header's entry of a tensor; the data of all tensors begins at byte `first`."""
    fields = entry if isinstance(entry, dict) else {}
    dtype = str(fields.get("dtype"))[:20]
    shape, span = _counts(fields.get("shape")), _counts(fields.get("data_offsets"))
    if shape is None or span is None or len(shape) > _MAX_AXES or len(span) != 2:
        raise ValueError(f"its header has an invalid entry for {name}")
    if dtype not in _DTYPES:
        raise ValueError(f"{name} is in {dtype}, which is none of {', '.join(_DTYPES)}")
    dtype_name, itemsize = _DTYPES[dtype]
    if not math.prod(shape) * itemsize == span[1] - span[0] <= data_bytes or 0 in shape:
        raise ValueError(f"{name} of shape {shape} in {dtype} does not fill its bytes {span[0]} to {span[1]}")
    return TensorClaim(shape, dtype_name, first + span[0], span[1] - span[0])


def _counts(value: Any) -> tuple[int, ...] | None:
    """Returns a list of whole numbers from 0 on as a tuple; None for anything else."""
    if not isinstance(value, list) or not all(isinstance(item, int) and item >= 0 for item in value):
        return None
    return tuple(value)


def check_tensors(
    path: Path, tensors: Mapping[str, ArrayLike], shapes: Mapping[str, tuple[int, ...]], codes: Sequence[str] = ()
) -> None:
    """Compares names, shapes and dtypes of tensors with those that a model should have.

    Args:
        path: the file of the tensors, for messages.
        tensors: the tensors by name.
        shapes: the expected shapes by name.
        codes: the names of int8 tensors; the others are float32.

    Raises:
        ModelError: a name, a shape or a dtype differs.
    """
    dtypes = dict.fromkeys(shapes, "float32") | dict.fromkeys(codes, "int8")
    stored = {name: str(value.dtype).removeprefix("torch.") for name, value in tensors.items()}
    problems = [f"{name} is missing" for name in shapes if name not in tensors]
    problems += [f"{name} is not part of this model" for name in tensors if name not in shapes]
    problems += [
        f"{name} is {tuple(tensors[name].shape)}, not {shape}"
        for name, shape in shapes.items()
        if name in tensors and tuple(tensors[name].shape) != shape
    ]
    problems += [
        f"{name} is in {stored[name]}, not {dtype}"
        for name, dtype in dtypes.items()
        if name in tensors and stored[name] != dtype
    ]
    if problems:
        shown = "; ".join(problems[:3]) + (f" and {len(problems) - 3} more" if len(problems) > 3 else "")
        raise ModelError(f"{path}: {shown}; the weights are not of the model that {CONFIG} describes")


def not_finite(arrays: Mapping[str, Array]) -> list[str]:
    """Returns the names of arrays with infinite or NaN values, which would spread to all results."""
    return [
        name
        for name, value in arrays.items()
        if value.size and value.dtype.kind == "f" and not np.isfinite((value.min(), value.max())).all()
    ]


def check_shortlist(path: Path, ids: Array, vocab_size: int) -> None:
    """Refuses a drafter whose shortlist holds anything but ids of the target vocabulary.

    Args:
        path: the file of the weights, for the message.
        ids: the drafter's shortlist, float32 `(ids,)`.
        vocab_size: number of target ids.

    Raises:
        ModelError: the shortlist is not a strictly increasing list of ids below `vocab_size`.
    """
    are_whole, ascend = bool((ids == np.round(ids)).all()), bool((np.diff(ids) > 0).all())
    if not (are_whole and ascend and ids[0] >= 0 and ids[-1] < vocab_size):
        raise ModelError(
            f"{path}: drafter.shortlist is not an increasing list of ids below {vocab_size}; the weights are damaged, "
            "copy "
            "the folder again"
        )
