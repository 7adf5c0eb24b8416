"""Figures 3, 4 and 5 as a whole, of a model with random weights: pages, pictures, what is kept, what is refused."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attendo.checkpoint.model_folder import load_model
from attendo.checkpoint.saving import save_model
from attendo.checkpoint.weights import named_weights
from attendo.errors import AttendoError, DataError, ModelError, RecipeError
from attendo.paper.experiment import StudyRequest
from attendo.paper.heads.ablation import dev_set
from attendo.paper.heads.figure3 import FIGURE3
from attendo.paper.heads.figure4 import FIGURE4
from attendo.paper.heads.figure5 import FIGURE5
from attendo.paper.heads.head_attention import Head
from attendo.paper.report import Picture
from attendo.workflow.runs.reporting import Silence

STUDIES: dict[str, Any] = {"figure3": FIGURE3, "figure4": FIGURE4, "figure5": FIGURE5}


class Quiet(Silence):
    """A reporter that says nothing."""

    def running(self, done: int, total: int, note: str) -> None:
        """Says nothing."""


def request(folder: Path, **changes: Any) -> StudyRequest:
    values: dict[str, Any] = {"scale": "tiny", "seeds": 2, "jobs": 1, "data": None, "command": "attendo reproduce x"}
    return StudyRequest(folder=folder, **{**values, **changes})


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory, random_model: Path) -> Callable[[str], Path]:
    """The folder of a figure, made once."""
    made: dict[str, Path] = {}

    def folder(name: str) -> Path:
        if name not in made:
            made[name] = tmp_path_factory.mktemp(name)
            outcome = STUDIES[name].reproduce(request(made[name], runs=(str(random_model),)), Quiet(), lambda: False)
            assert not outcome.interrupted
            assert outcome.failures == ()
            assert outcome.report is not None
            blocks = [block for section in outcome.report.sections for block in section.blocks]
            pictures = [block for block in blocks if isinstance(block, Picture)]
            assert len(pictures) >= 2
            assert all(picture.alt for picture in pictures)
            assert {picture.name for picture in pictures} == {path.name for path in made[name].glob("*.png")}
        return made[name]

    return folder


@pytest.mark.parametrize("name", list(STUDIES))
def test_a_page_with_its_pictures(name: str, folders: Callable[[str], Path], random_model: Path) -> None:
    folder = folders(name)
    for picture in folder.glob("*.png"):
        assert picture.read_bytes().startswith(b"\x89PNG")
        if not picture.name.endswith("-cuts.png"):
            assert "<svg" in picture.with_suffix(".svg").read_text(encoding="utf-8")
            assert f"({picture.stem}.svg)" in (folder / "index.md").read_text(encoding="utf-8")
    data = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert data["result"] == name
    assert [model["model"] for model in data["models"]] == [str(random_model)]
    page = (folder / "index.md").read_text(encoding="utf-8")
    assert "attendo reproduce x" in page
    assert "nan" not in page.split()


def test_figure5_has_all_heads(folders: Callable[[str], Path], random_model: Path) -> None:
    [model] = json.loads((folders("figure5") / "result.json").read_text(encoding="utf-8"))["models"]
    config = load_model(random_model).transformer.config
    num_heads = (config.encoder_layers + 2 * config.decoder_layers) * config.num_heads
    assert len(model["cuts"]["cuts"]) == num_heads
    assert len(list((folders("figure5") / "cuts").rglob("*.json"))) == num_heads + 1
    assert set(model["roles"]) == {"encoder", "decoder", "cross"}
    for kind in model["roles"].values():
        for role in kind:
            assert len(role["shares"][0]) == config.num_heads
    assert len(model["structure"]["heads"]) == config.encoder_layers * config.num_heads


@pytest.mark.parametrize("name", list(STUDIES))
def test_what_is_stopped_writes_no_page_and_goes_on(name: str, tmp_path: Path, random_model: Path) -> None:
    folder = tmp_path / "figure"
    asked = iter(range(1000))
    wanted = request(folder, runs=(str(random_model),), seeds=1)
    outcome = STUDIES[name].reproduce(wanted, Quiet(), lambda: next(asked) >= 20 - 10 * (name != "figure5"))
    assert outcome.interrupted
    assert outcome.report is None
    assert not (folder / "index.md").exists()


def test_another_development_set_is_not_mixed_in(
    tmp_path: Path, folders: Callable[[str], Path], random_model: Path
) -> None:
    for language, text in (("en", "a dog\nthe house\n"), ("de", "ein Hund\ndas Haus\n")):
        (tmp_path / f"val.{language}").write_text(text, encoding="utf-8")
    wanted = request(folders("figure5"), runs=(str(random_model),), data=tmp_path)
    with pytest.raises(ModelError, match="is of another model or other sentences"):
        FIGURE5.reproduce(wanted, Quiet(), lambda: False)


def test_a_development_set_is_read_at_even_distances(tmp_path: Path) -> None:
    for language in ("en", "de"):
        text = "".join(f"{language} {number}\n" for number in range(10))
        (tmp_path / f"valid.{language}").write_text(text, encoding="utf-8")
    found = dev_set(tmp_path, "de", "en", 4)
    assert found.sources == ("de 0", "de 2", "de 5", "de 7")
    assert found.references == ("en 0", "en 2", "en 5", "en 7")
    assert f"valid.de of {tmp_path.name} (4 of 10 lines)" in found.name
    assert len(dev_set(tmp_path, "de", "en", 400).sources) == 10
    with pytest.raises(DataError, match=r"no development set; --data takes a folder with one of valid\.en and"):
        dev_set(tmp_path, "en", "fr", 4)


def test_what_cannot_be_looked_at_is_told(tmp_path: Path, random_model: Path) -> None:
    def refused(study: Any, expected: type[AttendoError], message: str, **changes: Any) -> None:
        with pytest.raises(expected, match=message):
            study.reproduce(request(tmp_path / "figure", **changes), Quiet(), lambda: False)

    refused(FIGURE3, RecipeError, "--data: figure3 reads sentences of its own", data=tmp_path)
    refused(FIGURE4, RecipeError, "--data: figure4 reads sentences of its own", data=tmp_path)
    refused(FIGURE3, RecipeError, r"none ships; train one with `attendo train base`", scale="paper")
    refused(FIGURE3, RecipeError, "name each model once", runs=(str(random_model), str(random_model)))
    model = load_model(random_model)
    for changes, message in (
        ({"target_language": "fr"}, "is between en and fr, and the sentences are English and German"),
    ):
        other = tmp_path / "other"
        save_model(
            other,
            replace(model.description, **changes),  # type: ignore[arg-type]
            named_weights(model.transformer),
            model.source_tokenizer,
            model.target_tokenizer,
            "# A model\n",
        )
        refused(FIGURE3, ModelError, message, runs=(str(other),))


def test_a_vocabulary_that_joins_words_and_punctuation_is_told(tmp_path: Path, model_folder: Path) -> None:
    # Its letters are those of another text; a comma is a byte to it, and so a part of the word before it.
    with pytest.raises(ModelError, match=r"joins words and punctuation in \d+ of 32 sentences, which leaves too few"):
        FIGURE3.reproduce(request(tmp_path / "figure", runs=(str(model_folder),)), Quiet(), lambda: False)


@pytest.mark.parametrize("name", list(STUDIES))
def test_a_forecast_reads_no_model(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "figure"
    report = STUDIES[name].forecast(request(folder, scale="small"), Quiet())
    assert report.data["models"] == ["en-de", "de-en"]
    assert report.data["sentences"] in (400, 800)
    assert not folder.exists()
    named = STUDIES[name].forecast(request(folder, scale="paper", runs=("runs/base",)), Quiet())
    assert named.data["models"] == ["runs/base"]


def test_heads_are_counted_from_one() -> None:
    assert Head(kind="encoder", layer=4, head=1).to_text() == "5.2"


@pytest.mark.slow
def test_the_scale_tiny_trains_a_model_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "figure"
    stopped = FIGURE3.reproduce(request(folder, seeds=1), Quiet(), lambda: True)
    assert stopped.interrupted
    outcome = FIGURE3.reproduce(request(folder, seeds=1), Quiet(), lambda: False)
    assert outcome.report is not None
    assert "has learnt nothing to speak of" in (folder / "index.md").read_text(encoding="utf-8")
    again = FIGURE3.reproduce(request(folder, seeds=1), Quiet(), lambda: False)
    assert again.report is not None
    assert again.report.data == outcome.report.data
