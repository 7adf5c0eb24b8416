"""The commands of docs/adapting.md in their order, on a tiny corpus: fine-tuning, back-translation, distillation."""

import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from attendo.checkpoint.model_folder import load_model
from attendo.cli.main import run

DOCUMENT = Path(__file__).parents[2] / "docs" / "adapting.md"

SMALL = [
    "model.d_model=16", "model.d_ff=32", "model.num_heads=2", "model.num_encoder_layers=1",
    "model.num_decoder_layers=1", "tokenizer.vocab_size=300",
]  # fmt: skip
"""What makes a recipe with a shape of its own a matter of seconds."""
SHORT = [
    "training.max_steps=4", "training.max_tokens=300", "training.eval_steps=4", "training.warmup_steps=2",
    "training.cooldown_steps=0", "search.max_len_offset=5",
]  # fmt: skip

OWN = """
[data]
source_language = "{0}"
target_language = "{1}"
[[data.corpora]]
name = "mine"
source = "{2}"
target = "{3}"
"""


def write_lines(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.fixture
def here(tmp_path: Path, corpus: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the document names, for a language whose words are English ones backwards."""
    parts = {"": slice(0, 80), "old.": slice(80, 160), "valid.": slice(160, 164), "test.": slice(164, 168)}
    for name, part in parts.items():
        write_lines(tmp_path / f"{name}source.txt", [source for source, _ in corpus.pairs[part]])
        write_lines(tmp_path / f"{name}target.txt", [target for _, target in corpus.pairs[part]])
    write_lines(tmp_path / "mono.txt", [target for _, target in corpus.pairs[168:200]])
    for name, keys in (
        ("reverse", ("de", "en", "target.txt", "source.txt")),
        ("teacher", ("en", "de", "source.txt", "target.txt")),
    ):
        (tmp_path / f"{name}.toml").write_text(OWN.format(*keys), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def commands(section: str) -> list[str]:
    """The commands of the shell blocks of one section of the document."""
    text = DOCUMENT.read_text(encoding="utf-8").split(f"## {section}")[1].split("\n## ")[0]
    blocks = re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)
    lines = [line.split(" #")[0].strip() for block in blocks for line in block.splitlines()]
    assert len(lines) >= 4
    return lines


def follow(
    section: str,
    settings: dict[str, list[str]],
    capsys: pytest.CaptureFixture[str],
    after: Callable[[list[str]], None] = lambda given: None,
) -> dict[str, str]:
    """Runs a section's commands; gives what each of them printed.

    Args:
        section: how its heading begins.
        settings: what to set in each recipe, by its file.
        capsys: pytest's.
        after: called with a command's arguments when it has ended well.
    """
    printed = {}
    for line in commands(section):
        command, _, redirected = line.partition(" > ")
        given = shlex.split(command)[1:]
        extra = settings.get(given[1], []) if given[0] in ("prepare", "train") else []
        extra = ["search.max_len_offset=5"] if given[0] == "translate" else extra
        status = run([*given, *(part for setting in extra for part in ("--set", setting))])
        found = capsys.readouterr()
        assert status == 0, f"{line}\n{found.err}"
        printed[line] = found.out
        if redirected:
            Path(redirected).write_text(found.out, encoding="utf-8")
        after(given)
    return printed


def finish(path: Path) -> None:
    """Has most of the translations end, and say something.

    A model of four steps has learned nothing and ends nothing; these are what one of more steps would write.
    """
    found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert all({"source", "text", "finished", "source_truncated"} <= set(line) for line in found)
    for number, line in enumerate(found):
        line["text"] = " ".join(word[::-1] for word in line["source"].split()) if number else ""
        line["finished"] = number != 1
    write_lines(path, map(json.dumps, found))


def dropped(reasons: dict[str, int], name: str) -> None:
    """Compares the pairs left out of a corpus with what a hand counts."""
    [report] = [path for path in Path("prepared").glob("*/dropped.tsv") if f"\n{name}\t" in path.read_text("utf-8")]
    rows = [line.split("\t") for line in report.read_text(encoding="utf-8").splitlines()]
    assert Counter(row[3] for row in rows if row[0] == name) == reasons


def test_fine_tuning(here: Path, model_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "MODEL").symlink_to(model_folder)
    shown = follow("Fine-tuning", {"tuned.toml": [*SHORT, "training.init_from=MODEL"]}, capsys)
    prepared, dry, *_ = (shown[line] for line in commands("Fine-tuning")[1:])
    assert "vocabulary of 300 pieces, kept from the model" in prepared
    # By hand: 80 pairs are three quarters of 106.7, and 26.7 are 27.
    assert re.search(r"an epoch +new +80 pairs, +74\.8%.*\n +old +27 pairs, +25\.2%", dry)
    before, after = (load_model(folder) for folder in (model_folder, Path("runs/tuned/model")))
    assert after.source_tokenizer.serialized == before.source_tokenizer.serialized
    assert after.description.model.d_model == before.description.model.d_model
    assert after.description.training["init_from"]["model"] == model_folder.name
    assert "p bootstrap" in shown["attendo compare before.txt after.txt --reference test.target.txt"]


def test_back_translation(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def after(given: list[str]) -> None:
        if given[0] == "translate":
            finish(Path("back.jsonl"))

    settings = {"reverse.toml": [*SMALL, *SHORT], "forward.toml": [*SMALL, *SHORT]}
    follow("Back-translation", settings, capsys, after)
    dropped({"empty": 1, "unfinished": 1}, "back")
    forward = load_model(Path("runs/forward/model"))
    assert (forward.description.source_language, forward.description.target_language) == ("en", "de")
    assert "<bt>" in forward.source_tokenizer.pieces(forward.source_tokenizer.encode("<bt> us."))
    assert run(["train", "forward.toml", "--dry-run", *sets(settings["forward.toml"])]) == 0
    mix = capsys.readouterr().out
    assert re.search(r"an epoch +mine +80 pairs, +50\.0%, each 1\.00 times\n", mix)
    assert re.search(r" +back +80 pairs, +50\.0%, each 2\.67 times, behind <bt>\n", mix)  # 80 of 30 pairs


def test_distillation(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def after(given: list[str]) -> None:
        if "taught.jsonl" in given:
            finish(Path("taught.jsonl"))

    settings = {"teacher.toml": [*SMALL, *SHORT], "student.toml": [*SMALL, *SHORT]}
    shown = follow("Distillation", settings, capsys, after)
    dropped({"empty": 1, "unfinished": 1}, "taught")
    assert load_model(Path("runs/student/model")).description.search["beam_size"] == 1
    assert "p bootstrap" in shown["attendo compare teacher.txt student.txt --reference test.target.txt"]


def sets(settings: list[str]) -> list[str]:
    return [part for setting in settings for part in ("--set", setting)]
