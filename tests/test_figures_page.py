"""docs/figures.md: its commands run, and its diagrams are the ones that the commands draw."""

import re
import shlex
from pathlib import Path

import pytest

from attendo.cli.main import run

PAGE = Path(__file__).parent.parent / "docs" / "figures.md"
TRAIN = '{"kind": "train", "step": %d, "loss": 3.5, "learning_rate": 0.1, "elapsed_s": %d, "target_tokens": %d}\n'
VALID = (
    '{"kind": "valid", "step": 9, "loss": 2.0, "perplexity": 7.4, "bleu": 9.5, "elapsed_s": 9, "target_tokens": 81}\n'
)
DRAWN_BY_US = {"architecture-base.svg", "architecture-convolutional.svg", "multi-head.svg", "pieces.svg"}
"""Pictures whose every byte is attendo's own; those of matplotlib differ from version to version."""


def commands() -> list[list[str]]:
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [shlex.split(line)[1:] for block in blocks for line in block.splitlines()]


def test_every_command_of_the_figures_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("dropout-0.0", "dropout-0.3"):
        (tmp_path / "runs" / name / "checkpoints").mkdir(parents=True)
        lines = "".join(TRAIN % (step, step, 9 * step) for step in range(1, 9)) + VALID
        (tmp_path / "runs" / name / "metrics.jsonl").write_text(lines)
    given = commands()
    assert {line[0] for line in given} == {"draw", "plot", "reproduce"}
    for line in given:
        assert run(line) == 0, f"{shlex.join(line)}\n{capsys.readouterr().err}"
        if "-o" in line:
            assert (tmp_path / line[line.index("-o") + 1]).stat().st_size > 500
    for name in DRAWN_BY_US:
        picture = (PAGE.parent / "pictures" / name).read_bytes()
        assert (tmp_path / name).read_bytes() == picture, f"docs/pictures/{name}: draw it anew by the page's command"


def test_every_picture_of_the_page_is_made_by_it_and_told_in_words() -> None:
    pictures = re.findall(r"!\[([^\]]+)\]\(pictures/([^)]+)\)", PAGE.read_text(encoding="utf-8"))
    assert len(pictures) == 7
    made = {line[line.index("-o") + 1] for line in commands() if "-o" in line}
    for words, name in pictures:
        assert name in made
        assert len(words) > 40
        assert (PAGE.parent / "pictures" / name).stat().st_size < 120_000
