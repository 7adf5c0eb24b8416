"""The way from a treebank to a parser, as docs/parsing.md goes it: its commands run, in their order, on tiny trees."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.tiny_parser import trees

Command = Callable[..., Any]

PAGE = Path(__file__).parents[2] / "docs" / "parsing.md"
WAY = ("Train a parser", "Evaluate a parser", "Learn from its own trees")
SMALL = (
    "tokenizer.vocab_size=300", "tokenizer.character_coverage=1.0", "model.d_model=16", "model.d_ff=32",
    "model.num_encoder_layers=1", "model.num_decoder_layers=1", "model.num_heads=2", "training.max_steps=12",
    "training.warmup_steps=4", "training.cooldown_steps=4", "training.max_tokens=800", "training.threads=1",
    "search.beam_size=1",
)  # fmt: skip


def commands(title: str) -> list[str]:
    """The lines of the shell blocks of a section."""
    text = PAGE.read_text(encoding="utf-8")
    found = re.search(rf"^## {title}\n(.*?)^## ", text, re.DOTALL | re.MULTILINE)
    assert found is not None
    blocks = re.findall(r"```sh\n(.*?)```", found[1], flags=re.DOTALL)
    return [line.split(" #")[0].strip() for block in blocks for line in block.splitlines()]


def test_the_commands_run_in_their_order(attendo: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("attendo.workflow.runs.train.draw_curves", lambda *paths: None)
    for name, number, seed in (("train.trees", 120, 1), ("valid.trees", 6, 2)):
        Path(name).write_text("".join(f"{tree}\n" for tree in trees(number, seed)))
    for name, seed in (("words.txt", 3), ("raw.txt", 4)):
        Path(name).write_text("".join(" ".join(tree.words) + "\n" for tree in trees(8, seed)))
    lines = [line for title in WAY for line in commands(title)]
    assert len(lines) == 16
    told = {}
    for line in lines:
        _, *given = shlex.split(re.split(r"\s>\s", line)[0])
        if (
            "parsing-wsj" in given
        ):  # the Penn Treebank is not there, and its parser is large; tests/test_docs.py reads it
            continue
        if given[0] == "train":
            given += [part for setting in SMALL for part in ("--set", setting)]
        finished = attendo(*given)
        assert finished.status == 0, f"{line}\n{finished.err}"
        told[line] = finished
        if written := re.search(r"\s>\s+(\S+)", line):
            Path(written[1]).write_text(finished.out, encoding="utf-8")
    train = told["attendo train mine.toml -o runs/mine"].err
    assert re.search(r"step 12: validation perplexity [\d.]+, F1 \d+\.\d\d, the best so far", train)
    assert "parse with: attendo parse runs/mine < TEXT > TREES" in train
    assert Path("automatic.trees").read_text().splitlines()[0].startswith("# automatic, the surest 50%: 4 of 8 trees")
    card = Path("runs/mine/model/README.md").read_text()
    assert "### my treebank" in card
    assert "validation F1 (COLLINS.prm, a failed parse as recall 0, greedy, all sentences)" in card
    assert re.search(
        r"validation +perplexity [\d.]+, log_loss [\d.]+, f1 [\d.]+ \(COLLINS", attendo("info", "runs/mine").out
    )
    assert "| automatic | 4 | 4 |" in Path("runs/second/model/README.md").read_text()
