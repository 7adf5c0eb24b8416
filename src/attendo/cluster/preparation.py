"""Preparing corpora on a cluster: the units of work run on many machines, and the output is the same as on one.

The results of units for parts of the corpora are kept in `FOLDER.parts/` until the prepared folder is complete.
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

# Enough that few processors idle at the end of a round, and that the overhead of a round is small.
_TASKS_A_PROCESSOR = 8


class ClusterWorkers:
    """The processors of the connected cluster as `workers.Workers`."""

    def __init__(self, report: Callable[[str], None]) -> None:
        """Creates the workers; `report` is called with a message when machines are lost or join."""
        self._report = report

    def map(self, unit: Callable[[TaskT], ResultT], tasks: Iterable[TaskT]) -> Iterator[tuple[TaskT, ResultT]]:
        """Yields each task with its result, in the order of the tasks; see `Workers`.

        Raises:
            AttendoError: a task cannot be done, or the cluster failed.
        """
        num_processors = max(1, sum(node.cpus for node in alive_nodes()))
        return watched(by_tasks(unit, tasks, num_at_once=_TASKS_A_PROCESSOR * num_processors), self._report)


def prepare_on_cluster(
    recipe: Recipe, folder: Path, reporter: PreparationReporter, *, address: str, force: bool = False
) -> PreparedData:
    """Does what `prepare_if_missing` does on a cluster, which it joins only if there is something to do.

    After an interruption, finished parts are not prepared again.

    Args:
        recipe: the recipe with the corpora; all machines must see them.
        folder: the prepared folder, which all machines must see too.
        reporter: receives messages and progress.
        address: address of the cluster, as `connection.connected` takes it.
        force: whether to replace whatever else the folder holds.

    Raises:
        AttendoError: the cluster cannot be reached, or one of its machines cannot do the work.
        DataError: a corpus cannot be used.
        ModelError: the vocabulary of the model to fine-tune cannot be read.
        RecipeError: the recipe names no corpora.
    """
    # Other machines do not know this process's working directory.
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
        with NamedTemporaryFile(dir=folder.parent, prefix=".tmp-") as probe:  # lies where the folder will be created
            probe.write(str(folder).encode())
            probe.flush()
            check_nodes(nodes, [SharedFile.of(path) for path in (Path(probe.name), *files)])
        reporter.message(f"{sum(node.cpus for node in nodes)} processors on {len(nodes)} machines")
        parts = _parts_folder(recipe, folder, files, reporter)
        workers = KeptResults(ClusterWorkers(reporter.message), parts.path)
        prepared = prepare_if_missing(recipe, folder, reporter, workers, force=force)
    shutil.rmtree(parts.path)
    return prepared


def _parts_folder(recipe: Recipe, folder: Path, files: Sequence[Path], reporter: PreparationReporter) -> PartsFolder:
    """Returns the folder of the parts, emptied if they belong to other corpora or settings."""
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
    """Returns everything that determines the prepared data."""
    status = {str(path): path.stat() for path in files}
    return {
        "attendo": attendo.__version__,
        "settings": prepared_folder(recipe, Path()).name,  # the name holds their fingerprint
        "files": {name: [stat.st_size, stat.st_mtime_ns] for name, stat in status.items()},
    }
