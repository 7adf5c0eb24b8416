"""Settings of learning from corrections: the section `learning` of a TOML file, and its defaults."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from attendo.reading import read_bounded
from attendo.settings.checking import checked
from attendo.settings.overrides import Origins, override
from attendo.settings.toml import MAX_BYTES, one_line, read_toml, toml_text


@dataclass(frozen=True, kw_only=True)
class LearningConfig:
    """Settings of learning from corrections.

    Raises:
        ValueError: some values are invalid; the message names all of them.
    """

    replay: tuple[str, ...] = ()
    """Text to replay in addition to attendo's own, so that the model forgets less: one file with both sides, two files
    of lines, or one file of lines in the source language, which the model translates."""
    own_replay: bool = True
    """Whether to replay attendo's own text, which the model translates: a tenth of its text in English, German and
    French, and sentences of its phrasebook for English and German."""
    general: tuple[str, ...] = ()
    """The general set: at least 1,100 pairs of other text that must not get worse, by which the gate judges. One file
    with both sides, or two files of lines; empty for attendo's own text in English, German and French."""
    general_name: str = ""
    """Name of the general set in the card; empty for the names of its files."""
    glossary: tuple[str, ...] = ()
    """Glossaries whose terms must be used as often as before."""
    replay_share: float = 0.5
    """Share of replayed pairs in the training text."""
    max_replay: int = 10_000
    """Maximum number of replayed pairs; those that the model has to translate take time."""
    passes: float = 3.0
    """Number of passes over the corrections."""
    min_steps: int = 60
    """Minimum number of updates of a training; few corrections are therefore read in more passes."""
    max_tokens: int = 1000
    """Maximum number of source tokens, and of target tokens, in one update."""
    peak_learning_rate: float = 2e-4
    """The highest learning rate."""
    shares: tuple[float, ...] = (1.0, 0.75, 0.5, 0.25)
    """Shares of the fine-tuned weights to choose from; the rest comes from the model before learning."""
    folds: int = 3
    """Number of trainings in the cross-validation that is made with fewer than 1,000 corrections."""
    max_general_loss: float = 0.5
    """Maximum loss on the general set, in BLEU, by the lower end of the 95 % interval."""
    seed: int = 1
    """Random seed of the training, the resamples and the generated sentences."""

    def __post_init__(self) -> None:
        """Refuses invalid values."""
        problems = []
        for key in ("replay", "general"):
            if len(getattr(self, key)) > 2:
                problems.append(f"{key} has {len(getattr(self, key))} files; name one, or a source and a target")
        if not 0.0 <= self.replay_share < 1.0:
            problems.append(f"replay_share = {self.replay_share} is not within 0 and 1 (excluded); take 0.5")
        if not self.shares or not all(0.0 < share <= 1.0 for share in self.shares):
            problems.append(f"shares = {list(self.shares)} are not above 0 and at most 1; take [1.0, 0.5]")
        if not 2 <= self.folds <= 10:
            problems.append(f"folds = {self.folds} is not within 2 and 10; take 3")
        for key, least in (("max_replay", 100), ("min_steps", 10), ("max_tokens", 100), ("seed", 0)):
            if getattr(self, key) < least:
                problems.append(f"{key} = {getattr(self, key)} is too small; take {least} or more")
        for key, most in (("passes", 100.0), ("peak_learning_rate", 1.0), ("max_general_loss", 100.0)):
            if not 0.0 < getattr(self, key) <= most:
                problems.append(f"{key} = {getattr(self, key)} is not above 0 and at most {most:g}")
        if problems:
            raise ValueError("; ".join(problems))


class _Document(BaseModel):
    """The content of a configuration file; strict, without other keys."""

    model_config = ConfigDict(extra="forbid", strict=True)

    learning: LearningConfig = LearningConfig()


def load_config(path: Path | None, overrides: Sequence[str] = ()) -> LearningConfig:
    """Reads a configuration.

    Args:
        path: a TOML file; None for the defaults. Paths in the file are relative to its folder.
        overrides: settings as `learning.KEY=VALUE`, which take precedence over the file.

    Raises:
        RecipeError: keys or values are invalid; the message names all of them.
        OSError: the file cannot be read.
    """
    origin = "configuration" if path is None else one_line(str(path))
    document: dict[str, Any] = {}
    if path is not None:
        document = read_toml(toml_text(read_bounded(path, MAX_BYTES), origin), origin)
        if isinstance(section := document.get("learning"), dict):
            for key in ("replay", "general", "glossary"):
                if isinstance(names := section.get(key), list):
                    section[key] = [str(path.parent / name) if isinstance(name, str) else name for name in names]
    origins = Origins(file=origin, overrides=tuple(override(document, setting) for setting in overrides))
    return checked(document, _Document, origins).learning
