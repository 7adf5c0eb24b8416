"""Finds the model or run that a name refers to, without heavy imports, so that a mistyped name fails at once."""

import difflib
from pathlib import Path

from attendo.checkpoint.checksums import CONFIG
from attendo.checkpoint.versions import current_version, has_versions, split_version, version_folder
from attendo.errors import ModelError

SHIPPED = Path(__file__).parents[1] / "models"
"""Folder of the models that come with the package, each in a folder named after its languages."""


def shipped_models() -> dict[str, Path]:
    """Returns the folders of the models that come with the package, by name, sorted."""
    return {path.name: path for path in sorted(SHIPPED.glob("*")) if (path / CONFIG).is_file()}


def find_model(name: str) -> Path:
    """Finds the model folder that a MODEL on the command line refers to.

    Args:
        name: a model folder; a run folder, for its best averaged model; a folder of versions, for the version in use
            (NAME@VERSION for another one); or the name of a shipped model. They are tried in this order.

    Returns:
        The model folder.

    Raises:
        ModelError: there is no such model.
    """
    path = Path(name)
    if (path / CONFIG).is_file():
        return path
    if (path / "model" / CONFIG).is_file():
        return path / "model"
    if has_versions(path):
        return current_version(path)
    versions, number = split_version(name)
    if number is not None and not path.exists() and has_versions(Path(versions)):
        return version_folder(Path(versions), number)
    if (path / "checkpoints").is_dir():
        raise ModelError(
            f"{path}: this run has no model yet; continue training (attendo train --resume -o {path}), or take its "
            f"checkpoints: attendo average {path} --last 5 -o MODEL"
        )
    shipped = shipped_models()
    if name in shipped:
        return shipped[name]
    near = difflib.get_close_matches(name.lower(), shipped, n=1)
    hint = f"; did you mean {near[0]}?" if near else "."
    known = f"{hint} Shipped models: {', '.join(shipped)}" if shipped else ""
    if path.exists():
        raise ModelError(f"{path}: neither a model folder (with {CONFIG}) nor a run folder (with checkpoints/){known}")
    raise ModelError(f"{name}: no such model or run folder{known}; train one with: attendo train RECIPE -o {name}")


def is_run(folder: Path) -> bool:
    """Returns whether a folder holds a run, intact or damaged."""
    return (folder / "checkpoints").is_dir() or (folder / "run.json").exists()


def check_run(folder: Path) -> None:
    """Refuses anything but a run folder.

    Raises:
        ModelError: the folder does not exist, or is not a run folder.
    """
    if not folder.is_dir():
        raise ModelError(f"{folder}: there is no such run folder; name one that attendo train has made")
    if not is_run(folder):
        raise ModelError(f"{folder}: is not a run folder (it has neither checkpoints/ nor run.json); name a run folder")


def check_resumable(folder: Path) -> None:
    """Refuses a folder in which training cannot be resumed.

    Raises:
        ModelError: `recipe.toml` or `run.json` is missing.
    """
    if not (folder / "recipe.toml").is_file() or not (folder / "run.json").is_file():
        raise ModelError(f"{folder}: no run to resume (recipe.toml or run.json is missing); leave out --resume")
