"""Translation memories of a served model: what one has is answered at once, similar texts guide the search."""

import re
from pathlib import Path

import pytest
from tests.memory.conftest import write_pairs
from tests.serving.live import live

import attendo
from attendo.errors import RecipeError
from attendo.memory.lookup import MIN_THRESHOLD
from attendo.serving.app import build
from attendo.serving.config_file import load_config
from attendo.serving.core.model_names import model_sources


def test_requests_are_answered_from_the_memory(
    tmp_path: Path, model_folders: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = write_pairs(tmp_path / "m.tsv", [("one red dogs see us.", "Ein Satz.")])
    lines = ["one red dogs see us.", "two small birds hear them here."]
    name = f"one={model_folders[0]}"
    with live([name]) as plain, live([name], f'models.memories={{one=["{path}"]}}') as remembering:
        expected = [each["text"] for each in plain.translate(lines).json["translations"]]
        found = [each["text"] for each in remembering.translate(lines).json["translations"]]
        aligned = remembering.translate("one red dogs see us.", alignment=True)
    assert found == ["Ein Satz.", expected[1]]
    assert expected[0] != "Ein Satz."
    assert aligned.status == 200


def test_similar_texts_guide_requests_as_they_guide_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    pairs = [("Where is the small red house?", "Wo steht denn das kleine rote Haus?")]
    path = write_pairs(tmp_path / "m.tsv", pairs)
    lines = ["Where is the small green house?", "I like dogs."]
    with attendo.load("en-de", threads=1, aids=attendo.Aids(memory=path)) as engine:
        expected = [each.text for each in engine.translate(lines)]
    memories = f'models.memories={{en-de=["{path}"]}}'
    with live(["en-de"], memories) as server:
        found = [each["text"] for each in server.translate(lines).json["translations"]]
    assert found == expected
    assert found[0].startswith("Wo steht denn das kleine ")
    # One of six words differs, which is more than a tenth.
    with live(["en-de"], memories, "models.memory_threshold=90") as server:
        [alone] = server.translate(lines[:1]).json["translations"]
    assert not alone["text"].startswith("Wo steht denn")


def test_files_of_a_configuration_start_from_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "server.toml"
    path.write_text('[models.memories]\none = ["product.tmx"]\n', encoding="utf-8")
    assert load_config(path).models.memories == {"one": (str(tmp_path / "product.tmx"),)}


@pytest.mark.parametrize("threshold", [MIN_THRESHOLD - 1, 101])
def test_a_similarity_that_cannot_be_is_refused(threshold: int) -> None:
    message = f"memory_threshold = {threshold} is out of range; take one from {MIN_THRESHOLD} to 100"
    with pytest.raises(RecipeError, match=re.escape(message)):
        load_config(None, [f"models.memory_threshold={threshold}"])
    assert load_config(None, [f"models.memory_threshold={MIN_THRESHOLD}"]).models.memory_threshold == MIN_THRESHOLD


def test_a_memory_of_a_model_that_is_not_served_is_refused(model_folders: tuple[Path, Path, Path]) -> None:
    config = load_config(None, ['models.memories={other=["m.tmx"]}'])
    message = "models.memories.other: no such model is served; take one of one"
    with pytest.raises(RecipeError, match=re.escape(message)):
        build(config, model_sources([f"one={model_folders[0]}"]))
