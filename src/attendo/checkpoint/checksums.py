"""The `checksums.json` of model folders and checkpoints, by which a folder is checked for completeness."""

import os
from pathlib import Path
from typing import Any

from attendo.errors import ModelError
from attendo.files import sha256, write_json, write_text
from attendo.reading import MAX_JSON_BYTES, parse_json, printable, read_bounded, require_inside

CONFIG, WEIGHTS, CARD, CHECKSUMS = "config.json", "model.safetensors", "README.md", "checksums.json"
SOURCE_SPM, TARGET_SPM = "source.spm", "target.spm"
CONFIDENCE = "confidence.json"
"""The calibration that `attendo calibrate` writes; it is only read if the checksums list it."""
_VERIFIED = (CONFIG, WEIGHTS, SOURCE_SPM, TARGET_SPM, "weights.safetensors", "state.json")
"""Files that are read if they exist, and therefore have to be in `checksums.json`."""
_MAX_SHOWN = 20


def verify_folder(folder: Path) -> list[str]:
    """Compares every file of a model or checkpoint folder with its size and checksum, without loading it.

    Returns:
        The problems, one per line; empty if the folder is intact.
    """
    path = folder / CHECKSUMS
    try:
        content = read_json(path, ModelError(f"{path}: not found, so nothing can be compared; copy the folder again"))
    except ModelError as error:
        return [str(error)]
    if not isinstance(content, dict):
        return [f"{path}: holds no checksums; copy the folder again"]
    # Names are taken relative to the folder itself, even if a damaged list points elsewhere.
    compared = (file_problem(folder / Path(name).name, expected) for name, expected in content.items())
    unknown = (name for name in _VERIFIED if name not in content and (folder / name).exists())
    problems = [
        *(problem for problem in compared if problem),
        *(f"{folder / name}: {CHECKSUMS} does not know it; copy the folder again" for name in unknown),
    ]
    more = [f"{folder}: and {len(problems) - _MAX_SHOWN:,} more files"] * (len(problems) > _MAX_SHOWN)
    return problems[:_MAX_SHOWN] + more


def write_checksums(folder: Path) -> None:
    """Writes `checksums.json` for all files of a folder."""
    files = sorted(file for file in folder.iterdir() if file.name != CHECKSUMS)
    write_json(folder / CHECKSUMS, {file.name: seal(file) for file in files})


def seal(file: Path) -> dict[str, int | str]:
    """Returns the entry of a file in `checksums.json`: its size in bytes and its SHA-256."""
    return {"bytes": file.stat().st_size, "sha256": sha256(file)}


def drop_file(folder: Path, name: str) -> None:
    """Removes a file from an intact folder, which stays intact, as the checksum is removed first.

    Raises:
        ModelError: the checksums cannot be read.
        OSError: the disk is full, or the folder cannot be written to.
    """
    if (folder / name).exists():
        checksums = read_json(folder / CHECKSUMS, ModelError(f"{folder / CHECKSUMS}: not found"))
        if not isinstance(checksums, dict):
            raise ModelError(f"{folder / CHECKSUMS}: holds no checksums; copy the folder again")
        write_json(folder / CHECKSUMS, {file: value for file, value in checksums.items() if file != name})
        (folder / name).unlink()


def replace_file(folder: Path, name: str, text: str) -> None:
    """Writes a text file into an intact folder, which stays intact at every moment, as the checksum is removed first.

    Args:
        folder: a model folder.
        name: name of a file that is not needed for reading the folder.
        text: the new content of the file.

    Raises:
        ModelError: the checksums are missing or cannot be read.
        OSError: the disk is full, or the folder cannot be written to.
    """
    checksums = read_json(folder / CHECKSUMS, ModelError(f"{folder / CHECKSUMS}: not found; copy the folder again"))
    if not isinstance(checksums, dict):
        raise ModelError(f"{folder / CHECKSUMS}: holds no checksums; copy the folder again")
    others = {file: value for file, value in checksums.items() if file != name}
    write_json(folder / CHECKSUMS, others)
    write_text(folder / name, text)
    write_json(folder / CHECKSUMS, dict(sorted((others | {name: seal(folder / name)}).items())))


def read_json(path: Path, missing: ModelError) -> Any:
    """Reads a JSON file of a folder.

    Args:
        path: the file.
        missing: the error to raise if the file does not exist.

    Raises:
        ModelError: the file does not exist or cannot be read: it is not JSON, not a regular file of the folder, or
            larger than `MAX_JSON_BYTES`.
    """
    try:
        require_inside(path)
        return parse_json(read_bounded(path, MAX_JSON_BYTES))
    except (FileNotFoundError, NotADirectoryError):
        raise missing from None
    except (ValueError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ModelError(f"{path}: cannot be read ({reason}); copy or write it again") from error


def file_problem(file: Path, expected: Any) -> str | None:
    """Describes how a file differs from its entry in `checksums.json`; None if it matches.

    Args:
        file: path of the file in its folder.
        expected: the entry as `seal` returns it, or only the SHA-256 in a folder written before entries had sizes.
    """
    seal = {"sha256": expected} if isinstance(expected, str) else expected
    shown = file.parent / printable(file.name)[:100]
    if (
        not isinstance(seal, dict)
        or not isinstance(seal.get("sha256"), str)
        or not isinstance(seal.get("bytes", 0), int)
    ):
        return f"{shown}: {CHECKSUMS} says nothing of it that can be compared; copy the folder again"
    try:
        if not os.path.lexists(file):
            return f"{shown}: missing"
        require_inside(file)
        size = file.stat().st_size
        if seal.get("bytes", size) != size:
            return f"{shown}: has {size} bytes, not {seal['bytes']}; it was changed or is torn"
        if sha256(file) != seal["sha256"]:
            return f"{shown}: differs from its checksum; it was changed or is torn"
    except OSError as error:
        return f"{shown}: cannot be read ({error.strerror})"
    return None
