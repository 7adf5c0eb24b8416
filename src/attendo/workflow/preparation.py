"""A recipe's prepared data: where it lies, and making it where it is missing. Needs no torch."""

from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from attendo.errors import RecipeError
from attendo.recipe import Recipe
from attendo.text.prepared import PreparedData, Vocabulary, fingerprint, is_prepared, open_prepared
from attendo.workflow.preparation_parts import Workers
from attendo.workflow.prepare import Progress, prepare
from attendo.workflow.processes import local_workers, usable_processors


class PreparationReporter(Protocol):
    """Who is told how the preparation goes."""

    def message(self, text: str) -> None:
        """A line to read."""

    def preparing(self, progress: Progress) -> None:
        """How far it is."""


def prepared_folder(recipe: Recipe, root: Path) -> Path:
    """Where a recipe's prepared data lies below `root`: another folder for other data or another tokenizer.

    Raises:
        RecipeError: the recipe names no corpora.
    """
    return root / f"{recipe.name}-{_fingerprint(recipe)[:12]}"


def prepare_if_missing(
    recipe: Recipe, folder: Path, reporter: PreparationReporter, workers: Workers | None = None
) -> PreparedData:
    """Opens a recipe's prepared folder; makes it first where it is missing or of something else.

    Where the recipe fine-tunes a model (`training.init_from`, resolved by `workflow.initial_model`), it is prepared for
    that model's vocabulary.

    Args:
        recipe: what to prepare.
        folder: the prepared folder.
        reporter: who is told.
        workers: who does the work; None is a process for each processor that this one may use, where there is enough
            to do. They change nothing of what is prepared.

    Raises:
        DataError: a corpus cannot be used.
        ModelError: the vocabulary of the model to fine-tune cannot be read.
        RecipeError: the recipe names no corpora.
    """
    prepared = open_if_prepared(recipe, folder)
    if prepared is not None:
        reporter.message(f"data: {folder} is prepared already")
        return prepared
    assert recipe.data is not None, "without corpora it had no fingerprint"
    reporter.message(f"data: preparing {folder}")
    with ExitStack() as stack:
        return prepare(
            recipe.data,
            recipe.tokenizer,
            folder,
            base_folder=recipe.folder,
            seed=recipe.training.seed,
            vocabulary=_vocabulary(recipe),
            progress=reporter.preparing,
            workers=workers or stack.enter_context(local_workers(usable_processors())),
        )


def open_if_prepared(recipe: Recipe, folder: Path) -> PreparedData | None:
    """Opens a recipe's prepared folder where it is there, whole, and of these settings and files.

    Raises:
        RecipeError: the recipe names no corpora.
    """
    expected = _fingerprint(recipe)
    assert recipe.data is not None, "without corpora it had no fingerprint"
    if not is_prepared(folder, expected, recipe.folder / recipe.data.folder):
        return None
    return open_prepared(folder)


def _fingerprint(recipe: Recipe) -> str:
    if recipe.data is None or not recipe.data.corpora:
        raise RecipeError(f"{recipe.name}: data.corpora names nothing to train on; see docs/own-data.md")
    return fingerprint(recipe.data, recipe.tokenizer, recipe.training.seed, _vocabulary(recipe))


def _vocabulary(recipe: Recipe) -> Vocabulary | None:
    """The vocabulary of the model that a recipe fine-tunes; None where it trains one from scratch."""
    folder = recipe.training.init_from
    return None if folder is None else Vocabulary.of_model(Path(folder))
