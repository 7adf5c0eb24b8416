"""Corpora from anywhere, prepared: every line kept or dropped for a reason, or one error, in bounded time and memory.

What becomes of a line is settled by a plain reading of the rules over the whole file in memory (`outcome`), and by
hand-made cases in tests/text.
"""

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from tests.fuzz.hostile_text import COMPRESSIONS, bomb, damaged, json_line, line, text_of
from tests.fuzz.sandbox import Case, run_cases

import attendo.workflow.preparation.stages
from attendo.errors import DataError
from attendo.text.corpora import CorpusConfig, DataConfig
from attendo.text.pair_rules import CleaningConfig
from attendo.text.prepared import PreparedData, Vocabulary
from attendo.text.subwords.learning import learn_tokenizer
from attendo.text.subwords.tokenization import TokenizerConfig
from attendo.workflow.preparation.prepare import Progress, prepare

CLEANING = CleaningConfig(max_tokens=400)
GOOD = [(f"kalo {n} minu", f"unim {n} olak") for n in range(12)]
JSON_LINES = "".join(
    json.dumps({"source": source, "text": target, "finished": True, "source_truncated": False}) + "\n"
    for source, target in GOOD
).encode()
Pair = tuple[bytes, bytes | None]


@dataclass(frozen=True)
class Place:
    """Where a case's files lie, and the vocabulary they are prepared for."""

    folder: Path
    vocabulary: Vocabulary

    def prepared(self, corpus: CorpusConfig, progress: Callable[[Progress], None] | None = None) -> PreparedData:
        data = DataConfig(corpora=(corpus,), cleaning=CLEANING)
        return prepare(
            data,
            TokenizerConfig(),
            self.folder / "ready",
            base_folder=self.folder,
            vocabulary=self.vocabulary,
            progress=progress,
        )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("corpora")
    text = [side for pair in GOOD for side in pair]
    learn_tokenizer(text, TokenizerConfig(vocab_size=280), folder / "source.spm")
    return Place(folder, Vocabulary.of_model(folder))


def lines_of(content: bytes) -> list[bytes]:
    """Every line of a file: only a line feed ends one, or a carriage return and a line feed."""
    lines = content.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").split(b"\n")
    if not lines[-1] and (len(lines) > 1 or not content):
        lines.pop()
    return lines


def decoded(side: bytes | None) -> str | None:
    try:
        return None if side is None or b"\0" in side else side.decode()
    except UnicodeDecodeError:
        return None


def outcome(pairs: Sequence[Pair], vocabulary: Vocabulary) -> tuple[list[tuple[str, str]], list[tuple[int, str]]]:
    """The pairs to keep, and the lines to drop with their reasons."""
    kept: list[tuple[str, str]] = []
    dropped: list[tuple[int, str]] = []
    seen = set()
    for number, pair in enumerate(pairs, start=1):
        source, target = (side if side is None else side.strip() for side in map(decoded, pair))
        reason = None
        if pair[1] is None:
            reason = "no_tab"
        elif source is None or target is None:
            reason = "encoding"
        elif not source or not target:
            reason = "empty"
        elif max(len(source), len(target)) > 2000 or max(len(source.split()), len(target.split())) > 250:
            reason = "too_long"
        elif max(len(source), len(target), 10) / max(min(len(source), len(target)), 10) > 9:
            reason = "ratio"
        elif (source, target) in seen:
            reason = "duplicate"
        elif max(len(vocabulary.source.encode(source)), len(vocabulary.target.encode(target))) > 400:
            reason = "too_many_tokens"
        if reason in (None, "too_many_tokens"):
            seen.add((source, target))
        if reason is None:
            assert source is not None
            assert target is not None
            kept.append((source, target))
        else:
            dropped.append((number, reason))
    return kept, dropped


def account(prepared: PreparedData) -> list[tuple[int, str]]:
    """The lines and reasons of dropped.tsv, where they agree with the report and the shards."""
    rows = [row.split("\t") for row in (prepared.folder / "dropped.tsv").read_text(encoding="utf-8").split("\n")[1:-1]]
    assert all(len(row) == 6 for row in rows)
    dropped = [(int(row[2]), row[3]) for row in rows]
    (report,) = prepared.report.corpora
    assert report.read == report.kept + len(dropped)
    assert report.kept == len(prepared.corpora["a"])
    assert len({number for number, _ in dropped}) == len(dropped)
    assert all(1 <= number <= report.read for number, _ in dropped)
    assert all(count == [reason for _, reason in dropped].count(name) for name, count in report.dropped.items())
    return dropped


def check(prepared: PreparedData, pairs: Sequence[Pair], vocabulary: Vocabulary) -> None:
    kept, dropped = outcome(pairs, vocabulary)
    assert account(prepared) == dropped
    shards = prepared.corpora["a"]
    source, target = prepared.source_tokenizer, prepared.target_tokenizer
    assert [(source.decode(shards.source(i)), target.decode(shards.target(i))) for i in range(len(shards))] == kept


def columns(rows: list[bytes]) -> list[tuple[bytes, bytes, bytes]]:
    return [row.partition(b"\t") for row in rows]


def try_lines(place: Place, seed: int, *, tsv: bool) -> int:
    """Two files of as many hostile lines, or one of columns, whole and of any compression."""
    rng = random.Random(f"lines {seed}")
    num_lines = rng.choice([0, 1, 2, 10, 40])
    sides = [[line(rng) for _ in range(num_lines)] for _ in range(2)]
    for number, pair in enumerate(GOOD[: rng.choice([0, 1, 12])]):
        where = rng.randint(0, len(sides[0]))
        for side, text in zip(sides, pair, strict=True):
            side.insert(where, text.encode() if number % 5 else f" {text}\u2028 ".encode())
    if tsv:
        texts = [text_of([b"\t".join(row) for row in zip(*sides, strict=True)], rng)]
        corpus = CorpusConfig(name="a", tsv="a.tsv")
    else:
        texts = [text_of(side, rng) for side in sides]
        corpus = CorpusConfig(name="a", source="a.en", target="a.de")
    compress = [COMPRESSIONS[rng.choice([*COMPRESSIONS])] for _ in texts]
    for path, content, packed in zip(corpus.paths(place.folder), texts, compress, strict=True):
        path.write_bytes(packed(content))
    rows = [lines_of(content) for content in texts]
    if any(content.startswith((b"\xff\xfe", b"\xfe\xff")) for content in texts) or len({*map(len, rows)}) > 1:
        with pytest.raises(DataError):
            place.prepared(corpus)
        return sum(map(len, texts))
    pairs: list[Pair] = list(zip(*rows, strict=True))
    if tsv:
        pairs = [(source, rest.split(b"\t")[0] if tab else None) for source, tab, rest in columns(rows[0])]
    if not outcome(pairs, place.vocabulary)[0]:
        with pytest.raises(DataError, match=r"none of its|not lines of text"):
            place.prepared(corpus)
        return sum(map(len, texts))
    check(place.prepared(corpus), pairs, place.vocabulary)
    return sum(map(len, texts))


def try_anything(place: Place, seed: int) -> int:
    """Bytes at random, text in other encodings, JSON, compressed and damaged files, in any layout."""
    rng = random.Random(f"anything {seed}")
    good = "".join(f"{source}\t{target}\n" for source, target in GOOD)
    kind = rng.choice(["tsv", "tsv", "translations", "back_translations", "lines"])
    contents = []
    for _ in range(1 + (kind == "lines")):
        content = rng.choice([
            rng.randbytes(rng.choice([0, 1, 3, 100, 5000])),
            text_of([line(rng) + b"\t" + line(rng) for _ in range(30)], rng),
            good.encode(rng.choice(["utf-8", "utf-16", "utf-16-le", "utf-32", "utf-32-be", "latin-1", "utf-7"])),
            "".join(f"{source}\n" for source, _ in GOOD).encode(),
            text_of([line(rng) for _ in range(12)], rng),
            text_of([json_line(rng) for _ in range(20)], rng),
            rng.choice([b"\n", b"\r", b"\0", b"\t", b"\t\n", b"\xff"]) * rng.choice([1, 1000, 100_000]),
        ])  # fmt: skip
        if rng.random() < 0.7:
            content += b"\n" + (JSON_LINES if "translations" in kind else good.encode())
        content = COMPRESSIONS[rng.choice([*COMPRESSIONS])](content)
        contents.append(damaged(content, rng) if rng.random() < 0.4 else content)
    names = {"source": "a.en", "target": "a.de"} if kind == "lines" else {kind: "a.txt"}
    corpus = CorpusConfig(name="a", **names)  # type: ignore[arg-type]
    for path, content in zip(corpus.paths(place.folder), contents, strict=True):
        path.write_bytes(content)
    account(place.prepared(corpus))
    return sum(map(len, contents))


def cleared(path: Path) -> Path:
    """A path where nothing lies any more, whatever it was."""
    if path.is_dir():
        path.rmdir()
    path.unlink(missing_ok=True)
    return path


def warm(place: Place) -> None:
    cleared(place.folder / "a.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in GOOD))
    place.prepared(CorpusConfig(name="a", tsv="a.tsv"))


def test_every_line_of_hostile_corpora_is_accounted_for(place: Place) -> None:
    cases = [
        Case(kind=f"lines as {'tsv' * tsv or 'two files'}", name=str(n), act=partial(try_lines, place, n, tsv=tsv))
        for n in range(20)
        for tsv in (False, True)
    ]
    run_cases(cases, partial(warm, place)).check(refused=0)


def test_anything_is_an_account_or_an_error(place: Place) -> None:
    cases = [Case(kind="anything", name=str(n), act=partial(try_anything, place, n)) for n in range(40)]
    run_cases(cases, partial(warm, place)).check(refused=15)


BOMBS = {
    "one line": (b"x" * (16 << 20), 1),
    "zeros": (bytes(16 << 20), 1),
    "line feeds": (b"\n" * 100_000, 1),
    "one pair again and again": (b"kalo minu\tunim olak\n" * 50_000, 1),
    "short lines": (b"".join(b"%d\t%d\n" % (n, n) for n in range(20_000)), 2),
}


def bomb_case(place: Place, name: str, kind: str, unit: bytes, times: int) -> Case:
    good = "".join(f"{source}\t{target}\n" for source, target in GOOD).encode()
    content = bomb(kind, unit, times) + COMPRESSIONS[kind](b"\n" + good)
    return Case(kind=f"bomb of {kind}", name=name, act=partial(try_bomb, place, content, unit, times))


def try_bomb(place: Place, content: bytes, unit: bytes, times: int) -> int:
    (place.folder / "a.tsv").write_bytes(content)
    prepared = place.prepared(CorpusConfig(name="a", tsv="a.tsv"))
    (report,) = prepared.report.corpora
    assert report.read == times * unit.count(b"\n") + len(GOOD) + 1
    assert report.kept == len(GOOD) + len({row for row in unit.split(b"\n") if 0 < row.find(b"\t") < 99})
    shutil.rmtree(prepared.folder)
    return len(content)


@pytest.mark.parametrize("kind", ["gz", "xz", "zst"])
def test_a_compressed_file_takes_no_memory_for_what_it_claims(place: Place, kind: str) -> None:
    units = BOMBS if kind == "gz" else {name: BOMBS[name] for name in ("one line", "one pair again and again")}
    cases = [bomb_case(place, name, kind, unit, times) for name, (unit, times) in units.items()]
    run_cases(cases, partial(warm, place)).check(refused=0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gz", "xz", "zst"])
def test_a_gigabyte_of_one_line(tmp_path: Path, kind: str) -> None:
    good = "".join(f"{source}\t{target}\n" for source, target in GOOD).encode()
    content = bomb(kind, b"x" * (64 << 20), 16) + COMPRESSIONS[kind](b"\n" + good)
    assert len(content) < 1_100_000
    (tmp_path / "a.tsv").write_bytes(content)
    (tmp_path / "mine.toml").write_text("[[data.corpora]]\nname='a'\ntsv='a.tsv'\n[tokenizer]\nvocab_size=280\n")
    # Its own account of its peak: what `wait4` says of a child counts this process too, which it was forked from.
    script = (
        "import sys; from attendo.cli.main import run; status = run(sys.argv[1:]); "
        "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]); sys.exit(status)"
    )
    command = [sys.executable, "-c", script, "prepare", "mine.toml", "-o", "ready", "--workers", "1"]
    finished = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=True)
    peak_mib = int(finished.stdout.split()[-1]) >> 10
    print(f"a gigabyte of {kind}: {peak_mib} MiB at most", file=sys.stderr)
    assert peak_mib < 250  # of which Python and what it imports are 60
    assert (tmp_path / "ready" / "dropped.tsv").read_text().split("\n")[1].split("\t")[2:4] == ["1", "no_tab"]


def replaced(path: Path, make: Callable[[], None]) -> None:
    path.unlink()
    make()


CHANGES: dict[str, Callable[[Path], object]] = {
    "is cut": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "is emptied": lambda path: path.write_bytes(b""),
    "has a line more": lambda path: path.write_bytes(path.read_bytes() + b"so\tos\n"),
    "has another line": lambda path: path.write_bytes(path.read_bytes().replace(b"kalo 7", b"resota")),
    "has lines in one": lambda path: path.write_bytes(path.read_bytes().replace(b"\n", b" ", 20)),
    "has a line in two": lambda path: path.write_bytes(path.read_bytes().replace(b"kalo", b"ka\nlo", 1)),
    "is of other text": lambda path: path.write_bytes(b"\xff\xfe" + path.read_bytes()[2:]),
    "is compressed": lambda path: path.write_bytes(COMPRESSIONS["gz"](path.read_bytes())),
    "is gone": lambda path: path.unlink(),
    "is a folder": lambda path: replaced(path, path.mkdir),
    "is a pipe": lambda path: replaced(path, partial(os.mkfifo, path)),
    "is a link to /dev/zero": lambda path: replaced(path, partial(path.symlink_to, "/dev/zero")),
}


def try_change(place: Place, change: Callable[[Path], object], moment: int, kind: str) -> int:
    """A file changes before the n-th time that progress is told."""
    path = cleared(place.folder / "a.tsv")
    rows = (f"kalo {n} minu\tunim {n} olak\n" for n in range(4500))
    path.write_bytes(COMPRESSIONS[kind]("".join(rows).encode()))
    size = path.stat().st_size
    told = 0

    def progress(_: Progress) -> None:
        nonlocal told
        told += 1
        if told == moment:
            change(path)

    try:
        account(place.prepared(CorpusConfig(name="a", tsv="a.tsv"), progress))
    except OSError as error:  # which the command line prints with its file
        raise DataError(str(error.filename)) from error
    finally:
        assert not list(place.folder.glob(".tmp-*"))
    if told >= moment:
        raise AssertionError(f"a file that changed was taken as it was at the {told} time")
    return size


def test_a_file_that_changes_while_it_is_read_is_an_error(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attendo.workflow.preparation.stages, "PART_BYTES", 1 << 15)
    cases = [
        Case(
            kind="changed while read",
            name=f"a {kind} file {name} at moment {moment}",
            act=partial(try_change, place, change, moment, kind),
        )
        for kind, moment in (("plain", 1), ("plain", 3), ("plain", 8), ("gz", 3))
        for name, change in CHANGES.items()
    ]
    run_cases(cases, partial(warm, place)).check(refused=32)
    with pytest.raises(DataError, match=rf"{place.folder / 'a.tsv'}: was written to while it was being prepared"):
        try_change(place, CHANGES["has a line more"], 2, "plain")


@pytest.mark.slow
def test_thousands_of_hostile_corpora(place: Place) -> None:
    cases = [Case(kind="anything", name=str(n), act=partial(try_anything, place, n)) for n in range(40, 6000)]
    for n in range(20, 2100):
        tsv = bool(n % 2)
        act = partial(try_lines, place, n, tsv=tsv)
        cases.append(Case(kind=f"lines as {'tsv' * tsv or 'two files'}", name=str(n), act=act))
    run_cases(cases, partial(warm, place)).check(refused=1000)
