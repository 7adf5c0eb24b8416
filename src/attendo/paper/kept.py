"""Results kept on disk: what is there in the form of this version is read, everything else is measured again."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from attendo.files import write_json

KeptT = TypeVar("KeptT")


def kept(path: Path, kind: TypeAdapter[KeptT]) -> KeptT | None:
    """Reads a kept result; None where there is none, or one of another version.

    Args:
        path: the JSON file.
        kind: what it holds.
    """
    try:
        return kind.validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def measured_once(path: Path, kind: TypeAdapter[KeptT], measure: Callable[[], KeptT]) -> KeptT:
    """Reads a kept result, or measures and keeps it.

    Args:
        path: the JSON file.
        kind: the dataclass that it holds.
        measure: what to do where nothing is kept.

    Raises:
        OSError: the file cannot be written.
    """
    found = kept(path, kind)
    if found is None:
        found = measure()
        keep(path, found)
    return found


def keep(path: Path, result: Any) -> None:
    """Writes a result, a dataclass, whole or not at all.

    Raises:
        OSError: the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, asdict(result))
