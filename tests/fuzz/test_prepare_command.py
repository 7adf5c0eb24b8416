"""`attendo prepare` and what a recipe may name as a corpus or validation set: an account, or one line of an error."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tests.fuzz.command import attendo
from tests.fuzz.hostile_text import COMPRESSIONS, bomb
from tests.fuzz.sandbox import Case, run_cases

GOOD = [(f"kalo {n} minu", f"unim {n} olak") for n in range(12)]
RECIPE = (
    "[data]\nsource_language = 'en'\ntarget_language = 'de'\n[[data.corpora]]\nname = 'a'\ntsv = 'a.tsv'\n"
    "[data.valid]\ntsv = 'v.tsv'\n[tokenizer]\nvocab_size = 280\n"
)


def by_command(folder: Path, file: str, make: Callable[[Path], object]) -> int:
    """What `attendo prepare` says of a recipe one of whose files is special."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "mine.toml").write_text(RECIPE)
    for name, good in (("a.tsv", GOOD), ("v.tsv", GOOD[:2])):
        (folder / name).write_text("".join(f"{source}\t{target}\n" for source, target in good))
    (folder / file).unlink()
    make(folder / file)
    out = attendo("prepare", folder / "mine.toml", "-o", folder / "ready", "--json", "--workers", 1)
    total = json.loads(out)["total"]
    assert total["read"] == total["kept"] + sum(total["dropped"].values())
    return 0


def specials() -> Iterator[tuple[str, Callable[[Path], object]]]:
    """What may lie where a corpus is expected, and is taken or refused as a whole."""

    def write(content: bytes) -> Callable[[Path], object]:
        return lambda path: path.write_bytes(content)

    good = "".join(f"{source}\t{target}\n" for source, target in GOOD)
    yield from {
        "nothing": lambda path: None,
        "a folder": lambda path: path.mkdir(),
        "a pipe": lambda path: os.mkfifo(path),
        "a link to nowhere": lambda path: path.symlink_to("nowhere"),
        "a link to itself": lambda path: path.symlink_to(path),
        "a link to /dev/zero": lambda path: path.symlink_to("/dev/zero"),
        "a link to /dev/null": lambda path: path.symlink_to("/dev/null"),
        "a file of the kernel": lambda path: path.symlink_to("/proc/self/mem"),
    }.items()
    yield "nothing in it", write(b"")
    yield "a gigabyte of nothing", lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 1 << 30)
    for encoding in ("utf-8-sig", "utf-16", "utf-16-be", "utf-32", "cp500", "utf-7"):
        yield encoding, write(good.encode(encoding))
    for name, text in (
        ("line ends of old Macs", good.replace("\n", "\r")),
        ("line ends of Windows", good.replace("\n", "\r\n")),
        ("line ends of all kinds", good.replace("7", "\r").replace("8", "\u2028").replace("9", "\x0b")),
        ("a column only", good.replace("\t", " ")),
        ("columns without end", good.replace("\t", "\t" * 10_000)),
        ("quotes that stay open", good.replace("kalo", '"kalo')),
        ("a line of 5 MB", good + "x" * 5_000_000 + "\ty\n" + good),
    ):
        yield name, write(text.encode())
    for kind in ("gz", "xz", "zst"):
        packed = COMPRESSIONS[kind](good.encode())
        yield f"{kind}", write(packed)
        yield f"half of {kind}", write(packed[: len(packed) // 2])
        yield f"{kind} in {kind}", write(COMPRESSIONS[kind](packed))
        yield f"a bomb of {kind}", write(bomb(kind, bytes(16 << 20), 2))


def test_what_a_recipe_may_name_by_the_command(tmp_path: Path) -> None:
    cases = [
        Case(kind=f"a special {file}", name=name, act=partial(by_command, tmp_path / "it", file, make))
        for file in ("a.tsv", "v.tsv")
        for name, make in specials()
    ]
    good = "".join(f"{source}\t{target}\n" for source, target in GOOD)
    warm = partial(by_command, tmp_path / "it", "a.tsv", lambda path: path.write_text(good))
    run_cases(cases, warm).check(refused=40)
