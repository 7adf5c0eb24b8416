"""What model folders and checkpoints have in common: `checksums.json`, which says whether a folder is whole."""

import os
from pathlib import Path
from typing import Any

from attendo.errors import ModelError
from attendo.files import sha256, write_json, write_text
from attendo.reading import MAX_JSON_BYTES, parse_json, printable, read_bounded, require_inside

CONFIG, WEIGHTS, CARD, CHECKSUMS = "config.json", "model.safetensors", "README.md", "checksums.json"
SOURCE_SPM, TARGET_SPM = "source.spm", "target.spm"
CONFIDENCE = "confidence.json"
"""What `attendo calibrate` has learned of a model; read where the checksums know it."""
_VERIFIED = (CONFIG, WEIGHTS, SOURCE_SPM, TARGET_SPM, "weights.safetensors", "state.json")
"""Files that are read where they are there, and so have to be in `checksums.json`."""
_MAX_SHOWN = 20


def verify_folder(folder: Path) -> list[str]:
    """Compares every file of a model or checkpoint folder with its size and checksum; nothing of it is loaded.

    Returns:
        What is wrong, a line each; empty where all is whole.
    """
    path = folder / CHECKSUMS
    try:
        content = read_json(path, ModelError(f"{path}: not found, so nothing can be compared; copy the folder again"))
    except ModelError as error:
        return [str(error)]
    if not isinstance(content, dict):
        return [f"{path}: holds no checksums; copy the folder again"]
    # A name is one of the folder itself, wherever a broken list points.
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
    """What `checksums.json` says of a file."""
    return {"bytes": file.stat().st_size, "sha256": sha256(file)}


def drop_file(folder: Path, name: str) -> None:
    """Removes a file from a whole folder, which stays whole: its checksum goes first.

    Raises:
        ModelError: the checksums are torn.
        OSError: the disk is full, or the folder cannot be written to.
    """
    if (folder / name).exists():
        checksums = read_json(folder / CHECKSUMS, ModelError(f"{folder / CHECKSUMS}: not found"))
        if not isinstance(checksums, dict):
            raise ModelError(f"{folder / CHECKSUMS}: holds no checksums; copy the folder again")
        write_json(folder / CHECKSUMS, {file: value for file, value in checksums.items() if file != name})
        (folder / name).unlink()


def replace_file(folder: Path, name: str, text: str) -> None:
    """Writes a text into a whole folder, which stays whole at every moment: its checksum goes first.

    Args:
        folder: a model folder.
        name: of a file that nobody needs in order to read the folder.
        text: its new content.

    Raises:
        ModelError: the checksums are missing or torn.
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
        missing: what to raise where there is none.

    Raises:
        ModelError: there is none, or it cannot be read: it is no JSON, no plain file of the folder, or larger than
            any of ours.
    """
    try:
        require_inside(path)
        return parse_json(read_bounded(path, MAX_JSON_BYTES))
    except (FileNotFoundError, NotADirectoryError):
        raise missing from None
    except (ValueError, OSError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise ModelError(f"{path}: cannot be read ({why}); copy or write it again") from error


def file_problem(file: Path, expected: Any) -> str | None:
    """How a file differs from what `checksums.json` says of it; None where it does not.

    Args:
        file: in its folder.
        expected: as `seal` gives it, or, in a folder written before there were sizes, the SHA-256 alone.
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
