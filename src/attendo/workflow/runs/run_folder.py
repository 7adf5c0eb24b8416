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
    """Refuses to write into a run folder that was removed, or unmounted, in mid-run: half of it would come to be.

    Raises:
        ModelError: it is gone.
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
        recipe: as resolved; where it fine-tunes a model, by `workflow.runs.initial_model`. The run keeps the number
            type that this machine takes for `training.dtype = "auto"`.
        folder: the run folder to make.
        prepared: the folder of its prepared data.
        launch: what `was_started_by` may ask for.

    Raises:
        ModelError: there is a run already, or the model to fine-tune cannot be read.
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
    """Lets one process at a time train in a run folder; a process that ends, however it does, is out of it.

    Where the file system cannot lock, nobody objects.

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
        ModelError: the folder is no run, or its recipe is not as the run wrote it: half a recipe is a recipe too, of
            another run.
        RecipeError: the recipe, or an override, cannot be meant.
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
        ModelError: the folder's run.json cannot be read, or does not say so.
    """
    found = _read_run(folder).get("prepared")
    if not isinstance(found, str) or "\0" in found:
        raise ModelError(f"{folder / 'run.json'}: does not say where the run's prepared data is; it was changed")
    return Path(found)


def was_started_by(folder: Path, launch: str) -> bool:
    """Whether there is a run that this very launch of torchrun has started, so that it has to go on with it."""
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

    That the data's files are as their manifest says is for `text.prepared.open_prepared` to find out.

    Raises:
        DataError: it is missing, or was prepared anew from something else; the message says from what.
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
    why = f"from other files ({', '.join(changed)} changed)" if changed else "with other settings"
    raise DataError(
        f"{prepared}: was prepared anew {why} since {folder} began, and would not go on as it did; put them back and "
        f"{again}; or start another run with -o RUN"
    )


def record_changes(folder: Path, recipe: Recipe, overrides: Sequence[str], step: int) -> None:
    """Stores the changes of `--resume --set`, so that the run keeps them from then on.

    Args:
        folder: the run folder.
        recipe: as it goes on, overrides included.
        overrides: as they were given.
        step: the step it goes on from.

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
    """Writes down in pieces of how many tokens a batch fits this run's memory.

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
    """Describes what training depends on in a prepared folder: the files that it reads, and the corpora behind them.

    Reports of the preparation are left out, which have its time.
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
