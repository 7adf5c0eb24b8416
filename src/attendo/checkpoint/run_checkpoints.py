"""The checkpoints of a run: safetensors and JSON, never a pickle, each written atomically.

one process:     weights.safetensors  training.safetensors  state.json  checksums.json
many processes:  shard-*.safetensors (`checkpoint.sharded`)  state.json  checksums.json

Older checkpoints of a run only keep the weights. Both kinds can be read by any number of processes.
"""

import re
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch.distributed as dist
from torch import Tensor

from attendo.checkpoint.checksums import CHECKSUMS, drop_file, read_json, verify_folder, write_checksums
from attendo.checkpoint.sharded import (
    TRAINING_PATTERN,
    WEIGHTS_PATTERN,
    ShardedSave,
    load_sharded_weights,
    read_tensors,
    tensor_shapes,
)
from attendo.checkpoint.weights import differences, load_tensors, save_tensors
from attendo.errors import ModelError
from attendo.files import atomic_folder, flush_to_disk, recover, remove_folder, write_json

_WHOLE, _TORN = "step-", "torn-step-"
_WEIGHTS, _TRAINING, _STATE = "weights.safetensors", "training.safetensors", "state.json"
TRAINING_PREFIX = "adam."
"""Prefix of the names of the training state's tensors; no weight's name begins with it."""


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A saved state that a run can be resumed from."""

    folder: Path
    state: dict[str, Any]
    """The position and everything else that is not a tensor, from JSON."""

    @property
    def step(self) -> int:
        """Number of updates made."""
        return _step_of(self.folder)

    @property
    def has_training_state(self) -> bool:
        """Whether the checkpoint has an optimiser state; before the first update there is none."""
        return any(name.startswith(TRAINING_PREFIX) for name in tensor_shapes(self.folder))

    def read(self, tensors: Mapping[str, Tensor]) -> None:
        """Fills weights or the training state, by name; for a sharded model, this process's part.

        Raises:
            ModelError: the tensors do not fit the checkpoint, or it cannot be read.
        """
        read_tensors(self.folder, tensors)


class Checkpoints:
    """The checkpoints of a run.

    A damaged checkpoint is reported and set aside as `torn-step-...`, which nothing reads. It is removed once it is
    older than every checkpoint that an average needs.

    Args:
        folder: `RUN/checkpoints`; created if missing, but not the run folder above it.
        keep: number of regular checkpoints to keep, for averaging.
    """

    def __init__(self, folder: Path, keep: int) -> None:
        self.folder, self._keep = folder, max(keep, 2)

    def steps(self, *, regular_only: bool = False) -> list[int]:
        """Returns the steps that have a checkpoint, in ascending order.

        Args:
            regular_only: whether to leave out the checkpoints of interruptions.
        """
        return sorted({step for step, regular in self._matching(_WHOLE) if regular or not regular_only})

    def save(
        self,
        step: int,
        *,
        regular: bool,
        state: dict[str, Any],
        weights: Mapping[str, Tensor],
        training: Mapping[str, Tensor],
        protected: Collection[int] = (),
    ) -> None:
        """Writes a checkpoint of one process; older ones are pruned only when it is complete.

        Args:
            step: number of updates.
            regular: False for a checkpoint at an interruption.
            state: the position and everything else that is not a tensor, for JSON.
            weights: the model's weights.
            training: the optimiser's tensors.
            protected: steps whose weights are always kept, such as the best.

        Raises:
            OSError: the disk is full, or the folder cannot be written to; the error names the file.
            ModelError: the run folder no longer exists.
        """
        self._make_folder()
        with atomic_folder(self._path(step, regular=regular)) as draft:
            save_tensors(weights, draft / _WEIGHTS)
            save_tensors(training, draft / _TRAINING)
            write_json(draft / _STATE, state)
            write_checksums(draft)
        self.prune(step, protected)

    def start_saving(
        self,
        step: int,
        *,
        regular: bool,
        state: dict[str, Any],
        weights: Mapping[str, Tensor],
        training: Mapping[str, Tensor],
        group: dist.ProcessGroup,
        protected: Collection[int] = (),
    ) -> ShardedSave:
        """Starts writing a checkpoint of the current state by several processes, all of which must call it.

        Args:
            step: number of updates.
            regular: False for a checkpoint at an interruption.
            state: the position and everything else that is not a tensor, for JSON.
            weights: this process's part of the model's weights.
            training: this process's part of the optimiser's tensors.
            group: the processes; only one checkpoint at a time may be written.
            protected: steps whose weights are always kept, such as the best.
        """
        path = self._path(step, regular=regular)
        parts_folder = path.with_name(f".tmp-{path.name}")

        def seal(names: Sequence[str]) -> None:
            with atomic_folder(path) as draft:
                for name in names:
                    (parts_folder / name).rename(draft / name)
                write_json(draft / _STATE, state)
                write_checksums(draft)
            shutil.rmtree(parts_folder, ignore_errors=True)
            self.prune(step, protected)

        return ShardedSave(parts_folder, weights, training, group, self._make_folder, seal)

    def prune(self, newest: int, protected: Collection[int]) -> None:
        """Removes files that are no longer needed once a newer checkpoint is complete; `save` calls it itself.

        Call it when a run is resumed too: the earlier process may have been killed right after saving.

        Args:
            newest: the step of the newest checkpoint.
            protected: steps whose weights are always kept, such as the best.

        Raises:
            OSError: the folder cannot be written to.
        """
        regular = self.steps(regular_only=True)
        for step in set(regular[: -self._keep]).difference(protected):
            remove_folder(self._path(step, regular=True))
        for step, is_regular in self._matching(_WHOLE):
            if step < newest and not is_regular:
                remove_folder(self._path(step, regular=False))
        for torn in self.folder.glob(f"{_TORN}*"):
            if _step_of(torn) >= 0 and sum(step > _step_of(torn) for step in regular) >= self._keep:
                remove_folder(torn)
        # Averaging only needs the weights; the optimiser's state, twice as large, is kept for resuming.
        for step in regular[:-2]:
            for file in _training_files(self._path(step, regular=True)):
                with suppress(ModelError):  # damaged checksums, which are reported when the checkpoint is read
                    drop_file(file.parent, file.name)

    def remove_drafts(self) -> None:
        """Removes unfinished files of a killed process; no process may be writing meanwhile."""
        recover(self.folder)
        for checkpoint in self.folder.glob("step-*"):
            recover(checkpoint)

    def latest(
        self, report: Callable[[str], None] = lambda text: None, *, before: int | None = None
    ) -> Checkpoint | None:
        """Finds the newest intact checkpoint, by its checksums; damaged ones after it are reported and set aside.

        Damaged checkpoints before it that the next average would need are reported and set aside too.

        Args:
            report: called with a line for each damaged file, which names the folder that its checkpoint was moved to.
            before: a step; only checkpoints of earlier steps are considered. None for all.

        Returns:
            The checkpoint; None if there is none yet, or none of an earlier step to resume from.

        Raises:
            ModelError: there are checkpoints, but none to resume from is intact; they are not changed.
            OSError: a damaged checkpoint cannot be set aside.
        """
        candidates = [(step, regular) for step, regular in self._matching(_WHOLE) if before is None or step < before]
        torn: dict[Path, list[str]] = {}
        for step, regular in reversed(candidates):
            folder = self._path(step, regular=regular)
            if problems := checkpoint_problems(folder):
                torn[folder] = problems
            elif step == 0 or _has_training_state(folder):  # before the first update there is no training state
                for other, other_problems in torn.items():
                    self._set_aside(other, other_problems, report)
                self._whole(self._window(self._keep - 1, step), report)
                return self.named(folder.name)
        if before is not None or not (candidates or self._matching(_TORN)):
            return None
        problems = [problem for folder_problems in torn.values() for problem in folder_problems]
        problems.append(f"{self.folder}: no intact checkpoint to resume from, start again in another folder")
        raise ModelError("; ".join(problems))

    def drop_after(self, step: int) -> None:
        """Removes the checkpoints of later steps, damaged or not, the newest first.

        Raises:
            OSError: the folder cannot be written to.
        """
        for path in sorted(self.folder.glob("*step-*"), key=_step_of, reverse=True):
            if _step_of(path) > step:
                remove_folder(path)

    def named(self, name: str) -> Checkpoint:
        """Reads the checkpoint of a folder that is known to be complete.

        Raises:
            ModelError: the checkpoint cannot be read.
        """
        folder = self.folder / name
        state = read_json(folder / _STATE, ModelError(f"{folder}: no state.json"))
        return Checkpoint(folder=folder, state=state)

    def last_weights(
        self, number: int, *, before: int | None = None, report: Callable[[str], None] | None = None
    ) -> list[dict[str, Tensor]]:
        """Reads the weights of the last regular checkpoints, oldest first.

        Args:
            number: number of checkpoints; a damaged one is not replaced by an earlier one.
            before: a step; only checkpoints of earlier steps are considered. None for all.
            report: called with a line for each damaged file; its checkpoint is set aside and left out. None to raise
                an error instead.

        Raises:
            ModelError: a checkpoint is damaged and `report` is None, or the checkpoints belong to different models.
        """
        folders = self._window(number, before)
        if report is not None:
            folders = self._whole(folders, report)
        elif problems := [problem for folder in folders for problem in checkpoint_problems(folder)]:
            raise ModelError("; ".join(problems))
        weights = [_whole_weights(folder) for folder in folders]
        for folder, part in zip(folders, weights, strict=True):
            if differ := differences(part, weights[-1]):
                raise ModelError(f"{folder}: belongs to another model than {folders[-1].name}: {differ[0]}; remove it")
        return weights

    def _window(self, number: int, before: int | None) -> list[Path]:
        """Returns the folders of the last `number` regular checkpoints before a step, in ascending order.

        Checkpoints that were set aside count, but their folders are left out.
        """
        available = {step for step, regular in self._matching(_WHOLE) if regular}
        numbers = available | {step for step, regular in self._matching(_TORN) if regular}
        chosen = sorted(step for step in numbers if before is None or step < before)[-number:] if number else []
        return [self._path(step, regular=True) for step in chosen if step in available]

    def _whole(self, folders: Sequence[Path], report: Callable[[str], None]) -> list[Path]:
        """Returns the intact checkpoints; reports the others and sets them aside."""
        whole = []
        for folder in folders:
            if problems := checkpoint_problems(folder):
                self._set_aside(folder, problems, report)
            else:
                whole.append(folder)
        return whole

    def _set_aside(self, folder: Path, problems: Sequence[str], report: Callable[[str], None]) -> None:
        aside = folder.with_name(_TORN + folder.name.removeprefix(_WHOLE))
        for problem in problems:
            report(f"{problem}; set aside as {aside.name}")
        if aside.exists():
            remove_folder(aside)
        folder.rename(aside)

    def _matching(self, prefix: str) -> list[tuple[int, bool]]:
        """Returns step and regularity of the checkpoints whose names begin with a prefix, in ascending order."""
        matches = [re.fullmatch(rf"{prefix}(\d+)(-interrupted)?", path.name) for path in self.folder.glob(f"{prefix}*")]
        return sorted((int(match[1]), match[2] is None) for match in matches if match)

    def _path(self, step: int, *, regular: bool) -> Path:
        return self.folder / (f"step-{step:08d}" + ("" if regular else "-interrupted"))

    def _make_folder(self) -> None:
        if self.folder.is_dir():
            return
        try:
            self.folder.mkdir(exist_ok=True)
        except FileNotFoundError:
            raise ModelError(
                f"{self.folder.parent}: the run folder is gone, so nothing can be saved; restore it and continue with "
                "--resume, or start again"
            ) from None
        flush_to_disk(self.folder.parent)


def _step_of(path: Path) -> int:
    """Returns the step of a checkpoint, intact or set aside; -1 for a path that is neither."""
    match = re.fullmatch(rf"(?:{_WHOLE}|{_TORN})(\d+)(?:-interrupted)?", path.name)
    return int(match[1]) if match else -1


def checkpoint_problems(folder: Path) -> list[str]:
    """Returns the damages of a checkpoint, one per line; missing weights or a missing state count as damage."""
    if problems := verify_folder(folder):
        return problems
    sealed = read_json(folder / CHECKSUMS, ModelError(f"{folder}: no {CHECKSUMS}"))
    parts = {path.name for path in folder.glob(WEIGHTS_PATTERN)}
    needed = {_STATE, *(parts or {_WEIGHTS})}
    return [f"{folder / name}: not in {CHECKSUMS}, so that it cannot be compared" for name in needed - sealed.keys()]


def _has_training_state(folder: Path) -> bool:
    """Returns whether an intact checkpoint has an optimiser state; a file without a checksum is about to be removed."""
    sealed = read_json(folder / CHECKSUMS, ModelError(f"{folder}: no {CHECKSUMS}"))
    return any(file.name in sealed for file in _training_files(folder))


def _training_files(folder: Path) -> list[Path]:
    return [*folder.glob(_TRAINING), *folder.glob(TRAINING_PATTERN)]


def _whole_weights(folder: Path) -> dict[str, Tensor]:
    """Reads the weights of a checkpoint of any number of processes into main memory."""
    whole = folder / _WEIGHTS
    return load_tensors(whole) if whole.is_file() else load_sharded_weights(folder)
