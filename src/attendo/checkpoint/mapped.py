"""The weights of a model folder, mapped from their file instead of read into memory of their own."""

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
    """The tensors of a safetensors file by name, as arrays that cannot be written to.

    The file may be replaced by another one of its name, as attendo replaces files: the one that is mapped stays. Where
    somebody has written into it meanwhile, nothing of it is given any more.

    Args:
        path: the file.
        claims: what its header says; float32 and int8 tensors.

    Raises:
        ModelError: it cannot be read, or is shorter than its header says.
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
        except (OSError, ValueError) as error:  # a ValueError of an empty file
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
        """By which a file shows that somebody has written into it: its size and the time of the last change."""
        status = os.fstat(self._descriptor)
        return status.st_size, status.st_mtime_ns

    def _changed(self) -> ModelError:
        return ModelError(f"{self._path}: was changed while the model was loaded; load the model again")
