"""Lines of text from a file or from standard input, as translating and scoring read them."""

import sys
from collections.abc import Iterable, Iterator
from itertools import tee
from pathlib import Path

from attendo.decoding.constraints.line_constraints import Constraints
from attendo.decoding.lines.windows import OnBadBytes, read_lines
from attendo.errors import DataError
from attendo.reading import line_end_of
from attendo.text.files.formats import MAX_LINE_BYTES, LineReader, check_held, read_line_pairs
from attendo.workflow.input_files import is_read_once


def lines_from(path: Path | None, *, errors: OnBadBytes = "strict") -> Iterator[str]:
    """Reads lines without their ends; otherwise like `ended_lines_from`."""
    for line in ended_lines_from(path, errors=errors):
        yield line[: len(line) - len(line_end_of(line))]


def ended_lines_from(path: Path | None, *, errors: OnBadBytes = "strict") -> Iterator[str]:
    """Lines, as they arrive, of a file (plain, gz, bz2, xz or zst), a pipe or other device, or standard input.

    Args:
        path: the file; None for standard input.
        errors: the treatment of a line that is not UTF-8.

    Yields:
        Each line with its end, which the last one may lack.

    Raises:
        DataError: the file is missing or broken, or a line is not UTF-8 or longer than 4 MB.
    """
    if path is None:
        yield from read_lines(sys.stdin.buffer, "standard input", errors=errors)
        return
    if is_read_once(path):  # lines arrive at any time, as from standard input
        with path.open("rb") as pipe:
            yield from read_lines(pipe, str(path), errors=errors)
        return
    with LineReader(path) as reader:
        for line in reader:
            yield _decode(line, path, reader.num_lines, errors) + reader.line_end.decode()


def line_pairs_from(source: Path, target: Path) -> Iterator[tuple[str, str]]:
    """Pairs of lines of two files.

    Raises:
        DataError: a file is missing or broken, one has more lines than the other (raised after the last pair), or a
            line is not UTF-8.
    """
    with LineReader(source) as source_lines, LineReader(target) as target_lines:
        for raw in read_line_pairs(source_lines, target_lines):
            assert raw.target is not None, "only a TSV file leaves a target out"
            yield _decode(raw.source, source, raw.line), _decode(raw.target, target, raw.line)


def read_pairs(source: Path, target: Path) -> tuple[list[str], list[str]]:
    """Reads all lines of two parallel files.

    Raises:
        DataError: as `line_pairs_from`, or there is no line at all, or far too much text.
    """
    sources: list[str] = []
    targets: list[str] = []
    held = 0
    for one, other in line_pairs_from(source, target):
        sources.append(one)
        targets.append(other)
        held += len(one) + len(other)
        check_held(f"{source} and {target}", len(sources), held)
    if not sources:
        raise DataError(f"{source} and {target}: no line at all, so there is nothing to do; check the paths")
    return sources, targets


def with_constraints(
    lines: Iterable[str], target_prefixes: Path | None, forced_words: Path | None
) -> tuple[Iterator[str], Iterator[Constraints] | None]:
    """Pairs lines to translate with the constraints of two files.

    Args:
        lines: the lines to translate.
        target_prefixes: a file with one target prefix per line, empty lines for none; None for no prefixes.
        forced_words: a file with a line's forced words between TABs; an empty line for none.

    Returns:
        The lines, and the constraints of each, None without files; to be read in parallel.

    Raises:
        DataError: while they are read: a file is missing or broken, is not UTF-8, or has fewer or more lines.
    """
    files = [path for path in (target_prefixes, forced_words) if path is not None]
    if not files:
        return iter(lines), None
    for path in files:  # a missing one is reported before anything is translated; but a pipe can be opened only once
        if not is_read_once(path):
            LineReader(path).close()
    first, second = tee(_with_constraints(lines, target_prefixes, forced_words))
    return (line for line, _ in first), (constraints for _, constraints in second)


def _with_constraints(
    lines: Iterable[str], target_prefixes: Path | None, forced_words: Path | None
) -> Iterator[tuple[str, Constraints]]:
    number = 0
    prefixes, words = (lines_from(path) if path else None for path in (target_prefixes, forced_words))
    for number, line in enumerate(lines, start=1):
        prefix = _line_of(prefixes, target_prefixes, number)
        listed = _line_of(words, forced_words, number).split("\t")
        yield line, Constraints(target_prefix=prefix, forced_words=tuple(word for word in listed if word.strip()))
    for path, rest in ((target_prefixes, prefixes), (forced_words, words)):
        if rest is not None and next(rest, None) is not None:
            raise DataError(
                f"{path}: has more than the {number} lines that were translated; line n of it belongs to line n of the "
                "text; leave a line empty if there is nothing to give"
            )


def _line_of(lines: Iterator[str] | None, path: Path | None, number: int) -> str:
    """A file's next line; empty without a file."""
    if lines is None:
        return ""
    line = next(lines, None)
    if line is None:
        raise DataError(
            f"{path}: has {number - 1} lines, but the text more; line n of it belongs to line n of the text; leave a "
            "line empty if there is nothing to give"
        )
    return line


def _decode(line: bytes, path: Path, number: int, errors: OnBadBytes = "strict") -> str:
    if len(line) > MAX_LINE_BYTES:
        raise DataError(f"{path}: line {number} is longer than {MAX_LINE_BYTES >> 20} MB; is this text?")
    try:
        return line.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: line {number} is not UTF-8 at its byte {error.start + 1}; convert the text, "
            "for instance with iconv -f latin1 -t utf-8"
        ) from error
