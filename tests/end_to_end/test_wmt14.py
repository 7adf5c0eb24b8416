"""docs/wmt14.md at a tiny scale, against a local server: from archives to both kinds of BLEU, by its own commands."""

import json
import re
import shlex
from pathlib import Path

import pytest
from sacrebleu import corpus_bleu
from tests.workflow.datasets.wmt_server import put_mtdata_in_place, served, write_wmt14

from attendo.cli.main import run
from attendo.recipe import load_recipe

DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "wmt14.md"
TINY = [
    "tokenizer.vocab_size=305",
    "model.d_model=16",
    "model.d_ff=32",
    "model.num_layers=1",
    "model.num_heads=2",
    "training.max_steps=6",
    "training.max_tokens=400",
    "training.checkpoint_minutes=none",
    "training.checkpoint_steps=1",
    "training.eval_bleu=false",
    "training.threads=1",
]
"""What makes the paper's recipe a matter of seconds."""


def commands(section: str) -> list[list[str]]:
    """The commands of a section of the document, in their order."""
    text = DOCUMENT.read_text(encoding="utf-8")
    found = re.search(rf"^## {section}\n.*?^```sh\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    assert found is not None
    lines = found[1].replace("\\\n", " ").splitlines()
    return [shlex.split(line.split(" #")[0]) for line in lines if line.startswith("attendo ")]


@pytest.mark.parametrize(
    ("pair", "section"), [("en-de", "English to German"), ("en-fr", "English to French")], ids=["en-de", "en-fr"]
)
def test_the_papers_own_way(
    pair: str, section: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put_mtdata_in_place(tmp_path / "packages", monkeypatch)
    write_wmt14(tmp_path / "site", monkeypatch)
    monkeypatch.chdir(tmp_path)
    ran = commands(section)
    assert [command[1] for command in ran] == ["data", "prepare", "train", "average", "evaluate"]
    with served(tmp_path / "site") as files:
        for command in ran:
            extra = []
            if command[1] == "data":
                extra = ["--mirror", files.url]
            elif command[1] in ("prepare", "train"):
                extra = [part for setting in TINY for part in ("--set", setting)]
            elif command[1] == "evaluate":  # a model that has learned nothing writes long lines, slow to score
                extra = ["--set", "search.max_len_offset=2", "--resamples", "0", "--json"]
            capsys.readouterr()
            status = run([*command[1:], *extra])
            printed = capsys.readouterr()
            assert status == 0, f"{shlex.join(command)}\n{printed.err}"
    target = pair[-2:]
    found = json.loads(printed.out)
    folder = Path(f"wmt14-{pair}")
    references = (folder / f"newstest2014.{target}").read_text(encoding="utf-8").splitlines()
    (output,) = Path().glob("newstest2014.*")
    outputs = output.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    assert len(outputs) == len(references) == found["num_sentences"] == 6
    assert found["bleu"]["score"] == pytest.approx(corpus_bleu(outputs, [references]).score)
    assert "tok:13a" in found["bleu"]["signature"]
    assert f"pretok:moses.{target}" in found["bleu_tokenized"]["signature"]
    assert ("split:atat" in found["bleu_tokenized"]["signature"]) == (target == "de")


@pytest.mark.parametrize("name", ["base", "big", "base-en-fr", "big-en-fr"])
def test_the_papers_recipes_name_the_files_that_are_left(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put_mtdata_in_place(tmp_path / "packages", monkeypatch)
    write_wmt14(tmp_path / "site", monkeypatch)
    monkeypatch.chdir(tmp_path)
    data = load_recipe(name).data
    assert data is not None
    with served(tmp_path / "site") as files:
        assert run(["data", "get", Path(data.folder).name, "--mirror", files.url]) == 0, capsys.readouterr().err
    named = {path.name for corpus in data.corpora for path in corpus.paths(Path(data.folder))}
    assert named == {path.name for path in Path(data.folder).glob("train.*")}
    assert data.valid is not None
    assert all(path.is_file() for path in data.valid.paths(Path(data.folder)))
