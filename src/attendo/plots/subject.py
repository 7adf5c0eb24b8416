"""Finds the subject of a chart by name: a trained model, or the model that a recipe would train."""

from dataclasses import dataclass
from pathlib import Path

from attendo.checkpoint.finding import find_model, is_run
from attendo.checkpoint.model_folder import read_description
from attendo.errors import AttendoError, ModelError, RecipeError
from attendo.model.config import ModelConfig
from attendo.plots.subject_name import names_model
from attendo.recipe import load_recipe
from attendo.text.prepared import Vocabulary, open_prepared
from attendo.workflow.runs.initial_model import with_initial_model
from attendo.workflow.runs.run_folder import prepared_data


@dataclass(frozen=True, kw_only=True)
class Subject:
    """The shape of a model, whether it is trained or not."""

    name: str
    """The name in pictures; that of a recipe with overrides says that it is changed."""
    config: ModelConfig
    src_vocab_size: int
    tgt_vocab_size: int
    folder: Path | None
    """Folder of the model; None if it is not trained yet."""
    note: str
    """Origin of the model, for a caption."""


def find_subject(name: str, overrides: tuple[str, ...] = ()) -> Subject:
    """Finds the model that a name refers to.

    Args:
        name: a model folder, a run (for its present or future model), a recipe's TOML file, or the name of a shipped
            recipe or model; tried in this order.
        overrides: changes of a recipe, such as `model.num_layers=2`.

    Raises:
        RecipeError: the recipe is invalid, there is neither such a recipe nor such a model, or there are overrides for
            a trained model.
        ModelError: the model's files cannot be read.
    """
    if names_model(name):
        if overrides:
            raise RecipeError(f"--set {overrides[0]}: {name} is a model, whose shape is as it is; name a recipe")
        return _of_model(name)
    return _of_recipe(name, overrides)


def _of_model(name: str) -> Subject:
    folder = find_model(name)
    description = read_description(folder)
    shown = Path(name).resolve().name if Path(name).is_dir() else name
    return Subject(
        name=shown,
        config=description.model,
        src_vocab_size=description.src_vocab_size,
        tgt_vocab_size=description.tgt_vocab_size,
        folder=folder,
        note=f"the model {shown}",
    )


def _of_recipe(name: str, overrides: tuple[str, ...]) -> Subject:
    recipe = with_initial_model(load_recipe(name, overrides))
    folder = Path(name)
    if folder.is_dir() and is_run(folder) and (sizes := _prepared_sizes(folder)) is not None:
        note = f"the run {folder.resolve().name}"
    elif recipe.training.init_from is not None:
        vocabulary = Vocabulary.of_model(Path(recipe.training.init_from))
        sizes, note = (vocabulary.source.vocab_size, vocabulary.target.vocab_size), f"the recipe {recipe.name}"
    else:
        sizes = (recipe.tokenizer.vocab_size, recipe.tokenizer.vocab_size)
        note = f"the recipe {recipe.name}, with as many pieces as it asks for"
    return Subject(
        name=(folder.resolve().name if folder.is_dir() else recipe.name) + (", changed" if overrides else ""),
        config=recipe.model,
        src_vocab_size=sizes[0],
        tgt_vocab_size=sizes[1],
        folder=None,
        note=note,
    )


def _prepared_sizes(run: Path) -> tuple[int, int] | None:
    """Returns the vocabulary sizes of a run's prepared data; None if the data no longer exists or cannot be read."""
    try:
        prepared = open_prepared(prepared_data(run))
    except (AttendoError, OSError):
        return None
    return prepared.source_tokenizer.vocab_size, prepared.target_tokenizer.vocab_size


def require_model(subject: Subject, what: str) -> Path:
    """Returns the folder of a model that has to be trained already.

    Raises:
        ModelError: the model is not trained yet.
    """
    if subject.folder is None:
        raise ModelError(f"{subject.name}: {what}, and this is a recipe; name a model folder, a run or a shipped model")
    return subject.folder
