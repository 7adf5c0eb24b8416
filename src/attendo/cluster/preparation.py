"""Preparing corpora on a cluster: the units of work of one machine, done by others, with the output of one.

What the units give for parts of the corpora is kept beside the prepared folder until that is whole, in `FOLDER.parts/`.
"""

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import attendo
from attendo.cluster.connection import connected
from attendo.cluster.kept_results import KeptResults
from attendo.cluster.nodes import SharedFile, alive_nodes, check_nodes, watched
from attendo.cluster.pool import by_tasks
from attendo.errors import DataError
from attendo.recipe import Recipe
from attendo.text.prepared import PreparedData
from attendo.text.text_check import check_files
from attendo.workers import ResultT, TaskT
from attendo.workflow.preparation.prepared_data import (
    PreparationReporter,
    open_if_prepared,
    prepare_if_missing,
    prepared_folder,
)
from attendo.workflow.translation.part_files import PartsFolder

# Enough that few processors wait at the end of a round, and that starting one does not count.
_TASKS_A_PROCESSOR = 8


class ClusterWorkers:
    """`workers.Workers` that are the processors of the cluster that one is connected to."""

    def __init__(self, report: Callable[[str], None]) -> None:
        """Takes the function that is called with a message when machines are lost or join."""
        self._report = report

    def map(self, unit: Callable[[TaskT], ResultT], tasks: Iterable[TaskT]) -> Iterator[tuple[TaskT, ResultT]]:
        """Yields each task with its result, in the order of the tasks; see `Workers`.

        Raises:
            AttendoError: a task cannot be done, or the cluster gave up.
        """
        num_processors = max(1, sum(node.cpus for node in alive_nodes()))
        return watched(by_tasks(unit, tasks, num_at_once=_TASKS_A_PROCESSOR * num_processors), self._report)


def prepare_on_cluster(
    recipe: Recipe, folder: Path, reporter: PreparationReporter, *, address: str, force: bool = False
) -> PreparedData:
    """Does what `prepare_if_missing` does, on a cluster, which it joins only where there is something to do.

    After an interruption it goes on from the parts that were done.

    Args:
        recipe: what to prepare. All machines see its corpora.
        folder: the prepared folder, which all machines see too.
        reporter: receives messages and progress.
        address: of the cluster, as `connection.connected` takes it.
        force: replace whatever else the folder holds.

    Raises:
        AttendoError: the cluster cannot be reached, or a machine of it cannot do the work.
        DataError: a corpus cannot be used.
        ModelError: the vocabulary of the model to fine-tune cannot be read.
        RecipeError: the recipe names no corpora.
    """
    # Other machines do not know where this process was started.
    recipe, folder = replace(recipe, folder=recipe.folder.absolute()), folder.absolute()
    if open_if_prepared(recipe, folder) is not None:
        return prepare_if_missing(recipe, folder, reporter)
    assert recipe.data is not None, "without corpora there was an error"
    check_files(recipe.data, recipe.folder)
    corpora = [*recipe.data.corpora, *([recipe.data.valid] if recipe.data.valid else [])]
    files = [path for corpus in corpora for path in corpus.paths(recipe.folder / recipe.data.folder)]
    folder.parent.mkdir(parents=True, exist_ok=True)
    with connected(address):
        nodes = alive_nodes()
        with NamedTemporaryFile(dir=folder.parent, prefix=".tmp-") as seen:  # shows where the folder will be made
            seen.write(str(folder).encode())
            seen.flush()
            check_nodes(nodes, [SharedFile.of(path) for path in (Path(seen.name), *files)])
        reporter.message(f"{sum(node.cpus for node in nodes)} processors on {len(nodes)} machines")
        parts = _parts_folder(recipe, folder, files, reporter)
        workers = KeptResults(ClusterWorkers(reporter.message), parts.path)
        prepared = prepare_if_missing(recipe, folder, reporter, workers, force=force)
    shutil.rmtree(parts.path)
    return prepared


def _parts_folder(recipe: Recipe, folder: Path, files: Sequence[Path], reporter: PreparationReporter) -> PartsFolder:
    """Where parts are kept: with those of an interrupted start, or empty where they are of something else."""
    parts = PartsFolder.beside(folder)
    manifest = _manifest(recipe, files)
    try:
        parts.claim(manifest)
    except DataError:
        reporter.message("corpora or settings have changed since the last start: all parts are prepared again")
        shutil.rmtree(parts.path)
        parts.claim(manifest)
    if any(parts.path.glob("*.npz")):
        reporter.message(f"continuing from the parts in {parts.path}")
    return parts


def _manifest(recipe: Recipe, files: Sequence[Path]) -> dict[str, Any]:
    """All that decides what is prepared."""
    status = {str(path): path.stat() for path in files}
    return {
        "attendo": attendo.__version__,
        "settings": prepared_folder(recipe, Path()).name,  # which has their fingerprint
        "files": {name: [found.st_size, found.st_mtime_ns] for name, found in status.items()},
    }
