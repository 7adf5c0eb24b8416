"""The documents' commands: each one parses, and those of docs/own-data.md run, in their order, on a tiny corpus."""

import io
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from attendo.cli.main import application, run

PROJECT = Path(__file__).parent.parent
DOCUMENTS = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]
COMMAND = typer.main.get_command(application())

SMALL = ["tokenizer.vocab_size=300", "model.d_model=16", "model.d_ff=32", "training.max_steps=12"]
"""What makes the tiny recipe a matter of seconds; 300 pieces are what 216 short sentences can fill."""


def commands(document: Path) -> list[str]:
    """The lines of a document's shell blocks that call attendo, without their comments."""
    blocks = re.findall(r"```sh\n(.*?)```", document.read_text(encoding="utf-8"), flags=re.DOTALL)
    lines = [line.split(" #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("attendo ")]


def arguments(line: str) -> list[str]:
    """A command's arguments, without the shell's redirections."""
    return shlex.split(re.split(r"\s[<>]\s", line)[0])[1:]


ALL = [(document.name, line) for document in DOCUMENTS for line in commands(document)]


@pytest.mark.parametrize(("document", "line"), ALL)
def test_every_command_of_the_documents_parses(document: str, line: str) -> None:
    name, *rest = arguments(line)
    context = COMMAND.make_context("attendo", [name])
    command: Any = COMMAND
    command.get_command(context, name).make_context(name, rest)


def test_the_readme_has_the_two_commands_first() -> None:
    first = re.search(r"```sh\n(.*?)```", (PROJECT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    assert first is not None
    assert first[1].split("\n") == ["make demo", "make test", ""]
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    assert all(re.search(rf"^{target}:", makefile, flags=re.MULTILINE) for target in ("demo", "test"))


def test_the_way_from_two_text_files_to_an_engine(
    tmp_path: Path, corpus: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lines_of = {path.name: path.read_bytes().splitlines(keepends=True) for path in (corpus.source, corpus.target)}
    for line in commands(PROJECT / "docs" / "own-data.md"):
        given = arguments(line)
        reads_few = Path("runs/mine/model").is_dir() and given[0] != "train"
        for name, lines in lines_of.items():  # a model that has learned nothing writes long lines, slow to score
            Path(name).write_bytes(b"".join(lines[:4] if reads_few else lines))
        if given[0] in ("prepare", "train") and "--resume" not in given:
            given += [part for setting in SMALL for part in ("--set", setting)]
        if read := re.search(r"\s<\s+(\S+)", line):
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(Path(read[1]).read_bytes())))
        status = run(given)
        printed = capsys.readouterr()
        assert status == 0, f"{line}\n{printed.err}"
        if written := re.search(r"\s>\s+(\S+)", line):
            Path(written[1]).write_text(printed.out, encoding="utf-8")
    for output in ("output.txt", "scored.txt"):
        assert Path(output).read_text(encoding="utf-8").count("\n") == 4
    assert Path("attention.html").is_file()


def test_every_search_of_the_documents_runs(
    tmp_path: Path,
    model_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {
        "source.txt": "one red dogs see us.\n\nsome old kings hear them.\n",
        "target.txt": "su ees\n\nmeht raeh\n",
        "words.txt": "sgod\tder eno\n\n\n",
        "beginnings.txt": "su \n\nmeh\n",
    }
    for name, text in files.items():
        Path(name).write_text(text, encoding="utf-8")
    ran = commands(PROJECT / "docs" / "translating.md")
    assert len(ran) > 10
    for line in ran:
        given = [str(model_folder) if argument == "MODEL" else argument for argument in arguments(line)]
        # The paper's beam, where the line names none; and a model that has learned nothing has no reason to end.
        extra = ["--set", "search.max_len_offset=12"] if given[0] == "translate" else []
        extra += ["--beam-size", "4"] if extra and "--beam-size" not in given else []
        status = run([*given, *extra])
        printed = capsys.readouterr()
        assert status == 0, f"{line}\n{printed.err}"
        if "--n-best" not in line:
            written = Path(given[given.index("-o") + 1]).read_text(encoding="utf-8") if "-o" in given else printed.out
            assert written.count("\n") == 3


def test_the_python_of_the_documents_runs(model_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (PROJECT / "docs" / "translating.md").read_text(encoding="utf-8")
    [block] = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    exec(compile(block, "translating.md", "exec"), {"MODEL": model_folder})
    assert "Das" in capsys.readouterr().out.replace("\u2581", "")


def test_the_keys_of_recipes_are_documented() -> None:
    script = PROJECT / "scripts" / "recipe_keys.py"
    finished = subprocess.run([sys.executable, script, "--check"], check=False, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr


@pytest.mark.parametrize("document", [*DOCUMENTS, *PROJECT.glob("*.md")], ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", document.read_text(encoding="utf-8")):
        assert link.startswith("http") or (document.parent / link).exists(), f"{document.name}: {link}"


def test_every_command_about_robustness_runs(
    tmp_path: Path,
    model_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(model_folder, tmp_path / "model")
    files = {"source.txt": "one red dogs see us.\n", "target.txt": "su ees sgod der eno.\n", "other.txt": "Mitä nyt?\n"}
    for name, text in files.items():
        Path(name).write_text(text, encoding="utf-8")
    for line in commands(PROJECT / "docs" / "robustness.md"):
        given = ["model" if argument == "MODEL" else argument for argument in arguments(line)]
        if given[0] == "evaluate":  # a model that has learned nothing writes long lines, slow to score
            given += ["--set", "search.max_len_offset=0", "--resamples", "5"]
        assert run(given) == 0, f"{line}\n{capsys.readouterr().err}"
    printed = capsys.readouterr().out
    assert "### my test set" in printed, "attendo info shows the card"
    assert '"robustness": {' in printed


def test_the_python_of_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    [block] = re.findall(r"```python\n(.*?)```", (PROJECT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    exec(compile(block, "README.md", "exec"), {})
    first, *others = capsys.readouterr().out.splitlines()
    assert "Sie" in first or "dir" in first, "the shipped model translates the question"
    assert len(others) == 2
