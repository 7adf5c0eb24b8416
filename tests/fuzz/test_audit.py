"""What reading a stranger's folders does to the rest of the machine: nothing, by Python's own audit events."""

import importlib
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any

import pytest
from tests.fuzz.command import LINES
from tests.fuzz.damage import Damage, copied, cuts, every, flips, json_changes, no_files, swaps
from tests.fuzz.sandbox import Case, run_cases

import attendo.settings.validated  # noqa: F401  # a module of ours that is imported where a config is unusual
from attendo.cli.main import run as run_command
from attendo.workflow.engines.translate import load
from attendo.workflow.inspect import inspect
from attendo.workflow.runs.average import average
from attendo.workflow.verification import verify

STARTS = (
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.spawn",
    "os.fork",
    "os.forkpty",
    "pty.spawn",
)
REACHES = ("socket.connect", "socket.bind", "socket.getaddrinfo", "urllib.Request", "ctypes.dlopen")
WRITES = ("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.chmod", "os.truncate")
FORBIDDEN = (*STARTS, *REACHES, "import", "pickle.find_class", "marshal.loads", "exec", "compile")


class Watch:
    """An audit hook, which cannot be taken away again: for a child process.

    Args:
        readable: folders that files may be opened in.
        writable: folders that may be changed.
    """

    def __init__(self, readable: Iterable[Path], writable: Iterable[Path]) -> None:
        self._writable = tuple(map(os.path.realpath, writable))
        self._readable = (*map(os.path.realpath, readable), *self._writable)
        self.found: list[str] = []
        self.is_on = False
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.is_on:
            return
        if event in FORBIDDEN or event in WRITES:
            paths = [os.fsdecode(each) for each in arguments if isinstance(each, str | bytes | os.PathLike)]
            if event in FORBIDDEN or not all(self._is_in(path, self._writable) for path in paths):
                self.found.append(f"{event} {arguments!r}"[:300])
        elif event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
            places = self._readable if arguments[1] in ("r", "rb", None) else self._writable
            path = os.fsdecode(arguments[0])
            if not path.startswith("/proc/self/") and not self._is_in(path, places):
                self.found.append(f"open {arguments!r}"[:300])

    def _is_in(self, path: str, places: tuple[str, ...]) -> bool:
        self.is_on = False  # finding out opens nothing, but should not be heard either
        real = os.path.realpath(path)
        self.is_on = True
        return any(real == place or real.startswith(place + os.sep) for place in places)


def watched(
    damages: Iterable[Damage], original: Path, copy: Path, acts: Iterable[Callable[[Path], object]], *,
    readable: Iterable[Path] = (), writable: Iterable[Path] = (),
) -> None:  # fmt: skip
    """Does all acts with each damaged copy, and fails where one of them does what reading need not do."""
    acts, watches = list(acts), list[Watch]()

    def warm() -> None:
        for act in acts:
            act(copied(original, copy))
        watches.append(Watch([copy, *readable], writable))

    def tried(damage: Damage) -> None:
        damage.apply(copied(original, copy))
        errors = []
        watches[0].found.clear()
        for act in acts:
            watches[0].is_on = True
            try:
                act(copy)
            except Exception as error:
                errors.append(error)
            finally:
                watches[0].is_on = False
        assert not watches[0].found, watches[0].found
        if errors:
            raise errors[0]

    cases = [Case(kind=damage.kind, name=damage.name, act=partial(tried, damage)) for damage in damages]
    run_cases(cases, warm).check()


def damages_of(folder: Path, files: tuple[str, ...], outside: Path, json_file: str) -> Iterable[Damage]:
    return chain(
        no_files(files, outside),
        every(200, json_changes(folder, json_file), all_of=2),
        swaps(folder, files, []),
        cuts(folder, files),
        flips(folder, files, range(20)),
    )


one_in_some = pytest.mark.parametrize("one_in", [4, pytest.param(1, marks=pytest.mark.slow)])
"""Of the damages of each kind and file the first and one in so many; all where there is time."""


@one_in_some
def test_reading_a_model_stays_in_its_folder(model_folder: Path, tmp_path: Path, one_in: int) -> None:
    outside = tmp_path / "source.spm"
    outside.write_bytes((model_folder / "source.spm").read_bytes())
    files = ("config.json", "model.safetensors", "source.spm", "README.md", "checksums.json")
    acts: list[Callable[[Path], object]] = [
        lambda folder: verify(str(folder)),
        lambda folder: inspect(str(folder)).to_text(),
        lambda folder: load(folder, threads=1).translate(LINES),
    ]
    damages = every(one_in, damages_of(model_folder, files, outside, "config.json"), all_of=1)
    watched(damages, model_folder, tmp_path / "copy", acts)


@one_in_some
def test_reading_a_run_stays_in_it_and_its_data(
    corpus_recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], one_in: int
) -> None:
    run, prepared = tmp_path / "run", tmp_path / "prepared"
    assert run_command(["prepare", str(corpus_recipe), "-o", str(prepared)]) == 0
    assert run_command(["train", str(corpus_recipe), "--prepared", str(prepared), "-o", str(run)]) == 0
    last, numbers = "checkpoints/step-00000006", count()
    files = (*(f"{last}/{name}" for name in ("weights.safetensors", "state.json", "checksums.json")), "run.json")
    acts: list[Callable[[Path], object]] = [
        lambda folder: verify(str(folder)),
        lambda folder: inspect(str(folder)).to_text(),
        lambda folder: average(folder, 2, tmp_path / "written" / str(next(numbers))),
    ]
    damages = every(one_in, damages_of(run, files, prepared / "source.spm", f"{last}/state.json"), all_of=1)
    watched(damages, run, tmp_path / "copy", acts, readable=[prepared], writable=[tmp_path / "written"])


def test_the_watch_hears_what_it_is_for(tmp_path: Path) -> None:
    """Each thing that is forbidden, done once."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "whole").touch()
    (tmp_path / "outside").touch()
    for number, act in enumerate(
        (
            lambda folder: (tmp_path / "outside").read_bytes(),
            lambda folder: (folder / "new").write_bytes(b""),
            lambda folder: (folder / "whole").unlink(),
            lambda folder: pickle.loads(pickle.dumps(Path("x"))),
            lambda folder: subprocess.run(["true"], check=True),
            lambda folder: importlib.import_module("this_module_is_nowhere"),
            lambda folder: exec("1"),
        )
    ):

        def quiet_once(folder: Path, act: Callable[[Path], object] = act, calls: list[int] = []) -> None:  # noqa: B006
            calls.append(1)
            if len(calls) > 1:  # the first time is the one that warms
                act(folder)

        nothing = Damage(kind="none", name=f"act {number}", apply=lambda folder: None)
        with pytest.raises(AssertionError, match="1 failures"):
            watched([nothing], tmp_path / "a", tmp_path / "copy", [quiet_once])
