"""Two files of parallel lines out of an archive, counted and with their checksums."""

import gzip
import hashlib
import lzma
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self, cast

from attendo.errors import DataError
from attendo.files import atomic_path
from attendo.workflow.datasets.download import Progress
from attendo.workflow.datasets.origins import TextLocation

_PIECE_BYTES = 1 << 20
# Limits on the description of a member and on a line of a test set: both are held in memory as a whole.
_MAX_HELD_BYTES = 1 << 20
_HEAD_TYPES = (
    tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE
)  # fmt: skip
"""Kinds of members that only describe the next one."""
_SEGMENT = re.compile(r"<seg[^>]*>(.*)</seg>")


@dataclass(frozen=True, kw_only=True)
class WrittenFile:
    """One side of a text on disk."""

    name: str
    lines: int
    bytes: int
    sha256: str

    def is_at(self, folder: Path) -> bool:
        """Whether the file exists unchanged; reads all of it."""
        path = folder / self.name
        if not path.is_file() or path.stat().st_size != self.bytes:
            return False
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == self.sha256


def extract(
    text: TextLocation, archive: Path, folder: Path, languages: tuple[str, str], progress: Callable[[Progress], None]
) -> tuple[WrittenFile, WrittenFile]:
    """Writes the two sides of a text as `NAME.LANGUAGE`; each appears complete, and both or neither.

    Lines are written unchanged, except those of SGML test sets: these are written as sacreBLEU reads them, so that
    scores equal those of `sacrebleu --test-set`. A line ends only at a line feed.

    Args:
        text: the text's members of the archive.
        archive: a tar file, plain or compressed; its members may be gz files.
        folder: the folder of the files.
        languages: two-letter codes of the source and the target.
        progress: called with the bytes of the archive read so far.

    Returns:
        The source's file and the target's.

    Raises:
        DataError: the archive is broken or lacks a member, or the two sides differ in their number of lines.
    """
    names = [f"{text.name}.{language}" for language in languages]
    wanted = dict(zip(text.members, names, strict=True))
    written: dict[str, WrittenFile] = {}
    with ExitStack() as stack:
        paths = {name: stack.enter_context(atomic_path(folder / name)) for name in names}
        try:
            for member, content in _members(archive, set(wanted), f"unpacking {text.name}", progress):
                name = wanted[member]
                pieces = _segments(content, f"{archive}: {member}") if text.format == "sgm" else _plain(content)
                written[name] = _write(name, paths[name], pieces)
        except (tarfile.TarError, EOFError, OSError, ValueError, lzma.LZMAError, zlib.error) as error:
            if isinstance(error, OSError) and error.errno is not None:  # of the disk, not of the content
                raise
            raise DataError(f"{archive}: cannot be unpacked ({error}); remove it, and fetch it again") from error
        if missing := [member for member in text.members if wanted[member] not in written]:
            raise DataError(f"{archive}: has no {' and no '.join(missing)}; is it what {text.archive.url} should be?")
        source, target = (written[name] for name in names)
        if source.lines != target.lines:
            raise DataError(
                f"{archive}: {text.members[0]} has {source.lines:,} lines and {text.members[1]} has {target.lines:,}, "
                "so they do not translate each other line by line; is the archive a complete one?"
            )
    return source, target


def _members(
    archive: Path, wanted: set[str], stage: str, progress: Callable[[Progress], None]
) -> Iterator[tuple[str, IO[bytes]]]:
    """Yields the wanted members as the archive is read from front to back, up to the last of them."""
    total = archive.stat().st_size
    left = set(wanted)
    with archive.open("rb") as raw:
        counted = _Counted(raw, lambda done: progress(Progress(stage=stage, done_bytes=done, total_bytes=total)))
        with tarfile.open(fileobj=cast("IO[bytes]", counted), mode="r|*", tarinfo=_PlainInfo) as tar:
            for member in tar:
                name = member.name.removeprefix("./")
                content = tar.extractfile(member) if name in left and member.isfile() else None
                if content is None:
                    continue
                left.remove(name)
                yield name, cast("IO[bytes]", gzip.GzipFile(fileobj=content)) if name.endswith(".gz") else content
                if not left:
                    return


class _PlainInfo(tarfile.TarInfo):
    """The head of a member, read so that no archive makes it fill the memory, as a long name of gigabytes would."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """Reads a head.

        Raises:
            tarfile.ReadError: it describes a kind of member that no archive of texts has.
        """
        info = super().frombuf(buf, encoding, errors)
        if info.type == tarfile.GNUTYPE_SPARSE:
            raise tarfile.ReadError("a member has holes")
        if info.size < 0 or (info.type in _HEAD_TYPES and info.size > _MAX_HELD_BYTES):
            raise tarfile.ReadError(f"the head of a member claims {info.size:,} bytes")
        return info

    def _proc_gnusparse_10(self, *_: object) -> None:  # the same in another spelling, known only after the header
        raise tarfile.ReadError("a member has holes")


class _Counted:
    """A file that counts the bytes read from it."""

    def __init__(self, file: IO[bytes], tell: Callable[[int], None]) -> None:
        self._file, self._tell, self._done = file, tell, 0

    def read(self, size: int = -1) -> bytes:
        """Reads on."""
        piece = self._file.read(size)
        self._done += len(piece)
        self._tell(self._done)
        return piece


def _plain(content: IO[bytes]) -> Iterator[bytes]:
    """Yields a file's bytes; its last line gets a missing line end."""
    last = b"\n"
    while piece := content.read(_PIECE_BYTES):
        yield piece
        last = piece[-1:]
    if last != b"\n":
        yield b"\n"


def _segments(content: IO[bytes], where: str) -> Iterator[bytes]:
    """Yields the segments of an SGML file of WMT as lines: one per line of the file, white space collapsed.

    The files are not valid SGML for a parser; segments are found as in sacreBLEU. Entities are left unchanged, as
    there.
    """
    for number, line in enumerate(iter(lambda: content.readline(_MAX_HELD_BYTES + 1), b""), start=1):
        if len(line) > _MAX_HELD_BYTES:
            raise DataError(f"{where}: line {number} is longer than {_MAX_HELD_BYTES >> 20} MB; is this a test set?")
        if line.startswith(b"<seg "):
            try:
                segment = _SEGMENT.sub(r"\1", line.decode("utf-8"))
            except UnicodeDecodeError as error:
                raise DataError(f"{where}: line {number} is not UTF-8; is the archive complete?") from error
            yield " ".join(segment.split()).encode("utf-8") + b"\n"


def _write(name: str, path: Path, pieces: Iterator[bytes]) -> WrittenFile:
    digest, lines, size = hashlib.sha256(), 0, 0
    with path.open("wb") as file:
        for piece in pieces:
            file.write(piece)
            digest.update(piece)
            lines += piece.count(b"\n")
            size += len(piece)
    return WrittenFile(name=name, lines=lines, bytes=size, sha256=digest.hexdigest())
