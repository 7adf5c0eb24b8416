"""Run folders with metrics as training writes them."""

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

MakeRun = Callable[..., Path]


def train_line(step: int, loss: float) -> str:
    """A progress line: 100 tokens and half a second a step."""
    return json.dumps(
        {
            "kind": "train", "step": step, "loss": loss + 1, "log_loss": loss, "learning_rate": 1e-4,
            "elapsed_s": step / 2, "target_tokens": 100 * step, "epoch": 0,
        }
    )  # fmt: skip


def valid_line(step: int, loss: float, bleu: float | None) -> str:
    """A line of a validation."""
    return json.dumps(
        {
            "kind": "valid", "step": step, "loss": loss, "perplexity": math.exp(loss), "bleu": bleu, "best": True,
            "elapsed_s": step / 2, "target_tokens": 100 * step,
        }
    )  # fmt: skip


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    """A run folder below the test's own, with some lines of metrics; by default a few that fall from a loss of 6."""

    def make(name: str, lines: Sequence[str] | None = None, *, bleu: float | None = 20.0) -> Path:
        folder = tmp_path / name
        (folder / "checkpoints").mkdir(parents=True)
        if lines is None:
            lines = [train_line(step, 6 / (1 + step / 100)) for step in range(10, 401, 10)]
            lines.insert(20, valid_line(200, 5 / 3, bleu))
            lines.append(valid_line(400, 1.0, bleu))
        (folder / "metrics.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return folder

    return make
