"""Text that nobody should feed to a program, and somebody will: lines, files of them, compressed and damaged."""

import gzip
import json
import lzma
import random
from collections.abc import Callable, Sequence

import zstandard

COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gz": gzip.compress,
    "xz": lzma.compress,
    "zst": zstandard.compress,
}

_BYTES: tuple[bytes, ...] = (
    *(b"", b" ", b"  ", b"\t", b"\r", b"\0", b"\x0b", b"\x0c", b"\x1c", b"\x1b[2J\x07", b"\x7f"),
    *(b"'", b'"', b'""', b"\\", b"\\n", b"<s>", b"</s>", b"<unk>", b"<0x41>", b"<bt>"),
    *(b"\xff", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xaf"),
    *(b"a", b"Kalo minu.", b"resota", b"1,000.5", b"x" * 3000, b"ka " * 260, b"y" * 300, b"\xf0\x9f\x98"),
)
_TEXTS = (
    *("\u2028", "\u2029", "\x85", "\u00a0", "\u200b", "\ufeff", "\u202e", "\u2581", "\u2585", "\u2581lo"),
    *("ü", "u\u0308", "e" + "\u0301" * 300, "日本語", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "İ", "ß", "ﬁ"),
    *("\U0010ffff", "\uffff", "\ufffd", "{1}", "⟦1⟧"),
)
_FRAGMENTS = (*_BYTES, *(text.encode() for text in _TEXTS))


def line(rng: random.Random) -> bytes:
    """A line without its end: some fragments, or bytes at random."""
    if rng.random() < 0.1:
        return rng.randbytes(rng.randint(0, 60)).replace(b"\n", b"")
    return b"".join(rng.choices(_FRAGMENTS, k=rng.choice([0, 1, 1, 2, 3, 6])))


def text_of(lines: Sequence[bytes], rng: random.Random) -> bytes:
    """A file of lines, each with an end of some system; the last one may have none."""
    ends = [rng.choice([b"\n", b"\n", b"\n", b"\r\n"]) for _ in lines]
    if lines and lines[-1].strip(b"\r") and rng.random() < 0.3:
        ends[-1] = b""
    return b"".join(one + end for one, end in zip(lines, ends, strict=True))


def json_line(rng: random.Random) -> bytes:
    """A line of `attendo translate --json`, or nearly one."""
    good = {"source": "Kalo minu.", "source_truncated": False, "text": "Onim olak.", "finished": True, "tokens": []}
    way = rng.randrange(9)
    value: object = rng.choice(
        [None, True, 0, -1.5, 1e308, "", "\0", "\ud800", "a\nb\r", "x" * 3000, [], ["a"], {}, {"a": 1}, [[[]]]]
    )
    changed = json.dumps({**good, rng.choice([*good, "more"]): value}).encode()
    return (
        json.dumps({**good, "source": f"kalo {rng.random()}"}).encode(),
        changed,
        json.dumps({key: item for key, item in good.items() if key != rng.choice([*good])}).encode(),
        changed[: rng.randint(0, len(changed))],
        changed.replace(b"true", rng.choice([b"NaN", b"1e400", b"9" * 5000, b"[" * 5000, b'"true"', b"truE"])),
        rng.choice([b"[", b'{"source":']) * 50_000,
        changed[:-1] + b', "text": "twice", "finished": 1}',
        changed + changed,
        line(rng),
    )[way]


def damaged(content: bytes, rng: random.Random) -> bytes:
    """A file that is not as it was written: cut, with bits or bytes changed, left out, doubled, or more behind it."""
    place, length = rng.randrange(len(content) + 1), rng.choice([1, 1, 2, 8, 100])
    way = rng.randrange(7)
    if way == 0:
        return content[:place]
    if way in (1, 2) and content:
        flipped = bytearray(content)
        for _ in range(rng.choice([1, 1, 3, 20])):
            flipped[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        return bytes(flipped)
    if way == 3:
        return content[:place] + rng.randbytes(length) + content[place + length :]
    if way == 4:
        return content[:place] + content[place + length :]
    if way == 5:
        return content[:place] + content[max(0, place - length) :]
    return content + rng.choice([b"\0", bytes(512), b"\n", content, content[: len(content) // 2], rng.randbytes(9)])


def bomb(kind: str, unit: bytes, times: int) -> bytes:
    """So many times a unit, compressed to some thousandth: each unit a frame of its own."""
    return COMPRESSIONS[kind](unit) * times
