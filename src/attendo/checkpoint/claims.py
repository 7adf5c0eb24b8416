"""What a stranger's model claims to be, counted and compared with its files before anything of that size is made.

`config.json` can say d_model = 10^9 in a few bytes, and so can the header of a safetensors file. Both are read here as
what they are, short texts; only where they agree with each other and with the size of the file is the model built.
"""

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from attendo.checkpoint.checksums import CONFIG
from attendo.errors import ModelError
from attendo.model.config import ModelConfig
from attendo.model.parser_stack import MAX_DEPTH
from attendo.reading import parse_json, require_regular

MAX_NUMBERS = 1 << 48
"""Trained numbers of a model, 281 thousand billion: what is below can be calculated with in 64 bits."""

_LENGTH_BYTES = 8
_MAX_AXES, _MAX_NAME = 8, 300
_DTYPES = {
    "F32": torch.float32,
    "I8": torch.int8,
    "BF16": torch.bfloat16,
    "F16": torch.float16,
    "F64": torch.float64,
    "U8": torch.uint8,
    "I32": torch.int32,
    "I64": torch.int64,
}
"""By safetensors' names. Our files hold the first three; the others can be said to be the wrong ones."""
_MAX_HEADER_BYTES = 8 << 20
"""Names, shapes and offsets of 40,000 tensors: more than two stacks of 1,000 layers have."""


def num_weights(config: ModelConfig, src_vocab_size: int, tgt_vocab_size: int) -> int:
    """Counts the trained numbers that `Transformer` would have, each shared matrix once.

    Args:
        config: the architecture.
        src_vocab_size: ids of the source.
        tgt_vocab_size: ids of the target.
    """
    d_model, encoder, decoder = config.d_model, config.encoder_layers, config.decoder_layers
    queries_keys, values = 2 * config.num_heads * config.key_size, config.num_heads * config.value_size
    bias = int(config.attention_bias)
    # Each attention is W_Q, W_K, W_V and W_O, however they are put together.
    attention = d_model * (queries_keys + 2 * values) + bias * (queries_keys + values + d_model)
    if config.attention_function == "additive":
        attention += config.num_heads * config.key_size
    feed_forward = 2 * d_model * config.d_ff + config.d_ff + d_model
    norm = 2 * d_model
    vocabularies = {
        "all": tgt_vocab_size,
        "target": tgt_vocab_size + src_vocab_size,
        "none": 2 * tgt_vocab_size + src_vocab_size,
    }[config.shared_embeddings]
    return (
        d_model * vocabularies
        + int(config.output_bias) * tgt_vocab_size
        + (2 * config.max_positions * d_model if config.positions == "learned" else 0)
        + encoder * (_mixing_weights(config, attention) + feed_forward + 2 * norm)
        + decoder * (2 * attention + feed_forward + 3 * norm)
        + int(config.next_word) * d_model**2
        + int(config.parser_stack) * (2 * d_model + MAX_DEPTH + 1 + 2 * (tgt_vocab_size + 1)) * d_model
        + (_drafter_weights(config, tgt_vocab_size) if config.draft_tokens else 0)
    )


def _drafter_weights(config: ModelConfig, vocab_size: int) -> int:
    """Those of `Drafter`."""
    d_model, heads = config.d_model, config.num_heads * (config.key_size + config.value_size)
    bias = int(config.attention_bias) * (config.num_heads * config.key_size + d_model)
    attention = d_model * heads + bias
    if config.attention_function == "additive":
        attention += config.num_heads * config.key_size
    joined, feed_forward = 2 * d_model**2 + d_model, 2 * d_model * config.d_ff + config.d_ff + d_model
    shortlist = min(config.draft_vocabulary, vocab_size)
    beside = 2 * d_model**2 + d_model + d_model**2 + d_model
    return shortlist + joined + beside + config.draft_tokens * d_model + attention + feed_forward + 3 * 2 * d_model


def _mixing_weights(config: ModelConfig, attention: int) -> int:
    """Those of what mixes the positions in an encoder layer, where self-attention has so many."""
    d_model, matrix = config.d_model, config.d_model**2
    match config.encoder_layer:
        case "self-attention" | "restricted-self-attention":
            return attention
        case "recurrent":  # each way 3 gates of half the width, with matrices and biases for input and state
            return 2 * 3 * (d_model // 2) * (d_model + d_model // 2 + 2)
        case "convolutional" | "dilated-convolutional":
            return config.kernel_size * matrix + d_model
        case "separable-convolutional":
            return config.kernel_size * d_model + matrix + d_model


def claim_problems(config: ModelConfig, src_vocab_size: int, tgt_vocab_size: int) -> list[str]:
    """What no model can be, whatever its files hold; empty for one that can be.

    Args:
        config: the architecture.
        src_vocab_size: ids of the source.
        tgt_vocab_size: ids of the target.
    """
    problems = [
        f"{key} = {size} is no vocabulary; take 2 or more"
        for key, size in (("src_vocab_size", src_vocab_size), ("tgt_vocab_size", tgt_vocab_size))
        if size < 2
    ]
    if isinstance(config.start, int) and config.start >= tgt_vocab_size:
        problems.append(f"model.start = {config.start} is no id of {tgt_vocab_size}")
    if not problems and num_weights(config, src_vocab_size, tgt_vocab_size) > MAX_NUMBERS:
        problems.append("model: claims more weights than any file holds")
    return problems


def check_claim(path: Path, weights: int) -> dict[str, Tensor]:
    """Compares the number of a model's weights with the file that should hold them, by its length and header alone.

    What is far more than the file has is refused here; what differs by a tensor is told by name where shapes are
    compared.

    Args:
        path: a safetensors file.
        weights: that a model claims.

    Returns:
        As `read_header`.

    Raises:
        ModelError: it is missing or torn, or has far less than is claimed.
    """
    header = read_header(path)
    there = sum(value.nbytes for value in header.values())
    if weights > 2 * there:  # a weight takes a byte in int8 and four in float32
        raise ModelError(
            f"{path}: holds {there:,} bytes, but {CONFIG} describes a model of {weights:,} weights, which need far "
            "more; the files are not of one model, copy the folder again"
        )
    return header


def read_header(path: Path) -> dict[str, Tensor]:
    """Reads the header of a safetensors file, and looks whether it fits the file.

    Args:
        path: the file.

    Returns:
        What the header says of each tensor, by name: its shape and dtype, on the device `meta`, so that nothing of its
        size is made. The shapes are those of tensors that the file has room for.

    Raises:
        ModelError: it is missing, is no such file, or claims other bytes than it has.
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
        return _claims(content, file_bytes - _LENGTH_BYTES - length)
    except FileNotFoundError as error:
        raise ModelError(f"{path}: not found; the folder is not whole, copy or write it again") from error
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror}); copy or write it again") from error
    except ValueError as error:
        raise ModelError(f"{path}: cannot be read ({error}); copy or write it again") from error


def _claims(content: Any, data_bytes: int) -> dict[str, Tensor]:
    """The tensors of a header, which have to lie one behind the other and fill the file.

    Raises:
        ValueError: they do not, or the header is none.
    """
    if not isinstance(content, dict):
        raise ValueError("its header is no table")
    spans: list[tuple[int, int]] = []
    tensors: dict[str, Tensor] = {}
    for name, entry in content.items():
        if len(name) > _MAX_NAME or not name.isprintable():
            raise ValueError("it names a tensor as nobody does")
        if name != "__metadata__":
            shape, dtype, span = _entry(name, entry, data_bytes)
            tensors[name] = torch.empty(shape, dtype=dtype, device="meta")
            spans.append(span)
    end = 0
    for start, stop in sorted(spans):
        if start != end:
            raise ValueError("its tensors overlap or leave gaps")
        end = stop
    if end != data_bytes:
        raise ValueError(f"its header claims {end:,} bytes of tensors, and it has {data_bytes:,}")
    return tensors


def _entry(name: str, entry: Any, data_bytes: int) -> tuple[tuple[int, ...], torch.dtype, tuple[int, int]]:
    """What a header's entry says: shape, dtype, and from where to where its bytes go."""
    fields = entry if isinstance(entry, dict) else {}
    dtype = str(fields.get("dtype"))[:20]
    shape, span = _counts(fields.get("shape")), _counts(fields.get("data_offsets"))
    if shape is None or span is None or len(shape) > _MAX_AXES or len(span) != 2:
        raise ValueError(f"its header says nothing of {name} that can be meant")
    if dtype not in _DTYPES:
        raise ValueError(f"{name} is in {dtype}, which is none of {', '.join(_DTYPES)}")
    if not math.prod(shape) * _DTYPES[dtype].itemsize == span[1] - span[0] <= data_bytes or 0 in shape:
        raise ValueError(f"{name} of shape {shape} in {dtype} does not fill its bytes {span[0]} to {span[1]}")
    return shape, _DTYPES[dtype], (span[0], span[1])


def _counts(value: Any) -> tuple[int, ...] | None:
    """Whole numbers from 0 on; None for anything else."""
    if not isinstance(value, list) or not all(isinstance(each, int) and each >= 0 for each in value):
        return None
    return tuple(value)


def not_finite(tensors: Mapping[str, Tensor]) -> list[str]:
    """The names of tensors with a number that is infinite or none, from which nothing follows but more of them."""
    return [
        name
        for name, value in tensors.items()
        if value.numel() and not bool(torch.stack(value.aminmax()).isfinite().all())
    ]
