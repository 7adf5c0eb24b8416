"""Archives. Python's own zipfile writes and judges them, and records are compared byte for byte."""

import io
import struct
import zipfile

import pytest

from attendo.errors import DataError
from attendo.formats import zip_parts
from attendo.formats.zip_parts import ZipParts


def archive(*, comment: bytes = b"", prefix: bytes = b"", streamed: bool = False) -> bytes:
    class Stream(io.BytesIO):
        def seek(self, offset: int, whence: int = 0, /) -> int:
            if streamed:
                raise OSError("a pipe")
            return super().seek(offset, whence)

    out = Stream()
    out.write(prefix)
    with zipfile.ZipFile(out, "a" if prefix else "w") as written:
        for name, method in [
            ("a.txt", zipfile.ZIP_STORED),
            ("b/é.xml", zipfile.ZIP_DEFLATED),
            ("c", zipfile.ZIP_BZIP2),
        ]:
            info = zipfile.ZipInfo(name, (2001, 2, 3, 4, 5, 6))
            info.compress_type, info.external_attr = method, 0o640 << 16
            info.extra = b"\x99\x99\x02\x00hi"
            info.comment = b"part"
            with written.open(info, "w", force_zip64=name == "a.txt") as part:
                part.write(name.encode() * 50)
        written.comment = comment
    return out.getvalue()


def contents(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as read:
        assert read.testzip() is None
        return {name: read.read(name) for name in read.namelist()}


@pytest.mark.parametrize(
    "data",
    [
        archive(),
        archive(comment=b"hello"),
        archive(prefix=b"#!/bin/sh\n"),
        b"#!/bin/sh\n" + archive(),
        archive(streamed=True),
    ],
    ids=["plain", "comment", "after a program", "behind bytes it does not count", "streamed"],
)
@pytest.mark.parametrize("name", ["a.txt", "b/é.xml", "c"])
def test_a_changed_part_leaves_the_others_as_they_are_packed(data: bytes, name: str) -> None:
    parts = ZipParts(data)
    assert parts.with_parts({}) == data
    new = b"\x00new content" * 1_000
    out = parts.with_parts({name: new})
    assert contents(out) == {**contents(data), name: new}
    before, after = (zipfile.ZipFile(io.BytesIO(one)) for one in (data, out))
    assert after.comment == before.comment
    for old, info in zip(before.infolist(), after.infolist(), strict=True):
        kept = ("filename", "date_time", "external_attr", "create_system", "extra", "comment", "internal_attr")
        assert [getattr(info, field) for field in kept] == [getattr(old, field) for field in kept]
        if info.filename != name:
            size = old.compress_size + 30 + len(old.filename.encode()) + 6
            assert out[info.header_offset :][:size] == data[old.header_offset :][:size]
            assert (info.flag_bits, info.compress_type) == (old.flag_bits, old.compress_type)
    assert out.startswith(data[: before.infolist()[0].header_offset])


def test_the_end_of_an_archive_of_more_than_4_gib_is_kept() -> None:
    data = archive()
    end = data.rindex(b"PK\5\6")
    fields = list(struct.unpack("<4s4H2LH", data[end:]))
    size, offset = fields[5], fields[6]
    fields[5] = fields[6] = 0xFFFFFFFF
    end64 = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 3, 3, size, offset)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, end, 1)
    data = data[:end] + end64 + locator + struct.pack("<4s4H2LH", *fields)
    parts = ZipParts(data)
    assert parts.with_parts({}) == data
    assert contents(parts.with_parts({"a.txt": b"x" * 9_999}))["a.txt"] == b"x" * 9_999


def test_what_is_no_archive_or_holds_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="the document is no ZIP archive"):
        ZipParts(b"PK\3\4 but nothing else")
    monkeypatch.setattr(zip_parts, "MAX_PARTS", 2)
    with pytest.raises(DataError, match="the document has 3 parts; at most 2 are read"):
        ZipParts(archive())
    monkeypatch.undo()
    monkeypatch.setattr(zip_parts, "MAX_BYTES", 20)
    with pytest.raises(DataError, match="would take more than 0 MiB unpacked"):
        ZipParts(archive())
    monkeypatch.undo()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("bomb.xml", bytes(2 << 20))
    with pytest.raises(DataError, match="packed more tightly than any document's would be"):
        ZipParts(out.getvalue())


def test_damaged_archives_are_refused() -> None:
    data = archive()
    broken = data.replace(b"a.txta.txt", b"a.txtb.txt", 1)
    with pytest.raises(DataError, match="the document is damaged"):
        ZipParts(broken).read("a.txt")
    overlapping = bytearray(data)
    record = data.index(b"PK\1\2", data.index(b"PK\1\2") + 4)
    struct.pack_into("<L", overlapping, record + 42, 5)
    with pytest.raises(DataError, match="the document is damaged: its parts overlap"):
        ZipParts(bytes(overlapping)).with_parts({"a.txt": b""})
