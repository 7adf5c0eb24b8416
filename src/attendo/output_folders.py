"""Folders that commands create, and the rule for which of a user's files they may replace.

A missing or empty folder is always accepted. A non-empty one is rejected unless `--force` is given:

- A command that makes a whole folder (average, export, import) replaces only a folder that the same command made from
  the same input with the same options, and only if nothing was added or changed since. `.made-by.json` in the folder
  records this.
- A command that resumes work in a folder (train, demo, data get, reproduce) accepts one that it began.

Prepared data has such a record in its manifest: `text.prepared` compares it.
"""

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from attendo.destinations import missing_folder
from attendo.errors import ModelError
from attendo.files import atomic_folder, sha256, write_json
from attendo.reading import MAX_JSON_BYTES, parse_json, printable, read_bounded

RECORD = ".made-by.json"
_DRAFTS = (".tmp-", ".old-")
_LISTED = 4


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The command and input that make a folder; commands with equal origins may replace each other's folder."""

    command: str
    """Such as `export`."""
    source: Path
    """The input of the command."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The options that determine the result, as JSON values."""

    def to_json(self) -> dict[str, Any]:
        """Returns the origin as the record has it, the path as a digest: a folder may be passed on."""
        source = hashlib.sha256(os.fsencode(self.source.resolve())).hexdigest()
        return {"command": self.command, "source": source, "options": dict(self.options)}


def followed(output: Path) -> Path:
    """The folder that a path leads to after following all symbolic links.

    Raises:
        ModelError: a link leads back to itself.
    """
    folder = Path(os.path.realpath(output))
    if folder.is_symlink():
        raise ModelError(f"{output}: is a symbolic link that leads back to itself; remove it, or name another folder")
    return folder


def check_output_folder(output: Path) -> Path | None:
    """Refuses an output folder that cannot be made. Nothing is changed.

    Returns:
        The folder around it that is missing and will be made too; None if it is there.

    Raises:
        DataError: the folder around it cannot be made or written to.
        ModelError: the path is a file, or a link that leads back to itself.
    """
    folder = followed(output)
    if folder.is_dir():
        return None
    if os.path.lexists(folder):
        raise ModelError(f"{output}: is a file; name a folder")
    return missing_folder(output, folder.parent)


def contents(folder: Path) -> list[str]:
    """The names in a folder, without drafts of killed processes; none if there is no such folder."""
    if not folder.is_dir():
        return []
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith(_DRAFTS))


def listed(names: Sequence[str]) -> str:
    """A few names, and the number of the others."""
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return printable(", ".join(names[:_LISTED])) + more


def check_replaceable(output: Path, origin: Origin, *, force: bool = False) -> None:
    """Rejects replacing a folder that the command did not make; see the module's docstring.

    Args:
        output: the folder to make.
        origin: the command and input that will make it.
        force: replace anything there.

    Raises:
        DataError: the folder around it cannot be made or written to.
        ModelError: the path is a file, a folder that holds something else, or a needed one.
    """
    check_output_folder(output)
    folder = followed(output)
    if not folder.is_dir():
        return
    check_dispensable(output, origin.source)
    if contents(folder) and not force and (reason := _difference(folder, origin)):
        raise ModelError(f"{output}: {reason}; name another folder, or replace all of it with --force")


def check_dispensable(output: Path, source: Path) -> None:
    """Rejects replacing a needed folder: the working folder, the home folder, or the input.

    Raises:
        ModelError: one of them is the folder or is in it.
    """
    folder = followed(output)
    home = os.environ.get("HOME", "")
    for needed, name in ((".", "the folder you are in"), (home, "your home folder"), (source, source)):
        real = Path(os.path.realpath(needed))
        if real == folder or folder in real.parents:
            raise ModelError(f"{output}: is {name}, or a folder around it, and is not replaced; name another folder")


@contextmanager
def made_folder(output: Path, origin: Origin, *, force: bool = False) -> Iterator[Path]:
    """Yields a draft of a folder to fill, which replaces `output`, with its record, when the block succeeds.

    Call `check_replaceable` first, before the work is done.

    A symbolic link stays and leads to the new folder; an older folder's mode is kept.

    Args:
        output: the folder to make.
        origin: the command and input that make it.
        force: replace anything there.

    Raises:
        ModelError: as `check_replaceable`.
        OSError: the disk is full, or the folder cannot be written to.
    """
    folder = followed(output)
    with atomic_folder(folder) as draft:
        yield draft
        check_replaceable(output, origin, force=force)  # the folder may have changed meanwhile
        write_json(draft / RECORD, {"format_version": 1, **origin.to_json(), "files": _checksums(draft)})
        if folder.is_dir():
            draft.chmod(folder.stat().st_mode)


def check_begun(output: Path, command: str, marks: Sequence[str], *, force: bool = False) -> None:
    """Rejects a non-empty folder to work in, unless the command began it.

    Args:
        output: the folder.
        command: the command, such as `train`, for the message.
        marks: paths in the folder, one of which exists once the command has begun.
        force: work in it regardless.

    Raises:
        DataError: the folder around it cannot be made or written to.
        ModelError: the path is a file, or contains something else.
    """
    check_output_folder(output)
    names = [name for name in contents(output) if name != ".lock"]
    if force or not names or any(os.path.lexists(output / mark) for mark in marks):
        return
    raise ModelError(
        f"{output}: holds something else than `attendo {command}` writes ({listed(names)}); name another folder, or "
        "write into this one with --force"
    )


def _difference(folder: Path, origin: Origin) -> str | None:
    """The difference of a folder from the one that an origin makes; None if it may be replaced."""
    try:
        record = parse_json(read_bounded(folder / RECORD, MAX_JSON_BYTES))
        files = dict(record.pop("files"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return f"holds something that `attendo {origin.command}` did not make ({listed(contents(folder))})"
    if record != {"format_version": 1, **origin.to_json()}:
        return f"was made by `attendo {printable(str(record.get('command')))}` of something else or with other options"
    found = _checksums(folder)
    changed = sorted(name for name in found if found[name] != files.get(name))
    return f"has files added or changed since it was made ({listed(changed)})" if changed else None


def _checksums(folder: Path) -> dict[str, str]:
    """A mark for each entry in a folder, except the record: the SHA-256 of a file, the kind of any other entry."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[path.relative_to(folder).as_posix()] = f"link to {path.readlink()}"
        elif not path.is_file():
            found[path.relative_to(folder).as_posix()] = "folder" if path.is_dir() else "no regular file"
        elif path != folder / RECORD:
            found[path.relative_to(folder).as_posix()] = sha256(path)
    return found
