"""Estimates the work and duration of a round of learning without running it."""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from attendo.learning.calibrating import MAX_GENERAL, is_calibrated
from attendo.learning.parallel_lines import ParallelLines
from attendo.learning.portions import FINAL
from attendo.learning.round import RoundPlan
from attendo.learning.tuning import Tuning, num_steps, recipe_for
from attendo.text.prepared import Vocabulary
from attendo.workflow.engines.translate import load
from attendo.workflow.runs.estimate import estimate

_TRIAL_LINES = 32


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """The work and duration of a round of learning."""

    model: str
    corrections: int
    files: tuple[Mapping[str, Any], ...]
    trainings: int
    """Number of trainings; 0 if there are too few corrections."""
    held_out: int
    """Number of corrections that the gate judges by."""
    steps: int
    """Number of updates in all trainings."""
    replayed: int
    """Number of replayed pairs."""
    general: str
    """Name of the general set."""
    training_s: float
    """Seconds of training, extrapolated from a few updates."""
    translating_s: float
    """Seconds of translating, extrapolated from a few corrections."""

    def to_json(self) -> dict[str, Any]:
        """Returns the forecast as a dictionary for `json.dumps`."""
        return asdict(self)

    def to_text(self) -> str:
        """Returns the forecast as lines of text for people."""
        lines = [f"{self.model}: {self.corrections:,} corrections"]
        for file in self.files:
            dropped = "".join(f", {number:,} {reason}" for reason, number in file["dropped"].items() if number)
            lines.append(f"  {file['name']}: {file['used']:,} used{dropped}")
        if not self.trainings:
            return "\n".join([*lines, "too few to learn from: nothing would be trained"])
        minutes = (self.training_s + self.translating_s) / 60
        return "\n".join([
            *lines,
            f"trainings     {self.trainings}, {self.steps:,} steps in all, {self.replayed:,} pairs replayed",
            f"gate          {self.held_out:,} corrections kept aside; general set: {self.general}",
            f"time          {minutes:.0f} minutes: {self.training_s / 60:.1f} training, "
            f"{self.translating_s / 60:.1f} translating, measured here",
        ])  # fmt: skip


def forecast(plan: RoundPlan) -> Forecast:
    """Forecasts a round; makes a few updates and translates a few lines to measure the time they take."""
    held_out = [pair for portion in plan.portions for pair in portion.held_out]
    lines_to_translate = len(plan.replay.untranslated)
    if is_calibrated(plan.model):
        lines_to_translate += len(held_out) + MAX_GENERAL
    num_models, steps, hours = 1 + len(plan.config.shares), 0, 0.0
    vocabulary = Vocabulary.of_model(plan.model)
    for portion in plan.portions:
        tokens = sum(len(vocabulary.target.encode(pair.target)) + 1 for pair in portion.train)
        steps += num_steps(plan.config, tokens)
        lines_to_translate += num_models * len(portion.selection) + 2 * len(portion.held_out)
    if plan.portions:
        lines_to_translate += num_models * len(plan.general.selection.sources) + 2 * len(plan.general.gate.sources)
        no_lines = ParallelLines()
        # The cost of an update depends on whether anything is replayed.
        replay = next((part.lines for part in plan.replay.parts if part.lines.sources), no_lines)
        tuning = Tuning(name=FINAL, model=plan.model, corrections=no_lines, replay=replay, config=plan.config)
        hours = estimate(recipe_for(tuning, Path(), steps), None).hours
    return Forecast(
        model=plan.model_name,
        corrections=len(plan.corrections.pairs),
        files=tuple(plan.corrections.files_json()),
        trainings=len(plan.portions),
        held_out=len(held_out),
        steps=steps,
        replayed=plan.replay.num_pairs if plan.portions else 0,
        general=plan.general.name,
        training_s=3600 * hours,
        translating_s=lines_to_translate * _seconds_a_line(plan) if plan.portions else 0.0,
    )


def _seconds_a_line(plan: RoundPlan) -> float:
    lines = [pair.source for pair in plan.corrections.pairs[:_TRIAL_LINES]]
    with load(plan.model) as engine:
        engine.translate_lines(lines[:1])
        started = time.monotonic()
        engine.translate_lines(lines)
    return (time.monotonic() - started) / len(lines)
