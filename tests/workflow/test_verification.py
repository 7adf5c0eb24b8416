"""Whether a run folder is whole: every file of it is torn in turn, and told."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from attendo.checkpoint.run_checkpoints import Checkpoints
from attendo.checkpoint.weights import named_weights
from attendo.errors import ModelError
from attendo.model.transformer import Transformer
from attendo.output_folders import RECORD
from attendo.recipe import load_recipe
from attendo.text.corpora import DataConfig
from attendo.workflow.preparation.prepare import prepare
from attendo.workflow.runs.average import average
from attendo.workflow.runs.curves import draw_curves
from attendo.workflow.runs.metrics import MetricsLog
from attendo.workflow.runs.run_folder import record_changes, resume_run, start_run
from attendo.workflow.verification import verify


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a whole run, `run`, of random weights at steps 10, 20, 30 and 35, and its data, `ready`."""
    folder = tmp_path_factory.mktemp("made")
    lines = [f"{who} {does} {what}" for who in ("ann", "bob") for does in ("has", "sees") for what in "abcdefgh"]
    (folder / "a.txt").write_text("".join(f"{line}\n" for line in lines))
    (folder / "b.txt").write_text("".join(f"{line[::-1]}\n" for line in lines))
    (folder / "mine.toml").write_text(
        "[data]\nsource_language = 'en'\ntarget_language = 'de'\n"
        "[[data.corpora]]\nname = 'mine'\nsource = 'a.txt'\ntarget = 'b.txt'\n"
        "[data.valid]\nsource = 'a.txt'\ntarget = 'b.txt'\n"
        "[tokenizer]\nvocab_size = 290\n[model]\nd_model = 8\nd_ff = 8\nnum_layers = 1\nnum_heads = 2\n"
        "[training]\nlog_steps = 10\n"
    )
    recipe = load_recipe(str(folder / "mine.toml"))
    assert isinstance(recipe.data, DataConfig)
    prepared = prepare(recipe.data, recipe.tokenizer, folder / "ready", base_folder=folder)
    start_run(recipe, folder / "run", folder / "ready")
    checkpoints = Checkpoints(folder / "run" / "checkpoints", keep=5)
    size = prepared.source_tokenizer.vocab_size
    for step, regular in ((10, True), (20, True), (30, True), (35, False)):
        weights = named_weights(Transformer(recipe.model, size, size))
        checkpoints.save(step, regular=regular, state={}, weights=weights, training={"adam.x": torch.zeros(1)})
    log = MetricsLog(folder / "run", 0, tensorboard=False, validation_due=False)
    for step in (10, 20, 30):
        log.append({"kind": "train", "step": step, "loss": 2.0, "learning_rate": 1e-3})
    draw_curves(log.path, folder / "run" / "curves.png")
    average(folder / "run", 2, folder / "run" / "model")
    return folder


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    """A copy, to be torn."""
    shutil.copytree(made / "run", tmp_path / "run")
    shutil.copytree(made / "ready", tmp_path / "ready")
    content = json.loads((tmp_path / "run" / "run.json").read_text())
    (tmp_path / "run" / "run.json").write_text(json.dumps({**content, "prepared": str(tmp_path / "ready")}))
    return tmp_path / "run"


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x80  # which makes no ASCII of what is ASCII
    path.write_bytes(content)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def test_a_whole_run(run: Path) -> None:
    found = verify(str(run))
    assert (found.problems, found.remarks) == ((), ())
    relative = [os.path.relpath(path, run) for path in found.checked]
    checkpoints = [f"checkpoints/step-000000{step}" for step in ("10", "20", "30", "35-interrupted")]
    single = ["model", "metrics.jsonl", "curves.png", "../ready"]
    assert relative == ["recipe.toml", "run.json", *checkpoints, *single]


@pytest.mark.parametrize("tear", [truncate, flip, empty, Path.unlink])
def test_every_file_that_is_torn_is_told(made: Path, run: Path, tear: Callable[[Path], object]) -> None:
    files = [path for folder in ("run", "ready") for path in sorted((made / folder).rglob("*")) if path.is_file()]
    # Only the command that would replace the folder reads it, and then finds that the folder was changed.
    files = [path for path in files if path.name != RECORD]
    assert len(files) > 30
    untold = []
    for original in files:
        path = run.parent / original.relative_to(made)
        content = path.read_bytes()
        tear(path)
        problems = verify(str(run)).problems
        # In a prepared folder the message begins with the folder; a torn list of checksums makes others differ.
        if not any(str(path) in problem or (path.name in problem and "ready" in problem) for problem in problems):
            untold.append(f"{path.relative_to(run.parent)}: {problems}")
        path.write_bytes(content)
    assert verify(str(run)).problems == ()
    assert untold == ["run/curves.png: ()"] * (tear is Path.unlink), "it was perhaps never drawn"


def test_all_problems_come_at_once(run: Path) -> None:
    truncate(run / "curves.png")
    flip(run / "checkpoints" / "step-00000010" / "weights.safetensors")
    (run / "model" / "config.json").unlink()
    (run / "run.json").unlink()
    (run / "recipe.toml").unlink()
    problems = verify(str(run)).problems
    told = [os.path.relpath(problem.split(":")[0], run) for problem in problems]
    assert told == [
        "recipe.toml",
        "run.json",
        "checkpoints/step-00000010/weights.safetensors",
        "model/config.json",
        "curves.png",
    ]


def test_lines_of_metrics(run: Path) -> None:
    path = run / "metrics.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], b"{}\n", lines[1], b"\0\0\n", lines[2], b'{"kind": "tr']))
    found = verify(str(run))
    assert found.problems == (f"{path}: no metrics in line 2, 4; going on with the run leaves them out",)
    assert found.remarks == (f"{path}: ends in half a line; it goes when the run goes on, if no process is at work",)
    path.write_bytes(b"{}\n" * 12)
    assert (
        verify(str(run)).problems[0].startswith(f"{path}: no metrics in line 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more")
    )


def test_what_nothing_reads_is_remarked(run: Path) -> None:
    (run / ".old-12-model").mkdir()
    (run / "checkpoints" / ".tmp-12-step-00000040").mkdir()
    (run / "checkpoints" / "torn-step-00000005").mkdir()
    (run / "checkpoints" / "step-00000010" / ".tmp-12-checksums.json").touch()
    (run / ".lock").touch()
    found = verify(str(run))
    assert found.problems == ()
    assert [os.path.relpath(remark.split(": ")[0], run) for remark in found.remarks] == [
        ".old-12-model",
        "checkpoints/.tmp-12-step-00000040",
        "checkpoints/torn-step-00000005",
        "checkpoints/step-00000010/.tmp-12-checksums.json",
    ]


def test_other_data_than_the_run_began_with(run: Path) -> None:
    content = json.loads((run / "run.json").read_text())
    content["data"]["corpora"]["a.txt"] = "0" * 64
    (run / "run.json").write_text(json.dumps(content))
    (problem,) = verify(str(run)).problems
    assert "was prepared anew from other files (a.txt changed)" in problem
    shutil.rmtree(run.parent / "ready")
    (problem,) = verify(str(run)).problems
    assert "ready: the prepared data that" in problem


def test_a_cut_recipe_is_not_gone_on_with(run: Path) -> None:
    path = run / "recipe.toml"
    sections = path.read_text().split("\n[training]")
    path.write_text(sections[0] + "\n")  # a recipe with the paper's training
    (problem,) = verify(str(run)).problems
    assert problem.startswith(f"{path}: is torn, or was edited since the run wrote it; ")
    path.write_text("\n[training]".join(sections))
    record_changes(run, resume_run(run, ["training.log_steps=20"])[0], ["training.log_steps=20"], 35)
    assert verify(str(run)).problems == ()
    path.write_text("\n[training]".join(sections))  # killed before it was written
    assert verify(str(run)).problems == ()


def test_what_is_nothing(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="neither a model folder"):
        verify(str(tmp_path))
