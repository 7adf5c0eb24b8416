"""Weights by name: read from safetensors, checked, put into a model, averaged."""

import errno
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from attendo.checkpoint.checksums import CONFIG
from attendo.errors import ModelError
from attendo.model.transformer import Transformer


def named_weights(transformer: Transformer) -> dict[str, Tensor]:
    """A model's weights by name, each shared matrix once, detached and not copied."""
    return {name: parameter.detach() for name, parameter in transformer.named_parameters()}


def load_weights(transformer: Transformer, weights: Mapping[str, Tensor], where: Path) -> None:
    """Copies weights into a model.

    Raises:
        ModelError: a name or a shape differs, or what a drafter proposes are no tokens.
    """
    parameters = dict(transformer.named_parameters())
    check_tensors(where, weights, {name: tuple(value.shape) for name, value in parameters.items()})
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(weights[name])
    if transformer.drafter is not None and not transformer.drafter.has_ids(transformer.tgt_vocab_size):
        raise ModelError(
            f"{where}: drafter.shortlist holds what are no ids of {transformer.tgt_vocab_size} in order; the weights "
            "are damaged, copy the folder again"
        )


def mean_weights(parts: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """The mean of several sets of weights, summed in float64 (Section 6.1).

    Raises:
        ModelError: they are not of one model.
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
    """Where names or shapes are not those of other tensors, a line each."""
    return [
        f"{name} is {_shape(tensors, name)} and {_shape(others, name)}"
        for name in sorted(tensors.keys() | others.keys())
        if _shape(tensors, name) != _shape(others, name)
    ]


def check_tensors(
    path: Path, tensors: Mapping[str, Tensor], shapes: Mapping[str, tuple[int, ...]], codes: Sequence[str] = ()
) -> None:
    """Compares tensors with what a model has.

    Args:
        path: their file, for messages.
        tensors: by name.
        shapes: those expected.
        codes: the names that are int8; the others are float32.

    Raises:
        ModelError: a name, a shape or a dtype differs.
    """
    dtypes = dict.fromkeys(shapes, torch.float32) | dict.fromkeys(codes, torch.int8)
    problems = [f"{name} is missing" for name in shapes if name not in tensors]
    problems += [f"{name} is not part of this model" for name in tensors if name not in shapes]
    problems += [
        f"{name} is {tuple(tensors[name].shape)}, not {shape}"
        for name, shape in shapes.items()
        if name in tensors and tuple(tensors[name].shape) != shape
    ]
    problems += [
        f"{name} is in {str(tensors[name].dtype).removeprefix('torch.')}, not {str(dtype).removeprefix('torch.')}"
        for name, dtype in dtypes.items()
        if name in tensors and tensors[name].dtype != dtype
    ]
    if problems:
        shown = "; ".join(problems[:3]) + (f" and {len(problems) - 3} more" if len(problems) > 3 else "")
        raise ModelError(f"{path}: {shown}; the weights are not of the model that {CONFIG} describes")


def load_tensors(path: Path) -> dict[str, Tensor]:
    """Reads a safetensors file.

    Raises:
        ModelError: it is missing or torn.
    """
    try:
        return load_file(path)
    except FileNotFoundError as error:
        raise ModelError(f"{path}: not found; the folder is not whole, copy or write it again") from error
    except (SafetensorError, OSError) as error:
        raise ModelError(f"{path}: cannot be read ({error}); copy or write it again") from error


def save_tensors(tensors: Mapping[str, Tensor], path: Path) -> None:
    """Writes a safetensors file, in a folder that becomes whole as one (`files.atomic_folder`).

    Raises:
        OSError: the disk is full, or the folder cannot be written to; it names `path`.
    """
    try:
        save_file(plain(tensors), path)
    except SafetensorError as error:  # which has its own name for what the system says, and names no file
        number = re.search(r"os error (\d+)", str(error))
        if number is None:
            raise OSError(errno.EIO, str(error), str(path)) from error
        raise OSError(int(number[1]), os.strerror(int(number[1])), str(path)) from error


def plain(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Tensors as safetensors wants them: in main memory, contiguous, without a gradient."""
    return {name: value.detach().cpu().contiguous() for name, value in tensors.items()}


def _shape(tensors: Mapping[str, Tensor], name: str) -> str:
    return str(tuple(tensors[name].shape)) if name in tensors else "missing"
