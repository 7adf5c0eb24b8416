"""One training on corrections: fine-tuning with replay in a run folder, which resumes where it was interrupted."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from attendo.errors import AttendoError
from attendo.files import write_text
from attendo.learning.config import LearningConfig
from attendo.learning.parallel_lines import ParallelLines
from attendo.recipe import Recipe
from attendo.text.corpora import CorpusConfig, DataConfig
from attendo.text.pair_rules import CleaningConfig
from attendo.text.prepared import open_prepared
from attendo.training.config import TrainingConfig
from attendo.training.hooks import Ending
from attendo.workflow.preparation.prepared_data import prepare_if_missing
from attendo.workflow.runs.initial_model import with_initial_model
from attendo.workflow.runs.reporting import Reporter
from attendo.workflow.runs.run_folder import check_prepared, resume_run, run_lock, start_run
from attendo.workflow.runs.train import TrainingRun

_AVERAGED = 3
_CHECKPOINTS = 10
"""Approximate number of checkpoints of a training; they are at least one step apart."""
_CORRECTIONS, _REPLAY = "corrections", "replay"


class LearningInterruptedError(AttendoError):
    """Learning was interrupted and resumes when it is started again."""


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """The texts and settings of a training."""

    name: str
    """Name of the run."""
    model: Path
    """The folder of the model that is fine-tuned."""
    corrections: ParallelLines
    replay: ParallelLines
    config: LearningConfig


def recipe_for(tuning: Tuning, folder: Path, max_steps: int) -> Recipe:
    """Returns the recipe of a training.

    Args:
        tuning: the texts and settings of the training.
        folder: the folder of the texts.
        max_steps: number of updates.

    Raises:
        ModelError: the model cannot be read.
    """
    config = tuning.config
    corpora = [_corpus(_CORRECTIONS)]
    if config.replay_share and tuning.replay.sources:
        corpora.append(replace(_corpus(_REPLAY), share=config.replay_share, distilled=True))
    # Duplicates between the two corpora were handled before, so none are dropped here.
    cleaning = CleaningConfig(drop_duplicates=False)
    training = TrainingConfig(
        init_from=str(tuning.model.resolve()),
        max_steps=max_steps,
        max_tokens=config.max_tokens,
        peak_learning_rate=config.peak_learning_rate,
        warmup_steps=max(1, max_steps // 10),
        cooldown_steps=round(0.7 * max_steps),
        checkpoint_steps=max(1, max_steps // _CHECKPOINTS),
        average_last=_AVERAGED,
        eval_steps=None,
        seed=config.seed,
    )
    data = DataConfig(folder=str(folder.resolve()), corpora=tuple(corpora), cleaning=cleaning)
    return with_initial_model(Recipe(name=tuning.name, folder=folder, data=data, training=training))


def num_steps(config: LearningConfig, target_tokens: float) -> int:
    """Returns the number of updates of a training.

    Args:
        config: the settings, with the number of passes and the size of an update.
        target_tokens: number of target tokens in all corrections that are trained on.
    """
    epoch_updates = target_tokens / (1.0 - config.replay_share) / config.max_tokens
    return max(config.min_steps, math.ceil(config.passes * epoch_updates))


def tune(tuning: Tuning, folder: Path, reporter: Reporter, should_stop: Callable[[], bool]) -> Path:
    """Trains, or resumes a training that was interrupted.

    Args:
        tuning: the texts and settings of the training.
        folder: the folder for the training's text, prepared data and run.
        reporter: receives the progress.
        should_stop: called between two updates; True interrupts the training.

    Returns:
        The folder of the fine-tuned model.

    Raises:
        LearningInterruptedError: the training was interrupted; its progress is saved.
        AttendoError: the model or the data cannot be used.
    """
    run, done = folder / "run", folder / "trained"
    if done.is_file():
        return run / "model"
    if not (run / "recipe.toml").is_file():
        _write_text(folder, _CORRECTIONS, tuning.corrections)
        _write_text(folder, _REPLAY, tuning.replay)
        prepared = prepare_if_missing(recipe_for(tuning, folder, 1), folder / "prepared", reporter)
        tokens = next(corpus.target_tokens for corpus in prepared.report.corpora if corpus.name == _CORRECTIONS)
        start_run(recipe_for(tuning, folder, num_steps(tuning.config, tokens)), run, folder / "prepared")
    with run_lock(run):
        recipe, data = resume_run(run, [])
        check_prepared(run)
        outcome = TrainingRun(recipe, run, open_prepared(data, verify=True), reporter).train(should_stop)
    if outcome.ending is Ending.INTERRUPTED or outcome.model is None:
        raise LearningInterruptedError(f"{tuning.name}: interrupted at step {outcome.position.step:,}")
    write_text(done, "")
    return outcome.model


def _corpus(name: str) -> CorpusConfig:
    return CorpusConfig(name=name, source=f"{name}.source.txt", target=f"{name}.target.txt")


def _write_text(folder: Path, name: str, lines: ParallelLines) -> None:
    for side, texts in (("source", lines.sources), ("target", lines.targets)):
        write_text(folder / f"{name}.{side}.txt", as_lines(texts))


def as_lines(texts: Sequence[str]) -> str:
    """Returns texts as the lines of a file."""
    return "".join(text.replace("\n", " ") + "\n" for text in texts)
