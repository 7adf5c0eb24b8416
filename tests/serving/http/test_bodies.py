"""Bodies are received in bounded memory, and neither a drip nor a standstill is waited for."""

import asyncio
import tracemalloc
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from attendo.serving.config import LimitsConfig, ServerConfig, ServingConfig
from attendo.serving.errors import ServingError
from attendo.serving.http.bodies import Bodies

MIB = 1 << 20


async def sent(
    parts: AsyncIterator[bytes],
    config: ServingConfig | None = None,
    *,
    most: int = 100 * MIB,
    headers: Sequence[Any] = (),
) -> tuple[int, int]:
    """Sends parts of a body; the bytes that arrived, and the largest part of them."""
    sizes: list[int] = []
    over: list[bool] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while True:
            message = await receive()
            sizes.append(len(message["body"]))
            if not message["more_body"]:
                return

    async def receive() -> dict[str, Any]:
        async for part in parts:
            return {"type": "http.request", "body": part, "more_body": True}
        if over:
            await asyncio.sleep(3600)  # the connection stays open
        over.append(True)
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        raise AssertionError("nothing is answered")

    bodies = Bodies(app, config or ServingConfig(), max_bytes=lambda path: most)
    await bodies({"type": "http", "path": "/", "headers": list(headers)}, receive, send)
    return sum(sizes), max(sizes)


async def in_parts(*parts: bytes, pause_s: float = 0) -> AsyncIterator[bytes]:
    for part in parts:
        await asyncio.sleep(pause_s)
        yield part


async def standing_still() -> AsyncIterator[bytes]:
    yield b"a" * 100_000
    await asyncio.sleep(3600)


def status(parts: AsyncIterator[bytes], config: ServingConfig, **options: Any) -> int:
    with pytest.raises(ServingError) as told:
        asyncio.run(sent(parts, config, **options))
    return told.value.status


def test_a_large_body_takes_little_memory() -> None:
    tracemalloc.start()
    try:
        size, largest = asyncio.run(sent(in_parts(*[bytes(64 << 10)] * 320)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size == 20 * MIB
    assert largest <= 64 << 10
    assert peak < 2 * MIB


def test_small_and_empty_bodies_arrive_as_they_are() -> None:
    assert asyncio.run(sent(in_parts(b"abc", b"de"))) == (5, 5)
    assert asyncio.run(sent(in_parts())) == (0, 0)


def test_limits_hold_while_it_arrives() -> None:
    declared = [(b"content-length", b"101"), (b"expect", b"100-continue")]
    assert status(in_parts(b"a"), ServingConfig(), most=100, headers=declared) == 413
    assert status(in_parts(b"a" * 60, b"b" * 60), ServingConfig(), most=100) == 413
    together = ServingConfig(limits=LimitsConfig(max_bodies_bytes=2000))
    assert status(in_parts(b"a" * 1500, b"b" * 1500), together) == 503


def test_a_drip_and_a_standstill_are_not_waited_for_and_a_slow_line_is() -> None:
    config = ServingConfig(server=ServerConfig(body_seconds=0.5, min_body_rate=10_000))
    assert status(in_parts(*[b"a"] * 1000, pause_s=0.02), config) == 408
    assert status(standing_still(), config) == 408  # ten seconds more, but not for a pause
    slow = in_parts(*[bytes(2000)] * 15, pause_s=0.06)  # 33,000 bytes a second, for twice the time
    assert asyncio.run(sent(slow, config)) == (30_000, 30_000)


def test_no_room_on_disk_is_told_as_busy(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    assert status(in_parts(bytes(MIB)), ServingConfig()) == 503
