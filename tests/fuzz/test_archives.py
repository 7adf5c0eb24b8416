"""Archives of corpora that a server may send: two files of lines or an error, and nothing written beside them."""

import random
import shutil
import tarfile
from functools import partial
from io import BytesIO
from pathlib import Path

from tests.fuzz.hostile_text import COMPRESSIONS, damaged
from tests.fuzz.sandbox import Case, run_cases

from attendo.errors import DataError
from attendo.workflow.datasets.extraction import extract
from attendo.workflow.datasets.origins import Archive, TextLocation


def archive(rng: random.Random) -> bytes:
    """A tar file of two texts and more, some bytes of its heads changed."""
    raw = BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=rng.choice([tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])) as tar:
        for name in ("é" * 150, "x.en", "x.de" if rng.random() < 0.8 else "../x.de"):
            member = tarfile.TarInfo(name)
            member.size = 700
            member.type = rng.choice(
                [tarfile.REGTYPE] * 60 + [b"1", b"2", b"3", b"5", b"6", b"7", b"S", b"x", b"L", b"Z"]
            )
            member.pax_headers = rng.choice(
                [{}] * 9 + [{"size": "-5"}, {"GNU.sparse.map": "a,b"}, {"GNU.sparse.major": "1"}]
            )
            tar.addfile(member, BytesIO(b"some text\n" * 70))
    content = bytearray(raw.getvalue())
    for _ in range(rng.choice([0, 0, 0, 1, 3])):
        head = 512 * rng.randrange(len(content) // 512)
        content[head + rng.randrange(512)] = rng.choice([0, 0x30, 0x37, 0x80, 0xFF, rng.randrange(256)])
        block = content[head : head + 512]
        block[148:156] = b" " * 8  # with a checksum that fits
        content[head + 148 : head + 156] = b"%06o\0 " % sum(block)
    return damaged(bytes(content), rng) if rng.random() < 0.2 else bytes(content)


def try_archive(folder: Path, seed: int) -> int:
    rng = random.Random(f"archive {seed}")
    content = COMPRESSIONS[rng.choice(["plain", "gz", "xz"])](archive(rng))
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "out").mkdir(parents=True)
    (folder / "a.tgz").write_bytes(content)
    wanted = Archive(url="http://example.org/a.tgz", checksum=None, bytes=None)
    text = TextLocation(name="train.x", archive=wanted, members=("x.en", "x.de"), format=rng.choice(["lines", "sgm"]))
    try:
        extract(text, folder / "a.tgz", folder / "out", ("en", "de"), lambda _: None)
        written = {"train.x.en", "train.x.de"}
    except DataError:
        written = set()
        raise
    finally:
        assert {path.name for path in folder.iterdir()} == {"a.tgz", "out"}
        assert {path.name for path in (folder / "out").iterdir()} == written
    return len(content)


def test_archives_of_anything(tmp_path: Path) -> None:
    cases = [Case(kind="archive", name=str(n), act=partial(try_archive, tmp_path / "it", n)) for n in range(500)]
    run_cases(cases, lambda: None).check(refused=100)
