"""Weights by name: reading from safetensors, checking, copying into a model, averaging."""

import errno
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from attendo.checkpoint.claims import check_shortlist, check_tensors
from attendo.errors import ModelError
from attendo.model.transformer import Transformer


def named_weights(transformer: Transformer) -> dict[str, Tensor]:
    """Returns a model's weights by name, each shared matrix once, detached and not copied."""
    return {name: parameter.detach() for name, parameter in transformer.named_parameters()}


def load_weights(transformer: Transformer, weights: Mapping[str, Tensor], where: Path) -> None:
    """Copies weights into a model.

    Raises:
        ModelError: a name or a shape differs, or a drafter's shortlist is invalid.
    """
    parameters = dict(transformer.named_parameters())
    check_tensors(where, weights, {name: tuple(value.shape) for name, value in parameters.items()})
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(weights[name])
    if transformer.drafter is not None:
        check_shortlist(where, transformer.drafter.shortlist.detach().cpu().numpy(), transformer.tgt_vocab_size)


def mean_weights(parts: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """Returns the mean of several sets of weights, summed in float64 (Section 6.1).

    Raises:
        ModelError: the sets belong to different models.
    """
    first = parts[0]
    if problems := [problem for part in parts for problem in differences(part, first)]:
        raise ModelError(f"{problems[0]}; only checkpoints of one model can be averaged")
    return {
        name: (sum((part[name].double() for part in parts), torch.zeros((), dtype=torch.float64)) / len(parts)).to(
            first[name].dtype
        )
        for name in first
    }


def differences(tensors: Mapping[str, Tensor], others: Mapping[str, Tensor]) -> list[str]:
    """Returns the differences in names and shapes between two sets of tensors, one per line."""
    return [
        f"{name} is {_shape(tensors, name)} and {_shape(others, name)}"
        for name in sorted(tensors.keys() | others.keys())
        if _shape(tensors, name) != _shape(others, name)
    ]


def load_tensors(path: Path) -> dict[str, Tensor]:
    """Reads a safetensors file.

    Raises:
        ModelError: the file is missing or torn.
    """
    try:
        return load_file(path)
    except FileNotFoundError as error:
        raise ModelError(f"{path}: not found; the folder is incomplete; copy or write it again") from error
    except (SafetensorError, OSError) as error:
        raise ModelError(f"{path}: cannot be read ({error}); copy or write it again") from error


def save_tensors(tensors: Mapping[str, Tensor], path: Path) -> None:
    """Writes a safetensors file; for use in a folder that is written atomically (`files.atomic_folder`).

    Raises:
        OSError: the disk is full, or the folder cannot be written to; the error names `path`.
    """
    try:
        save_file(plain(tensors), path)
    except SafetensorError as error:  # wraps the system's error as text and does not name the file
        number = re.search(r"os error (\d+)", str(error))
        if number is None:
            raise OSError(errno.EIO, str(error), str(path)) from error
        raise OSError(int(number[1]), os.strerror(int(number[1])), str(path)) from error


def plain(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Returns tensors in the form that safetensors requires: in main memory, contiguous, without a gradient."""
    return {name: value.detach().cpu().contiguous() for name, value in tensors.items()}


def _shape(tensors: Mapping[str, Tensor], name: str) -> str:
    return str(tuple(tensors[name].shape)) if name in tensors else "missing"
