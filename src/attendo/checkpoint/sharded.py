"""Checkpoints of many processes: each writes its part, all of them together, while training goes on.

shard-RANK-model-00001-of-00002.safetensors  its part of the weights    (RANK counts from 1)
shard-RANK-model-00002-of-00002.safetensors  its part of the training state

torch.distributed.checkpoint decides who writes what; a file's header says which part of a tensor it has, so that any
number of processes can read it.
"""

import errno
import os
import shutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from safetensors import safe_open
from torch import Tensor
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader, HuggingFaceStorageWriter
from torch.distributed.checkpoint.metadata import Metadata
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import async_save
from torch.distributed.checkpoint.storage import WriteResult

from attendo.errors import AttendoError, ModelError

WEIGHTS_PATTERN = "shard-*-model-00001-of-*.safetensors"
TRAINING_PATTERN = "shard-*-model-00002-of-*.safetensors"
"""The files with the weights, and those with the training state."""


class ShardedSave:
    """A checkpoint that is being written.

    Args:
        draft: a folder for the parts, the same path for all processes; what lies there goes first.
        weights: by name, of this process; what is sharded as `DTensor`s. Copied before this returns.
        training: likewise, the training state.
        group: the processes, over a backend for main memory; nothing else may use it meanwhile.
        make_folder: called in each process before it writes: makes the folder above `draft`, or refuses to.
        seal: called in one process, with the names of the files in `draft`, when all of them are on the disk.
    """

    def __init__(
        self,
        draft: Path,
        weights: Mapping[str, Tensor],
        training: Mapping[str, Tensor],
        group: dist.ProcessGroup,
        make_folder: Callable[[], None],
        seal: Callable[[Sequence[str]], None],
    ) -> None:
        self._draft = draft
        files = dict.fromkeys(weights, 1) | dict.fromkeys(training, 2)
        writer = _SealedWriter(draft, files, make_folder, seal)
        saving = async_save({**weights, **training}, storage_writer=writer, process_group=group)
        assert isinstance(saving, Future), "torch's staging is done when it returns"
        self._saving: Future[Any] = saving

    def wait(self) -> None:
        """Waits until the checkpoint is whole.

        Raises:
            AttendoError: a process could not write its part.
        """
        try:
            self._saving.result()
        except CheckpointException as error:
            why = "; ".join(f"process {rank + 1}: {failure[0]}" for rank, failure in sorted(error.failures.items()))
            name = self._draft.name.removeprefix(".tmp-")
            raise AttendoError(
                f"{self._draft.with_name(name)}: the checkpoint could not be written ({why}); the one before it is "
                "whole: make room on the disk, or fix the problem, and continue with --resume"
            ) from error


class _SealedWriter(HuggingFaceStorageWriter):
    """torch's writer, which calls back where torch leaves it to the caller to find out that all is written."""

    def __init__(
        self,
        draft: Path,
        files: Mapping[str, int],
        make_folder: Callable[[], None],
        seal: Callable[[Sequence[str]], None],
    ) -> None:
        super().__init__(str(draft), fqn_to_index_mapping=dict(files), save_distributed=True)
        self._draft, self._make_folder, self._seal = draft, make_folder, seal

    def set_up_storage_writer(self, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        self._make_folder()  # torch would make what is missing above it too
        super().set_up_storage_writer(is_coordinator, *args, **kwargs)
        if is_coordinator:  # before any process has its plan, and so before anything is written
            shutil.rmtree(self._draft, ignore_errors=True)

    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        super().finish(metadata, results)
        # Asked for by name: over a network file system a list of the folder may be old.
        self._seal(sorted({result.storage_data.relative_path for part in results for result in part}))


def tensor_shapes(folder: Path) -> dict[str, tuple[int, ...]]:
    """The whole shape of every tensor in the safetensors files of a checkpoint, of one process or of many.

    Raises:
        ModelError: a file is torn.
    """
    try:
        found = HuggingFaceStorageReader(str(folder)).read_metadata().state_dict_metadata
    except Exception as error:  # safetensors has its own kinds, which tell no file
        raise _unreadable(folder, error) from error
    return {name: tuple(entry.size) for name, entry in found.items() if hasattr(entry, "size")}


def load_sharded_weights(folder: Path) -> dict[str, Tensor]:
    """The whole weights of a checkpoint of many processes, in main memory.

    Raises:
        ModelError: they cannot be read.
    """
    shapes = tensor_shapes(folder)
    names: set[str] = set()
    for file in folder.glob(WEIGHTS_PATTERN):
        with safe_open(file, framework="pt") as opened:
            names |= set(opened.keys())
    if not names:
        raise ModelError(f"{folder}: holds no weights; the folder is incomplete; copy or write it again")
    weights = {name: torch.empty(shapes[name]) for name in sorted(names)}
    read_tensors(folder, weights)
    return weights


def read_tensors(folder: Path, tensors: Mapping[str, Tensor]) -> None:
    """Fills tensors from a checkpoint of any number of processes; of `DTensor`s this process' part.

    Processes read alone, each what it needs.

    Args:
        folder: with safetensors files.
        tensors: by name; they are written to.

    Raises:
        ModelError: one is missing, has another shape, or cannot be read.
    """
    there = tensor_shapes(folder)
    for name, tensor in tensors.items():
        if name not in there:
            raise ModelError(f"{folder}: has no {name}; it is of another model, start anew in another folder")
        if there[name] != tuple(tensor.shape):
            raise ModelError(
                f"{folder}: {name} is {there[name]}, not {tuple(tensor.shape)}; it is of another model, start anew in "
                "another folder"
            )
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "torch.distributed is disabled")  # as is asked for
            load(dict(tensors), storage_reader=HuggingFaceStorageReader(str(folder)), no_dist=True)
    except (CheckpointException, MemoryError, OSError, RuntimeError) as error:
        raise _unreadable(folder, error) from error


def _unreadable(folder: Path, error: BaseException) -> ModelError:
    if isinstance(error, MemoryError) or os.strerror(errno.ENOMEM) in str(error):  # which torch has as text alone
        return ModelError(f"{folder}: memory ran out while it was read; the folder may be whole, give it more memory")
    return ModelError(f"{folder}: cannot be read ({error}); copy or write it again")
