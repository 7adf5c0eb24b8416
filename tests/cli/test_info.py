import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from attendo.checkpoint.model_folder import load_model
from attendo.native.library import find_kernels
from attendo.recipe import load_recipe
from attendo.workflow.preparation.prepare import prepare
from attendo.workflow.runs.run_folder import start_run

Command = Callable[..., Any]


def test_info_of_a_model(attendo: Command, model_folder: Path) -> None:
    found = json.loads(attendo("info", model_folder, "--json").out)
    assert found["parameters"] == sum(value.numel() for value in load_model(model_folder).transformer.parameters())
    assert (found["source_language"], found["target_language"]) == ("en", "de")
    assert (found["model"]["d_model"], found["model"]["num_heads"]) == (16, 2)
    text = attendo("info", model_folder).out
    assert "2 + 2 layers, d_model 16" in text
    assert "300 source, 300 target" in text
    assert "validation   perplexity 12.50, bleu 3.25 (nrefs:1|case:mixed)\n" in text


def test_info_verifies(attendo: Command, model_folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "model"
    shutil.copytree(model_folder, copy)
    finished = attendo("info", copy, "--verify")
    assert (finished.status, finished.err) == (0, f"whole: {copy}\n")
    with (copy / "source.spm").open("ab") as file:
        file.write(b"x")
    (copy / "README.md").unlink()
    finished = attendo("info", copy, "--verify")
    assert finished.status == 1
    size = (copy / "source.spm").stat().st_size
    assert f"{copy / 'source.spm'}: has {size} bytes, not {size - 1}" in finished.err
    assert f"{copy / 'README.md'}: missing" in finished.err


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "checksums.json"])
def test_info_verifies_before_it_reads(attendo: Command, model_folder: Path, tmp_path: Path, name: str) -> None:
    run = tmp_path / "run"
    shutil.copytree(model_folder, run / "model")
    (run / "model" / name).write_bytes(b"{")
    for folder in (run, run / "model"):
        finished = attendo("info", folder, "--verify")
        assert finished.status == 1
        why = "cannot be read" if name == "checksums.json" else "has 1 bytes, not"
        assert finished.err.startswith(f"attendo: error: {run / 'model' / name}: {why}")
        assert finished.out == ""
    (run / "model" / name).unlink()
    for folder in (run, run / "model"):
        finished = attendo("info", folder, "--verify")
        why = "not found" if name == "checksums.json" else "missing"
        assert finished.err.startswith(f"attendo: error: {run / 'model' / name}: {why}")


def test_info_verifies_a_run(attendo: Command, recipe_path: Path, tmp_path: Path) -> None:
    recipe, run = load_recipe(str(recipe_path)), tmp_path / "run"
    assert recipe.data is not None
    prepare(recipe.data, recipe.tokenizer, tmp_path / "ready", base_folder=tmp_path)
    start_run(recipe, run, tmp_path / "ready")
    finished = attendo("info", run, "--verify")
    assert finished.status == 0, "a run that was killed before its first checkpoint is whole"
    assert finished.err == f"whole: {run / 'recipe.toml'}, {run / 'run.json'}, {tmp_path / 'ready'}\n"
    assert "checkpoints  none yet of 6" in finished.out
    (run / ".tmp-12-model").mkdir()
    (run / "recipe.toml").unlink()
    for path in (tmp_path / "ready" / "shards").glob("mine-*"):
        path.write_bytes(b"")
    finished = attendo("info", run, "--verify")
    assert finished.status == 1
    remark, *problems = finished.err.splitlines()
    assert remark.startswith(f"{run / '.tmp-12-model'}: a draft")
    assert problems[0] == f"attendo: error: {run / 'recipe.toml'}: missing, so that the run cannot go on"
    assert problems[1].startswith(f"{tmp_path / 'ready'}: ")
    assert "shards/mine-" in problems[1]
    assert len(problems) == 2


def test_info_of_a_stranger_s_words_commands_no_terminal(attendo: Command, model_folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "model"
    shutil.copytree(model_folder, copy)
    config = json.loads((copy / "config.json").read_text())
    config["training"]["recipe"] = "\x1b]0;mine\x07" + "long" * 10_000
    (copy / "config.json").write_text(json.dumps(config))
    (copy / "README.md").write_text("\x1b[2J# Mine\n")
    finished = attendo("info", copy)
    assert finished.status == 0
    assert "\x1b" not in finished.out
    assert "recipe \ufffd]0;mine\ufffdlong" in finished.out
    assert "\ufffd[2J# Mine" in finished.out
    assert len(finished.out) < 10_000
    (copy / "README.md").unlink()
    os.mkfifo(copy / "README.md")
    assert attendo("info", copy).out.endswith("README.md is missing\n"), "a pipe is not waited for"
    (copy / "README.md").unlink()
    (tmp_path / "elsewhere").write_text("secret")
    (copy / "README.md").symlink_to(tmp_path / "elsewhere")
    assert attendo("info", copy).out.endswith("README.md is missing\n"), "a link out of the folder is not followed"


def test_info_shows_the_card(attendo: Command, model_folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "model"
    shutil.copytree(model_folder, copy)
    card = "# Mine\n\nData: my own, ä.\n"
    (copy / "README.md").write_text(card, encoding="utf-8")
    assert attendo("info", copy).out.endswith("README.md (data, licence)\n\n# Mine\n\nData: my own, ä.\n")
    assert json.loads(attendo("info", copy, "--json").out)["card_text"] == card
    (copy / "README.md").unlink()
    assert attendo("info", copy).out.endswith("README.md is missing\n")
    assert json.loads(attendo("info", copy, "--json").out)["card_text"] == ""


def test_info_of_shipped_models(
    attendo: Command, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(model_folder, tmp_path / "package" / "xx-yy")
    monkeypatch.setattr("attendo.checkpoint.finding.SHIPPED", tmp_path / "package")
    monkeypatch.chdir(tmp_path)
    assert json.loads(attendo("info", "--json").out)["models"] == ["xx-yy"]
    assert "\nmodels       xx-yy\n" in attendo("info").out
    finished = attendo("info", "xx-yy", "--verify")
    assert (finished.status, finished.err) == (0, f"whole: {tmp_path / 'package' / 'xx-yy'}\n")
    assert "MB of weights in float32\n" in finished.out
    assert finished.out.endswith("\n\n# Random\n")
    finished = attendo("translate", "xx_yy", stdin=b"x\n")
    assert finished.status == 1
    assert finished.err.startswith("attendo: error: xx_yy: no such model or run folder; did you mean xx-yy?")


def test_info_of_a_config_that_contradicts_itself(attendo: Command, model_folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "model"
    shutil.copytree(model_folder, copy)
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps(config | {"src_vocab_size": 299}))
    finished = attendo("info", copy)
    assert finished.status == 1
    assert 'config.json: shared_embeddings = "all" needs one vocabulary' in finished.err


def test_info_of_this_machine(attendo: Command) -> None:
    found = json.loads(attendo("info", "--json").out)
    assert found["packages"]["torch"] == torch.__version__
    assert "base" in found["recipes"]
    assert "cores" in attendo("info").out


def test_info_names_the_kernels(attendo: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    find_kernels.cache_clear()
    try:
        monkeypatch.setenv("ATTENDO_KERNELS", "plain")
        assert "decoding     plain torch (ATTENDO_KERNELS=plain)\n" in attendo("info").out
        assert json.loads(attendo("info", "--json").out)["kernels"].startswith("plain torch")
        find_kernels.cache_clear()
        monkeypatch.setenv("ATTENDO_KERNELS", "magic")
        finished = attendo("info")
        assert finished.status == 1
        assert "ATTENDO_KERNELS=magic" in finished.err
    finally:
        find_kernels.cache_clear()


def test_info_of_what_is_nothing(attendo: Command, tmp_path: Path) -> None:
    finished = attendo("info", tmp_path)
    assert finished.status == 1
    assert "neither a model folder" in finished.err
