"""Files that are read into memory as a whole: PO and subtitles, which people edit by hand and which are small."""

from pathlib import Path

from attendo.errors import DataError
from attendo.text.files.compression import READING_ERRORS, open_content

MAX_WHOLE_BYTES = 128 << 20
"""Maximum size, beyond any PO file or film; in memory a file takes some ten times as much."""


def read_whole(path: Path) -> bytes:
    """Reads a file, plain or compressed.

    Raises:
        DataError: the file is missing, damaged, or larger than `MAX_WHOLE_BYTES`.
    """
    raw, text = open_content(path)
    with raw, text:
        try:
            data = text.read(MAX_WHOLE_BYTES + 1)
        except READING_ERRORS as error:
            raise DataError(
                f"{path}: cannot be read ({error}); is it complete? Download or compress it again"
            ) from error
    if len(data) > MAX_WHOLE_BYTES:
        raise DataError(f"{path}: has more than {MAX_WHOLE_BYTES >> 20} MB, and is held in memory; split it")
    return data
