"""Run folders and prepared folders from a stranger: an error of ours or a fine result, in bounded time and memory.

Each case damages a copy of a small run, or of its prepared data, in one way, by turns with the checksums as they were
and with such that fit, and takes it through the commands that read it, in a child process.
"""

import json
from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from tests.fuzz.command import attendo, first_error_of, whole
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
    rewriting,
    swaps,
)
from tests.fuzz.sandbox import Case, Tally, run_cases

from attendo.checkpoint.checksums import seal, write_checksums
from attendo.cli.main import run as run_command
from attendo.files import sha256
from attendo.text.prepared import open_prepared
from attendo.workflow.inspect import inspect
from attendo.workflow.runs.average import average

LAST = "checkpoints/step-00000006"
ALONE = ("recipe.toml", "run.json", "metrics.jsonl")
CHECKPOINT = tuple(f"{LAST}/{name}" for name in ("weights.safetensors", "training.safetensors", "state.json"))
FILES = (*ALONE, *CHECKPOINT, f"{LAST}/checksums.json")


@pytest.fixture(scope="module")
def run(corpus_recipe: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 6 steps with three checkpoints, beside its prepared data."""
    folder = tmp_path_factory.mktemp("runs")
    prepared = folder / "prepared"
    assert run_command(["prepare", str(corpus_recipe), "-o", str(prepared)]) == 0
    assert run_command(["train", str(corpus_recipe), "--prepared", str(prepared), "-o", str(folder / "run")]) == 0
    return folder / "run"


Way = Callable[[Path], None]


def reading(folder: Path) -> None:
    """What only reads a run: told what it is, whether it is whole, and its checkpoints averaged."""
    first_error_of(
        lambda: whole(folder),
        lambda: inspect(str(folder)).to_text(),
        lambda: average(folder, 2, folder.parent / "averaged"),
    )


def going_on(folder: Path) -> None:
    """Two more steps, the second of them validated."""
    attendo("train", "--resume", "-o", folder, "--set", "training.max_steps=8", "--set", "training.eval_steps=8")


def seal_run(folder: Path) -> None:
    """Makes all checksums fit what is there, as far as there are any."""
    for checkpoint in folder.glob("checkpoints/step-*"):
        if all(path.is_file() and path.stat().st_size < 1 << 30 for path in checkpoint.iterdir()):
            write_checksums(checkpoint)
    try:
        facts = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        facts["recipe_sha256"] = [sha256(folder / "recipe.toml")]
        (folder / "run.json").write_text(json.dumps(facts), encoding="utf-8")
    except (OSError, ValueError, TypeError, RecursionError):
        return  # nothing there that could fit


def try_all(folder: Path, place: Path, damages: Iterable[Damage], way: Way) -> Tally:
    def act(damage: Damage, *, sealed: bool) -> int:
        copy = copied(folder, place / "run")
        damage.apply(copy)
        size = num_bytes(copy)
        if sealed and damage.kind != "no plain file":
            seal_run(copy)
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
    return run_cases(cases, lambda: way(copied(folder, place / "run")))


def metrics_changes(folder: Path) -> Iterable[Damage]:
    """Lines of the metrics that say what no line says."""
    line = (folder / "metrics.jsonl").read_bytes().splitlines()[0]
    record = json.loads(line)
    values: tuple[object, ...] = (None, "x", -1, 10**30, [], {}, True)
    changed = [json.dumps({**record, key: value}) for key in record for value in values]
    texts = [
        b"",
        b"\n\n",
        b"[" * 100_000,
        b"7",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"step": 1e400}',
        line[:-5],
        b"\0" * 5000,
    ]
    for number, text in enumerate((*texts, *(text.encode() for text in changed))):
        yield rewriting("metrics", f"line {number}: {text[:60]!r}", "metrics.jsonl", line + b"\n" + text + b"\n" + line)


def damages_of(run: Path, outside: Path) -> Iterable[Damage]:
    return chain(
        cuts(run, FILES),
        swaps(run, FILES, []),
        no_files(FILES, outside),
        metrics_changes(run),
        chain(*(json_changes(run, file) for file in ("run.json", f"{LAST}/state.json"))),
        chain(*(header_changes(run, file) for file in CHECKPOINT[:2])),
        number_changes(run, CHECKPOINT[0]),
        flips(run, FILES, range(300)),
    )


def test_reading_a_run(run: Path, tmp_path: Path) -> None:
    damages = every(80, damages_of(run, run.parent / "prepared/source.spm"), all_of=3)
    try_all(run, tmp_path, damages[::5], reading).check(refused=10)


def test_going_on_with_a_run(run: Path, tmp_path: Path) -> None:
    damages = every(300, damages_of(run, run.parent / "prepared/source.spm"), all_of=1)
    try_all(run, tmp_path, damages[::20], going_on).check(refused=1)  # each trains


@pytest.mark.slow
@pytest.mark.parametrize("way", [reading, going_on])
def test_all_that_can_be_done_to_a_run(run: Path, tmp_path: Path, way: Way) -> None:
    try_all(run, tmp_path, damages_of(run, run.parent / "prepared/source.spm"), way).check(refused=500)


SHARDS = tuple(
    f"shards/mine-00000.{part}.npy" for part in ("source_ids", "source_offsets", "target_ids", "target_offsets")
)
PREPARED = (*SHARDS, "source.spm", "report.json", "manifest.json", "valid.source.txt")


def reading_all(folder: Path) -> None:
    """Opens a prepared folder, and looks at each pair."""
    data = open_prepared(folder)
    for shards in (*data.corpora.values(), data.valid):
        assert shards is not None
        assert len(shards.source_lengths) == len(shards.target_lengths)
        for index in range(len(shards)):
            for ids, tokenizer in (
                (shards.source(index), data.source_tokenizer),
                (shards.target(index), data.target_tokenizer),
            ):
                assert len(ids) > 0
                assert ids.max() < tokenizer.vocab_size


def seal_prepared(folder: Path) -> None:
    """Has the manifest fit the files."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        for name in manifest["files"]:
            manifest["files"][name] = seal(folder / name)
        (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return


def number_changes_of_shards(folder: Path, seeds: range) -> Iterable[Damage]:
    """Single ids and offsets of a shard that cannot be."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        file = SHARDS[seed % 4]
        array = np.load(folder / file)
        limits = np.iinfo(array.dtype)
        place = rng.integers(len(array), size=rng.integers(1, 5))
        array[place] = rng.choice(
            np.array([limits.max, limits.min, 0, 1, 300, 301], dtype=array.dtype), size=len(place)
        )

        def apply(copy: Path, array: np.ndarray = array, file: str = file) -> None:
            np.save(copy / file, array)

        yield Damage(kind="ids and offsets", name=f"{file}, seed {seed}", apply=apply)


@pytest.mark.parametrize(
    ("number", "one_in", "refused"), [(12, 6, 8), pytest.param(2000, 1, 500, marks=pytest.mark.slow)]
)
def test_prepared_folders(run: Path, tmp_path: Path, number: int, one_in: int, refused: int) -> None:
    folder, outside = run.parent / "prepared", run / "recipe.toml"

    def act(damage: Damage) -> int:
        copy = copied(folder, tmp_path / "prepared")
        damage.apply(copy)
        size = num_bytes(copy)
        if damage.kind != "no plain file":
            seal_prepared(copy)
        reading_all(copy)
        return size

    damages = chain(
        cuts(folder, PREPARED),
        swaps(folder, PREPARED, []),
        no_files(PREPARED, outside),
        every(27, chain(*(json_changes(folder, file) for file in ("report.json", "manifest.json"))), all_of=6),
        flips(folder, PREPARED, range(number)),
        number_changes_of_shards(folder, range(number)),
    )
    cases = [
        Case(kind=damage.kind, name=damage.name, act=partial(act, damage))
        for damage in every(one_in, damages, all_of=1)
    ]
    run_cases(cases, lambda: reading_all(folder)).check(refused=refused)
