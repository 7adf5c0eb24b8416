"""The lines of corpora as pairs, by the declared format of the corpus's files."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from attendo.text.corpora import CorpusConfig
from attendo.text.files.formats import LineReader, Lines, RawPair, read_line_pairs, read_translations, read_tsv
from attendo.text.files.unit_lines import read_unit_lines

ReadCorpus = Callable[[CorpusConfig, Path], Iterator[RawPair]]
"""Yields every pair of a corpus; its arguments are the corpus and the folder that its paths are relative to."""


def read_corpus(corpus: CorpusConfig, folder: Path) -> Iterator[RawPair]:
    """Yields every pair of a corpus of lines unchanged, one file after the other.

    Args:
        corpus: the corpus. One of units (`CorpusConfig.has_units`) is read by `formats.pairs.read_units`.
        folder: the folder to which its paths are relative.

    Raises:
        DataError: a file is missing, broken or not in its encoding, or two of a pair differ in their number of lines.
    """
    for file_set in corpus.resolved(folder).file_sets:
        assert not file_set.has_units, "units are not lines"
        with ExitStack() as stack:
            readers = [
                stack.enter_context(LineReader(folder / name, encoding=encoding))
                for name, encoding in zip(file_set.files, file_set.encodings, strict=False)
            ]
            yield from read_pairs(file_set, readers)


def read_pairs(corpus: CorpusConfig, files: Sequence[Lines]) -> Iterator[RawPair]:
    """Yields the pairs that lines of a corpus make, by its format.

    Args:
        corpus: the corpus.
        files: the lines of each of its files, from the same line on; for units, the lines made from them.

    Raises:
        DataError: there are two, and one has more lines than the other.
    """
    if corpus.has_units:
        return read_unit_lines(files[0])
    if corpus.translations or corpus.back_translations:
        return read_translations(files[0], back=corpus.back_translations is not None)
    return read_tsv(files[0]) if corpus.tsv else read_line_pairs(files[0], files[1])
