"""Rounds of learning with a tiny model, as the command line runs them."""

import os
from pathlib import Path

from tests.learning.conftest import Tiny
from tests.learning.language import LEARNED, sentences

SETTINGS = [
    "own_replay=false", "min_steps=60", "peak_learning_rate=2e-3", "max_replay=200", "folds=2", "shares=[1.0, 0.6]",
    "max_tokens=700",
]  # fmt: skip
"""What makes a round with a tiny model a matter of seconds."""


def learning(tiny: Tiny, model: Path, output: Path, *more: str) -> list[str]:
    """The arguments of a round; what is learned from is among the further ones."""
    sets = [part for setting in SETTINGS for part in ("--set", f"learning.{setting}")]
    return [
        "learn", str(model), "-o", str(output), "--general", str(tiny.general), "--replay", str(tiny.replay), "--quiet",
        *sets, *more,
    ]  # fmt: skip


def arguments(tiny: Tiny, corrections: Path, output: Path, *more: str) -> list[str]:
    """The arguments of a round with the tiny model."""
    return learning(tiny, tiny.model, output, "--corrections", str(corrections), *more)


def environment() -> dict[str, str]:
    """That of a process of its own."""
    return {**os.environ, "OMP_NUM_THREADS": "1"}


def messages(number: int, seed: int) -> list[str]:
    """Sentences about tools."""
    return sentences(list(LEARNED), number, seed)
