"""Model folders and a run's checkpoints: safetensors and JSON, never a pickle, each written whole or not at all.

A model folder:      config.json  model.safetensors  source.spm  [target.spm]  README.md  checksums.json
A checkpoint folder: weights.safetensors  training.safetensors  state.json  checksums.json

In `model.safetensors` of a model in int8 every matrix is its codes, and `NAME.scales` the scale of each row.
"""

import difflib
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from attendo.errors import ModelError
from attendo.files import atomic_folder, sha256, write_json, write_text
from attendo.model.config import ModelConfig
from attendo.model.quantization import from_int8, matrix_names, scales_name, to_int8
from attendo.model.transformer import Transformer
from attendo.text.tokenization import Tokenizer

FORMAT_VERSION = 1
CONFIG, WEIGHTS, CARD, CHECKSUMS = "config.json", "model.safetensors", "README.md", "checksums.json"
SOURCE_SPM, TARGET_SPM = "source.spm", "target.spm"
_VERIFIED = (CONFIG, WEIGHTS, SOURCE_SPM, TARGET_SPM, "weights.safetensors", "state.json")
"""Files that are read where they are there, and so have to be in `checksums.json`."""
SHIPPED = Path(__file__).parent / "models"
"""The models that come with the package, a folder each, named after its languages."""


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
    dtype: Literal["float32", "int8"] = "float32"
    """What its matrices are stored in, and calculated with unless another is asked for."""
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
    """In evaluation mode, float32 whatever it is stored in, on the CPU; in int8 it gets the codes that are stored."""
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
        description: what goes into `config.json`; its dtype is what the matrices are stored in.
        weights: float32, by the names of `Transformer.named_parameters()`, each shared matrix once.
        source_tokenizer: becomes `source.spm`.
        target_tokenizer: becomes `target.spm` where it is another one.
        card: Markdown for `README.md`.

    Raises:
        ModelError: int8, and a weight is not finite.
        OSError: the disk is full, or the folder cannot be written to.
    """
    matrices = matrix_names(skeleton(folder, description)) if description.dtype == "int8" else ()
    try:
        stored = to_int8(weights, matrices)
    except ValueError as error:
        raise ModelError(f"{folder}: {error}; the model is damaged, see `attendo info MODEL --verify`") from error
    with atomic_folder(folder) as draft:
        write_json(draft / CONFIG, asdict(description))
        save_file(_plain(stored), draft / WEIGHTS)
        shutil.copymode(draft / CONFIG, draft / WEIGHTS)  # safetensors lets only the owner read what it writes
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
    transformer = _build(folder, description)
    load_weights(transformer, _load_weights(folder, description), folder / WEIGHTS)
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


def shipped_models() -> dict[str, Path]:
    """The folders of the models that come with the package, by their names, sorted."""
    return {path.name: path for path in sorted(SHIPPED.glob("*")) if (path / CONFIG).is_file()}


def find_model(name: str) -> Path:
    """The model folder that a MODEL on the command line means.

    Args:
        name: in this order a model folder, a run, whose best averaged model it is, or the name of a shipped model.

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
    shipped = shipped_models()
    if name in shipped:
        return shipped[name]
    near = difflib.get_close_matches(name.lower(), shipped, n=1)
    hint = f"; did you mean {near[0]}?" if near else "."
    known = f"{hint} Shipped models: {', '.join(shipped)}" if shipped else ""
    if path.exists():
        raise ModelError(f"{path}: neither a model folder (with {CONFIG}) nor a run folder (with checkpoints/){known}")
    raise ModelError(f"{name}: no such model or run folder{known}; train one with: attendo train RECIPE -o {name}")


def verify_folder(folder: Path) -> list[str]:
    """Compares every file of a model or checkpoint folder with its size and checksum; nothing of it is loaded.

    Returns:
        What is wrong, a line each; empty where all is whole.
    """
    path = folder / CHECKSUMS
    try:
        content = _read_json(path, ModelError(f"{path}: not found, so nothing can be compared; copy the folder again"))
    except ModelError as error:
        return [str(error)]
    if not isinstance(content, dict):
        return [f"{path}: holds no checksums; copy the folder again"]
    # A name is one of the folder itself, wherever a broken list points.
    compared = (_file_problem(folder / Path(name).name, expected) for name, expected in content.items())
    unknown = (name for name in _VERIFIED if name not in content and (folder / name).exists())
    return [
        *(problem for problem in compared if problem),
        *(f"{folder / name}: {CHECKSUMS} does not know it; copy the folder again" for name in unknown),
    ]


def replace_card(folder: Path, card: str) -> None:
    """Writes another card into a model folder, which is whole at every moment: its checksum goes first.

    Args:
        folder: a model folder.
        card: Markdown for `README.md`.

    Raises:
        ModelError: its checksums are missing or torn.
        OSError: the disk is full, or the folder cannot be written to.
    """
    checksums = _read_json(folder / CHECKSUMS, ModelError(f"{folder / CHECKSUMS}: not found; copy the folder again"))
    if not isinstance(checksums, dict):
        raise ModelError(f"{folder / CHECKSUMS}: holds no checksums; copy the folder again")
    others = {name: value for name, value in checksums.items() if name != CARD}
    write_json(folder / CHECKSUMS, others)
    write_text(folder / CARD, card)
    write_json(folder / CHECKSUMS, dict(sorted((others | {CARD: _seal(folder / CARD)}).items())))


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
                problems_here = verify_folder(folder)
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


def _build(folder: Path, description: ModelDescription) -> Transformer:
    try:
        with torch.random.fork_rng(devices=[]):  # reading a model draws none of the caller's random numbers
            return Transformer(description.model, description.src_vocab_size, description.tgt_vocab_size)
    except ValueError as error:
        raise ModelError(f"{folder / CONFIG}: {error}") from error


def skeleton(folder: Path, description: ModelDescription) -> Transformer:
    """A model without its weights, names and shapes alone.

    Args:
        folder: where it is from or goes to, for messages.
        description: what its `config.json` says.

    Raises:
        ModelError: there is no such model.
    """
    with torch.device("meta"):
        return _build(folder, description)


def _load_weights(folder: Path, description: ModelDescription) -> dict[str, Tensor]:
    """The weights of a model folder, float32; what is stored is checked before it is believed."""
    path, expected = folder / WEIGHTS, skeleton(folder, description)
    matrices = matrix_names(expected) if description.dtype == "int8" else ()
    stored = _load_tensors(path)
    shapes = {name: tuple(value.shape) for name, value in expected.named_parameters()}
    shapes |= {scales_name(name): shapes[name][:1] for name in matrices}
    _check_tensors(path, stored, shapes, codes=matrices)
    try:
        return from_int8(stored, matrices)
    except ValueError as error:
        raise ModelError(f"{path}: {error}; it was changed or is torn, copy the folder again") from error


def _check_tensors(
    path: Path, tensors: Mapping[str, Tensor], shapes: Mapping[str, tuple[int, ...]], codes: Sequence[str] = ()
) -> None:
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
    write_json(folder / CHECKSUMS, {file.name: _seal(file) for file in files})


def _seal(file: Path) -> dict[str, int | str]:
    """What `checksums.json` says of a file."""
    return {"bytes": file.stat().st_size, "sha256": sha256(file)}


def _file_problem(file: Path, expected: Any) -> str | None:
    """How a file differs from what `checksums.json` says of it; None where it does not.

    Args:
        file: in its folder.
        expected: as `_seal` gives it, or, in a folder written before there were sizes, the SHA-256 alone.
    """
    seal = {"sha256": expected} if isinstance(expected, str) else expected
    if not isinstance(seal, dict) or not isinstance(seal.get("sha256"), str):
        return f"{file}: {CHECKSUMS} says nothing of it that can be compared; copy the folder again"
    try:
        if not file.is_file():
            return f"{file}: missing"
        size = file.stat().st_size
        if seal.get("bytes", size) != size:
            return f"{file}: has {size} bytes, not {seal['bytes']}; it was changed or is torn"
        if sha256(file) != seal["sha256"]:
            return f"{file}: differs from its checksum; it was changed or is torn"
    except OSError as error:
        return f"{file}: cannot be read ({error.strerror})"
    return None
