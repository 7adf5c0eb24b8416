"""Whether the files of corpora are lines of text, before anything of them is read."""

from collections.abc import Iterator
from pathlib import Path

from attendo.errors import DataError
from attendo.text.compression import READING_ERRORS, open_content
from attendo.text.corpora import CorpusConfig, DataConfig
from attendo.text.recognition import HEAD_BYTES, recognized


def check_text(data: DataConfig, base_folder: Path) -> None:
    """Refuses files of corpora that are something else than lines of text; treebanks are left to their own reader.

    Args:
        data: the section, its corpora resolved; the files are there.
        base_folder: what `data.folder` is relative to.

    Raises:
        DataError: at least one is; the message lists every one, with what it looks like and the way to text.
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
        for name, encoding in zip(one.files, one.encodings, strict=False):
            found = recognized(name, *_beginning(folder / name), encoding=encoding)
            if found is not None and not (reads_json and found.kind == "json"):
                yield f"{folder / name}: {found}"


def _beginning(path: Path) -> tuple[bytes, bool]:
    """Gives the first bytes of a file, decompressed, and whether these are all of it."""
    raw, text = open_content(path)
    with raw, text:
        try:
            head = text.read(HEAD_BYTES)
            return head, len(head) < HEAD_BYTES
        except READING_ERRORS as error:
            raise DataError(f"{path}: cannot be read ({error}); is it whole? Fetch or compress it again") from error
