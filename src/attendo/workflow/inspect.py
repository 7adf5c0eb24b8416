"""Descriptions of models, runs and this machine for `attendo info`."""

import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attendo.checkpoint.checksums import CARD, WEIGHTS
from attendo.checkpoint.finding import find_model, is_run, shipped_models
from attendo.checkpoint.model_folder import read_description
from attendo.errors import ModelError
from attendo.model.weights.parameters import num_weights
from attendo.native.advice import advice
from attendo.native.library import describe
from attendo.reading import printable, read_bounded, require_inside
from attendo.threads import usable_cores
from attendo.workflow.extras import is_installed
from attendo.workflow.machine.place import choose_threads

if TYPE_CHECKING:
    from attendo.workflow.machine.torch_facts import TorchFacts

PACKAGES = ("torch", "numpy", "sentencepiece", "sacrebleu", "sacremoses", "safetensors")
"""Packages on which results depend."""
_MAX_CARD_BYTES = 1 << 20
_MAX_ROW = 2000
"""Bytes, and characters, that are more than anybody reads."""


@dataclass(frozen=True, kw_only=True)
class ModelInfo:
    """A model folder."""

    folder: str
    task: str
    source_language: str
    target_language: str
    parameters: int
    src_vocab_size: int
    tgt_vocab_size: int
    model: dict[str, Any]
    """The shape: a recipe's `model` section."""
    search: dict[str, Any]
    training: dict[str, Any]
    """Facts about its training, scores included."""
    dtype: str
    """Number type of the stored matrices."""
    weights_bytes: int
    card: str
    """The path of its card, which names data and licence."""
    card_text: str
    """The card's Markdown; empty without a card."""

    def to_text(self) -> str:
        """A few lines to read, and the card below them."""
        shape, training = self.model, self.training
        layers = [shape[f"num_{stack}_layers"] or shape["num_layers"] for stack in ("encoder", "decoder")]
        usual = ("self-attention", "scaled-dot-product")
        others = [key for key in ("encoder_layer", "decoder_layer", "attention_function") if shape[key] not in usual]
        sizes = ", ".join(f"{key} {shape[key]}" for key in ("d_model", "d_ff", "num_heads", "dropout", *others))
        scores = training.get("valid")
        scores = scores if isinstance(scores, dict) else {}
        valid = ", ".join(f"{key} {value:.2f}" for key, value in scores.items() if isinstance(value, int | float))
        signature = scores.get("bleu_signature") or scores.get("f1_signature")
        rows = [
            ("model", self.folder),
            ("task", f"{self.task}, {self.source_language or '?'} to {self.target_language or '?'}"),
            ("shape", f"{layers[0]} + {layers[1]} layers, {sizes}"),
            ("parameters", f"{self.parameters:,}"),
            ("vocabulary", f"{self.src_vocab_size:,} source, {self.tgt_vocab_size:,} target"),
            ("size", f"{self.weights_bytes / 1e6:,.1f} MB of weights in {self.dtype}"),
            ("search", ", ".join(f"{key} {value}" for key, value in _flat(self.search))),
            ("trained", f"recipe {training.get('recipe', '?')}, {training.get('steps', '?')} steps"),
            ("validation", f"{valid} ({signature})" if signature else valid),
            ("card", f"{self.card} (data, licence)" if self.card_text else f"{self.card} is missing"),
        ]
        return "\n\n".join(part for part in (_table(rows), self.card_text.strip()) if part)


@dataclass(frozen=True, kw_only=True)
class RunInfo:
    """A run folder."""

    folder: str
    recipe: str
    max_steps: int
    checkpoints: tuple[int, ...]
    """Steps with a checkpoint."""
    model: ModelInfo | None
    """The best averaged model so far."""

    def to_text(self) -> str:
        """A few lines to read."""
        steps = ", ".join(map(str, self.checkpoints)) or "none yet"
        lines = _table([("run", self.folder), ("recipe", self.recipe), ("checkpoints", f"{steps} of {self.max_steps}")])
        return f"{lines}\n\n{self.model.to_text() if self.model else 'no model yet'}"


@dataclass(frozen=True, kw_only=True)
class EnvironmentInfo:
    """Properties of this machine that affect results and speed."""

    attendo: str
    python: str
    system: str
    cpus: int
    """Processor cores of the machine."""
    usable_cores: int
    """Cores that this process may use, by CPU affinity and the container's quota."""
    threads: int
    """Default number of threads of a command."""
    gpus: tuple[str, ...]
    fast_float32: bool | None
    """Whether torch's float32 products run through oneDNN (`model.products`); None without torch."""
    kernels: str
    """Kernels of decoding, and the reason if they are not the native ones."""
    lost: str
    """Advantage of other kernels on this machine, and how to get them; empty if these are the best."""
    packages: dict[str, str]
    recipes: tuple[str, ...]
    """The shipped recipes."""
    models: tuple[str, ...]
    """The shipped models."""

    def to_text(self) -> str:
        """A few lines to read."""
        limit = f", {self.usable_cores} of them for this process" if self.usable_cores < self.cpus else ""
        rows = [
            ("attendo", self.attendo),
            ("python", f"{self.python} on {self.system}"),
            ("processor", f"{self.cpus} cores{limit}, {self.threads} threads"),
            ("float32", self._float32()),
            ("decoding", self.kernels),
            ("lost", self.lost),
            ("GPU", ", ".join(self.gpus) or "none"),
            ("packages", ", ".join(f"{name} {number}" for name, number in self.packages.items())),
            ("recipes", self._recipes()),
            ("models", ", ".join(self.models) or "none"),
        ]
        return _table(rows)

    def _float32(self) -> str:
        """Describes the library of torch's float32 products."""
        if self.fast_float32 is None:
            return 'no torch, which training needs: pip install "attendo[train]"'
        return "through oneDNN" if self.fast_float32 else "through torch's default library"

    def _recipes(self) -> str:
        """The recipes by group; those of studies only as a number."""
        from attendo.recipe import recipe_groups

        main = [name for group in recipe_groups() if not group.folder for name in group.names]
        return f"{', '.join(main)}, and {len(self.recipes) - len(main)} of the paper's studies (attendo recipe --all)"


def inspect(name: str) -> ModelInfo | RunInfo:
    """Describes a model or run folder, or a shipped model.

    Raises:
        ModelError: it is neither a model nor a run, or is damaged.
    """
    folder = Path(name)
    if not is_run(folder):
        return _model_info(find_model(name))
    from attendo.checkpoint.run_checkpoints import Checkpoints  # needs torch, as training does
    from attendo.recipe import load_recipe

    recipe = load_recipe(str(folder))
    return RunInfo(
        folder=name,
        recipe=recipe.name,
        max_steps=recipe.training.max_steps,
        checkpoints=tuple(Checkpoints(folder / "checkpoints", keep=recipe.training.average_last).steps()),
        model=_model_info(folder / "model") if (folder / "model").is_dir() else None,
    )


def environment(attendo_version: str) -> EnvironmentInfo:
    """Describes this machine.

    Args:
        attendo_version: the package's own.
    """
    from attendo.recipe import shipped_recipes

    facts = _torch_facts()
    return EnvironmentInfo(
        attendo=attendo_version,
        python=platform.python_version(),
        system=f"{platform.system()} {platform.machine()}",
        cpus=os.cpu_count() or 1,
        usable_cores=usable_cores(),
        threads=facts.threads if facts else choose_threads(None),
        gpus=facts.gpus if facts else (),
        fast_float32=facts.fast_float32 if facts else None,
        kernels=describe(),
        lost=advice(),
        packages={name: _version(name) for name in PACKAGES},
        recipes=tuple(shipped_recipes()),
        models=tuple(shipped_models()),
    )


def _torch_facts() -> "TorchFacts | None":
    """Returns torch's facts about this machine; None without torch."""
    if not is_installed("torch"):
        return None
    from attendo.workflow.machine.torch_facts import torch_facts

    return torch_facts()


def _model_info(folder: Path) -> ModelInfo:
    description = read_description(folder)
    try:
        weights_bytes = (folder / WEIGHTS).stat().st_size
    except OSError as error:
        raise ModelError(f"{folder / WEIGHTS}: {error.strerror}; the folder is incomplete; copy it again") from error
    return ModelInfo(
        folder=str(folder),
        task=description.task,
        source_language=description.source_language,
        target_language=description.target_language,
        parameters=num_weights(description.model, description.src_vocab_size, description.tgt_vocab_size),
        src_vocab_size=description.src_vocab_size,
        tgt_vocab_size=description.tgt_vocab_size,
        model=vars(description.model),
        search=description.search,
        training=description.training,
        dtype=description.dtype,
        weights_bytes=weights_bytes,
        card=str(folder / CARD),
        card_text=_read_card(folder / CARD),
    )


def _flat(table: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Keys and values; those of nested tables as `guards.sentences`."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from ((f"{key}.{inner}", each) for inner, each in value.items())
        else:
            yield key, value


def _read_card(path: Path) -> str:
    try:
        require_inside(path)
        return printable(read_bounded(path, _MAX_CARD_BYTES).decode("utf-8", errors="replace"))
    except OSError:
        return ""


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # carried here without its metadata
        return str(getattr(sys.modules.get(package), "__version__", "missing"))


def _table(rows: list[tuple[str, str]]) -> str:
    """Rows to read; untrusted text from a folder cannot send commands to the terminal."""
    return "\n".join(f"{label:<12} {printable(value)[:_MAX_ROW]}" for label, value in rows if value)
