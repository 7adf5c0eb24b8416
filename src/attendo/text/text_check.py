"""Checks that the files of corpora exist and are lines of text, before any of them is read."""

from collections.abc import Iterator
from pathlib import Path

from attendo.errors import DataError
from attendo.text.corpora import CorpusConfig, DataConfig
from attendo.text.files.compression import READING_ERRORS, not_a_file, open_content
from attendo.text.files.file_patterns import has_wildcards
from attendo.text.files.recognition import HEAD_BYTES, recognized


def check_files(data: DataConfig, base_folder: Path) -> None:
    """Checks that all corpus files exist and are files.

    Args:
        data: the section.
        base_folder: the folder to which `data.folder` is relative.

    Raises:
        DataError: at least one is missing; the message lists every one.
    """
    corpora = [*data.corpora, *([data.valid] if data.valid else [])]
    paths = [path for corpus in corpora for path in corpus.paths(base_folder / data.folder)]
    problems = [(path, _file_problem(path)) for path in paths if not_a_file(path)]
    if problems:
        listed = "".join(f"\n  {path}: {problem}" for path, problem in problems)
        raise DataError(
            f"{len(problems)} of the files that the recipe's section data names cannot be used; correct the paths, or "
            f"data.folder, which they are relative to:{listed}"
        )


def _file_problem(path: Path) -> str:
    """Returns the problem of a path that is not a file."""
    if has_wildcards(str(path)) and not path.exists():
        return "there is no such file, and none that matches the pattern"
    return not_a_file(path) or ""


def check_text(data: DataConfig, base_folder: Path) -> None:
    """Rejects corpus files that are not lines of text.

    Treebanks and files of units are left to their own readers.

    Args:
        data: the section with resolved corpora, whose files exist.
        base_folder: the folder to which `data.folder` is relative.

    Raises:
        DataError: at least one is; the message lists every one, with its apparent format and how to convert it to text.
    """
    configs = [*data.corpora, *([data.valid] if data.valid else [])]
    problems = list(dict.fromkeys(line for config in configs for line in _problems(config, base_folder / data.folder)))
    if problems:
        raise DataError("\n".join(problems))


def _problems(config: CorpusConfig, folder: Path) -> Iterator[str]:
    if config.trees is not None:
        return
    reads_json = bool(config.translations or config.back_translations)
    for one in config.file_sets:
        if one.has_units:
            continue  # `formats.pairs` reports their problems
        for name, encoding in zip(one.files, one.encodings, strict=False):
            found = recognized(name, *_beginning(folder / name), encoding=encoding)
            if found is not None and not (reads_json and found.kind == "json"):
                yield f"{folder / name}: {found}"


def _beginning(path: Path) -> tuple[bytes, bool]:
    """Reads the first bytes of a file, decompressed, and whether they are the whole file."""
    raw, text = open_content(path)
    with raw, text:
        try:
            head = text.read(HEAD_BYTES)
            return head, len(head) < HEAD_BYTES
        except READING_ERRORS as error:
            raise DataError(
                f"{path}: cannot be read ({error}); is it complete? Download or compress it again"
            ) from error
