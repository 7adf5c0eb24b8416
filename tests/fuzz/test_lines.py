"""What `translate`, `score` and `evaluate` read, from anywhere: the lines, or one error, in bounded time and memory."""

import io
import os
import random
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.fuzz.command import TEXT, attendo
from tests.fuzz.hostile_text import COMPRESSIONS, bomb, damaged, line, text_of
from tests.fuzz.sandbox import Case, run_cases

from attendo.errors import AttendoError, DataError
from attendo.text.files.formats import MAX_LINE_BYTES
from attendo.workflow.lines import line_pairs_from, lines_from, read_pairs, with_constraints


def lines_of(content: bytes) -> list[str] | None:
    """Every line of a plain file, None where one of them is not UTF-8 or too long."""
    lines = content.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").split(b"\n")
    if not lines[-1] and (len(lines) > 1 or not content):
        lines.pop()
    if any(len(one) > MAX_LINE_BYTES for one in content.removeprefix(b"\xef\xbb\xbf").split(b"\n")):
        return None
    try:
        return [one.decode() for one in lines]
    except UnicodeDecodeError:
        return None


def read(lines: Callable[[], Iterator[str]]) -> list[str] | None:
    try:
        return list(lines())
    except DataError:
        return None


def content_of(seed: int) -> bytes:
    rng = random.Random(f"lines {seed}")
    rows = [line(rng) for _ in range(rng.choice([0, 1, 3, 20]))]
    if rng.random() < 0.8:  # so that not nearly all are refused
        rows = [row.decode(errors="ignore").encode() for row in rows]
    if rng.random() < 0.1:
        rows.append(b"x" * (MAX_LINE_BYTES + rng.choice([-1, 0, 1, 70_000])))
    content = text_of(rows, rng)
    return content if rng.random() < 0.9 else rng.randbytes(50)


def try_ways(folder: Path, seed: int) -> int:
    """A file, standard input and a pipe give the same lines."""
    content = content_of(seed)
    if content.startswith((b"\x1f\x8b", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")):
        return len(content)
    expected = lines_of(content)
    path, pipe = folder / "text", folder / "pipe"
    path.write_bytes(content)
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))
        from_input = read(partial(lines_from, None))
    assert read(partial(lines_from, path)) == from_input == expected
    writer = threading.Thread(target=_write, args=(pipe, content), daemon=True)
    writer.start()
    assert read(partial(lines_from, pipe)) == expected
    writer.join()
    for compress in COMPRESSIONS.values():
        path.write_bytes(compress(content))
        assert read(partial(lines_from, path)) == expected
    if expected is None:
        raise DataError("as expected")
    return len(content)


def _write(pipe: Path, content: bytes) -> None:
    with suppress(BrokenPipeError):  # it was not read to its end
        pipe.write_bytes(content)


def try_beside(folder: Path, seed: int) -> int:
    """Two files that belong together, and two with constraints beside a third, any of them damaged."""
    rng = random.Random(f"beside {seed}")
    contents = [content_of(rng.randrange(10**9)) for _ in range(2)]
    if rng.random() < 0.5:
        contents[1] = contents[0]
    paths = [folder / "one", folder / "other"]
    for path, content in zip(paths, contents, strict=True):
        packed = COMPRESSIONS[rng.choice([*COMPRESSIONS])](content)
        path.write_bytes(damaged(packed, rng) if rng.random() < 0.3 else packed)
    sources, targets = read_pairs(*paths)
    assert list(zip(sources, targets, strict=True)) == list(line_pairs_from(*paths))
    lines, constraints = with_constraints(sources, *paths)
    assert constraints is not None
    assert [(one, its.target_prefix) for one, its in zip(lines, constraints, strict=True)] == [
        (source, source) for source in sources
    ]
    return sum(map(len, contents))


def test_lines_are_the_same_from_a_file_standard_input_and_a_pipe(tmp_path: Path) -> None:
    cases = [Case(kind="lines", name=str(n), act=partial(try_ways, tmp_path, n)) for n in range(60)]
    run_cases(cases, lambda: None).check(refused=6)


def test_files_that_belong_together(tmp_path: Path) -> None:
    cases = [Case(kind="beside each other", name=str(n), act=partial(try_beside, tmp_path, n)) for n in range(90)]
    run_cases(cases, lambda: None).check(refused=15)


@pytest.mark.slow
def test_thousands_of_lines(tmp_path: Path) -> None:
    cases = [Case(kind="lines", name=str(n), act=partial(try_ways, tmp_path, n)) for n in range(60, 2200)]
    cases += [Case(kind="beside", name=str(n), act=partial(try_beside, tmp_path, n)) for n in range(90, 3300)]
    run_cases(cases, lambda: None).check(refused=500)


class Endless(io.RawIOBase):
    """A stream of one letter."""

    def read(self, size: int = -1) -> bytes:
        return b"x" * size


def try_endless() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", SimpleNamespace(buffer=Endless()))
        for _ in lines_from(None):
            raise AssertionError("there is no line")


def try_bomb(path: Path, content: bytes) -> int:
    path.write_bytes(content)
    read_pairs(path, path)
    return len(content)


@pytest.mark.parametrize("feeds", [("gz",), pytest.param(("gz", "xz", "zst"), marks=pytest.mark.slow)])
def test_no_input_fills_the_memory(tmp_path: Path, feeds: tuple[str, ...]) -> None:
    """Lines are counted behind what unpacks them, and a million takes seconds: of one compression here."""
    path, zero = tmp_path / "text", Path("/dev/zero")
    cases = [
        Case(kind="without end", name="standard input", act=try_endless),
        Case(kind="without end", name="/dev/zero", act=lambda: len(list(lines_from(zero)))),
        Case(kind="without end", name="/dev/zero twice", act=lambda: len(read_pairs(zero, zero))),
    ]
    for kind in ("gz", "xz", "zst"):
        units = {"one line": b"x" * (16 << 20)} | ({"line feeds": b"\n" * 700_000} if kind in feeds else {})
        for name, unit in units.items():
            act = partial(try_bomb, path, bomb(kind, unit, 2))
            cases.append(Case(kind=f"bomb of {kind}", name=name, act=act))
    run_cases(cases, lambda: None).check(refused=len(cases))


def specials(model: Path) -> Iterator[tuple[str, Callable[[Path], object]]]:
    """What may lie where a text is expected."""
    yield "nothing", lambda path: None
    yield "a folder", lambda path: path.mkdir()
    yield "a link to itself", lambda path: path.symlink_to(path)
    yield "a link to /dev/zero", lambda path: path.symlink_to("/dev/zero")
    yield "a link to /dev/null", lambda path: path.symlink_to("/dev/null")
    yield "weights", lambda path: path.write_bytes((model / "model.safetensors").read_bytes())
    yield "nothing in it", lambda path: path.write_bytes(b"")
    yield "line feeds", lambda path: path.write_bytes(b"\n" * 50)
    yield "NULs", lambda path: path.write_bytes(bytes(500))
    yield "UTF-16", lambda path: path.write_text(TEXT, encoding="utf-16")
    yield "Latin-1", lambda path: path.write_text("schön\n" * 3, encoding="latin-1")
    yield "hostile lines", lambda path: path.write_bytes(content_of(5))
    yield "half of gz", lambda path: path.write_bytes(COMPRESSIONS["gz"](TEXT.encode() * 99)[:60])
    yield "a line of 5 MB", lambda path: path.write_text("x" * 5_000_000)


def by_commands(model: Path, folder: Path, make: Callable[[Path], object]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "good").write_text(TEXT)
    make(folder / "text")
    errors = []
    for arguments in (
        ("translate", model, folder / "text", "-o", folder / "out"),
        ("translate", model, folder / "good", "--target-prefix", folder / "text", "-o", folder / "out"),
        ("score", model, "--source", folder / "text", "--target", folder / "good"),
        ("evaluate", model, "--source", folder / "good", "--reference", folder / "text", "--resamples", 0),
    ):
        try:
            attendo(*arguments)
        except AttendoError as error:
            errors.append(error)
    if errors:
        raise errors[0]


def test_what_a_command_may_be_given(model_folder: Path, tmp_path: Path) -> None:
    act = partial(by_commands, model_folder, tmp_path / "it")
    cases = [Case(kind="a special text", name=name, act=partial(act, make)) for name, make in specials(model_folder)]
    run_cases(cases, partial(act, lambda path: path.write_text(TEXT))).check(refused=10)
