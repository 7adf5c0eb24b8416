"""Files by a pattern: one, those of a folder, or those of numbered folders, as treebanks have their sections."""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from attendo.errors import DataError

TREE_ENDINGS = (".mrg", ".ptb", ".tree", ".trees", ".parse", ".prd")
"""What the names of treebank files end with, behind which a compressed one has .gz, .xz or .zst."""

_PACKED = (".gz", ".xz", ".zst")
_BRACES = re.compile(r"\{([^{}]*(?:\.\.|,)[^{}]*)\}")
_RANGE = re.compile(r"(\d{1,6})\.\.(\d{1,6})")
_MAX_FILES = 20_000


def matching_files(pattern: str, folder: Path) -> tuple[Path, ...]:
    """Finds the files that a pattern means.

    Args:
        pattern: a path, in which `{02..21}` stands for all numbers between these, written as wide as the first one,
            `{train,dev}` for one and the other, `{00,22..24}` for both kinds, and `*`, `?` and `[...]` for what a shell
            has them for (`**` for folders in folders). A folder stands for the treebank files in it and below, by
            `TREE_ENDINGS`.
        folder: what a relative pattern starts from.

    Returns:
        The files, those of each part in the order of their names; a path that nothing is found for stands for itself.

    Raises:
        DataError: these are more than 20,000, or a range or the pattern cannot be meant.
        OSError: a folder cannot be looked into.
    """
    found: dict[Path, None] = {}  # each once, in order
    for path in _expanded(pattern, folder):
        for file in _files_of(path, folder):
            found[file] = None
            if len(found) > _MAX_FILES:
                raise DataError(
                    f"{pattern}: these are more than {_MAX_FILES:,} files; name fewer, or put them together"
                )
    return tuple(found)


def _expanded(pattern: str, folder: Path) -> Iterator[str]:
    """A pattern without braces, once for each of their values."""
    braces = None if (folder / pattern).exists() else _BRACES.search(pattern)
    if braces is None:
        yield pattern
        return
    values = [value for part in braces[1].split(",") for value in _values(part, pattern)]
    for value in values:
        yield from _expanded(f"{pattern[: braces.start()]}{value}{pattern[braces.end() :]}", folder)


def _values(part: str, pattern: str) -> list[str]:
    """The numbers of a range, or what is no range as it stands."""
    found = _RANGE.fullmatch(part)
    if found is None:
        return [part]
    first, last = int(found[1]), int(found[2])
    if not first <= last < first + _MAX_FILES:
        raise DataError(f"{pattern}: {part} is no range from a number to a larger one; write it as {{02..21}}")
    return [f"{number:0{len(found[1])}d}" for number in range(first, last + 1)]


def _files_of(pattern: str, folder: Path) -> Iterator[Path]:
    path = folder / pattern
    if path.exists() or not re.search(r"[*?[]", pattern):
        yield from _files_below(path)
        return
    # From the folder itself, whose own name may hold characters that mean something in a pattern.
    anchor = Path(pattern).anchor
    try:
        found = Path(anchor).glob(str(Path(pattern).relative_to(anchor))) if anchor else folder.glob(pattern)
        matches = sorted(islice(found, _MAX_FILES + 1))
    except (ValueError, NotImplementedError) as error:
        raise DataError(f"{pattern}: is no pattern of files ({error}); write ** between slashes alone") from error
    if not matches:
        yield path
    for match in matches:
        yield from _files_below(match)


def _files_below(path: Path) -> Iterator[Path]:
    """A file is itself; a folder is the treebank files in it, or itself where it has none."""
    if not path.is_dir():
        yield path
        return
    files = (file for file in path.rglob("*") if _is_treebank(file.name) and file.is_file())
    yield from sorted(islice(files, _MAX_FILES + 1)) or [path]


def _is_treebank(name: str) -> bool:
    for ending in _PACKED:
        name = name.removesuffix(ending)
    return name.lower().endswith(TREE_ENDINGS) and not name.startswith(".")
