"""Files of text on disk, plain or compressed, read as a stream in bounded memory."""

import bz2
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, Protocol, cast

from attendo.errors import DataError

_MAGIC = {b"\x1f\x8b": "gz", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zst"}
# bzip2's magic is letters, with which text may begin too: it is distinguished by the size of its blocks, and by pi
# before the first block, or the square root of pi before the end of an empty file.
_BZ2_MAGIC = re.compile(rb"BZh[1-9](?:\x31\x41\x59\x26\x53\x59|\x17\x72\x45\x38\x50\x90)")
READING_ERRORS = (OSError, EOFError, lzma.LZMAError, zlib.error)
"""Exceptions raised by reading a broken file."""

# The memory limit of decompression: four times what `xz -9` needs. A header can claim 4 GB (`zstd` claims 128 MB at
# most).
_XZ_MEMORY_BYTES = 256 << 20


def unpacked_name(name: str) -> str:
    """Returns a file's name in small letters, without the ending that marks compression: `a.tmx` of `A.TMX.gz`."""
    name = name.lower()
    for ending in (".gz", ".bz2", ".xz", ".zst"):
        name = name.removesuffix(ending)
    return name


def not_a_file(path: Path) -> str | None:
    """Describes why lines of text cannot be read repeatedly from a path, with a remedy; None if they can.

    Raises:
        OSError: its folder cannot be read.
    """
    if path.is_file():
        return None
    if path.is_dir():
        return "is a folder; name a file in it"
    if path.is_symlink() and not path.exists():
        return "is a link to a file that is not there"
    if not path.exists():
        return "there is no such file"
    return "is a pipe or a device, which can be read only once; write what comes from it to a file"


def open_content(path: Path) -> tuple[IO[bytes], IO[bytes]]:
    """Opens a file of text, plain, gz, bz2, xz or zst: recognised by its first bytes, not its name.

    Returns:
        The file on disk, and its decompressed content: the same object if it is plain.

    Raises:
        DataError: it is missing, cannot be read, or is not a regular file; or it is zst, and zstandard is not
            installed.
    """
    try:
        if problem := not_a_file(path):  # opening a pipe would wait for a writer
            raise DataError(f"{path}: {problem}")
        raw = path.open("rb")
        head = raw.read(10)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error
    raw.seek(0)
    kind = next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)
    if _BZ2_MAGIC.match(head):
        return raw, cast("IO[bytes]", io.BufferedReader(_Frames(raw, bz2.BZ2Decompressor), 1 << 16))
    if kind == "gz":
        return raw, cast("IO[bytes]", gzip.GzipFile(fileobj=raw, mode="rb"))
    if kind == "xz":
        return raw, cast("IO[bytes]", io.BufferedReader(_Frames(raw, _xz_frame, padding=b"\0"), 1 << 16))
    if kind == "zst":
        if find_spec("zstandard") is None:
            raw.close()
            raise DataError(
                f"{path}: is compressed with zstd, which the package zstandard reads, and it is not installed; "
                'pip install "attendo[zstd]", or decompress the file: zstd -d'
            )
        return raw, cast("IO[bytes]", io.BufferedReader(_Frames(raw, _ZstFrame), 1 << 16))
    return raw, raw


class _Frame(Protocol):
    """A decompressor of one frame of a file."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    @property
    def needs_input(self) -> bool: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def _xz_frame() -> _Frame:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY_BYTES)


class _ZstFrame:
    """A decompressor of a zst frame with the interface of xz's; it returns everything that its input yields."""

    needs_input = True

    def __init__(self) -> None:
        import zstandard

        self._frame, self._error = zstandard.ZstdDecompressor().decompressobj(), zstandard.ZstdError

    @property
    def eof(self) -> bool:
        return self._frame.eof

    @property
    def unused_data(self) -> bytes:
        return self._frame.unused_data

    def decompress(self, data: bytes, _: int, /) -> bytes:
        """Decompresses a piece.

        Raises:
            OSError: it is torn.
        """
        try:
            return self._frame.decompress(data)
        except self._error as error:
            raise OSError(str(error)) from error


class _Frames(io.RawIOBase):
    """The decompressed content of a bz2, xz or zst file, of any number of frames (which the first two call streams).

    The libraries' own readers end silently where they should fail: zstandard's takes the end of a file that was cut off
    for the end of the text, `lzma.LZMAFile` and `bz2.BZ2File` a further stream that is broken.
    """

    # Compressed bytes read at a time; as 4 of zst can hold 128 KB of one repeated byte, not many.
    _TAKEN_BYTES = 1024
    _GIVEN_BYTES = 1 << 17

    def __init__(self, raw: IO[bytes], start: Callable[[], _Frame], padding: bytes = b"") -> None:
        """Takes over an open file.

        Args:
            raw: the file.
            start: makes a decompressor for the next frame.
            padding: bytes that may fill the space between frames and after the last one.
        """
        self._raw, self._start, self._padding = raw, start, padding
        self._frame: _Frame | None = None
        self._compressed = b""
        self._text = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fills `buffer` with the next bytes; returns their number, 0 at the end.

        Raises:
            EOFError: the file ends within a frame.
        """
        while not self._text:
            if self._frame is None:
                self._compressed = self._compressed.lstrip(self._padding)
            if not self._compressed and (self._frame is None or self._frame.needs_input):
                self._compressed = self._raw.read(self._TAKEN_BYTES)
                if self._compressed:
                    continue
                if self._frame is not None:
                    raise EOFError("the file ends before what it compresses does")
                return 0
            if self._frame is None:
                self._frame = self._start()
            self._text = memoryview(self._frame.decompress(self._compressed, self._GIVEN_BYTES))
            self._compressed = self._frame.unused_data if self._frame.eof else b""
            if self._frame.eof:
                self._frame = None
        view = memoryview(buffer).cast("B")
        count = min(len(view), len(self._text))
        view[:count] = self._text[:count]
        self._text = self._text[count:]
        return count
