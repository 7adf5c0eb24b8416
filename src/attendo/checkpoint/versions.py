"""Versions of a model: numbered model folders in one folder, and a file that says which of them is in use.

NAME/current        the number of the version in use; replaced atomically, so that readers find the old or the new one
NAME/versions/1/    the model folder of a version, which never changes
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from attendo.checkpoint.checksums import CONFIG, verify_folder
from attendo.errors import ModelError
from attendo.files import atomic_folder, write_text
from attendo.reading import read_bounded

_CURRENT = "current"
VERSIONS = "versions"
"""Name of the folder that holds the versions' model folders."""
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
_MAX_BYTES = 64


@dataclass(frozen=True, kw_only=True)
class ModelVersion:
    """A version of a model."""

    number: int
    folder: Path
    is_current: bool
    """Whether this version is in use."""


def has_versions(folder: Path) -> bool:
    """Returns whether a folder holds versions of a model."""
    return (folder / _CURRENT).is_file() and (folder / VERSIONS).is_dir()


def current_version(folder: Path) -> Path:
    """Returns the model folder of the version in use.

    Raises:
        ModelError: the number of the version in use cannot be read, or that version does not exist.
    """
    return version_folder(folder, _current_number(folder))


def version_folder(folder: Path, number: int) -> Path:
    """Returns the model folder of a version.

    Raises:
        ModelError: the version does not exist.
    """
    version = folder / VERSIONS / str(number)
    if not (version / CONFIG).is_file():
        numbers = ", ".join(map(str, _numbers(folder))) or "none"
        raise ModelError(f"{folder}: has no version {number}; there are {numbers}")
    return version


def model_versions(folder: Path) -> tuple[ModelVersion, ...]:
    """Lists the versions, oldest first.

    Raises:
        ModelError: the folder holds no versions.
    """
    _require_versions(folder)
    current = _current_number(folder)
    return tuple(
        ModelVersion(number=number, folder=folder / VERSIONS / str(number), is_current=number == current)
        for number in _numbers(folder)
    )


def use_version(folder: Path, number: int) -> None:
    """Puts a version into use atomically: readers of the model find this version or the one before.

    Raises:
        ModelError: the version does not exist, or its files do not match its checksums.
        OSError: the folder cannot be written to.
    """
    _require_versions(folder)
    if problems := verify_folder(version_folder(folder, number)):
        raise ModelError("\n".join(problems))
    write_text(folder / _CURRENT, f"{number}\n")


def next_version(folder: Path) -> Path:
    """Returns the folder for the next version."""
    return folder / VERSIONS / str(max(_numbers(folder), default=0) + 1)


def add_version(folder: Path, model: Path) -> int:
    """Copies a model folder as the next version; the first version is put into use.

    Args:
        folder: the folder of the versions, created if it is missing.
        model: an intact model folder.

    Returns:
        The number of the new version.

    Raises:
        ModelError: the model's files do not match its checksums, or `folder` holds something else.
        OSError: the disk is full, or the folder cannot be written to.
    """
    if problems := verify_folder(model):
        raise ModelError("\n".join(problems))
    if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not (folder / VERSIONS).is_dir())):
        raise ModelError(f"{folder}: does not hold versions of a model; name another folder")
    target = next_version(folder)
    with atomic_folder(target) as draft:
        shutil.copytree(model, draft, dirs_exist_ok=True)
    if not (folder / _CURRENT).exists():
        write_text(folder / _CURRENT, f"{target.name}\n")
    return int(target.name)


def split_version(name: str) -> tuple[str, int | None]:
    """Splits NAME@VERSION into its two parts; without a number the version is None."""
    folder, at, number = name.rpartition("@")
    return (folder, int(number)) if at and folder and _NUMBER.fullmatch(number) else (name, None)


def _current_number(folder: Path) -> int:
    path = folder / _CURRENT
    try:
        content = read_bounded(path, _MAX_BYTES).decode("ascii", errors="replace").strip()
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: cannot be read ({error}); choose one with: attendo models use {folder}@1") from error
    if not _NUMBER.fullmatch(content):
        raise ModelError(f"{path}: holds no version's number; choose one with: attendo models use {folder}@1")
    return int(content)


def _numbers(folder: Path) -> list[int]:
    if not (folder / VERSIONS).is_dir():
        return []
    return sorted(int(path.name) for path in (folder / VERSIONS).iterdir() if _NUMBER.fullmatch(path.name))


def _require_versions(folder: Path) -> None:
    if not has_versions(folder):
        raise ModelError(f"{folder}: holds no versions of a model; begin with: attendo models add {folder} MODEL")
