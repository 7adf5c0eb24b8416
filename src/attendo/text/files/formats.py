"""Parallel text on disk: two files of lines, one of tab-separated columns, or one that attendo translated.

Each is plain, gz, bz2, xz or zst.

Lines are bytes here. Only a line feed ends one (a carriage return before it belongs to the line end): Python's own idea
of a line also breaks at U+2028, U+0085 and others, which would shift one side of a corpus against the other.
"""

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Protocol, Self, cast

from attendo.errors import DataError
from attendo.text.files.compression import READING_ERRORS, open_content
from attendo.text.files.encodings import UTF8, Transcoded, is_wide

MAX_LINE_BYTES = 4 << 20
"""A line is read up to here; the rest of the line is skipped, so that no file can fill the memory."""
MAX_HELD_PAIRS = 1_000_000
"""Maximum number of pairs held in memory, such as those of a test set."""
MAX_HELD_BYTES = 256 << 20
"""Maximum number of bytes of such pairs, both sides together."""

_UTF8_MARK = b"\xef\xbb\xbf"
# Longer marks first: UTF-32's mark begins with UTF-16's.
_OTHER_MARKS = {
    b"\xff\xfe\0\0": "UTF-32",
    b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class RawPair:
    """One line of a corpus, undecoded and without its line end."""

    line: int
    """Line number, from 1."""
    source: bytes
    """The source line, at most `MAX_LINE_BYTES + 1` bytes; a longer line is cut to that."""
    target: bytes | None
    """The target line, at most `MAX_LINE_BYTES + 1` bytes; None if a line of a TSV file has no second column."""
    fault: str | None = None
    """Reason why the line is not used for training, given by its file: one of `text.cleaning.DROP_REASONS`."""
    context: str = ""
    """The context that distinguishes equal sources, if the file has it: a message context, or the identifier of a
    unit."""


class Lines(Protocol):
    """Lines of a file in order: the input of the readers of pairs below."""

    path: Path
    num_lines: int
    """The number of the line yielded last, from 1; before the first, of the line before it."""

    def __iter__(self) -> Iterator[bytes]: ...

    def __next__(self) -> bytes: ...


class LineReader:
    """The lines of one file, decompressed as they are read; a context manager and an iterator.

    A byte order mark at the start is dropped. A line longer than `MAX_LINE_BYTES` is cut to one byte more than that, so
    that callers recognise it.

    Raises:
        DataError: the file is missing, is not a regular file, is UTF-16 or UTF-32, has carriage returns and no line
            feed, or its compressed content is broken.
    """

    def __init__(
        self, path: Path, *, start: int = 0, end: int | None = None, first_line: int = 1, encoding: str = UTF8
    ) -> None:
        """Opens a file, or a range of one that is not compressed.

        Args:
            path: the file.
            start: the byte at which a line begins, the first to read.
            end: the byte after the last to read; None reads all.
            first_line: the number of the first line read.
            encoding: the file's encoding. One that ends lines differently from ASCII, such as UTF-16, is converted to
                UTF-8; in any other, lines are left unchanged.
        """
        self.path = path
        self.num_lines = first_line - 1
        """The number of the line that was read last; of a whole file: lines read so far."""
        self.line_end = b""
        r"""End of the last line: `\n`, `\r\n`, or nothing at the end of the file."""
        self._found_feed = True
        self._encoding = encoding
        self._raw, self._text = open_content(path)
        if end is not None:
            self._raw.seek(start)
            self._text = cast("IO[bytes]", io.BufferedReader(_FileRange(self._raw, end), 1 << 17))
        if is_wide(encoding):
            self._text = cast("IO[bytes]", io.BufferedReader(Transcoded(self._text, encoding), 1 << 17))
        try:
            self._first = self._read_first_line() if start == 0 else None
        except DataError:
            self.close()
            raise

    @property
    def position(self) -> int:
        """Number of bytes of the (compressed) file read so far."""
        return self._raw.tell()

    def close(self) -> None:
        """Closes the file."""
        self._text.close()
        self._raw.close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> bytes:
        """Returns the next line without its end."""
        line, self._first = self._first, None
        if line is None:
            line = self._read_line()
        if line is None:
            raise StopIteration
        self.num_lines += 1
        self.line_end = line_end_of(line)
        return line[: len(line) - len(self.line_end)]

    def _read_first_line(self) -> bytes | None:
        line = self._read_line()
        encoding = next((name for mark, name in _OTHER_MARKS.items() if line and line.startswith(mark)), None)
        if encoding is not None:
            raise DataError(f"{self.path}: this is {encoding} text; convert it first: iconv -f {encoding} -t UTF-8")
        if line and b"\r" in line[:-1] and not self._found_feed:
            raise carriage_returns_error(str(self.path))
        return None if line is None else line.removeprefix(_UTF8_MARK)

    def _read_line(self) -> bytes | None:
        try:
            line = self._text.readline(MAX_LINE_BYTES)
            self._found_feed = line.endswith(b"\n")
            if len(line) < MAX_LINE_BYTES or self._found_feed:
                return line or None
            rest = self._text.readline(MAX_LINE_BYTES)
            self._found_feed = rest.endswith(b"\n")
            if rest in (b"", b"\n"):
                return line + rest
            while len(rest) == MAX_LINE_BYTES and not self._found_feed:
                rest = self._text.readline(MAX_LINE_BYTES)
                self._found_feed = rest.endswith(b"\n")
        except READING_ERRORS as error:
            raise DataError(
                f"{self.path}: cannot be read after line {self.num_lines} ({error}); "
                "is it complete? Download or compress it again"
            ) from error
        except UnicodeError as error:
            raise DataError(
                f"{self.path}: is not {self._encoding} behind line {self.num_lines} ({error}); correct encoding, "
                "or the file"
            ) from error
        return line + b"\xff"  # one byte past the limit; never part of UTF-8, so no cut line passes for a whole one

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class HeldLines:
    """Lines that a `LineReader` gave before, to be read again without their file; an iterator."""

    def __init__(self, path: Path, lines: Sequence[bytes], *, first_line: int) -> None:
        self.path = path
        self.num_lines = first_line - 1
        """The number of the line yielded last."""
        self._lines = iter(lines)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> bytes:
        """Returns the next line."""
        line = next(self._lines)
        self.num_lines += 1
        return line


def is_compressed(path: Path) -> bool:
    """Whether a file is gz, bz2, xz or zst.

    Raises:
        DataError: it cannot be read.
    """
    raw, text = open_content(path)
    with raw, text:
        return text is not raw


def line_count_error(source: Path, source_lines: int, target: Path, target_lines: int) -> DataError:
    """Returns the error of two files that cannot be read as pairs, for one has more lines."""
    return DataError(
        f"{source} has {source_lines} lines and {target} has {target_lines}: line n of one must "
        "translate line n of the other, so one of them misses lines; compare where they part"
    )


def check_held(name: str, num_pairs: int, num_bytes: int) -> None:
    """Refuses text that is too large to be held in memory as a whole.

    Args:
        name: its name in the message.
        num_pairs: number of pairs read so far.
        num_bytes: number of bytes of both their sides.

    Raises:
        DataError: there are more than `MAX_HELD_PAIRS` or `MAX_HELD_BYTES`.
    """
    if num_pairs > MAX_HELD_PAIRS or num_bytes > MAX_HELD_BYTES:
        raise DataError(
            f"{name}: more than {MAX_HELD_PAIRS:,} pairs or {MAX_HELD_BYTES >> 20} MB, which is no test or validation "
            "set, as those are held in memory; take a part of it"
        )


def read_line_pairs(source: Lines, target: Lines) -> Iterator[RawPair]:
    """Yields the pairs that two files of lines make, line by line.

    Raises:
        DataError: one file has more lines than the other; the message has both counts. Raised at the end of the shorter
            one, after its last pair.
    """
    for source_line in source:
        target_line = next(target, None)
        if target_line is None:
            break
        yield RawPair(line=source.num_lines, source=source_line, target=target_line)
    for _ in source:
        pass
    for _ in target:
        pass
    if source.num_lines != target.num_lines:
        raise line_count_error(source.path, source.num_lines, target.path, target.num_lines)


def read_tsv(reader: Lines) -> Iterator[RawPair]:
    """Yields the pairs of a tab-separated file: source, target, and further columns, which are ignored.

    A line without a tab has `target` None; the reader of the pairs counts it as dropped.
    """
    for line in reader:
        columns = line.split(b"\t", 2)
        target = columns[1] if len(columns) > 1 else None
        yield RawPair(line=reader.num_lines, source=columns[0], target=target)


def read_translations(reader: Lines, *, back: bool) -> Iterator[RawPair]:
    """Yields the pairs written by `attendo translate --json`: a translated line, and its best translation.

    A line of which only the beginning was translated, or whose translation the length limit ended, has the fault
    `unfinished`; a line that is no such object has `no_json`.

    Args:
        reader: the file.
        back: whether the text was translated back: the translation is then the source of the pair.
    """
    for line in reader:
        translated, translation, fault = _read_object(line)
        pair = (translation, translated) if back else (translated, translation)
        yield RawPair(line=reader.num_lines, source=pair[0], target=pair[1], fault=fault)


def _read_object(line: bytes) -> tuple[bytes, bytes, str | None]:
    """Returns the translated line, its translation, and why they are not a pair, or None."""
    if len(line) > MAX_LINE_BYTES:
        return line, b"", "too_long"
    try:
        found = json.loads(line)
        # A translation can spell a line end in bytes; `attendo translate` without --json writes a space for it too.
        sides = [found[key].replace("\r", " ").replace("\n", " ").encode("utf-8") for key in ("source", "text")]
        whole = bool(found["finished"]) and not found["source_truncated"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return line, b"", "no_json"
    return sides[0], sides[1], None if whole or not sides[1].strip() else "unfinished"


def line_end_of(line: bytes) -> bytes:
    r"""Returns the end of a line: `\n`, `\r\n`, or nothing."""
    return b"\r\n" if line.endswith(b"\r\n") else line[-1:] if line.endswith(b"\n") else b""


def carriage_returns_error(name: str) -> DataError:
    """Returns the error of text whose lines end as those of Macintosh computers did before 2001."""
    return DataError(
        f"{name}: holds carriage returns and no line feed, which alone ends a line; convert it first: "
        r"tr '\r' '\n' < OLD > NEW"
    )


class _FileRange(io.RawIOBase):
    """The rest of an uncompressed file up to a byte."""

    def __init__(self, raw: IO[bytes], end: int) -> None:
        self._raw, self._end = raw, end

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fills `buffer` with the next bytes; returns their number, 0 at the end."""
        view = memoryview(buffer).cast("B")
        found = self._raw.read(min(len(view), max(0, self._end - self._raw.tell())))
        view[: len(found)] = found
        return len(found)
