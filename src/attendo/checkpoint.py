"""Model folders and a run's checkpoints: safetensors and JSON, never a pickle, each written whole or not at all.

A model folder:      config.json  model.safetensors  source.spm  [target.spm]  README.md  checksums.json
A checkpoint folder: weights.safetensors  training.safetensors  state.json  checksums.json
"""

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from attendo.errors import ModelError
from attendo.files import atomic_folder, sha256, write_json
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.text.tokenization import Tokenizer

FORMAT_VERSION = 1
CONFIG, WEIGHTS, CARD, CHECKSUMS = "config.json", "model.safetensors", "README.md", "checksums.json"
SOURCE_SPM, TARGET_SPM = "source.spm", "target.spm"


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True, kw_only=True)
class ModelDescription:
    """What `config.json` says of a model."""

    format_version: int = FORMAT_VERSION
    task: str = "translate"
    source_language: str = ""
    target_language: str = ""
    src_vocab_size: int
    tgt_vocab_size: int
    model: ModelConfig
    search: dict[str, Any]
    """Search settings that differ from the defaults, as in a recipe."""
    training: dict[str, Any]
    """How it came to be: steps, data, scores with signatures; for people and reports."""


@dataclass(frozen=True, kw_only=True)
class LoadedModel:
    """A model folder, read."""

    folder: Path
    description: ModelDescription
    transformer: Transformer
    """In evaluation mode, float32, on the CPU."""
    source_tokenizer: Tokenizer
    target_tokenizer: Tokenizer


def save_model(
    folder: Path,
    description: ModelDescription,
    weights: Mapping[str, Tensor],
    source_tokenizer: Tokenizer,
    target_tokenizer: Tokenizer,
    card: str,
) -> None:
    """Writes a model folder, replacing one that is there.

    Args:
        folder: where.
        description: what goes into `config.json`.
        weights: by the names of `Transformer.named_parameters()`, each shared matrix once.
        source_tokenizer: becomes `source.spm`.
        target_tokenizer: becomes `target.spm` where it is another one.
        card: Markdown for `README.md`.

    Raises:
        OSError: the disk is full, or the folder cannot be written to.
    """
    with atomic_folder(folder) as draft:
        write_json(draft / CONFIG, asdict(description))
        save_file(_plain(weights), draft / WEIGHTS)
        source_tokenizer.save(draft / SOURCE_SPM)
        if target_tokenizer is not source_tokenizer:
            target_tokenizer.save(draft / TARGET_SPM)
        (draft / CARD).write_text(card, encoding="utf-8")
        _write_checksums(draft)


def load_model(folder: Path) -> LoadedModel:
    """Reads a model folder.

    Raises:
        ModelError: a file is missing, torn or does not fit the others; the message names it.
    """
    description = read_description(folder)
    with torch.device("meta"):
        transformer = _build(folder, description)
    weights = _load_tensors(folder / WEIGHTS)
    expected = dict(transformer.named_parameters())
    _check_tensors(folder / WEIGHTS, weights, {name: tuple(value.shape) for name, value in expected.items()})
    transformer = _build(folder, description, weights)
    source = Tokenizer.load(folder / SOURCE_SPM)
    target = Tokenizer.load(folder / TARGET_SPM) if (folder / TARGET_SPM).exists() else source
    for name, tokenizer, size in (
        (SOURCE_SPM, source, description.src_vocab_size),
        (TARGET_SPM, target, description.tgt_vocab_size),
    ):
        if tokenizer.vocab_size != size:
            raise ModelError(
                f"{folder / name}: has {tokenizer.vocab_size} pieces but {CONFIG} says {size}; the files are not of "
                "one model, copy the folder again"
            )
    return LoadedModel(
        folder=folder,
        description=description,
        transformer=transformer.eval(),
        source_tokenizer=source,
        target_tokenizer=target,
    )


def read_description(folder: Path) -> ModelDescription:
    """Reads a model folder's `config.json`.

    Raises:
        ModelError: it is missing or is none of ours.
    """
    path = folder / CONFIG
    content = _read_json(path, ModelError(f"{path}: not found, so {folder} is no model folder"))
    version = content.get("format_version") if isinstance(content, dict) else None
    if version != FORMAT_VERSION:
        raise ModelError(
            f"{path}: format_version is {version!r}, this attendo reads {FORMAT_VERSION}; take the one that wrote it"
        )
    try:
        return TypeAdapter(ModelDescription).validate_python(content)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise ModelError(f"{path}: {faults}") from error


def find_model(name: str) -> Path:
    """The model folder that a MODEL on the command line means: a model, or a run and so its best averaged model.

    Raises:
        ModelError: there is none.
    """
    path = Path(name)
    if (path / CONFIG).is_file():
        return path
    if (path / "model" / CONFIG).is_file():
        return path / "model"
    if (path / "checkpoints").is_dir():
        raise ModelError(
            f"{path}: a run without a model yet; let it train on (attendo train --resume -o {path}), or take its "
            f"checkpoints: attendo average {path} --last 5 -o MODEL"
        )
    if path.exists():
        raise ModelError(f"{path}: neither a model folder (with {CONFIG}) nor a run folder (with checkpoints/)")
    raise ModelError(f"{name}: no such model or run folder; train one with: attendo train RECIPE -o {name}")


def verify_folder(folder: Path) -> list[str]:
    """Compares every file of a model or checkpoint folder with its checksum.

    Returns:
        What is wrong, a line each; empty where all is whole.
    """
    path = folder / CHECKSUMS
    content = _read_json(path, ModelError(f"{path}: not found"))
    problems = []
    for name, expected in content.items():
        file = folder / name
        if Path(name).name != name or not file.is_file():
            problems.append(f"{file}: missing")
        elif sha256(file) != expected:
            problems.append(f"{file}: differs from its checksum; it was changed or is torn")
    return problems


def load_weights(transformer: Transformer, weights: Mapping[str, Tensor], where: Path) -> None:
    """Copies weights into a model.

    Raises:
        ModelError: a name or a shape differs.
    """
    parameters = dict(transformer.named_parameters())
    _check_tensors(where, weights, {name: tuple(value.shape) for name, value in parameters.items()})
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(weights[name])


def mean_weights(parts: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """The mean of several sets of weights, summed in float64 (Section 6.1)."""
    first = parts[0]
    return {
        name: (sum((part[name].double() for part in parts), torch.zeros((), dtype=torch.float64)) / len(parts)).to(
            first[name].dtype
        )
        for name in first
    }


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """What a run goes on from."""

    folder: Path
    state: dict[str, Any]
    weights: dict[str, Tensor]
    training: dict[str, Tensor]


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
        """Writes a checkpoint; only when it is whole are older ones pruned.

        Args:
            step: updates made.
            regular: False for one that an interruption caused.
            state: JSON: the position and what else is no tensor.
            weights: the model's.
            training: the optimiser's tensors and the generators' states.

        Raises:
            OSError: the disk is full, or the folder cannot be written to.
        """
        with atomic_folder(self._path(step, regular=regular)) as draft:
            save_file(_plain(weights), draft / "weights.safetensors")
            save_file(_plain(training), draft / "training.safetensors")
            write_json(draft / "state.json", state)
            _write_checksums(draft)
        self._prune(step)

    def latest(self) -> Checkpoint | None:
        """The newest whole checkpoint; a torn one is passed over.

        Raises:
            ModelError: there are checkpoints, but none is whole.
        """
        problems: list[str] = []
        for step in reversed(self.steps()):
            for regular in (True, False):
                folder = self._path(step, regular=regular)
                if not (folder / "training.safetensors").is_file():
                    continue
                problems_here = self._problems(folder)
                if problems_here:
                    problems += problems_here
                    continue
                return Checkpoint(
                    folder=folder,
                    state=_read_json(folder / "state.json", ModelError(f"{folder}: no state.json")),
                    weights=_load_tensors(folder / "weights.safetensors"),
                    training=_load_tensors(folder / "training.safetensors"),
                )
        if problems:
            raise ModelError("; ".join(problems) + "; no checkpoint is whole, start anew in another folder")
        return None

    def last_weights(self, number: int, *, before: int | None = None) -> list[dict[str, Tensor]]:
        """The weights of the last `number` regular checkpoints, oldest first; those before a step, on wish."""
        steps = [step for step in self.steps(regular_only=True) if before is None or step < before]
        chosen = steps[-number:] if number else []
        return [_load_tensors(self._path(step, regular=True) / "weights.safetensors") for step in chosen]

    def _path(self, step: int, *, regular: bool) -> Path:
        return self.folder / (f"step-{step:08d}" + ("" if regular else "-interrupted"))

    def _problems(self, folder: Path) -> list[str]:
        try:
            return verify_folder(folder)
        except ModelError as error:
            return [str(error)]

    def _prune(self, newest: int) -> None:
        regular = self.steps(regular_only=True)
        for step in regular[: -self._keep]:
            shutil.rmtree(self._path(step, regular=True))
        for step in self.steps():
            if step < newest:
                shutil.rmtree(self._path(step, regular=False), ignore_errors=True)
        # Averaging needs the weights alone; the optimiser's state, twice as large, is kept for going on.
        for step in regular[:-2]:
            _drop_file(self._path(step, regular=True), "training.safetensors")


def named_weights(transformer: Transformer) -> dict[str, Tensor]:
    """A model's weights by name, each shared matrix once, detached and not copied."""
    return {name: parameter.detach() for name, parameter in transformer.named_parameters()}


def _build(folder: Path, description: ModelDescription, weights: Mapping[str, Tensor] | None = None) -> Transformer:
    try:
        with torch.random.fork_rng(devices=[]):  # reading a model draws none of the caller's random numbers
            transformer = Transformer(description.model, description.src_vocab_size, description.tgt_vocab_size)
    except ValueError as error:
        raise ModelError(f"{folder / CONFIG}: {error}") from error
    if weights is not None:
        load_weights(transformer, weights, folder / WEIGHTS)
    return transformer


def _check_tensors(path: Path, tensors: Mapping[str, Tensor], shapes: Mapping[str, tuple[int, ...]]) -> None:
    problems = [f"{name} is missing" for name in shapes if name not in tensors]
    problems += [f"{name} is not part of this model" for name in tensors if name not in shapes]
    problems += [
        f"{name} is {tuple(tensors[name].shape)}, not {shape}"
        for name, shape in shapes.items()
        if name in tensors and tuple(tensors[name].shape) != shape
    ]
    if problems:
        shown = "; ".join(problems[:3]) + (f" and {len(problems) - 3} more" if len(problems) > 3 else "")
        raise ModelError(f"{path}: {shown}; the weights are not of the model that {CONFIG} describes")


def _load_tensors(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except FileNotFoundError as error:
        raise ModelError(f"{path}: not found; the folder is not whole, copy or write it again") from error
    except (SafetensorError, OSError) as error:
        raise ModelError(f"{path}: cannot be read ({error}); copy or write it again") from error


def _read_json(path: Path, missing: ModelError) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise missing from None
    except (ValueError, OSError) as error:
        raise ModelError(f"{path}: cannot be read ({error}); copy or write it again") from error


def _plain(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.detach().cpu().contiguous() for name, value in tensors.items()}


def _drop_file(folder: Path, name: str) -> None:
    """Removes a file from a whole folder, which stays whole: its checksum goes first."""
    if (folder / name).exists():
        checksums = _read_json(folder / CHECKSUMS, ModelError(f"{folder / CHECKSUMS}: not found"))
        write_json(folder / CHECKSUMS, {file: value for file, value in checksums.items() if file != name})
        (folder / name).unlink()


def _write_checksums(folder: Path) -> None:
    files = sorted(file for file in folder.iterdir() if file.name != CHECKSUMS)
    write_json(folder / CHECKSUMS, {file.name: sha256(file) for file in files})
