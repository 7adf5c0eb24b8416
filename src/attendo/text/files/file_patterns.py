"""Files by a pattern: one file, several, those of a folder, or those of numbered folders, as in treebanks."""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from attendo.errors import DataError

TREE_ENDINGS = (".mrg", ".ptb", ".tree", ".trees", ".parse", ".prd")
"""Endings of treebank files; compressed ones add .gz, .bz2, .xz or .zst."""

_PACKED = (".gz", ".bz2", ".xz", ".zst")
_BRACES = re.compile(r"\{([^{}]*(?:\.\.|,)[^{}]*)\}")
_RANGE = re.compile(r"(\d{1,6})\.\.(\d{1,6})")
MAX_FILES = 20_000
"""Maximum number of files that a pattern matches."""


def matching_files(pattern: str, folder: Path) -> tuple[Path, ...]:
    """Finds the files that match a pattern.

    Args:
        pattern: a path, in which `{02..21}` expands to all numbers of the range, padded like the first one,
            `{train,dev}` to each alternative, `{00,22..24}` to both kinds, and `*`, `?` and `[...]` match as in a shell
            (`**` for nested folders). A folder represents the treebank files in it and below, by `TREE_ENDINGS`.
        folder: the folder for relative patterns.

    Returns:
        The files, sorted by name within each part; a path without matches is returned itself.

    Raises:
        DataError: there are more than 20,000, or a range or the pattern is invalid.
        OSError: a folder cannot be read.
    """
    found: dict[Path, None] = {}  # without repetition, in order
    for path in expanded(pattern, folder):
        for file in _files_of(path, folder):
            found[file] = None
            if len(found) > MAX_FILES:
                raise DataError(f"{pattern}: these are more than {MAX_FILES:,} files; name fewer, or put them together")
    return tuple(found)


def expanded(pattern: str, folder: Path) -> Iterator[str]:
    """Yields a pattern without braces, once for each of their values.

    Args:
        pattern: as for `matching_files`; if a file of exactly this name exists, its braces are literal.
        folder: the folder for relative patterns.

    Raises:
        DataError: a range is invalid.
    """
    braces = _BRACES.search(pattern)
    if braces is None or (folder / pattern).exists():
        yield pattern
        return
    values = [value for part in braces[1].split(",") for value in _values(part, pattern)]
    for value in values:
        yield from expanded(f"{pattern[: braces.start()]}{value}{pattern[braces.end() :]}", folder)


def _values(part: str, pattern: str) -> list[str]:
    """The numbers of a range, or the part itself if it is no range."""
    found = _RANGE.fullmatch(part)
    if found is None:
        return [part]
    first, last = int(found[1]), int(found[2])
    if not first <= last < first + MAX_FILES:
        raise DataError(f"{pattern}: {part} is no range from a number to a larger one; write it as {{02..21}}")
    return [f"{number:0{len(found[1])}d}" for number in range(first, last + 1)]


def has_wildcards(pattern: str) -> bool:
    """Whether a pattern has `*`, `?` or `[`."""
    return re.search(r"[*?[]", pattern) is not None


def matches(pattern: str, folder: Path) -> tuple[Path, ...]:
    """Finds the files and folders that match a pattern without braces, sorted.

    Args:
        pattern: if a file or folder of exactly this name exists, only that matches.
        folder: the folder for relative patterns.

    Raises:
        DataError: the pattern is invalid.
        OSError: a folder cannot be read.
    """
    path = folder / pattern
    if not has_wildcards(pattern) or path.exists():
        return (path,)
    # Relative to the folder itself, whose own name may contain pattern characters.
    anchor = Path(pattern).anchor
    try:
        found = Path(anchor).glob(str(Path(pattern).relative_to(anchor))) if anchor else folder.glob(pattern)
        return tuple(sorted(islice(found, MAX_FILES + 1)))
    except (ValueError, NotImplementedError) as error:
        raise DataError(f"{pattern}: is no pattern of files ({error}); write ** between slashes alone") from error


def _files_of(pattern: str, folder: Path) -> Iterator[Path]:
    for match in matches(pattern, folder) or (folder / pattern,):
        yield from _files_below(match)


def _files_below(path: Path) -> Iterator[Path]:
    """Lists the treebank files of a folder; a file, or a folder without any, yields itself."""
    if not path.is_dir():
        yield path
        return
    files = (file for file in path.rglob("*") if _is_treebank(file.name) and file.is_file())
    yield from sorted(islice(files, MAX_FILES + 1)) or [path]


def _is_treebank(name: str) -> bool:
    for ending in _PACKED:
        name = name.removesuffix(ending)
    return name.lower().endswith(TREE_ENDINGS) and not name.startswith(".")
