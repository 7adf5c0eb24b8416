"""Checkpoints of many processes, which write their parts in parallel while training continues.

shard-RANK-model-00001-of-00002.safetensors  a process's part of the weights    (RANK counts from 1)
shard-RANK-model-00002-of-00002.safetensors  a process's part of the training state

torch.distributed.checkpoint assigns the parts to processes; a file's header says which part of a tensor it has, so
that any number of processes can read the checkpoint.
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
"""Pattern of the files with the weights."""
TRAINING_PATTERN = "shard-*-model-00002-of-*.safetensors"
"""Pattern of the files with the training state."""


class ShardedSave:
    """A checkpoint that is being written.

    Args:
        draft: a folder for the parts, the same path for all processes; its old content is removed first.
        weights: this process's weights by name, sharded ones as `DTensor`s. They are copied before this returns.
        training: this process's training state by name, in the same form.
        group: the processes, over a backend for main memory; nothing else may use it meanwhile.
        make_folder: called in each process before it writes; makes the folder above `draft`, or raises an error.
        seal: called in one process with the names of the files in `draft`, when all of them are on the disk.
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
        """Waits until the checkpoint is complete.

        Raises:
            AttendoError: a process could not write its part.
        """
        try:
            self._saving.result()
        except CheckpointException as error:
            reasons = "; ".join(f"process {rank + 1}: {failure[0]}" for rank, failure in sorted(error.failures.items()))
            name = self._draft.name.removeprefix(".tmp-")
            raise AttendoError(
                f"{self._draft.with_name(name)}: the checkpoint could not be written ({reasons}); the one before it is "
                "whole: make room on the disk, or fix the problem, and continue with --resume"
            ) from error


class _SealedWriter(HuggingFaceStorageWriter):
    """torch's writer, extended by a callback when all parts are written, which torch does not report."""

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
        self._make_folder()  # torch would also create missing parents
        super().set_up_storage_writer(is_coordinator, *args, **kwargs)
        if is_coordinator:  # no process has its plan yet, so nothing has been written
            shutil.rmtree(self._draft, ignore_errors=True)

    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        super().finish(metadata, results)
        # Files are named explicitly, as a network file system may return an outdated listing of the folder.
        self._seal(sorted({result.storage_data.relative_path for part in results for result in part}))


def tensor_shapes(folder: Path) -> dict[str, tuple[int, ...]]:
    """Returns the full shape of every tensor in the safetensors files of a checkpoint, of one process or of many.

    Raises:
        ModelError: a file is torn.
    """
    try:
        entries = HuggingFaceStorageReader(str(folder)).read_metadata().state_dict_metadata
    except Exception as error:  # safetensors has its own exceptions, which do not name the file
        raise _unreadable(folder, error) from error
    return {name: tuple(entry.size) for name, entry in entries.items() if hasattr(entry, "size")}


def load_sharded_weights(folder: Path) -> dict[str, Tensor]:
    """Reads the full weights of a checkpoint of many processes into main memory.

    Raises:
        ModelError: the weights cannot be read.
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
    """Fills tensors from a checkpoint of any number of processes; for `DTensor`s, this process's part.

    Each process reads what it needs, independently of the others.

    Args:
        folder: a folder with safetensors files.
        tensors: the tensors to fill, by name.

    Raises:
        ModelError: a tensor is missing, has another shape, or cannot be read.
    """
    shapes = tensor_shapes(folder)
    for name, tensor in tensors.items():
        if name not in shapes:
            raise ModelError(f"{folder}: has no {name}; it is of another model, start anew in another folder")
        if shapes[name] != tuple(tensor.shape):
            raise ModelError(
                f"{folder}: {name} is {shapes[name]}, not {tuple(tensor.shape)}; it is of another model, start anew in "
                "another folder"
            )
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "torch.distributed is disabled")  # which is intended
            load(dict(tensors), storage_reader=HuggingFaceStorageReader(str(folder)), no_dist=True)
    except (CheckpointException, MemoryError, OSError, RuntimeError) as error:
        raise _unreadable(folder, error) from error


def _unreadable(folder: Path, error: BaseException) -> ModelError:
    if isinstance(error, MemoryError) or os.strerror(errno.ENOMEM) in str(error):  # torch only reports it as text
        return ModelError(f"{folder}: memory ran out while it was read; the folder may be whole, give it more memory")
    return ModelError(f"{folder}: cannot be read ({error}); copy or write it again")
