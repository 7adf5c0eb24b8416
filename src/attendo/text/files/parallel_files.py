"""Files of parallel text by lists and patterns: how they are found, and which two translate each other."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from attendo.errors import DataError
from attendo.text.files.file_patterns import MAX_FILES, expanded, has_wildcards, matches

_SIDES = re.compile(r"\{([^{},]*),([^{},]*)\}")
_LISTED = 5


def sides_of(pair: str) -> tuple[str, str] | None:
    """Returns the patterns of source and target in `corpus.{en,de}`; None if it is not a pair.

    Args:
        pair: a path with two names between one pair of braces, the source's first. Other braces hold ranges.
    """
    found = list(_SIDES.finditer(pair))
    if len(found) != 1 or found[0][1] == found[0][2]:
        return None
    before, after = pair[: found[0].start()], pair[found[0].end() :]
    return before + found[0][1] + after, before + found[0][2] + after


def listed_files(patterns: Sequence[str], folder: Path) -> tuple[str, ...]:
    """Finds the files that match patterns, relative to the folder; those of each pattern sorted by name.

    Args:
        patterns: paths, with `{01..12}`, `{a,b}`, `*`, `?` and `[...]` as for `file_patterns.matching_files`.
        folder: the folder for relative patterns.

    Returns:
        The names, without repetition; a pattern without matches is returned itself.

    Raises:
        DataError: there are too many, or a pattern is invalid.
        OSError: a folder cannot be read.
    """
    found = chain.from_iterable(_matches_or_itself(one, folder) for one in _expanded(patterns, folder))
    return tuple(dict.fromkeys(found))


def paired_files(sources: Sequence[str], targets: Sequence[str], folder: Path) -> tuple[tuple[str, str], ...]:
    """Finds the pairs of files that match patterns of sources and of targets.

    If both sides have a pattern with `*`, `?` or `[...]`, two files belong together if these match the same text, and
    the pairs are sorted by it. Otherwise the files are paired in their order.

    Args:
        sources: patterns as for `listed_files`.
        targets: the patterns of targets, in the same order.
        folder: the folder for relative patterns.

    Raises:
        DataError: a file has no counterpart, or the sides differ in number; the message names both sides.
        OSError: a folder cannot be read.
    """
    sides = [_expanded(patterns, folder) for patterns in (sources, targets)]
    if len(sides[0]) == len(sides[1]):
        return tuple(chain.from_iterable(_paired(one, other, folder) for one, other in zip(*sides, strict=True)))
    listed = [listed_files(side, folder) for side in sides]
    if len(listed[0]) != len(listed[1]):
        raise DataError(
            f"the sources {_shown(listed[0])} are {len(listed[0])} files and the targets {_shown(listed[1])} are "
            f"{len(listed[1])}: each file of one side needs its counterpart on the other; correct the lists or patterns"
        )
    return tuple(zip(*listed, strict=True))


def _expanded(patterns: Sequence[str], folder: Path) -> list[str]:
    """Returns patterns with their braces expanded."""
    found = list(islice(chain.from_iterable(expanded(pattern, folder) for pattern in patterns), MAX_FILES + 1))
    if len(found) > MAX_FILES:
        raise DataError(
            f"{_shown(patterns)}: these are more than {MAX_FILES:,} files; name fewer, or put them together"
        )
    return found


def _paired(source: str, target: str, folder: Path) -> Iterator[tuple[str, str]]:
    """Pairs the files of one pattern per side."""
    found = [list(_matches_or_itself(pattern, folder)) for pattern in (source, target)]
    is_pattern = [
        has_wildcards(pattern) and names != [pattern] for pattern, names in zip((source, target), found, strict=True)
    ]
    if not all(is_pattern):
        if len(found[0]) != len(found[1]):
            raise DataError(
                f"source = {source} stands for {len(found[0])} files ({_shown(found[0])}) and target = {target} for "
                f"{len(found[1])} ({_shown(found[1])}): each needs its counterpart; correct the patterns"
            )
        yield from zip(*found, strict=True)
        return
    by_key = [
        {_wildcard_text(pattern, name): name for name in names}
        for pattern, names in zip((source, target), found, strict=True)
    ]
    lonely = [[name for key, name in by_key[side].items() if key not in by_key[1 - side]] for side in (0, 1)]
    if lonely[0] or lonely[1]:
        messages = [
            f"{_shown(names)} of {'source' if side == 0 else 'target'} = {(source, target)[side]} matches no file of "
            f"{'target' if side == 0 else 'source'} = {(source, target)[1 - side]}"
            for side, names in enumerate(lonely)
            if names
        ]
        raise DataError(f"{', and '.join(messages)}; what * stands for must be the same on both sides")
    yield from ((by_key[0][key], by_key[1][key]) for key in sorted(by_key[0]))


def _matches_or_itself(pattern: str, folder: Path) -> Iterator[str]:
    """Yields the files of a pattern without braces, sorted; itself if there are none."""
    files = [path for path in matches(pattern, folder) if path == folder / pattern or _is_meant(path, pattern)]
    names = [str(path.relative_to(folder)) if not Path(pattern).is_absolute() else str(path) for path in files]
    yield from names or [pattern]


def _is_meant(path: Path, pattern: str) -> bool:
    """Whether a match of `*` is a file and not hidden, as in a shell."""
    return path.is_file() and (not path.name.startswith(".") or Path(pattern).name.startswith("."))


def _wildcard_text(pattern: str, name: str) -> tuple[str, ...]:
    """Returns the text matched by each `*`, `?` and `[...]` of a pattern in a matching name."""
    parts = {"**/": "((?:.+/)?)", "**": "(.*)", "*": "([^/]*)", "?": "([^/])"}
    tokens = re.split(r"(\*\*/|\*\*|\*|\?|\[!?\]?[^\]]*\])", pattern)
    written = [
        parts.get(token) or (f"([{token[1:-1].replace('!', '^', 1)}])" if token.startswith("[") else re.escape(token))
        for token in tokens
    ]
    found = re.fullmatch("".join(written), name, re.DOTALL)
    return found.groups() if found else (name,)


def _shown(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more
