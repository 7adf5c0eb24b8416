"""Model folders from a stranger: whatever is in them, an error of ours or a fine result, in bounded time and memory.

Each case damages a copy of a small model in one way and takes it through `attendo info`, `info --verify` and
`translate`, in a child process. Where the checksums would tell of the damage, it is tried with checksums that fit too,
as a stranger can write them. Which way a case ends is settled by hand-made cases in tests/checkpoint; here it is only
that it ends well.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

import pytest
from tests.fuzz.command import LINES, attendo, first_error_of, whole
from tests.fuzz.damage import (
    Damage,
    copied,
    cuts,
    every,
    flips,
    header_changes,
    json_changes,
    no_files,
    num_bytes,
    number_changes,
    swaps,
    vocabulary_changes,
)
from tests.fuzz.sandbox import Case, Tally, run_cases

from attendo.checkpoint.checksums import write_checksums
from attendo.checkpoint.model_folder import load_model
from attendo.checkpoint.saving import save_model
from attendo.checkpoint.weights import named_weights
from attendo.workflow.engines.translate import load
from attendo.workflow.inspect import inspect

FILES = ("config.json", "model.safetensors", "source.spm", "README.md", "checksums.json")


Way = Callable[[Path], None]


def by_commands(folder: Path) -> None:
    """What a user does with a folder; all is done, and then the first error is raised."""
    first_error_of(
        lambda: attendo("info", folder, "--verify"),
        lambda: attendo("info", folder, "--json"),
        lambda: attendo("translate", folder, "--threads", 1),
    )


def by_functions(folder: Path) -> None:
    """The same, without the command line's 30 ms a command."""
    first_error_of(
        lambda: whole(folder),
        lambda: inspect(str(folder)).to_text(),
        lambda: load(folder, threads=1).translate(LINES),
    )


def try_all(folder: Path, place: Path, damages: Iterable[Damage], way: Way) -> Tally:
    """Each damage by turns with the checksums as they were and with such that fit."""

    def act(damage: Damage, *, sealed: bool) -> int:
        copy = copied(folder, place / "model")
        damage.apply(copy)
        size = num_bytes(copy)
        if sealed and all(path.is_file() and path.stat().st_size < 1 << 30 for path in copy.iterdir()):
            write_checksums(copy)
        way(copy)
        return size

    cases = [
        Case(
            kind=damage.kind,
            name=f"{damage.name}{', sealed again' * (number % 2)}",
            act=partial(act, damage, sealed=bool(number % 2)),
        )
        for number, damage in enumerate(damages)
    ]
    return run_cases(cases, lambda: way(folder))


@pytest.fixture(scope="module")
def int8_folder(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("int8") / "model"
    model = load_model(model_folder)
    description = replace(model.description, dtype="int8")
    save_model(
        path, description, named_weights(model.transformer), model.source_tokenizer, model.target_tokenizer, "# Card\n"
    )
    return path


@pytest.mark.parametrize(("one_in", "refused"), [(3, 30), pytest.param(1, 100, marks=pytest.mark.slow)])
def test_files_cut_swapped_and_replaced(
    model_folders: tuple[Path, Path, Path], int8_folder: Path, tmp_path: Path, one_in: int, refused: int
) -> None:
    folder, _, another = model_folders
    outside = tmp_path / "outside"
    outside.write_bytes((folder / "source.spm").read_bytes())
    damages = chain(cuts(folder, FILES), swaps(folder, FILES, [another, int8_folder]), no_files(FILES, outside))
    try_all(folder, tmp_path, every(one_in, damages, all_of=1), by_commands).check(refused=refused)


def test_bits_and_bytes_changed(model_folder: Path, int8_folder: Path, tmp_path: Path) -> None:
    for folder in (model_folder, int8_folder):
        try_all(folder, tmp_path, flips(folder, FILES, range(60)), by_functions).check(refused=40)


@pytest.mark.slow
def test_thousands_of_bits_and_bytes_changed(model_folder: Path, int8_folder: Path, tmp_path: Path) -> None:
    for folder in (model_folder, int8_folder):
        try_all(folder, tmp_path, flips(folder, FILES, range(60, 5000)), by_functions).check(refused=1000)


@pytest.mark.parametrize(("number", "refused"), [(60, 12), pytest.param(2000, 400, marks=pytest.mark.slow)])
def test_vocabularies_that_are_not_meant_so(model_folder: Path, tmp_path: Path, number: int, refused: int) -> None:
    pytest.importorskip("google.protobuf")
    damages = vocabulary_changes(model_folder, "source.spm", range(number))
    try_all(model_folder, tmp_path, damages, by_functions).check(refused=refused)


@pytest.mark.parametrize(("file", "refused"), [("config.json", 20), ("checksums.json", 15)])
def test_json_that_says_anything(model_folder: Path, tmp_path: Path, file: str, refused: int) -> None:
    damages = every(30, json_changes(model_folder, file), all_of=10)
    try_all(model_folder, tmp_path, damages, by_functions).check(refused=refused)


def test_headers_and_weights_that_claim_anything(model_folder: Path, int8_folder: Path, tmp_path: Path) -> None:
    for number, folder in ((9, model_folder), (21, int8_folder)):
        damages = chain(header_changes(folder, FILES[1]), number_changes(folder, FILES[1]))
        try_all(folder, tmp_path, every(number, damages, all_of=10), by_functions).check(refused=20)


@pytest.mark.slow
def test_all_that_json_and_headers_can_claim(model_folder: Path, int8_folder: Path, tmp_path: Path) -> None:
    for folder in (model_folder, int8_folder):
        damages = chain(*(json_changes(folder, file) for file in ("config.json", "checksums.json")))
        try_all(folder, tmp_path, chain(damages, header_changes(folder, FILES[1])), by_functions).check(refused=2000)
