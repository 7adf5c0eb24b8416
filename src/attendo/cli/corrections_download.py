"""Corrections that a server keeps, fetched as a translation memory."""

import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

from attendo.errors import AttendoError

_MAX_BYTES = 256 << 20
_TIMEOUT_S = 60.0


def download_corrections(url: str, key: str | None, path: Path) -> Path:
    """Fetches the corrections of a key's owner.

    Args:
        url: the server's address, with its prefix if it has one.
        key: an API key, where the server needs one.
        path: the file to write.

    Raises:
        AttendoError: the address is invalid, or the server does not answer, refuses, or sends too much.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise AttendoError(f"--from-server {url[:200]!r}: write the server's address, as http://127.0.0.1:5000")
    request = urllib.request.Request(f"{url.rstrip('/')}/api/corrections?format=tmx")
    if key:
        request.add_header("Authorization", f"Bearer {key}")
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:
            content = answer.read(_MAX_BYTES + 1)
    except urllib.error.HTTPError as error:
        way_out = "; name a key with --key or ATTENDO_KEY" if error.code in (401, 403) else ""
        raise AttendoError(f"{url}: answered {error.code} {error.reason}{way_out}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise AttendoError(f"{url}: does not answer ({reason}); is attendo serve running there?") from None
    if len(content) > _MAX_BYTES:
        raise AttendoError(f"{url}: has more than {_MAX_BYTES >> 20} MiB of corrections; export and delete some")
    path.write_bytes(content)
    return path
