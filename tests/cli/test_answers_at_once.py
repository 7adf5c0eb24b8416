"""A mistyped name or a missing file is answered before anything heavy is imported, by every command that takes one."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

RUN = """
import contextlib, io, json, sys
from attendo.cli.main import run

HEAVY = {"torch", "matplotlib", "sacrebleu", "transformers", "ray", "fastapi", *sys.argv[1:]}
answers = {}
for command in json.load(sys.stdin):
    before, out, err = HEAVY & sys.modules.keys(), io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run(command.split())
    imported = sorted(HEAVY & sys.modules.keys() - before)
    answers[command] = {"status": status, "out": out.getvalue(), "err": err.getvalue(), "imported": imported}
print(json.dumps(answers))
"""
"""Runs commands one after the other in a process that has imported nothing yet; says what each has imported."""

NO_MODEL = "en-dx: no such model or run folder; did you mean en-de?"
NO_FILE = "missing.txt: there is no such file"
UTF_16 = "utf-16.txt: this is UTF-16 text; convert it first: iconv -f UTF-16 -t UTF-8"
NO_RECIPE = "tinu: there is no such recipe; did you mean tiny?"
NO_SUBJECT = "tinu: neither a recipe nor a model; did you mean tiny?"
NO_RUN = "nowhere: there is no such run folder"

CASES = [
    ("translate en-dx text.txt", NO_MODEL),
    ("translate en-de text.txt --ensemble en-dx", NO_MODEL),
    ("translate en-dx text.txt -o out.txt --ray auto", NO_MODEL),
    ("translate en-de missing.txt", NO_FILE),
    ("translate en-de missing.txt -o out.txt", NO_FILE),
    ("translate en-de missing.txt -o out.txt --ray auto", NO_FILE),
    ("translate en-de text.txt --forced-words missing.txt", NO_FILE),
    ("translate en-de text.txt --target-prefix missing.txt", NO_FILE),
    ("translate en-de utf-16.txt", UTF_16),
    ("translate en-de utf-16.txt -o out.txt", UTF_16),
    ("translate en-de latin.txt -o out.txt", "latin.txt: line 1 is not UTF-8 at its byte 1"),
    ("translate en-de folder", "folder: is a folder; name a file in it"),
    ("parse en-dx text.txt --input words", NO_MODEL),
    ("parse craft missing.txt --input words", NO_FILE),
    ("parse craft missing.txt --input trees", NO_FILE),
    ("parse craft utf-16.txt --input words", UTF_16),
    ("score en-dx --source text.txt --target text.txt", NO_MODEL),
    ("score en-de --source missing.txt --target text.txt", NO_FILE),
    ("score en-de --source text.txt --target missing.txt", NO_FILE),
    ("score en-de --source utf-16.txt --target text.txt", UTF_16),
    ("evaluate en-dx --source text.txt --reference text.txt", NO_MODEL),
    ("evaluate en-de --source missing.txt --reference text.txt", NO_FILE),
    ("evaluate en-de --source text.txt --reference missing.txt", NO_FILE),
    ("evaluate en-de --source text.txt --reference text.txt --robustness --other-language missing.txt", NO_FILE),
    ("evaluate en-dx --trees text.txt", NO_MODEL),
    ("evaluate craft --trees missing.txt", NO_FILE),
    ("attention en-dx Hello -o out.svg", NO_MODEL),
    ("serve en-dx", NO_MODEL),
    ("serve name=en-dx", NO_MODEL),
    ("serve --config missing.txt", "missing.txt: No such file or directory"),
    ("calibrate en-dx --source text.txt --reference text.txt", NO_MODEL),
    ("calibrate en-de --source missing.txt --reference text.txt", NO_FILE),
    ("calibrate en-de --source text.txt --reference missing.txt", NO_FILE),
    ("compare missing.txt text.txt --reference text.txt", NO_FILE),
    ("compare text.txt missing.txt --reference text.txt", NO_FILE),
    ("compare text.txt text.txt --reference missing.txt", NO_FILE),
    ("evalb missing.txt text.txt", NO_FILE),
    ("evalb text.txt missing.txt", NO_FILE),
    ("export en-dx --format onnx -o out", NO_MODEL),
    ("export en-de --format onnx -o out --sentences missing.txt", NO_FILE),
    ("import nowhere -o out", "nowhere/config.json: cannot be read (no such folder); a Marian"),
    ("import folder -o out --sentences missing.txt", NO_FILE),
    ("info en-dx", NO_MODEL),
    ("info en-dx --verify", NO_MODEL),
    ("average nowhere --last 2 -o out", NO_RUN),
    ("average folder --last 2 -o out", "folder: is not a run folder (it has neither checkpoints/ nor run.json)"),
    ("plot nowhere -o out.svg", NO_RUN),
    ("bench decode en-dx --source text.txt", NO_MODEL),
    ("bench decode en-de --source missing.txt", NO_FILE),
    ("bench train --source missing.txt --target text.txt", NO_FILE),
    ("draw pieces en-dx Hello", NO_MODEL),
    ("draw architecture tinu -o out.svg", NO_SUBJECT),
    ("draw multi-head tinu -o out.svg", NO_SUBJECT),
    ("draw positions tinu -o out.svg", NO_SUBJECT),
    ("draw schedule tinu -o out.svg", NO_RECIPE),
    ("recipe tinu", NO_RECIPE),
    ("prepare tinu", NO_RECIPE),
    ("prepare mine.toml", "missing.txt: there is no such file"),
    ("train tinu", NO_RECIPE),
    ("train mine.toml", "missing.txt: there is no such file"),
    ("train --resume -o nowhere", "nowhere: no run to resume (recipe.toml or run.json is missing)"),
]


def fill(folder: Path) -> Path:
    (folder / "text.txt").write_text("Hello.\n")
    (folder / "utf-16.txt").write_bytes("Hello.\n".encode("utf-16"))
    (folder / "latin.txt").write_bytes(b"\xfcber\n")
    (folder / "folder").mkdir()
    corpus = "[[data.corpora]]\nname = 'mine'\nsource = 'missing.txt'\ntarget = 'text.txt'\n"
    (folder / "mine.toml").write_text(
        f"[data]\nsource_language = 'en'\ntarget_language = 'de'\n{corpus}[model]\nd_model = 16\nnum_heads = 2\n"
    )
    return folder


def answers_to(commands: list[str], folder: Path, *heavy: str) -> dict[str, dict[str, Any]]:
    finished = subprocess.run(
        [sys.executable, "-c", RUN, *heavy],
        cwd=folder,
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        check=True,
    )
    answers: dict[str, dict[str, Any]] = json.loads(finished.stdout)
    return answers


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = fill(tmp_path_factory.mktemp("commands"))
    before = sorted(path.name for path in folder.iterdir())
    found = answers_to([command for command, _ in CASES], folder)
    assert sorted(path.name for path in folder.iterdir()) == before, "a mistake leaves nothing behind"
    return found


@pytest.mark.parametrize(("command", "problem"), CASES, ids=[command for command, _ in CASES])
def test_before_anything_heavy_is_imported(answers: dict[str, dict[str, Any]], command: str, problem: str) -> None:
    answer = answers[command]
    said = [line for line in answer["err"].splitlines() if not line.endswith(": does not exist and will be created")]
    assert said[0].startswith("attendo: error: ")
    assert problem in answer["err"]
    assert (answer["status"], answer["out"], answer["imported"]) == (1, "", [])


def test_sentencepiece_is_not_imported_either(tmp_path: Path) -> None:
    commands = ["translate en-dx text.txt", "translate en-de missing.txt -o out.txt", "translate en-de utf-16.txt"]
    for answer in answers_to(commands, fill(tmp_path), "sentencepiece", "numpy").values():
        assert (answer["status"], answer["imported"]) == (1, [])
