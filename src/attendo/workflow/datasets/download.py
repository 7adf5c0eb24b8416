"""Downloads of large files: resumed after interruptions, and verified by checksum."""

import hashlib
import http.client
import shutil
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from attendo import __version__
from attendo.errors import DataError
from attendo.files import flush_to_disk, write_text

_PIECE_BYTES = 1 << 18
_TIMEOUT_S = 60.0
_WAITS_S = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds before each retry; a try that brought bytes resets the count."""
_LINE_ERRORS = (urllib.error.URLError, http.client.HTTPException, ssl.SSLError, TimeoutError, ConnectionError)
_PASSING_STATUS = (408, 429, 500, 502, 503, 504)
"""Status codes of temporary failures."""


@dataclass(frozen=True, kw_only=True)
class Checksum:
    """The expected checksum of a file."""

    algorithm: Literal["sha256", "md5"]
    digits: str
    """Hexadecimal, in lower case."""
    origin: str
    """The source of the checksum, as messages put it."""

    def digits_of(self, path: Path) -> str:
        """Returns a file's checksum by the same algorithm."""
        with path.open("rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.new(self.algorithm, usedforsecurity=False)).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The progress of a job."""

    stage: str
    """The current stage."""
    done_bytes: int
    total_bytes: int | None
    """Size; None if unknown."""
    first_bytes: int = 0
    """Bytes that were there before the stage began, as in a resumed download."""


def mirrored(url: str, mirror: str | None) -> str:
    """Returns the address of a file at a mirror: the mirror's address, then the file's host and path.

    At `http://localhost:8000/files`, `https://example.org/a.tgz` is `http://localhost:8000/files/example.org/a.tgz`.

    Raises:
        DataError: the mirror's address is not http or https.
    """
    if mirror is None:
        return url
    if urlsplit(mirror).scheme not in ("http", "https"):
        raise DataError(f"--mirror {mirror}: give an address that begins with http:// or https://")
    parts = urlsplit(url)
    return f"{mirror.rstrip('/')}/{parts.netloc}{parts.path}"


def fetch(url: str, path: Path, checksum: Checksum | None, progress: Callable[[Progress], None]) -> None:
    """Downloads a file; `path` appears only when it is whole.

    Received bytes are kept in the same folder as `NAME.part`, even after an error or a signal, and the next call
    continues from there if the server still has the same file and supports partial downloads. A broken connection is
    retried automatically, up to five times without a byte of progress.

    Args:
        url: the address, http or https.
        path: the file to write; its folder is created if missing.
        checksum: the expected checksum, if known.
        progress: called with each piece.

    Raises:
        DataError: the server does not have the file, does not answer, or sends a file with another checksum; the disk
            has no room.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    at_first, tries = _size(part), 0
    while True:
        before = _size(part)
        try:
            _receive(url, part, path.name, progress)
            break
        except _LINE_ERRORS as error:
            reason = getattr(error, "reason", None) or error
            if isinstance(error, urllib.error.HTTPError):
                error.close()
                reason = f"HTTP {error.code} {error.reason}"
                hopeless = error.code not in _PASSING_STATUS
            else:  # a server that has never answered will not do so in a moment
                hopeless = _size(part) == at_first
            tries = 0 if _size(part) > before else tries
            if hopeless or tries == len(_WAITS_S):
                way_out = "try again later, which goes on from here, or give a --mirror that has it"
                raise DataError(f"{url}: cannot be fetched ({reason}); {way_out}") from error
            time.sleep(_WAITS_S[tries])
            tries += 1
    _check(url, part, checksum)
    flush_to_disk(part)
    part.replace(path)
    flush_to_disk(path.parent)
    _version_path(part).unlink(missing_ok=True)


def _receive(url: str, part: Path, name: str, progress: Callable[[Progress], None]) -> None:
    """Downloads the missing rest of `part`, or all of it if the server's file has changed."""
    present = _size(part)
    version = _version_path(part).read_text(encoding="utf-8") if _version_path(part).exists() else ""
    request = urllib.request.Request(url, headers={"User-Agent": f"attendo/{__version__}"})
    if present and version:  # without one, the parts might not belong together
        request.add_header("Range", f"bytes={present}-")
        request.add_header("If-Range", version)
    try:
        answer = urllib.request.urlopen(request, timeout=_TIMEOUT_S)
    except urllib.error.HTTPError as error:
        if error.code == 416 and error.headers.get("Content-Range") == f"bytes */{present}":
            error.close()  # all is there already: only the checksum was not made any more
            return
        raise
    with answer:
        goes_on = answer.status == 206
        first = present if goes_on else 0
        length = answer.headers.get("Content-Length")
        missing = None if length is None else int(length)
        if not goes_on:
            part.unlink(missing_ok=True)  # before the new version's name is there, which would pass for its own
            write_text(_version_path(part), _version(answer.headers))
        _check_room(part, missing, url)
        done, total = first, None if missing is None else first + missing
        with part.open("ab") as file:
            progress(Progress(stage=name, done_bytes=done, total_bytes=total, first_bytes=first))
            while piece := answer.read(_PIECE_BYTES):
                file.write(piece)
                done += len(piece)
                progress(Progress(stage=name, done_bytes=done, total_bytes=total, first_bytes=first))
    if total is not None and done < total:
        raise ConnectionError(f"the connection broke after {done:,} of {total:,} bytes")


def _version(headers: http.client.HTTPMessage) -> str:
    """Returns the server's identifier of this version for `If-Range`, which weak tags cannot be used for."""
    tag: str = headers.get("ETag", "")
    modified: str = headers.get("Last-Modified", "")
    return tag if tag and not tag.startswith("W/") else modified


def _version_path(part: Path) -> Path:
    return part.with_name(f"{part.name}.version")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _check(url: str, part: Path, checksum: Checksum | None) -> None:
    """Removes a download that is not the requested file."""
    if checksum is not None and (found := checksum.digits_of(part)) != checksum.digits:
        part.unlink()
        _version_path(part).unlink(missing_ok=True)
        raise DataError(
            f"{url}: the file has {checksum.algorithm} {found}, not {checksum.digits}, {checksum.origin}; it was "
            "damaged during the download (try again), or it is a different file"
        )


def _check_room(part: Path, missing_bytes: int | None, url: str) -> None:
    free = shutil.disk_usage(part.parent).free
    if missing_bytes is not None and missing_bytes > free:
        raise DataError(
            f"{part.parent}: {missing_bytes / 1e9:.2f} GB of {url} are missing and {free / 1e9:.2f} GB are free; make "
            "room, or give another folder"
        )
