"""Reads untrusted files: regular files of a bounded size, and JSON of a bounded shape.

A downloaded folder may contain a pipe without a writer, a link to `/dev/zero`, an empty file of a terabyte, or JSON of
a million opening brackets. All of them are errors here, before anything blocks or fills the memory.
"""

import errno
import json
import math
import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

MAX_JSON_BYTES = 4 << 20
"""More than the size of any of our JSON files; as Python objects it takes about twenty times as much."""
_MAX_DEPTH = 32
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def require_regular(path: Path) -> None:
    """Rejects anything but a regular file: opening a pipe could block for ever, reading a device never end.

    Raises:
        OSError: the file is missing, or is a folder, a pipe, a device or a socket; `strerror` names the reason.
    """
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "is a folder", str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "is not a regular file but a pipe, a device or a socket", str(path))


def require_inside(path: Path) -> None:
    """Rejects a link that leads outside the folder of a file; the folder itself may be reached by links.

    Raises:
        OSError: it is such a link, there is no such file, or it is not a regular file.
    """
    require_regular(path)
    real = os.path.realpath(path)
    if os.path.dirname(real) != os.path.realpath(path.parent):  # noqa: PTH120  # a Path would be made for nothing
        raise OSError(errno.EXDEV, f"is a link to {real}, outside its folder; put the file itself there", str(path))


def read_bounded(path: Path, max_bytes: int) -> bytes:
    """Reads a whole regular file, if it is not too large.

    Args:
        path: the file; a link is followed.
        max_bytes: maximum size of the file in bytes.

    Raises:
        OSError: the file is missing, not regular, or larger; `strerror` names the reason.
    """
    require_regular(path)
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > max_bytes:
            raise OSError(errno.EFBIG, f"has {size:,} bytes, more than such a file may have", str(path))
        return file.read(size)  # Python allocates the requested number of bytes, not the file's size


def parse_json(content: bytes) -> Any:
    """Parses JSON strictly: ambiguous or non-standard content is rejected.

    Args:
        content: UTF-8, of a size that was checked.

    Raises:
        ValueError: it is not JSON, is nested more than 32 deep, has a key twice in an object, half of a surrogate pair,
            a number that is infinite or NaN, or an integer of more than 64 bits.
    """
    try:
        value = json.loads(
            content.decode("utf-8"),
            object_pairs_hook=_table,
            parse_float=_finite,
            parse_int=_int64,
            parse_constant=_finite,
        )
    except RecursionError:
        raise ValueError(f"it is nested more than {_MAX_DEPTH} deep") from None
    _check_shape(value, _MAX_DEPTH)
    return value


def printable(text: str) -> str:
    """A stranger's text for a terminal, which control characters could command: they become U+FFFD.

    Tabs and line ends stay.
    """
    return _CONTROL.sub("\ufffd", text)


def _table(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for key, value in pairs:
        if key in table:
            raise ValueError(f"the key {key[:80]!r} is there twice")
        table[key] = value
    return table


def _finite(written: str) -> float:
    value = float(written)
    if not math.isfinite(value):
        raise ValueError(f"{written[:40]} is not a finite number")
    return value


def _int64(written: str) -> int:
    if len(written) > 20 or not -(1 << 63) <= int(written) < 1 << 63:
        raise ValueError(f"{written[:40]} has more than 64 bits")
    return int(written)


def _check_shape(value: Any, depth: int) -> None:
    """Rejects values nested too deeply for later code, or that could not be written again."""
    if isinstance(value, str):
        value.encode("utf-8")  # JSON can represent half of a surrogate pair, UTF-8 cannot
        return
    if not isinstance(value, dict | list):
        return
    if depth == 0:
        raise ValueError(f"it is nested more than {_MAX_DEPTH} deep")
    for item in value.values() if isinstance(value, dict) else value:
        _check_shape(item, depth - 1)
    if isinstance(value, dict):
        for key in value:
            key.encode("utf-8")


def line_end_of(line: str) -> str:
    r"""Returns the end of a line: `\n`, `\r\n`, or nothing."""
    return "\r\n" if line.endswith("\r\n") else line[-1:] if line.endswith("\n") else ""
