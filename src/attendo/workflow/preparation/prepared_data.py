"""A recipe's prepared data: its folder, which is made if it is missing. Needs no torch."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Protocol

from attendo.errors import DataError, RecipeError
from attendo.files import locked, recover
from attendo.output_folders import contents, followed, listed
from attendo.recipe import Recipe
from attendo.text.corpora import VALID_NAME, DataConfig
from attendo.text.prepared import PreparedData, Vocabulary, fingerprint, is_prepared, open_prepared, other_content
from attendo.text.text_check import check_files
from attendo.threads import usable_cores
from attendo.workers import Workers, local_workers
from attendo.workflow.preparation.account import account_messages
from attendo.workflow.preparation.prepare import Progress, prepare
from attendo.workflow.preparation.treebank_text import linearization_facts

_LISTED_FILES = 20
_WAIT_S = 0.2
"""Seconds between checks whether another process is still preparing."""


class PreparationReporter(Protocol):
    """Receives the progress of the preparation."""

    def message(self, text: str) -> None:
        """A line to read."""

    def preparing(self, progress: Progress) -> None:
        """Called with the progress."""


def prepared_folder(recipe: Recipe, root: Path) -> Path:
    """Returns the folder of a recipe's prepared data below `root`: a separate one for each data and tokenizer.

    Data prepared before a corpus changed is kept for the runs that train on it; data made from the changed corpus is
    placed next to it, under a name with the next free number.

    Raises:
        RecipeError: the recipe names no corpora.
    """
    name = _default_name(recipe)
    folders = (root / (name if number == 1 else f"{name}-{number}") for number in count(1))
    return next(folder for folder in folders if _other_content(recipe, folder) is None)


def prepare_if_missing(
    recipe: Recipe,
    folder: Path,
    reporter: PreparationReporter,
    workers: Workers | None = None,
    *,
    force: bool = False,
) -> PreparedData:
    """Opens a recipe's prepared folder, and prepares it first if it is missing or incomplete.

    If several processes need the same folder, one prepares it, and the others wait. If the recipe fine-tunes a model
    (`training.init_from`, resolved by `workflow.runs.initial_model`), it is prepared for that model's vocabulary.

    Args:
        recipe: the recipe to prepare for.
        folder: the prepared folder.
        reporter: receives messages and progress.
        workers: the processes that do the work; None for one per processor that this process may use, if there is
            enough work. The prepared data do not depend on them.
        force: replace any other content of the folder.

    Raises:
        DataError: a corpus cannot be used; or the folder is prepared from something else, such as a corpus that has
            changed since: runs may need the old data, so it is not replaced unless forced.
        ModelError: the vocabulary of the model to fine-tune cannot be read.
        RecipeError: the recipe names no corpora.
    """
    prepared = open_if_prepared(recipe, folder, verify=True)
    if prepared is not None:
        reporter.message(f"data: {folder} is prepared already")
        return prepared
    assert recipe.data is not None, "without corpora it had no fingerprint"
    check_files(recipe.data, recipe.folder)  # before anything is written
    with ExitStack() as stack:
        stack.enter_context(_alone(folder, reporter))
        prepared = open_if_prepared(recipe, folder, verify=True)
        if prepared is not None:
            reporter.message(f"data: {folder} is prepared by now")
            return prepared
        if not force and (other := _other_content(recipe, folder)):
            raise DataError(
                f"{folder}: was prepared from {other}, and runs may train on it; name another folder, or replace it "
                "with attendo prepare --force"
            )
        recover(followed(folder).parent, followed(folder).name)
        for line in _opening_messages(recipe, recipe.data, folder, force=force):
            reporter.message(line)
        prepared = prepare(
            recipe.data,
            recipe.tokenizer,
            folder,
            base_folder=recipe.folder,
            vocabulary=_vocabulary(recipe),
            parsing=recipe.parsing,
            progress=reporter.preparing,
            workers=workers or stack.enter_context(local_workers(usable_cores())),
            force=force,
        )
        for text in account_messages(prepared.report.corpora, folder / "dropped.tsv"):
            reporter.message(text)
        return prepared


def open_if_prepared(recipe: Recipe, folder: Path, *, verify: bool = False) -> PreparedData | None:
    """Opens a recipe's prepared folder if it is complete and matches these settings and files.

    Args:
        recipe: the recipe for which it must be prepared.
        folder: the prepared folder.
        verify: compare also the SHA-256 of every file of it, which reads all.

    Raises:
        DataError: it exists and cannot be read.
        RecipeError: the recipe names no corpora.
    """
    expected, place = _fingerprint(recipe), _corpus_folder(recipe)
    if not is_prepared(folder, expected, place, verify=verify, matched=_matched_files(recipe)):
        return None
    return open_prepared(folder)


def check_corpora(recipe: Recipe) -> None:
    """Makes sure that the files of a recipe's corpora are there.

    Raises:
        DataError: at least one is missing; the message lists every one. Or a file has no counterpart.
    """
    if recipe.data is not None:
        check_files(recipe.data.resolved(_corpus_folder(recipe)), recipe.folder)


def _other_content(recipe: Recipe, folder: Path) -> str | None:
    """Describes what a folder was prepared from, if it was prepared from something other than a recipe's data."""
    return other_content(folder, _fingerprint(recipe), _corpus_folder(recipe), matched=_matched_files(recipe))


def _opening_messages(recipe: Recipe, data: DataConfig, folder: Path, *, force: bool) -> Iterator[str]:
    """Yields messages before a folder is prepared: kept folders, replaced folders, and the files read."""
    first = folder.with_name(_default_name(recipe))
    if folder.name.startswith(f"{first.name}-") and (other := _other_content(recipe, first)):
        yield f"data: {first} was prepared from {other}; it stays for the runs that train on it"
    yield f"data: preparing {folder}"
    if force and (held := contents(folder)):
        yield f"data: what {folder} holds is replaced: {listed(held)}"
    yield from _file_messages(data, _corpus_folder(recipe))


def _file_messages(data: DataConfig, folder: Path) -> Iterator[str]:
    """Yields the files matched by the patterns of corpora, in order."""
    for corpus in (*data.corpora, *([data.valid] if data.valid else [])):
        resolved = corpus.resolved(folder)
        sets = [" + ".join(file_set.files) for file_set in resolved.file_sets]
        if resolved != corpus and corpus.trees is None:
            more = f" and {len(sets) - _LISTED_FILES} more" if len(sets) > _LISTED_FILES else ""
            yield f"data: corpus {corpus.name or VALID_NAME} is {', '.join(sets[:_LISTED_FILES])}{more}"


@contextmanager
def _alone(folder: Path, reporter: PreparationReporter) -> Iterator[None]:
    """Waits until no other process is preparing a folder, and locks it against others meanwhile."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = folder.with_name(f".lock-{folder.name}")
    announced = False
    with ExitStack() as stack:
        while True:
            try:
                stack.enter_context(locked(lock))
                break
            except BlockingIOError as error:
                if not announced:
                    reporter.message(f"data: {folder} is {error.strerror}, which is preparing it; waiting for that")
                announced = True
                time.sleep(_WAIT_S)
        yield


def _default_name(recipe: Recipe) -> str:
    """The name of the first folder prepared for a recipe's settings, in any place."""
    return f"{recipe.name}-{_fingerprint(recipe)[:12]}"


def _corpus_folder(recipe: Recipe) -> Path:
    """Returns the folder that the paths of a recipe's corpora are relative to."""
    return recipe.folder / (recipe.data.folder if recipe.data else "")


def _matched_files(recipe: Recipe) -> frozenset[str] | None:
    """Lists the files that the patterns of a recipe's corpora match now."""
    return None if recipe.data is None else recipe.data.matched_files(_corpus_folder(recipe))


def _fingerprint(recipe: Recipe) -> str:
    if recipe.data is None or not recipe.data.corpora:
        raise RecipeError(f"{recipe.name}: data.corpora names nothing to train on; see docs/own-data.md")
    linearization = None if recipe.parsing is None else linearization_facts(recipe.parsing)
    return fingerprint(recipe.data, recipe.tokenizer, _vocabulary(recipe), linearization)


def _vocabulary(recipe: Recipe) -> Vocabulary | None:
    """Returns the vocabulary of the model that a recipe fine-tunes; None for training from scratch."""
    folder = recipe.training.init_from
    return None if folder is None else Vocabulary.of_model(Path(folder))
