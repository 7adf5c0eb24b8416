"""A text translated in parts, as workers do it, is the text that `attendo translate` writes on one machine."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from attendo.cli.main import run
from attendo.cli.translation_lines import WrittenLines
from attendo.cluster.part_translation import OpenTranslation
from attendo.errors import DataError, ModelError
from attendo.workflow.engines.translate import Decoding
from attendo.workflow.translation.part_files import PartsFolder, added
from attendo.workflow.translation.part_translation import Output
from attendo.workflow.translation.text_parts import TextFiles, cut, scan_texts

LINES = [
    "one red dogs see us.",
    "",
    "SOME OLD KINGS hear them.",
    "two small birds see here.",
    "some red men hear us. one old dogs see them.",
    "two",
    "see http://a.example/b here.",
    "some old birds hear here.",
    "one small kings see us.",
]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    ended = [f"{line}\r\n" if number % 2 else f"{line}\n" for number, line in enumerate(LINES)]
    path.write_bytes("".join(ended).removesuffix("\n").encode())  # of both kinds, and none at the end
    return path


def in_parts(
    decoding: Decoding, files: TextFiles, written: WrittenLines, folder: Path, *, alignment: bool = False
) -> bytes:
    """What two workers write, each of every other part, the last part first; parts are two windows of 2 lines."""
    parts_folder = PartsFolder.beside(folder / "in-parts.txt")
    parts_folder.path.mkdir()
    output = Output(format=written, settings={}, alignment=alignment)
    opened = OpenTranslation(decoding=decoding, device="cpu", threads=1, output=output, folder=parts_folder)
    workers = [opened(), opened()]
    parts = cut(scan_texts(files, parts_folder.path), 4)
    records = dict(workers[part.number % 2](part) for part in reversed(parts))
    assert records == parts_folder.done(len(parts))
    assert added([record.counts for record in records.values()]).lines == len(LINES)
    parts_folder.join(records, folder / "in-parts.txt")
    return (folder / "in-parts.txt").read_bytes()


def on_one_machine(model: Path, text: Path, options: Sequence[object], folder: Path) -> bytes:
    output = folder / "whole.txt"
    arguments = ["translate", model, text, "-o", output, "--threads", 1, "--set", "search.window_lines=2", *options]
    assert run([str(argument) for argument in arguments]) == 0
    return output.read_bytes()


@pytest.mark.parametrize(
    ("options", "search", "written", "alignment"),
    [
        ([], {}, WrittenLines(as_json=False, scores=False), False),
        (
            ["--n-best", 2, "--scores", "--alignment"],
            {"n_best": 2},
            WrittenLines(as_json=False, scores=True),
            True,
        ),
        (["--json", "--alignment"], {}, WrittenLines(as_json=True, scores=False), True),
        # Samples hang on the line's number in the whole text.
        (
            ["--json", "--set", "search.sampling=true", "--set", "search.seed=7"],
            {"sampling": True, "seed": 7},
            WrittenLines(as_json=True, scores=False),
            False,
        ),
    ],
)
def test_parts_are_the_output_of_one_machine(
    model_folder: Path,
    text: Path,
    tmp_path: Path,
    options: list[object],
    search: dict[str, Any],
    written: WrittenLines,
    alignment: bool,
) -> None:
    expected = on_one_machine(model_folder, text, options, tmp_path)
    decoding = Decoding(model=str(model_folder), search={**search, "window_lines": 2})
    found = in_parts(decoding, TextFiles(source=text), written, tmp_path, alignment=alignment)
    assert found == expected
    assert len(found) > len(LINES)


def test_constraints_are_fulfilled_in_parts(model_folder: Path, text: Path, tmp_path: Path) -> None:
    prefixes, words = tmp_path / "prefixes.txt", tmp_path / "words.txt"
    prefixes.write_text("\n\n\n\nneo\n\n\n\nowt\n", encoding="utf-8")
    words.write_text("der\n\n\n\n\n\n\tdlo sgnik\n\n\n", encoding="utf-8")
    options = ["--target-prefix", prefixes, "--forced-words", words]
    expected = on_one_machine(model_folder, text, options, tmp_path)
    files = TextFiles(source=text, target_prefixes=prefixes, forced_words=words)
    decoding = Decoding(model=str(model_folder), overrides=("search.window_lines=2",))
    assert in_parts(decoding, files, WrittenLines(as_json=False, scores=False), tmp_path) == expected
    assert expected.decode().split("\n")[4].startswith("neo")


def test_a_constraint_that_cannot_be_is_told_with_its_line(model_folder: Path, text: Path, tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("\n\n\n\n\n\n\n" + "der " * 60 + "\n\n", encoding="utf-8")
    files = TextFiles(source=text, forced_words=words)
    with pytest.raises(DataError, match="line 8: "):
        in_parts(Decoding(model=str(model_folder)), files, WrittenLines(as_json=False, scores=False), tmp_path)


def test_other_machines_get_whole_paths_and_the_names_of_shipped_models(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(model_folder.parent)
    elsewhere = Decoding(model=os.path.relpath(model_folder), ensemble=("en-de",)).elsewhere()
    assert (elsewhere.model, elsewhere.ensemble) == (str(model_folder), ("en-de",))


def test_a_model_that_one_machine_lacks_is_told_with_the_machine(tmp_path: Path) -> None:
    output = Output(format=WrittenLines(as_json=False, scores=False), settings={}, alignment=False)
    missing = Decoding(model=str(tmp_path / "none"))
    work = OpenTranslation(
        decoding=missing, device="cpu", threads=1, output=output, folder=PartsFolder.beside(tmp_path / "x")
    )
    with pytest.raises(ModelError, match=rf"none: no such model or run folder.* \(on {os.uname().nodename}\)$"):
        work()
