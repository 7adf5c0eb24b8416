"""ZIP archives by strangers: looked at before anything is unpacked, and nothing is unpacked to disk."""

import io
import zipfile
from collections.abc import Mapping

from attendo.errors import DataError

MAX_PARTS = 5_000
"""Of an archive."""
MAX_BYTES = 200 << 20
"""Of all parts together, unpacked."""
MAX_RATIO = 200
"""Of a part's size to what it takes in the archive; a part that is small anyway may have more."""
_SMALL = 1 << 20


class ZipParts:
    """An archive whose parts are read when they are wanted.

    Args:
        content: of the file.

    Raises:
        DataError: it is no archive, or holds more than a document would.
    """

    def __init__(self, content: bytes) -> None:
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
        """A part, unpacked; never more of it than the archive said.

        Raises:
            DataError: it is damaged, locked, or larger than it said.
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
        """The archive with other contents of some parts, everything else as it was."""
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for info in self._archive.infolist():
                copied = zipfile.ZipInfo(info.filename, info.date_time)
                copied.compress_type = (
                    zipfile.ZIP_STORED if info.compress_type == zipfile.ZIP_STORED else zipfile.ZIP_DEFLATED
                )
                copied.external_attr, copied.create_system = info.external_attr, info.create_system
                content = changed.get(info.filename)
                archive.writestr(copied, self.read(info.filename) if content is None else content)
        return out.getvalue()
