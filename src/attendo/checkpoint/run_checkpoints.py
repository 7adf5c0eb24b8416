"""A run's checkpoints: safetensors and JSON, never a pickle, each written whole or not at all.

one process:     weights.safetensors  training.safetensors  state.json  checksums.json
many processes:  shard-*.safetensors (`checkpoint.sharded`)  state.json  checksums.json

Older checkpoints have the weights alone. Each kind can be read by any number of processes.
"""

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch.distributed as dist
from safetensors.torch import save_file
from torch import Tensor

from attendo.checkpoint.checksums import drop_file, read_json, verify_folder, write_checksums
from attendo.checkpoint.sharded import TRAINING_PATTERN, ShardedSave, load_sharded_weights, read_tensors, tensor_shapes
from attendo.checkpoint.weights import load_tensors, plain
from attendo.errors import ModelError
from attendo.files import atomic_folder, write_json

TRAINING_PREFIX = "adam."
"""What the names of the training state's tensors begin with, and no weight's."""


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """What a run goes on from."""

    folder: Path
    state: dict[str, Any]
    """JSON: the position."""

    @property
    def has_training_state(self) -> bool:
        """Whether there is an optimiser's state; before the first update there is none."""
        return any(name.startswith(TRAINING_PREFIX) for name in tensor_shapes(self.folder))

    def read(self, tensors: Mapping[str, Tensor]) -> None:
        """Fills weights or the training state, by name; of a sharded model this process' part.

        Raises:
            ModelError: they are not of this checkpoint, or it cannot be read.
        """
        read_tensors(self.folder, tensors)


class Checkpoints:
    """The checkpoints of a run.

    Args:
        folder: `RUN/checkpoints`.
        keep: regular checkpoints to keep, for averaging.
    """

    def __init__(self, folder: Path, keep: int) -> None:
        self.folder, self._keep = folder, max(keep, 2)

    def steps(self, *, regular_only: bool = False) -> list[int]:
        """Steps with a checkpoint, rising; on wish without those of an interruption, which count in no average."""
        found = []
        for path in self.folder.glob("step-*"):
            match = re.fullmatch(r"step-(\d+)(-interrupted)?", path.name)
            if match and not (regular_only and match[2]):
                found.append(int(match[1]))
        return sorted(set(found))

    def save(
        self,
        step: int,
        *,
        regular: bool,
        state: dict[str, Any],
        weights: Mapping[str, Tensor],
        training: Mapping[str, Tensor],
    ) -> None:
        """Writes a checkpoint of one process; only when it is whole are older ones pruned.

        Args:
            step: updates made.
            regular: False for one that an interruption caused.
            state: JSON: the position and what else is no tensor.
            weights: the model's.
            training: the optimiser's tensors.

        Raises:
            OSError: the disk is full, or the folder cannot be written to.
        """
        with atomic_folder(self._path(step, regular=regular)) as draft:
            save_file(plain(weights), draft / "weights.safetensors")
            save_file(plain(training), draft / "training.safetensors")
            write_json(draft / "state.json", state)
            write_checksums(draft)
        self._prune(step)

    def start_saving(
        self,
        step: int,
        *,
        regular: bool,
        state: dict[str, Any],
        weights: Mapping[str, Tensor],
        training: Mapping[str, Tensor],
        group: dist.ProcessGroup,
    ) -> ShardedSave:
        """Begins to write a checkpoint of many processes, all of which have to call; it holds what is so now.

        Args:
            step: updates made.
            regular: False for one that an interruption caused.
            state: JSON, as for `save`.
            weights: the model's, of this process.
            training: the optimiser's tensors, of this process.
            group: the processes; only one checkpoint at a time may be written.
        """
        path = self._path(step, regular=regular)
        written = path.with_name(f".tmp-{path.name}")

        def seal(names: Sequence[str]) -> None:
            with atomic_folder(path) as draft:
                for name in names:
                    (written / name).rename(draft / name)
                write_json(draft / "state.json", state)
                write_checksums(draft)
            shutil.rmtree(written, ignore_errors=True)
            self._prune(step)

        return ShardedSave(written, weights, training, group, seal)

    def remove_drafts(self) -> None:
        """Removes what a process that was killed has left half-written; none may be writing."""
        for path in self.folder.glob(".tmp-*"):
            shutil.rmtree(path, ignore_errors=True)

    def latest(self) -> Checkpoint | None:
        """The newest whole checkpoint; a torn one is passed over.

        Raises:
            ModelError: there are checkpoints, but none is whole.
        """
        problems: list[str] = []
        for step in reversed(self.steps()):
            for regular in (True, False):
                folder = self._path(step, regular=regular)
                if not _training_files(folder):
                    continue
                problems_here = verify_folder(folder)
                if problems_here:
                    problems += problems_here
                    continue
                return self.named(folder.name)
        if problems:
            raise ModelError("; ".join(problems) + "; no checkpoint is whole, start anew in another folder")
        return None

    def named(self, name: str) -> Checkpoint:
        """A checkpoint by its folder's name, of which it is known that it is whole.

        Raises:
            ModelError: it cannot be read.
        """
        folder = self.folder / name
        state = read_json(folder / "state.json", ModelError(f"{folder}: no state.json"))
        return Checkpoint(folder=folder, state=state)

    def last_weights(self, number: int, *, before: int | None = None) -> list[dict[str, Tensor]]:
        """The weights of the last `number` regular checkpoints, oldest first; those before a step, on wish."""
        steps = [step for step in self.steps(regular_only=True) if before is None or step < before]
        chosen = steps[-number:] if number else []
        return [_whole_weights(self._path(step, regular=True)) for step in chosen]

    def _path(self, step: int, *, regular: bool) -> Path:
        return self.folder / (f"step-{step:08d}" + ("" if regular else "-interrupted"))

    def _prune(self, newest: int) -> None:
        regular = self.steps(regular_only=True)
        for step in regular[: -self._keep]:
            shutil.rmtree(self._path(step, regular=True))
        for step in self.steps():
            if step < newest:
                shutil.rmtree(self._path(step, regular=False), ignore_errors=True)
        # Averaging needs the weights alone; the optimiser's state, twice as large, is kept for going on.
        for step in regular[:-2]:
            for file in _training_files(self._path(step, regular=True)):
                drop_file(file.parent, file.name)


def _training_files(folder: Path) -> list[Path]:
    return [*folder.glob("training.safetensors"), *folder.glob(TRAINING_PATTERN)]


def _whole_weights(folder: Path) -> dict[str, Tensor]:
    """The weights of a checkpoint of any number of processes, in main memory."""
    whole = folder / "weights.safetensors"
    return load_tensors(whole) if whole.is_file() else load_sharded_weights(folder)
