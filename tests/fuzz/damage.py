"""Ways to damage a file or a folder, each named and each the same for the same seed."""

import json
import os
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors.numpy import load_file, save_file


@dataclass(frozen=True, kw_only=True)
class Damage:
    """Something that is done to a copy of a folder."""

    kind: str
    name: str
    apply: Callable[[Path], object]


def places_to_cut(size: int) -> list[int]:
    """Lengths that a file may be cut to: none, within and behind a header's length, the middle, all but the last."""
    return sorted({cut for cut in (0, 1, 7, 8, 9, 60, size // 3, size // 2, size - 1) if 0 <= cut < size})


def cuts(folder: Path, files: Sequence[str]) -> Iterator[Damage]:
    """Each file cut to several lengths, and one that is longer than it was."""
    for file in files:
        content = (folder / file).read_bytes()
        for cut in places_to_cut(len(content)):
            yield rewriting("truncated", f"{file} to {cut}", file, content[:cut])
        yield rewriting("truncated", f"{file} and a byte more", file, content + b"\n")
        yield rewriting("truncated", f"{file} of zeros", file, bytes(len(content)))


def flips(folder: Path, files: Sequence[str], seeds: range) -> Iterator[Damage]:
    """A few bits or bytes of a file changed, moved, left out or doubled; half of them in its first 2 kB."""
    for seed in seeds:
        rng = random.Random(f"flip {seed}")
        file = rng.choice(files)
        content = bytearray((folder / file).read_bytes())
        within = min(len(content), 2048) if rng.random() < 0.5 else len(content)
        how = rng.choice(["bits", "bits", "bytes", "out", "doubled"])
        for _ in range(rng.choice([1, 1, 1, 2, 5, 40])):
            place = rng.randrange(within)
            if how == "bits":
                content[place] ^= 1 << rng.randrange(8)
            elif how == "bytes":
                content[place] = rng.choice([0, 0x7F, 0x80, 0xFF, rng.randrange(256)])
        start = rng.randrange(within)
        stop = start + rng.choice([1, 2, 8, 100])
        if how == "out":
            del content[start:stop]
        elif how == "doubled":
            content[start:start] = content[start:stop]
        yield rewriting(f"{how} changed", f"{file}, seed {seed}", file, bytes(content))


def swaps(folder: Path, files: Sequence[str], others: Sequence[Path]) -> Iterator[Damage]:
    """Each file with the content of another one of the folder, or of that of the same name in other folders."""
    for file in files:
        for other in files:
            if other != file:
                yield rewriting("swapped", f"{file} is {other}", file, (folder / other).read_bytes())
        for place in others:
            if (place / file).is_file():
                yield rewriting("swapped", f"{file} of {place.name}", file, (place / file).read_bytes())


def no_files(files: Sequence[str], outside: Path) -> Iterator[Damage]:
    """What is no plain file in the place of each file.

    Args:
        files: by name.
        outside: a file that lies elsewhere, to be linked to.
    """

    def put(make: Callable[[Path], object], file: str) -> Callable[[Path], object]:
        def apply(folder: Path) -> None:
            path = folder / file
            path.unlink()
            make(path)

        return apply

    def link(to: str) -> Callable[[Path], object]:
        return lambda path: path.symlink_to(to)

    def sparse(path: Path) -> None:
        with path.open("wb") as file:
            file.truncate(1 << 40)

    instead: dict[str, Callable[[Path], object]] = {
        "nothing": lambda path: None,
        "a folder": lambda path: path.mkdir(),
        "a pipe": lambda path: os.mkfifo(path),
        "a link to /dev/zero": link("/dev/zero"),
        "a link to /dev/null": link("/dev/null"),
        "a link to itself": lambda path: path.symlink_to(path),
        "a link to nowhere": link("/nowhere/at/all"),
        "a link to a file outside": link(str(outside)),
        "a terabyte of nothing": sparse,
    }
    for file in files:
        for what, make in instead.items():
            yield Damage(kind="no plain file", name=f"{file} is {what}", apply=put(make, file))


HOSTILE: tuple[Any, ...] = (
    None, True, -1, 0, 1, 3, 10**9, 10**12, 2**63, 10**30, 0.5, -1.5, 1e308, float("nan"), float("inf"),
    "", "12", "\ud800", "\x1b[2J\x07", "../../etc/passwd", "a\0b", "x" * 300_000, [], {}, [[]], {"": 0}, [1] * 100_000,
    {str(number): number for number in range(20_000)},
)  # fmt: skip
"""Values that nobody expects."""


def json_changes(folder: Path, file: str) -> Iterator[Damage]:
    """Each value of a JSON file in turn replaced by hostile ones, left out, doubled; and texts that are hardly JSON."""
    content = json.loads((folder / file).read_text(encoding="utf-8"))
    for place in _places(content):
        shown = f"{file}: {'.'.join(map(str, place))}"
        for number, value in enumerate(HOSTILE):
            changed = json.dumps(_with(content, place, value))
            yield rewriting("JSON value", f"{shown} = hostile {number}", file, changed.encode())
        yield rewriting("JSON key", f"{shown} is missing", file, json.dumps(_without(content, place)).encode())
    text = json.dumps(content)
    texts = {
        "nested lists": "[" * 500_000,
        "nested whole": "[" * 900 + "]" * 900,
        "nested tables": '{"model":' * 100_000,
        "nested inside": text[:-1] + ', "training": ' + '{"a":' * 500 + "1" + "}" * 500 + "}",
        "a key twice": text[:-1] + ", " + text[1:],
        "1e400": text.replace(": 1,", ": 1e400,", 1),
        "many digits": text.replace(": 1,", f": {'9' * 5000},", 1),
        "ten megabytes": text[:-1] + ', "more": "' + "x" * 10_000_000 + '"}',
        "UTF-16": text,
        "a byte order mark": "\ufeff" + text,
        "behind it more": text + text,
        "a list": "[]",
        "a number": "7",
        "unknown keys": text[:-1] + "".join(f', "k{number}": 0' for number in range(50_000)) + "}",
    }
    for name, changed in texts.items():
        encoded = changed.encode("utf-16" if name == "UTF-16" else "utf-8")
        yield rewriting("JSON text", f"{file}: {name}", file, encoded)


def header_changes(folder: Path, file: str) -> Iterator[Damage]:
    """A safetensors file whose header claims what is not so."""
    content = (folder / file).read_bytes()
    length = int.from_bytes(content[:8], "little")
    header, data = json.loads(content[8 : 8 + length]), content[8 + length :]

    def written(changed: Any, claimed: int | None = None) -> bytes:
        text = changed if isinstance(changed, bytes) else json.dumps(changed).encode()
        return (len(text) if claimed is None else claimed).to_bytes(8, "little") + text + data

    for claimed in (0, 1, length - 1, length + 1, len(content), 10**8, 2**32, 2**40, 2**63, 2**64 - 1):
        yield rewriting("header length", f"{file} claims {claimed}", file, written(header, claimed))
    names = [name for name in header if name != "__metadata__"]
    for name in (names[0], names[-1]):
        for key in ("dtype", "shape", "data_offsets"):
            for number, value in enumerate(
                (*HOSTILE, "F64", "F4", "F8_E4M3", "BOOL", [-1], [2**62, 4], [0], [0, 10**12])
            ):
                changed = {**header, name: {**header[name], key: value}}
                yield rewriting("header entry", f"{file}: {name}.{key} = hostile {number}", file, written(changed))
        begin, end = header[name]["data_offsets"]
        for offsets in ([end, begin], [begin + 4, end + 4], [0, len(data)], [begin, end - 4], [0, 0], [2**40, 2**41]):
            changed = {**header, name: {**header[name], "data_offsets": offsets}}
            yield rewriting("header entry", f"{file}: {name} at {offsets}", file, written(changed))
        entry = header[name]
        yield rewriting("header entry", f"{file}: {name} overlaps", file, written({**header, "second": entry}))
        extents = [1] * 70_000 + entry["shape"]
        changed = {**header, name: {**entry, "shape": extents}}
        yield rewriting("header entry", f"{file}: {name} of 70,000 axes", file, written(changed))
    text = json.dumps(header).encode()
    empty = b', "%d": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}'
    many = text[:-1] + b"".join(empty % number for number in range(200_000)) + b"}"
    yield rewriting("header entry", f"{file}: 200,000 empty tensors", file, written(many))
    yield rewriting("header entry", f"{file}: nested", file, written(b"[" * 400_000))
    yield rewriting(
        "header entry", f"{file}: metadata of 3 MB", file, written({**header, "__metadata__": {"a": "x" * 3_000_000}})
    )


def vocabulary_changes(folder: Path, file: str, seeds: range) -> Iterator[Damage]:
    """A SentencePiece file that is one, but whose pieces, scores, types and settings are not meant so."""
    import sentencepiece.sentencepiece_model_pb2 as messages

    content = (folder / file).read_bytes()
    for seed in seeds:
        rng, proto = random.Random(f"vocabulary {seed}"), messages.ModelProto.FromString(content)
        for _ in range(rng.choice([1, 1, 2, 5])):
            piece = proto.pieces[rng.randrange(2, len(proto.pieces))]
            how = rng.randrange(9)
            if how == 0:
                piece.score = rng.choice([float("nan"), float("inf"), -float("inf"), 3e38, -3e38, 0.0])
            elif how == 1:
                piece.type = rng.choice([1, 2, 3, 4, 5, 6])
            elif how == 2:
                piece.piece = rng.choice(
                    ["\n", "\0", "\u2581", "\x1b[2J", "x" * 5000, "</s>", "<0x41>", "\u27e61\u27e7"]
                )
            elif how == 3:
                proto.trainer_spec.model_type = rng.choice([1, 2, 3, 4])
            elif how == 4:
                proto.trainer_spec.unk_surface = "\n" * 1000
            elif how == 5:
                for each in proto.pieces:
                    each.score = rng.choice([float("nan"), 3e38, -3e38])
            elif how == 6:  # a table of characters, which SentencePiece walks along by offsets in it
                units = [rng.choice([rng.getrandbits(32), rng.getrandbits(20), 1 << 31]) for _ in range(256)]
                table = b"".join(unit.to_bytes(4, "little") for unit in units)
                length = rng.choice([len(table), 4, 2**32 - 4])
                proto.normalizer_spec.precompiled_charsmap = length.to_bytes(4, "little") + table + b"abc\0"
            elif how == 7:
                proto.normalizer_spec.escape_whitespaces = proto.normalizer_spec.add_dummy_prefix = rng.random() < 0.5
            else:
                proto.trainer_spec.byte_fallback = not proto.trainer_spec.byte_fallback
        yield rewriting("vocabulary", f"{file}, seed {seed}", file, proto.SerializeToString())


def number_changes(folder: Path, file: str) -> Iterator[Damage]:
    """Weights that are none, infinite, huge, tiny or all the same."""
    for number, value in enumerate((float("nan"), float("inf"), -float("inf"), 3e38, -3e38, 1e20, 1e-45, 0.0, 1.0)):
        for some in (True, False):

            def apply(copy: Path, value: float = value, some: bool = some) -> None:
                tensors = {name: array.copy() for name, array in load_file(copy / file).items()}
                for array in tensors.values():
                    if array.dtype.kind == "f":
                        array.reshape(-1)[:: 7 if some else 1] = value
                save_file(tensors, copy / file)

            yield Damage(
                kind="weights", name=f"{file}: {'some' if some else 'all'} are {value} ({number})", apply=apply
            )


def every(number: int, damages: Iterable[Damage], *, all_of: int = 20) -> list[Damage]:
    """The first `all_of` of the damages of each kind and file, and of the others one in so many."""
    chosen, seen = [], Counter[tuple[str, str]]()
    for damage in damages:
        key = (damage.kind, re.split("[ :,]", damage.name)[0])
        if seen[key] < all_of or seen[key] % number == 0:
            chosen.append(damage)
        seen[key] += 1
    return chosen


def rewriting(kind: str, name: str, file: str, content: bytes) -> Damage:
    """A file with another content."""
    return Damage(kind=kind, name=name, apply=lambda folder: (folder / file).write_bytes(content))


def copied(folder: Path, place: Path) -> Path:
    """A fresh copy of a folder in the place of an earlier one."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(folder, place)
    return place


def num_bytes(folder: Path) -> int:
    """What the files of a folder take on the disk: of one full of nothing, little."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*"))


def _places(value: Any) -> Iterator[tuple[Any, ...]]:
    """Every key of nested tables and lists, from the outside to the inside."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (key,)
        yield from ((key, *rest) for rest in _places(item))


def _with(content: Any, place: tuple[Any, ...], value: Any) -> Any:
    copy = json.loads(json.dumps(content))
    inner = copy
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return copy


def _without(content: Any, place: tuple[Any, ...]) -> Any:
    copy = _with(content, place, None)
    inner = copy
    for key in place[:-1]:
        inner = inner[key]
    del inner[place[-1]]
    return copy
