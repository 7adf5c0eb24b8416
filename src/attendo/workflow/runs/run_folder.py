"""The run folder: created for a recipe, and read again to resume.

RUN/recipe.toml     the recipe as resolved          RUN/metrics.jsonl   a line of figures every so many steps
RUN/run.json        prepared data, model tuned      RUN/curves.png      the same as pictures
RUN/checkpoints/    what to go on from              RUN/model/          the best averaged model so far
RUN/.lock           which process trains in it
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from attendo.checkpoint.finding import check_resumable
from attendo.errors import DataError, ModelError
from attendo.files import locked, sha256, write_json, write_text
from attendo.reading import MAX_JSON_BYTES, parse_json, read_bounded
from attendo.recipe import Recipe, load_recipe, to_toml
from attendo.text.prepared import MANIFEST_NAME
from attendo.workflow.machine.number_type import with_number_type
from attendo.workflow.runs.initial_model import initial_facts

_RECIPE_SUMS = "recipe_sha256"
_REPORTS = ("report.json", "dropped.tsv")


def require_run(folder: Path) -> None:
    """Refuses to write into a run folder that was removed, or unmounted, in mid-run: it would be incomplete.

    Raises:
        ModelError: it no longer exists.
    """
    if not (folder / "run.json").exists():
        raise ModelError(
            f"{folder}: the run folder is gone, so nothing can be saved; restore it and continue with --resume, or "
            "start again"
        )


def check_new_run(folder: Path) -> None:
    """Refuses a folder that a new run would spoil.

    Raises:
        ModelError: there is a run already, or the path is a file.
    """
    if (folder / "checkpoints").is_dir() or (folder / "recipe.toml").exists():
        raise ModelError(f"{folder}: holds a run already; continue with --resume -o {folder}, or name another folder")
    if folder.exists() and not folder.is_dir():
        raise ModelError(f"{folder}: is a file; name a folder for the run with -o")


def start_run(recipe: Recipe, folder: Path, prepared: Path, launch: str = "") -> None:
    """Makes a run folder for a recipe.

    Args:
        recipe: the resolved recipe, by `workflow.runs.initial_model` if it fine-tunes a model. The run keeps the number
            type that this machine uses for `training.dtype = "auto"`.
        folder: the run folder to make.
        prepared: the folder of its prepared data.
        launch: the launch to record for `was_started_by`.

    Raises:
        ModelError: there is already a run, or the model to fine-tune cannot be read.
    """
    check_new_run(folder)
    facts = initial_facts(recipe)
    facts |= {"launch": launch} if launch else {}
    facts |= {"data": _fingerprint(prepared)} if (prepared / MANIFEST_NAME).is_file() else {}
    folder.mkdir(parents=True, exist_ok=True)
    text = to_toml(with_number_type(recipe))
    known = {"format_version": 1, "prepared": str(prepared.resolve()), _RECIPE_SUMS: [_sha256(text)]}
    write_json(folder / "run.json", {**known, **facts})
    write_text(folder / "recipe.toml", text)


@contextmanager
def run_lock(folder: Path) -> Iterator[None]:
    """Lets one process at a time train in a run folder; the lock is released when the process ends, in any way.

    On a file system without locks, nothing is locked.

    Raises:
        ModelError: another process is in it, or the folder is gone.
        OSError: the folder cannot be written to.
    """
    if not folder.is_dir():
        raise ModelError(f"{folder}: no such run folder; name another one with -o")
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(folder / ".lock"))
        except BlockingIOError as error:
            raise ModelError(
                f"{folder}: {error.strerror} already; wait until it has ended, or end it, or name another folder"
            ) from None
        yield


def resume_run(folder: Path, overrides: list[str]) -> tuple[Recipe, Path]:
    """Reads the recipe of a run folder and the path of its prepared data.

    Raises:
        ModelError: the folder is not a run, or its recipe is not as the run wrote it: half a recipe may be valid too,
            but of another run.
        RecipeError: the recipe, or an override, is invalid.
    """
    check_resumable(folder)
    prepared, sums = prepared_data(folder), _read_run(folder).get(_RECIPE_SUMS)
    if isinstance(sums, list) and sha256(folder / "recipe.toml") not in sums:
        raise ModelError(
            f"{folder / 'recipe.toml'}: is torn, or was edited since the run wrote it; put it back and change it with "
            f"--resume --set KEY=VALUE, or, if it is meant so, take {_RECIPE_SUMS} out of run.json"
        )
    return with_number_type(load_recipe(str(folder / "recipe.toml"), overrides)), prepared


def prepared_data(folder: Path) -> Path:
    """Returns the path of a run's prepared data.

    Raises:
        ModelError: the folder's run.json cannot be read, or does not name it.
    """
    found = _read_run(folder).get("prepared")
    if not isinstance(found, str) or "\0" in found:
        raise ModelError(f"{folder / 'run.json'}: does not say where the run's prepared data is; it was changed")
    return Path(found)


def was_started_by(folder: Path, launch: str) -> bool:
    """Whether there is a run started by this very launch of torchrun, which has to continue it."""
    if not launch or not (folder / "recipe.toml").is_file():
        return False
    return bool(_read_run(folder).get("launch") == launch)


def origin(folder: Path) -> dict[str, Any]:
    """Returns the facts about the fine-tuned model under `init_from`; empty for a run that started from scratch.

    Raises:
        ModelError: the folder's run.json cannot be read.
    """
    content = _read_run(folder)
    return {"init_from": content["init_from"]} if "init_from" in content else {}


def check_prepared(folder: Path) -> None:
    """Compares a run's prepared data with its state when the run began.

    `text.prepared.open_prepared` checks that the data's files match their manifest.

    Raises:
        DataError: it is missing, or was prepared again from something else; the message names it.
        ModelError: the folder's run.json cannot be read.
    """
    prepared, expected = prepared_data(folder), _read_run(folder).get("data")
    again = f"prepare it again with: attendo prepare {folder / 'recipe.toml'} -o {prepared}"
    if not (prepared / MANIFEST_NAME).is_file():
        raise DataError(f"{prepared}: the prepared data that {folder} trains on is missing or not whole; {again}")
    if not isinstance(expected, dict):  # of a run that began before this was written down
        return
    found = _fingerprint(prepared)
    if found == expected:
        return
    before, now = (sums["corpora"] if isinstance(sums.get("corpora"), dict) else {} for sums in (expected, found))
    changed = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
    cause = f"from other files ({', '.join(changed)} changed)" if changed else "with other settings"
    raise DataError(
        f"{prepared}: was prepared anew {cause} since {folder} began, and would not go on as it did; put them back and "
        f"{again}; or start another run with -o RUN"
    )


def record_changes(folder: Path, recipe: Recipe, overrides: Sequence[str], step: int) -> None:
    """Stores the changes of `--resume --set`, so that the run keeps them from then on.

    Args:
        folder: the run folder.
        recipe: the recipe from now on, overrides included.
        overrides: the overrides as given.
        step: the step from which the run continues.

    Raises:
        ModelError: the folder's run.json cannot be read.
        OSError: the disk is full, or the folder cannot be written to; it names the file.
    """
    text = to_toml(recipe)
    if not overrides or text == (folder / "recipe.toml").read_text(encoding="utf-8"):
        return
    all_changes = [*changes(folder), {"step": step, "set": list(overrides)}]
    sums = [sha256(folder / "recipe.toml"), _sha256(text)]  # whichever is there when this process is killed here
    _add_to_run(folder, {"changes": all_changes, _RECIPE_SUMS: sums})
    write_text(folder / "recipe.toml", text)


def changes(folder: Path) -> list[Any]:
    """Returns the changes stored by `record_changes`, the oldest first.

    Raises:
        ModelError: the folder's run.json cannot be read.
    """
    found = _read_run(folder).get("changes")
    return found if isinstance(found, list) else []


def remember_split(folder: Path, max_tokens_at_once: int) -> None:
    """Stores the number of tokens of pieces in which a batch fits this run's memory.

    Raises:
        ModelError: the folder's run.json cannot be read.
        OSError: the disk is full, or the folder cannot be written to; it names the file.
    """
    _add_to_run(folder, {"max_tokens_at_once": max_tokens_at_once})


def remembered_split(folder: Path) -> int | None:
    """Returns the value stored by `remember_split`; None if there is none.

    Raises:
        ModelError: the folder's run.json cannot be read, or has no such number.
    """
    number = _read_run(folder).get("max_tokens_at_once")
    if number is not None and (not isinstance(number, int) or number < 1):
        raise ModelError(f"{folder / 'run.json'}: max_tokens_at_once = {number!r} is no number of tokens; leave it out")
    return number


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _add_to_run(folder: Path, facts: dict[str, Any]) -> None:
    write_json(folder / "run.json", {**_read_run(folder), **facts})


def _fingerprint(prepared: Path) -> dict[str, Any]:
    """Describes the parts of a prepared folder on which training depends: the files that it reads, and their corpora.

    Reports of the preparation, which have its time, are excluded.
    """
    path = prepared / MANIFEST_NAME
    try:
        manifest = parse_json(read_bounded(path, MAX_JSON_BYTES))
        files = {name: entry["sha256"] for name, entry in manifest["files"].items() if name not in _REPORTS}
        corpora = {name: entry["sha256"] for name, entry in manifest["corpus_files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path}: is torn or not a manifest ({error!r}); prepare the data again") from error
    return {"sha256": _sha256(json.dumps(files, sort_keys=True)), "corpora": corpora}


def _read_run(folder: Path) -> dict[str, Any]:
    path = folder / "run.json"
    try:
        content = parse_json(read_bounded(path, MAX_JSON_BYTES))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: cannot be read ({error}); it is torn, start anew in another folder") from error
    if not isinstance(content, dict):
        raise ModelError(f"{path}: cannot be read (it holds no table)")
    return content
