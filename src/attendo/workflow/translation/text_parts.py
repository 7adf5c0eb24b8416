"""A text to translate with the constraints on its lines, in parts that can be read separately."""

from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from tempfile import TemporaryDirectory

from attendo.decoding.constraints.line_constraints import Constraints
from attendo.errors import DataError
from attendo.files import atomic_path
from attendo.text.files.formats import is_compressed
from attendo.text.parts import FileRange, ScannedFile, scan_file
from attendo.workflow.lines import ended_lines_from, lines_from, with_constraints

_UTF8_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, kw_only=True)
class TextFiles:
    """The files that are read in parallel, with one line of each for every line of the text."""

    source: Path
    """The text, one sentence per line."""
    target_prefixes: Path | None = None
    """The prefix of each translation."""
    forced_words: Path | None = None
    """The words that each translation must contain."""

    @property
    def given(self) -> dict[str, Path]:
        """The given files, by name."""
        files = {
            "source": self.source,
            "target_prefixes": self.target_prefixes,
            "forced_words": self.forced_words,
        }
        return {name: path for name, path in files.items() if path is not None}


@dataclass(frozen=True, kw_only=True, slots=True)
class TextPart:
    """Consecutive lines: the input of one task."""

    number: int
    """The number of the part, from 0."""
    first_line: int
    """The number of its first line, from 1."""
    num_lines: int
    source: FileRange
    target_prefixes: FileRange | None
    forced_words: FileRange | None


def scan_texts(files: TextFiles, folder: Path) -> dict[str, ScannedFile]:
    """Reads the files once, so that their faults are reported before a cluster works for days.

    Args:
        files: the files: plain, gz, bz2, xz or zst.
        folder: the folder for unpacking compressed files, since only plain ones can be cut; visible to all machines.

    Returns:
        The plain files, scanned, under the names of `TextFiles.given`.

    Raises:
        DataError: a file is missing, broken, not UTF-8, or differs from the text in its number of lines.
    """
    scanned = {name: _scan(path, folder) for name, path in files.given.items()}
    num_lines = scanned["source"].num_lines
    for name, path in files.given.items():
        if scanned[name].num_lines != num_lines:
            raise DataError(
                f"{path}: has {scanned[name].num_lines} lines, but {files.source} has {num_lines}; line n of it "
                "belongs to line n of the text; leave a line empty if there is nothing to give"
            )
    return scanned


def _scan(path: Path, folder: Path) -> ScannedFile:
    if not is_compressed(path):
        for _ in lines_from(path):
            pass
        return scan_file(path.absolute())
    # Named by its content, so that a file left by another text is not mistaken for it.
    plain = (folder / f"unpacked-{scan_file(path).sha256[:16]}.txt").absolute()
    if not plain.exists():
        with atomic_path(plain) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(ended_lines_from(path))
    return scan_file(plain)


def cut(scanned: dict[str, ScannedFile], part_lines: int) -> list[TextPart]:
    """Cuts scanned files at the same lines.

    Args:
        scanned: the result of `scan_texts`.
        part_lines: number of lines of each part; the last one may have fewer.
    """
    num_lines = scanned["source"].num_lines
    cuts = {
        name: [file.line_start(line) for line in [*range(0, num_lines, part_lines), num_lines]]
        for name, file in scanned.items()
    }

    def piece(name: str, number: int) -> FileRange | None:
        if name not in scanned:
            return None
        return FileRange(path=scanned[name].path, start=cuts[name][number], end=cuts[name][number + 1])

    parts = []
    for number, first in enumerate(range(0, num_lines, part_lines)):
        source = piece("source", number)
        assert source is not None, "a text to translate"
        parts.append(
            TextPart(
                number=number,
                first_line=first + 1,
                num_lines=min(part_lines, num_lines - first),
                source=source,
                target_prefixes=piece("target_prefixes", number),
                forced_words=piece("forced_words", number),
            )
        )
    return parts


def read_part(part: TextPart) -> list[tuple[str, Constraints]]:
    """Reads a part in the same way as on a single machine.

    Returns:
        The lines with their ends, and the constraints on the translation of each.

    Raises:
        DataError: a file has changed since it was cut.
        OSError: a file cannot be read.
    """
    with TemporaryDirectory(prefix="attendo-") as folder:
        source = _copied(part.source, Path(folder) / "source")
        prefixes = _copied(part.target_prefixes, Path(folder) / "target_prefixes")
        words = _copied(part.forced_words, Path(folder) / "forced_words")
        assert source is not None, "a text to translate"
        try:
            lines, constraints = with_constraints(ended_lines_from(source), prefixes, words)
            pairs = list(zip(lines, constraints or repeat(Constraints()), strict=False))
        except DataError as error:  # all was well when the files were scanned
            raise changed_error(part.source.path) from error
    if len(pairs) != part.num_lines:
        raise changed_error(part.source.path)
    return pairs


def _copied(piece: FileRange | None, path: Path) -> Path | None:
    """A range of a file as a file of its own, which the readers of whole files can read."""
    if piece is None:
        return None
    with piece.path.open("rb") as file, path.open("wb") as copy:
        file.seek(piece.start)
        if piece.start:  # a mark within a file is text, but at the start of one it is not; so the copy gets one more
            copy.write(_UTF8_MARK)
        if copy.write(file.read(piece.end - piece.start)) < piece.end - piece.start:
            raise changed_error(piece.path)
    return path


def changed_error(path: Path) -> DataError:
    """Returns the error for a file that changes while it is used."""
    return DataError(f"{path}: was written to while it was being translated; translate again when it is complete")
