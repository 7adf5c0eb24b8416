from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from attendo.checkpoint.checksums import CARD, replace_file
from attendo.checkpoint.model_folder import load_model
from attendo.checkpoint.run_checkpoints import Checkpoints
from attendo.checkpoint.weights import named_weights
from attendo.errors import DataError, ModelError
from attendo.model.transformer import Transformer
from attendo.recipe import load_recipe
from attendo.text.prepared import PreparedData
from attendo.workflow.inspect import RunInfo, inspect
from attendo.workflow.preparation.prepare import prepare
from attendo.workflow.runs.average import average
from attendo.workflow.runs.run_folder import start_run


@pytest.fixture
def run(tmp_path: Path, recipe_path: Path) -> Path:
    """A run folder with checkpoints of random weights at steps 10, 20, 30 and one of an interruption at 35."""
    recipe = load_recipe(str(recipe_path))
    assert recipe.data is not None
    prepared: PreparedData = prepare(recipe.data, recipe.tokenizer, tmp_path / "ready", base_folder=tmp_path)
    start_run(recipe, tmp_path / "run", tmp_path / "ready")
    checkpoints = Checkpoints(tmp_path / "run" / "checkpoints", keep=5)
    size = prepared.source_tokenizer.vocab_size
    for step, regular in ((10, True), (20, True), (30, True), (35, False)):
        torch.manual_seed(step)
        weights = named_weights(Transformer(recipe.model, size, size))
        checkpoints.save(step, regular=regular, state={}, weights=weights, training={"x": torch.zeros(1)})
    return tmp_path / "run"


def test_the_mean_of_the_last_regular_checkpoints(run: Path, tmp_path: Path) -> None:
    assert average(run, 2, tmp_path / "model") == [20, 30]
    parts = [load_file(run / "checkpoints" / f"step-000000{step}" / "weights.safetensors") for step in (20, 30)]
    found = load_file(tmp_path / "model" / "model.safetensors")
    assert found.keys() == parts[0].keys()
    for name, value in found.items():
        np.testing.assert_allclose(value, np.mean([part[name] for part in parts], axis=0), rtol=1e-6)
    description = load_model(tmp_path / "model").description
    assert description.training["averaged_steps"] == [20, 30]
    assert description.target_language == "de"


def test_a_model_that_is_not_the_same_average_is_kept(run: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    average(run, 2, model)
    average(run, 2, model)
    with pytest.raises(
        ModelError, match=r"model: was made by `attendo average` of something else or with other options"
    ):
        average(run, 3, model)
    replace_file(model, CARD, "mine")  # as `attendo evaluate --card` does
    with pytest.raises(ModelError, match=r"model: has files added or changed since it was made \(README.md, checksums"):
        average(run, 2, model)
    (tmp_path / "copy").mkdir()
    for name in ("config.json", "model.safetensors", "source.spm", "checksums.json"):
        (tmp_path / "copy" / name).write_bytes((model / name).read_bytes())  # a model of any other origin
    with pytest.raises(
        ModelError, match=r"copy: holds something that `attendo average` did not make \(checksums.json, "
    ):
        average(run, 2, tmp_path / "copy")
    assert not (tmp_path / "copy" / CARD).exists()
    assert (model / CARD).read_text() == "mine"
    assert average(run, 3, model, force=True) == [10, 20, 30]
    assert load_model(model).description.training["averaged_steps"] == [10, 20, 30]


def test_what_cannot_be_averaged(run: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"--last 4 is too many: there are 3 regular checkpoints; take --last 3"):
        average(run, 4, tmp_path / "model")
    with pytest.raises(ModelError, match=r"no run to resume"):
        average(tmp_path, 1, tmp_path / "model")
    with pytest.raises(ModelError, match=r"run: is .*/run, or a folder around it, and is not replaced; name another"):
        average(run, 1, run)
    (tmp_path / "ready" / "manifest.json").unlink()
    with pytest.raises(DataError, match=r"ready: this is no prepared folder"):
        average(run, 1, tmp_path / "model")


def test_checkpoints_of_another_model_are_not_averaged(run: Path, tmp_path: Path) -> None:
    for step in (20, 30):
        checkpoints = Checkpoints(run / "checkpoints", keep=5)
        checkpoints.save(step, regular=True, state={}, weights={"w": torch.zeros(3)}, training={})
        if step == 20:
            with pytest.raises(
                ModelError, match=r"step-00000020: belongs to another model than step-00000030: .* missing"
            ):
                average(run, 2, tmp_path / "model")
    with pytest.raises(
        ModelError, match=r"checkpoints: not of this run's model: .* is missing and \(32, 16\) in recipe"
    ):
        average(run, 2, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_run_can_be_inspected(run: Path, tmp_path: Path) -> None:
    found = inspect(str(run))
    assert isinstance(found, RunInfo)
    assert (found.recipe, found.checkpoints, found.model) == ("mine", (10, 20, 30, 35), None)
    assert "no model yet" in found.to_text()
    average(run, 2, run / "model")
    found = inspect(str(run))
    assert isinstance(found, RunInfo)
    assert found.model is not None
    assert "20, 30" in found.to_text()
