"""Parts of a corpus that can be read separately: byte ranges of its files that begin with a line.

A first quick pass over a plain file (`scan_file`) counts the line feeds before each block of it. From that the byte at
which any line begins is found by reading one block, so two files of a pair are cut at the same line. The parts of a
corpus depend only on its files, not on the readers.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from attendo.errors import DataError
from attendo.text.corpora import CorpusConfig
from attendo.text.files.encodings import is_wide
from attendo.text.files.formats import HeldLines, LineReader, RawPair, is_compressed, line_count_error
from attendo.text.pair_reading import read_pairs

PART_BYTES = 4 << 20
"""A good size of a part, all its files together: a second's work, and little enough for several in memory."""

_BLOCK_BYTES = 1 << 16
_LINE_FEED = 10
# Sizes of a part; of ordinary text fewer make 4 MB. What is kept of a line takes far more memory than a line of one
# letter.
_PART_LINES = 1 << 16


@dataclass(frozen=True, kw_only=True, eq=False)
class ScannedFile:
    """A file of a corpus, read once."""

    path: Path
    size: int
    """Size in bytes."""
    mtime_ns: int
    """Time of the last change, taken before the scan."""
    sha256: str
    lines_before: npt.NDArray[np.int64] | None
    """Line feeds before each block of the file, and in all of it, `(num_blocks + 1,)`; None for a compressed file."""
    num_lines: int
    """Lines; the last need not have an end. 0 of a compressed file, whose lines are not counted."""

    def line_start(self, line: int) -> int:
        """Returns the byte at which a line of a plain file begins, counted from 0; for `num_lines`, the file's end."""
        assert self.lines_before is not None, "a compressed file has no places to begin at"
        if line == 0:
            return 0
        if line >= self.num_lines:
            return self.size
        block = int(np.searchsorted(self.lines_before, line, side="left")) - 1
        if not self.path.is_file():  # it was: opening a pipe in its place would wait
            raise changed_error(self.path)
        with self.path.open("rb") as file:
            file.seek(block * _BLOCK_BYTES)
            content = np.frombuffer(file.read(_BLOCK_BYTES), dtype=np.uint8)
        ends = np.flatnonzero(content == _LINE_FEED)
        wanted = line - 1 - int(self.lines_before[block])
        if wanted >= len(ends):
            raise changed_error(self.path)
        return block * _BLOCK_BYTES + int(ends[wanted]) + 1


@dataclass(frozen=True, kw_only=True, slots=True)
class FileRange:
    """A range of a plain file that begins and ends at line boundaries."""

    path: Path
    start: int
    """The first byte."""
    end: int
    """The byte after the last."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HeldText:
    """Lines already read from a file that cannot be cut."""

    path: Path
    text: bytes
    """The lines from `LineReader`, joined by line feeds."""
    num_lines: int

    @property
    def lines(self) -> list[bytes]:
        """The lines."""
        return self.text.split(b"\n") if self.num_lines else []


@dataclass(frozen=True, kw_only=True, slots=True)
class CorpusPart:
    """Consecutive lines of a corpus: the input of one unit of work."""

    corpus: CorpusConfig
    files: tuple[FileRange | HeldText, ...]
    """The same lines in each of the corpus's files."""
    first_line: int
    """Number of its first line, from 1."""
    num_lines: int
    num_bytes: int
    """Number of bytes of the corpus's files, compressed if they are, that the part counts for in progress reports."""

    def __str__(self) -> str:
        """Describes the part for messages."""
        names = " and ".join(str(file.path) for file in self.files)
        return f"lines {self.first_line} to {self.first_line + self.num_lines - 1} of {names}"

    def pairs(self) -> Iterator[RawPair]:
        """Yields the pairs as read from the files.

        Raises:
            DataError: a file is UTF-16, or has changed since it was cut.
        """
        with ExitStack() as stack:
            lines: list[LineReader | HeldLines] = []
            for file in self.files:
                if isinstance(file, HeldText):
                    lines.append(HeldLines(file.path, file.lines, first_line=self.first_line))
                else:
                    reader = LineReader(file.path, start=file.start, end=file.end, first_line=self.first_line)
                    lines.append(stack.enter_context(reader))
            error = None
            try:
                yield from read_pairs(self.corpus, lines)
            except DataError as found:
                error = found  # may be that two files do not fit together any more
            for one in lines:
                if one.num_lines != self.first_line + self.num_lines - 1:
                    raise changed_error(one.path)
            if error is not None:
                raise error


def scan_file(path: Path) -> ScannedFile:
    """Reads a file once, for its checksum and the positions of its lines.

    Raises:
        DataError: it is missing, is UTF-16 or UTF-32, or cannot be read.
    """
    LineReader(path).close()  # reports the fault of its first line
    return scan_stream(path)


def scan_stream(path: Path) -> ScannedFile:
    """Does what `scan_file` does for a file in any encoding; in UTF-16 the counts are meaningless.

    Raises:
        DataError: it is missing or cannot be read.
    """
    compressed = is_compressed(path)
    status = path.stat()
    checksum = hashlib.sha256()
    counts = [0]
    last = b""
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK_BYTES):
                checksum.update(block)
                counts.append(block.count(b"\n"))
                last = block
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error
    lines_before = np.cumsum(np.array(counts, dtype=np.int64))
    num_lines = int(lines_before[-1]) + (not last.endswith(b"\n") and last != b"")
    return ScannedFile(
        path=path,
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
        sha256=checksum.hexdigest(),
        lines_before=None if compressed else lines_before,
        num_lines=0 if compressed else num_lines,
    )


def corpus_parts(corpus: CorpusConfig, files: Sequence[ScannedFile], *, part_bytes: int) -> Iterator[CorpusPart]:
    """Yields the parts of a corpus in order, at least one, the same ones each time.

    A corpus with a compressed file, or one whose encoding does not divide lines as ASCII does, is read as a stream,
    during the iteration, and its parts contain their lines.

    Args:
        corpus: a corpus of one file, or of one pair of files.
        files: the scan of each of its files.
        part_bytes: approximate size of a part.

    Raises:
        DataError: the two files differ in their number of lines, or a compressed one is broken.
    """
    if any(file.lines_before is None for file in files) or any(map(is_wide, corpus.encodings)):
        return _streamed(corpus, files, part_bytes)
    for file in files[1:]:
        if file.num_lines != files[0].num_lines:
            raise line_count_error(files[0].path, files[0].num_lines, file.path, file.num_lines)
    return _cut(corpus, files, part_bytes)


def changed_error(path: Path) -> DataError:
    """Makes the error for a corpus file that changes while it is read."""
    return DataError(f"{path}: was written to while it was being prepared; prepare again when it is complete")


def _cut(corpus: CorpusConfig, files: Sequence[ScannedFile], part_bytes: int) -> Iterator[CorpusPart]:
    """Cuts plain files at blocks of the first, so that the parts are about equal where lines are about equally long."""
    first = files[0]
    assert first.lines_before is not None
    share = first.size / max(1, sum(file.size for file in files))
    step = max(1, round(share * part_bytes / _BLOCK_BYTES))
    starts = [0] * len(files)
    for begin, end in pairwise([*_cuts(first.lines_before[:-1].tolist(), step), first.num_lines]):
        ends = [file.line_start(end) for file in files]
        ranges = zip(files, starts, ends, strict=True)
        yield CorpusPart(
            corpus=corpus,
            files=tuple(FileRange(path=file.path, start=start, end=stop) for file, start, stop in ranges),
            first_line=begin + 1,
            num_lines=end - begin,
            num_bytes=sum(ends) - sum(starts),
        )
        starts = ends


def _cuts(lines_before: Sequence[int], step: int) -> list[int]:
    """Returns the lines at which parts begin: every `step` blocks of a file, or as soon as there are enough lines."""
    cuts, begin = [0], 0
    for block, line in enumerate(lines_before):
        if line > cuts[-1] and (block - begin >= step or line - cuts[-1] >= _PART_LINES):
            cuts.append(line)
            begin = block
    return cuts


def _streamed(corpus: CorpusConfig, files: Sequence[ScannedFile], part_bytes: int) -> Iterator[CorpusPart]:
    """Reads files from the beginning and yields their lines, if one of them cannot be cut."""
    paths = [file.path for file in files]
    with ExitStack() as stack:
        readers = [
            stack.enter_context(LineReader(path, encoding=encoding))
            for path, encoding in zip(paths, corpus.encodings, strict=False)
        ]
        first_line, position = 1, 0
        while True:
            lines, whole = _next_lines(readers, part_bytes)
            total_position = sum(reader.position for reader in readers)
            if lines[0] or first_line == 1:
                yield CorpusPart(
                    corpus=corpus,
                    files=tuple(
                        HeldText(path=path, text=b"\n".join(part), num_lines=len(part))
                        for path, part in zip(paths, lines, strict=True)
                    ),
                    first_line=first_line,
                    num_lines=len(lines[0]),
                    num_bytes=total_position - position,
                )
            first_line, position = first_line + len(lines[0]), total_position
            if whole:
                return


def _next_lines(readers: Sequence[LineReader], part_bytes: int) -> tuple[list[list[bytes]], bool]:
    """Returns the next lines of each file, equally many, and whether all have ended.

    Raises:
        DataError: one file has ended and another has not; the message has both counts.
    """
    lines: list[list[bytes]] = [[] for _ in readers]
    size = 0
    while size < part_bytes and len(lines[0]) < _PART_LINES:
        row = [next(reader, None) for reader in readers]
        found = [line for line in row if line is not None]
        if len(found) < len(row):
            if found:
                for reader in readers:
                    for _ in reader:
                        pass
                raise line_count_error(readers[0].path, readers[0].num_lines, readers[1].path, readers[1].num_lines)
            return lines, True
        for kept, line in zip(lines, found, strict=True):
            kept.append(line)
            size += len(line) + 1
    return lines, False
