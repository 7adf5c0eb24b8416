"""Maintenance while a server runs: changed models and keys, usage records, inactive callers."""

import asyncio
import ctypes
import gc
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attendo.errors import AttendoError
from attendo.files import write_json
from attendo.reading import MAX_JSON_BYTES, parse_json, read_bounded
from attendo.serving.access.callers import Callers
from attendo.serving.access.keys import read_keys
from attendo.serving.config import ServingConfig
from attendo.serving.core.models import ModelPool
from attendo.serving.logs import Log

_LEAST_PAUSE_S = 0.05
_SPENT_EVERY_S = 30.0
_SUFFIX = ".spent.json"
_UNUSED_BYTES, _MOST_UNUSED_BYTES = 64 << 20, 256 << 20
"""Bytes that a server keeps for coming batches: while idle, the need of a few usual batches; otherwise that of a few
large ones."""


class Keeping:
    """Does the regular upkeep of a server.

    Args:
        config: the keys' file, and how often models are checked.
        pool: the models.
        callers: the keys.
        log: the log of changes.
        is_idle: whether no request waits for a translation now.
    """

    def __init__(
        self, config: ServingConfig, pool: ModelPool, callers: Callers, log: Log, is_idle: Callable[[], bool]
    ) -> None:
        self._config, self._pool, self._callers, self._log, self._is_idle = config, pool, callers, log, is_idle
        self._keys_stat = self._stat()
        self._written: dict[str, dict[str, int]] = callers.spent
        self._now = asyncio.Event()

    def look_now(self) -> None:
        """Checks models and keys at once, regardless of pauses; called on SIGHUP."""
        self._now.set()

    async def run(self) -> None:
        """Runs until it is cancelled."""
        pause_s = self._config.models.watch_seconds
        next_spent = asyncio.get_running_loop().time() + _SPENT_EVERY_S
        while True:
            is_requested = await self._pause(max(pause_s, _LEAST_PAUSE_S) if pause_s else _SPENT_EVERY_S)
            if pause_s or is_requested:
                await self._pool.look_for_changes()
            await self._renew_keys()
            self._callers.tidy()
            self._tidy_memory(is_idle=self._is_idle())
            if asyncio.get_running_loop().time() >= next_spent:
                next_spent = asyncio.get_running_loop().time() + _SPENT_EVERY_S
                await asyncio.to_thread(self.write_spent)

    def _tidy_memory(self, *, is_idle: bool) -> None:
        """Frees unused memory: all of it while the server is idle, otherwise only large amounts."""
        has_old = is_idle and bool(gc.get_count()[2])
        if has_old:
            gc.collect()  # the long-lived objects, which `run` has exempted
        if self._pool.free_unused(_UNUSED_BYTES if is_idle else _MOST_UNUSED_BYTES) or has_old:
            _trim_heap()

    def write_spent(self) -> None:
        """Writes the keys' usage to its file, if it has changed."""
        spent = self._callers.spent
        if self._config.keys.file is None or spent == self._written:
            return
        try:
            write_json(_spent_path(self._config.keys.file), spent)
            self._written = spent
        except OSError as error:
            self._log.error("spent-not-written", message=error.strerror)

    async def _pause(self, seconds: float) -> bool:
        """Waits, and returns whether an immediate check was requested."""
        try:
            async with asyncio.timeout(seconds):
                await self._now.wait()
        except TimeoutError:
            return False
        self._now.clear()
        return True

    async def _renew_keys(self) -> None:
        """Reads changed keys; an unreadable file changes nothing and is reported once."""
        path, stat = self._config.keys.file, await asyncio.to_thread(self._stat)
        if path is None or stat == self._keys_stat:
            return
        self._keys_stat = stat
        try:
            keys = await asyncio.to_thread(read_keys, path)
        except (AttendoError, OSError) as error:
            self._log.error("keys-failed", message=str(error))
            return
        self._callers.renew(keys)
        self._log.info("keys-read", keys=len(keys.keys))

    def _stat(self) -> tuple[int, int, int] | None:
        path = self._config.keys.file
        try:
            found = path.stat() if path is not None else None
        except OSError:
            return None
        return None if found is None else (found.st_ino, found.st_size, found.st_mtime_ns)


def read_spent(keys: Path | None) -> dict[str, dict[str, int]]:
    """Reads the recorded usage of keys; empty if it cannot be read.

    Args:
        keys: the file of keys; the usage is stored in the same folder.
    """
    if keys is None:
        return {}
    try:
        content: Any = parse_json(read_bounded(_spent_path(keys), MAX_JSON_BYTES))
    except (OSError, ValueError):
        return {}
    if not isinstance(content, dict):
        return {}
    return {
        str(month): {str(key): count for key, count in counts.items() if isinstance(count, int)}
        for month, counts in content.items()
        if isinstance(counts, dict)
    }


def _spent_path(keys: Path) -> Path:
    return keys.with_name(keys.name + _SUFFIX)


def _trim_heap() -> None:
    """Returns free memory to the system, if the allocator is glibc's."""
    if os.name == "posix" and hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)
