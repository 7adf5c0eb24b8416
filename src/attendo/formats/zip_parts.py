"""Untrusted ZIP archives: checked before anything is unpacked, never unpacked to disk, and written back raw.

A part that does not change keeps its bytes, with its header, its extra fields and its place. A changed part keeps its
name, its time and its method of compression.
"""

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from attendo.errors import DataError

MAX_PARTS = 5_000
"""Maximum size of an archive."""
MAX_BYTES = 200 << 20
"""Maximum size of all parts together, unpacked."""
MAX_RATIO = 200
"""Maximum ratio of a part's size to its packed size; a small part may exceed it."""
_SMALL = 1 << 20
_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR = struct.Struct("<4sLQL")
_IN_EXTRA = 0xFFFFFFFF
_ZIP64 = 1
_DESCRIPTOR = 0x8


@dataclass(frozen=True, slots=True)
class _Entry:
    """A part: its position in the archive, and its entry in the directory."""

    info: zipfile.ZipInfo
    central: bytes
    """The part's record in the central directory."""
    stop: int
    """The end of everything that belongs to it, including a data descriptor and padding."""


class ZipParts:
    """An archive whose parts are read on demand.

    Args:
        content: the bytes of the file.

    Raises:
        DataError: the content is not an archive, or holds more than a document would.
    """

    def __init__(self, content: bytes) -> None:
        self.content = content
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(content))
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
            raise DataError(f"the document is no ZIP archive, as .docx is: {error}") from error
        infos = self._archive.infolist()
        if len(infos) > MAX_PARTS:
            raise DataError(f"the document has {len(infos):,} parts; at most {MAX_PARTS:,} are read")
        if sum(info.file_size for info in infos) > MAX_BYTES:
            raise DataError(f"the document would take more than {MAX_BYTES >> 20} MiB unpacked")
        for info in infos:
            if info.file_size > _SMALL and info.file_size > MAX_RATIO * max(1, info.compress_size):
                raise DataError("a part of the document is packed more tightly than any document's would be")
        if len({info.filename for info in infos}) < len(infos):
            raise DataError("the document has two parts of one name")
        self.names = tuple(info.filename for info in infos)

    def read(self, name: str) -> bytes:
        """Unpacks a part, up to the size that the archive declares.

        Raises:
            DataError: the part is damaged, encrypted, or larger than declared.
        """
        info = self._archive.getinfo(name)
        try:
            with self._archive.open(info) as part:
                found = part.read(info.file_size + 1)
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError, EOFError, ValueError) as error:
            raise DataError(f"the document is damaged, or locked with a password: {error}") from error
        except Exception as error:  # zlib.error and those of other packers have no common parent
            raise DataError(f"the document is damaged: {error}") from error
        if len(found) != info.file_size:
            raise DataError("the document is damaged: a part has another size than it says")
        return found

    def with_parts(self, changed: Mapping[str, bytes]) -> bytes:
        """Returns the archive with the contents of some parts replaced; everything else is copied as packed.

        Raises:
            DataError: the archive is damaged.
        """
        entries = self._entries()
        pieces, records = [], {}
        position = last = 0
        shift = self._shift()
        for entry in sorted(entries, key=lambda entry: entry.info.header_offset):
            start = entry.info.header_offset
            gap = self.content[last:start]
            position += len(gap)
            replacement = changed.get(entry.info.filename)
            if replacement is None:
                local, record = self.content[start : entry.stop], entry.central
                sizes = None
            else:
                local, record, sizes = self._packed(entry, replacement)
            records[entry.info.filename] = _with_place(record, position - shift, sizes)
            pieces += [gap, local]
            position += len(local)
            last = entry.stop
        gap = self.content[last : self._archive.start_dir]
        directory = b"".join(records[entry.info.filename] for entry in entries)
        start = position + len(gap)
        return b"".join([*pieces, gap, directory, self._ending(start, len(directory), shift)])

    def _shift(self) -> int:
        """The number of bytes before the archive, which its offsets do not count."""
        fields = _END.unpack_from(self.content, self._end_place())
        return 0 if fields[6] == _IN_EXTRA else self._archive.start_dir - int(fields[6])

    def _end_place(self) -> int:
        """The position of the record at the archive's end."""
        at = len(self.content) - _END.size - len(self._archive.comment)
        return at if self.content.startswith(b"PK\5\6", max(at, 0)) else self.content.rfind(b"PK\5\6")

    def _entries(self) -> list[_Entry]:
        """Returns the parts in the order of the directory.

        Raises:
            DataError: parts overlap, or the directory cannot be read.
        """
        infos = self._archive.infolist()
        starts = sorted([*(info.header_offset for info in infos), self._archive.start_dir])
        following = dict(pairwise(starts))
        entries, at = [], self._archive.start_dir
        for info in infos:
            try:
                fields = _CENTRAL.unpack_from(self.content, at)
                local = _LOCAL.unpack_from(self.content, info.header_offset)
            except struct.error as error:
                raise DataError(f"the document is damaged: {error}") from error
            size = _CENTRAL.size + sum(fields[10:13])
            stop = following.get(info.header_offset, self._archive.start_dir)
            needed = info.header_offset + _LOCAL.size + local[9] + local[10] + info.compress_size
            if fields[0] != b"PK\1\2" or local[0] != b"PK\3\4" or needed > stop:
                raise DataError("the document is damaged: its parts overlap, or its directory is wrong")
            entries.append(_Entry(info, self.content[at : at + size], stop))
            at += size
        return entries

    def _packed(self, entry: _Entry, content: bytes) -> tuple[bytes, bytes, tuple[int, int, int]]:
        """Packs a part with new content: its bytes, its record, and its checksum and sizes."""
        start = entry.info.header_offset
        fields = list(_LOCAL.unpack_from(self.content, start))
        name_stop = start + _LOCAL.size + fields[9]
        name, extra = self.content[start + _LOCAL.size : name_stop], self.content[name_stop : name_stop + fields[10]]
        method = zipfile.ZIP_STORED if entry.info.compress_type == zipfile.ZIP_STORED else zipfile.ZIP_DEFLATED
        packed = content if method == zipfile.ZIP_STORED else _deflated(content)
        checksum, extra = zlib.crc32(content), _without_zip64(extra)
        flags = fields[2] & ~_DESCRIPTOR  # the sizes are known, and are in the header
        fields[2], fields[3], fields[6:9] = flags, method, (checksum, len(packed), len(content))
        fields[10] = len(extra)
        record = bytearray(entry.central)
        struct.pack_into("<2H", record, 8, struct.unpack_from("<H", record, 8)[0] & ~_DESCRIPTOR, method)
        return _LOCAL.pack(*fields) + name + extra + packed, bytes(record), (checksum, len(packed), len(content))

    def _ending(self, start: int, size: int, shift: int) -> bytes:
        """Returns the records after the directory, with its new position."""
        at = self._end_place()
        ending = bytearray(self.content[at:])
        values = list(_END.unpack_from(ending))
        if values[5] != _IN_EXTRA:
            values[5] = size
        if values[6] != _IN_EXTRA:
            values[6] = start - shift
        ending[: _END.size] = _END.pack(*values)
        between = bytearray(self.content[self._archive.start_dir + size : at])
        end64 = between.find(b"PK\6\6")
        if end64 >= 0 and len(between) - end64 >= _END64.size + _LOCATOR.size:
            values = list(_END64.unpack_from(between, end64))
            values[8:] = [size, start - shift]
            _END64.pack_into(between, end64, *values)
            locator = between.find(b"PK\6\7", end64)
            if locator >= 0:
                values = list(_LOCATOR.unpack_from(between, locator))
                values[2] = start - shift + size + end64
                _LOCATOR.pack_into(between, locator, *values)
        return bytes(between) + bytes(ending)


def _deflated(content: bytes) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    return packer.compress(content) + packer.flush()


def _without_zip64(extra: bytes) -> bytes:
    """Removes the extra field for sizes of more than 4 GiB."""
    kept, at = b"", 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<2H", extra, at)
        if kind != _ZIP64:
            kept += extra[at : at + 4 + size]
        at += 4 + size
    return kept + extra[at:]


def _with_place(record: bytes, offset: int, sizes: tuple[int, int, int] | None) -> bytes:
    """Returns a part's record with the offset of its header, and its checksum and sizes if they changed."""
    changed = bytearray(record)
    fields = _CENTRAL.unpack_from(record)
    # Fields that are full have their values in an extra field, in this order; their places in the record:
    values = [(24, sizes[2] if sizes else None), (20, sizes[1] if sizes else None), (42, offset)]
    full = [place for place, _ in values if struct.unpack_from("<L", record, place)[0] == _IN_EXTRA]
    at = _zip64_place(record, _CENTRAL.size + fields[10], fields[11]) if full else -1
    for place, value in values:
        if place in full and at >= 0:
            if value is not None:
                struct.pack_into("<Q", changed, at, value)
            at += 8
        elif value is not None:
            struct.pack_into("<L", changed, place, value)
    if sizes is not None:
        struct.pack_into("<L", changed, 16, sizes[0])
    return bytes(changed)


def _zip64_place(record: bytes, start: int, size: int) -> int:
    """Finds the values of the extra field for large sizes; -1 if there is none."""
    at = start
    while at + 4 <= start + size:
        kind, length = struct.unpack_from("<2H", record, at)
        if kind == _ZIP64:
            return at + 4
        at += 4 + length
    return -1
