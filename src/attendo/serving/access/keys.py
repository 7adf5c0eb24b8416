"""API keys: generated at random, stored as digests, each with its own limits.

A key is `att_` and 43 characters, 256 bits of the system's random numbers. This cannot be guessed, and one SHA-256 is
enough at rest: slow hashes are for words that people choose. A leaked file does not reveal usable keys.
"""

import hashlib
import json
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config

from attendo.errors import DataError
from attendo.files import atomic_path, locked
from attendo.reading import MAX_JSON_BYTES, parse_json, read_bounded

FORMAT_VERSION = 1
_MARK = "att_"
_NAME = re.compile(r"[^\x00-\x1f\x7f]{1,100}")


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True, kw_only=True)
class Key:
    """A stored key.

    Raises:
        ValueError: a value is invalid.
    """

    id: str
    """Identifier in logs, metrics and `attendo keys`; it reveals nothing about the key."""
    name: str
    """Name of the owner, for display."""
    digest: str
    """SHA-256 of the key, in hexadecimal."""
    created: str
    """Time of creation in UTC, as ISO 8601."""
    expires: str | None = None
    """Time of expiry in UTC, as ISO 8601; None for never."""
    requests_per_minute: int | None = None
    """Maximum number of requests per minute; None for no limit."""
    characters_per_minute: int | None = None
    """Maximum number of characters per minute; None for no limit."""
    characters_per_month: int | None = None
    """Maximum number of characters per calendar month in UTC; None for no limit."""
    max_characters: int | None = None
    """Maximum number of characters per request; None for the server's limit."""

    def __post_init__(self) -> None:
        """Refuses invalid values."""
        problems = [] if re.fullmatch(r"[0-9a-f]{64}", self.digest) else ["digest is not 64 hexadecimal digits"]
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", self.id):
            problems.append(f"id = {self.id[:80]!r} has other characters than letters, digits, - and _")
        if not _NAME.fullmatch(self.name):
            problems.append(f"name = {self.name[:80]!r} is empty, too long or has control characters")
        for key in ("requests_per_minute", "characters_per_minute", "characters_per_month", "max_characters"):
            value = getattr(self, key)
            if value is not None and value < 1:
                problems.append(f"{key} = {value} is too small; take 1 or more")
        for key in ("created", "expires"):
            value = getattr(self, key)
            if value is not None and _time(value) is None:
                problems.append(f"{key} = {value[:40]!r} is no time with its zone; write 2030-01-31T00:00:00+00:00")
        if problems:
            raise ValueError("; ".join(problems))

    def has_expired(self, now: datetime) -> bool:
        """Whether the key has expired."""
        end = _time(self.expires) if self.expires is not None else None
        return end is not None and now >= end


class KeyRing:
    """Keys, looked up by the text that a caller sends.

    Args:
        keys: all keys.
    """

    def __init__(self, keys: Sequence[Key] = ()) -> None:
        self.keys = tuple(keys)
        self._by_digest: Mapping[str, Key] = {key.digest: key for key in keys}

    def find(self, shown: str) -> Key | None:
        """Returns the key for a text, or None. The time that comparing digests takes reveals nothing about keys."""
        return self._by_digest.get(digest(shown))


def digest(key: str) -> str:
    """SHA-256 of a key, in hexadecimal."""
    return hashlib.sha256(key.encode("utf-8", errors="surrogatepass")).hexdigest()


def new_key(name: str, **limits: Any) -> tuple[str, Key]:
    """Makes a key.

    Args:
        name: the name of its owner.
        limits: further fields of `Key`.

    Returns:
        The key itself, which is shown once and stored nowhere, and its stored form.

    Raises:
        DataError: a limit is invalid.
    """
    secret = _MARK + secrets.token_urlsafe(32)
    created = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        return secret, Key(id=secrets.token_hex(4), name=name, digest=digest(secret), created=created, **limits)
    except ValueError as error:
        raise DataError(f"key: {error}") from error


def read_keys(path: Path) -> KeyRing:
    """Reads a file of keys.

    Raises:
        DataError: it is not a file of keys, or has an id or a key twice.
        OSError: it cannot be read.
    """
    try:
        content = parse_json(read_bounded(path, MAX_JSON_BYTES))
    except ValueError as error:
        raise DataError(f"{path}: not JSON ({error}); write it with `attendo keys`") from error
    if not isinstance(content, dict) or content.get("format_version") != FORMAT_VERSION:
        raise DataError(f"{path}: no file of keys of format_version {FORMAT_VERSION}; write it with `attendo keys`")
    try:
        keys = TypeAdapter(list[Key]).validate_python(content.get("keys"))
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:3])
        raise DataError(f"{path}: keys.{faults}") from error
    for field in ("id", "digest"):
        values = [getattr(key, field) for key in keys]
        if len(set(values)) < len(values):
            raise DataError(f"{path}: two keys have one {field}; leave one out")
    return KeyRing(keys)


def write_keys(path: Path, keys: Sequence[Key]) -> None:
    """Writes a file of keys atomically; only its owner can read it.

    Raises:
        OSError: it cannot be written.
    """
    listed = [{name: value for name, value in asdict(key).items() if value is not None} for key in keys]
    with atomic_path(path) as draft:
        draft.touch(mode=0o600)
        draft.write_text(json.dumps({"format_version": FORMAT_VERSION, "keys": listed}, indent=1) + "\n", "utf-8")


@contextmanager
def changed_keys(path: Path) -> Iterator[list[Key]]:
    """Yields the keys of a file to change, and writes them if the block succeeds; other processes wait meanwhile.

    Args:
        path: the file; a missing file has no keys.

    Raises:
        DataError: it is not a file of keys.
        OSError: it cannot be read or written.
    """
    with locked(path.with_name(f".{path.name}.lock")):
        keys = list(read_keys(path).keys) if path.exists() else []
        yield keys
        write_keys(path, keys)


def _time(written: str) -> datetime | None:
    try:
        time = datetime.fromisoformat(written)
    except ValueError:
        return None
    return time if time.tzinfo is not None else None
