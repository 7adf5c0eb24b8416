"""The demo from end to end with a model that hardly learns: all its files, the page, and going on behind a stop."""

from pathlib import Path

import pytest

from attendo.demo.run import run_demo
from attendo.training.hooks import Ending, Validation
from attendo.training.meter import StepMetrics
from attendo.training.position import Position
from attendo.workflow.preparation.prepare import Progress

SETTINGS = [
    "model.d_model=16", "model.d_ff=16", "model.num_layers=1", "model.num_heads=2", "training.max_steps=4",
    "training.max_tokens=400", "training.eval_steps=4", "training.cooldown_steps=1", "training.warmup_steps=2",
    "search.beam_size=1", "search.max_len_offset=0",
]  # fmt: skip


class Silent:
    """A reporter that keeps the messages."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def message(self, text: str) -> None:
        self.messages.append(text)

    def preparing(self, progress: Progress) -> None: ...

    def training(self, metrics: StepMetrics, max_steps: int) -> None: ...

    def validated(self, position: Position, validation: Validation, is_best: bool) -> None: ...


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo of mine")


def test_interrupted_then_finished(folder: Path) -> None:
    stopped = run_demo(folder, SETTINGS, Silent(), lambda: True)
    assert stopped.ending is Ending.INTERRUPTED
    assert stopped.scores is None
    assert not stopped.report.exists()
    assert not (folder / "run" / "model").exists(), "before the first step there is nothing to ship"

    reporter = Silent()
    done = run_demo(folder, ["training.max_steps=5"], reporter, lambda: False)
    assert done.ending is Ending.STEPS
    assert done.position.step == 5, "a change counts for a demo that goes on, too"
    assert not any("phrasebook:" in message for message in reporter.messages), "the text is not made again"
    assert done.scores is not None
    assert done.scores.num_sentences == 500
    page = done.report.read_text(encoding="utf-8")
    assert done.scores.bleu.signature in page
    assert "<svg" in page
    assert "data:image/png;base64," in page
    translations = (folder / "translations.de").read_text(encoding="utf-8").splitlines()
    assert len(translations) == 500
    assert (folder / "attention.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    for name in ("train", "valid", "test"):
        source, target = (
            (folder / "phrasebook" / f"{name}.{side}").read_text(encoding="utf-8").splitlines() for side in ("en", "de")
        )
        assert len(source) == len(target) == {"train": 40_000, "valid": 500, "test": 500}[name]
