"""Which model a name means."""

import shutil
from pathlib import Path

import pytest

from attendo.checkpoint.finding import shipped_models
from attendo.checkpoint.model_folder import read_description
from attendo.errors import RecipeError
from attendo.plots.subject import find_subject


def test_a_shipped_recipe() -> None:
    subject = find_subject("base")
    assert (subject.config.d_model, subject.config.num_layers, subject.folder) == (512, 6, None)
    assert subject.src_vocab_size == subject.tgt_vocab_size == 37_000


def test_changes_of_a_recipe() -> None:
    subject = find_subject("base", ("model.encoder_layer=recurrent", "tokenizer.vocab_size=500"))
    assert (subject.config.encoder_layer, subject.src_vocab_size) == ("recurrent", 500)
    assert subject.name == "base, changed"


def test_a_file_and_a_run_without_a_model(recipe_path: Path, tmp_path: Path) -> None:
    of_file = find_subject(str(recipe_path))
    assert of_file.name == "mine"
    run = tmp_path / "runs" / "first"
    (run / "checkpoints").mkdir(parents=True)
    shutil.copy(recipe_path, run / "recipe.toml")
    of_run = find_subject(str(run))
    assert (of_run.name, of_run.config, of_run.src_vocab_size) == ("first", of_file.config, of_file.src_vocab_size)


def test_a_model_folder_and_a_run_with_a_model(model_folder: Path, tmp_path: Path) -> None:
    description = read_description(model_folder)
    shutil.copytree(model_folder, tmp_path / "run" / "model")
    for path in (model_folder, tmp_path / "run"):
        subject = find_subject(str(path))
        assert (subject.config, subject.src_vocab_size) == (description.model, description.src_vocab_size)
        assert subject.folder is not None
    assert find_subject(str(tmp_path / "run")).name == "run"


def test_a_shipped_model() -> None:
    assert find_subject("en-de").folder == shipped_models()["en-de"]


def test_a_recipe_that_fine_tunes_has_the_models_shape() -> None:
    subject = find_subject("fine-tuning", ("training.init_from=en-de",))
    theirs = read_description(shipped_models()["en-de"])
    assert (subject.config.num_encoder_layers, subject.src_vocab_size) == (
        theirs.model.num_encoder_layers, theirs.src_vocab_size,
    )  # fmt: skip


def test_what_is_neither_is_told_with_what_is_near(model_folder: Path) -> None:
    with pytest.raises(RecipeError, match=r"bass: neither a recipe nor a model; did you mean base\?"):
        find_subject("bass")
    with pytest.raises(RecipeError, match="is a model, whose shape is as it is; name a recipe"):
        find_subject(str(model_folder), ("model.d_model=8",))
