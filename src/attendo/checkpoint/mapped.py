"""The weights of a model folder, memory-mapped from their file instead of copied into memory."""

import mmap
import os
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from attendo.checkpoint.claims import TensorClaim
from attendo.errors import ModelError
from attendo.model.weights.arrays import Array


class MappedTensors(Mapping[str, Array]):
    """The tensors of a safetensors file by name, as read-only arrays.

    The file may be replaced by another one of the same name, as attendo replaces files; the old one stays mapped. Once
    somebody has written into the mapped file, every further access raises a ModelError.

    Args:
        path: the file.
        claims: the tensors that the header of the file describes, float32 or int8.

    Raises:
        ModelError: the file cannot be read, or is shorter than its header says.
    """

    def __init__(self, path: Path, claims: Mapping[str, TensorClaim]) -> None:
        self._path, self._claims = path, dict(claims)
        try:
            self._descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
            weakref.finalize(self, os.close, self._descriptor)
            self._state = self._now()
            self._memory = mmap.mmap(self._descriptor, 0, access=mmap.ACCESS_READ)
        except FileNotFoundError as error:
            raise ModelError(f"{path}: not found; the folder is incomplete; copy or write it again") from error
        except (OSError, ValueError) as error:  # ValueError: the file is empty
            raise ModelError(f"{path}: cannot be read ({error}); copy or write it again") from error
        if len(self._memory) < max((claim.start + claim.nbytes for claim in self._claims.values()), default=0):
            raise self._changed()

    def __getitem__(self, name: str) -> Array:
        claim = self._claims[name]
        if self._now() != self._state:
            raise self._changed()
        dtype = np.dtype(claim.dtype)
        numbers = np.frombuffer(self._memory, dtype, claim.nbytes // dtype.itemsize, claim.start)
        return numbers.reshape(claim.shape)

    def __iter__(self) -> Iterator[str]:
        return iter(self._claims)

    def __len__(self) -> int:
        return len(self._claims)

    def _now(self) -> tuple[int, int]:
        """The size of the file and the time of its last change in nanoseconds, which show whether it was written to."""
        status = os.fstat(self._descriptor)
        return status.st_size, status.st_mtime_ns

    def _changed(self) -> ModelError:
        return ModelError(f"{self._path}: was changed while the model was loaded; load the model again")
