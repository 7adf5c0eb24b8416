"""Where a study's texts are."""

from dataclasses import replace
from pathlib import Path

import pytest

from attendo.errors import RecipeError
from attendo.paper.experiment import StudyRequest
from attendo.paper.phrasebook_texts import corpora_folder, taken_from, write_if_tiny


@pytest.fixture
def tiny(tmp_path: Path) -> StudyRequest:
    return StudyRequest(scale="tiny", folder=tmp_path / "study", seeds=1, jobs=1, data=None, command="")


def test_tiny_has_the_phrasebook_and_takes_no_data(tiny: StudyRequest, tmp_path: Path) -> None:
    assert corpora_folder(tiny) == tiny.folder / "phrasebook"
    with pytest.raises(RecipeError, match="--data"):
        corpora_folder(replace(tiny, data=tmp_path))


def test_other_scales_have_the_recipes_own_corpora_or_those_given(
    tiny: StudyRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert taken_from(corpora_folder(replace(tiny, scale="small"))) == []
    monkeypatch.chdir(tmp_path)
    given = corpora_folder(replace(tiny, scale="paper", data=Path("corpora")))
    assert taken_from(given) == [f"data.folder={tmp_path.resolve() / 'corpora'}"]


def test_the_phrasebook_is_written_once_and_at_tiny_alone(tiny: StudyRequest) -> None:
    write_if_tiny(replace(tiny, scale="small"))
    assert not tiny.folder.exists()
    write_if_tiny(tiny)
    sizes = {path.name: len(path.read_text("utf-8").splitlines()) for path in (tiny.folder / "phrasebook").iterdir()}
    expected = {"train": 3000, "valid": 100, "test": 10}
    assert sizes == {f"{name}.{side}": size for name, size in expected.items() for side in ("en", "de")}
    (tiny.folder / "phrasebook" / "train.en").write_text("mine", "utf-8")
    write_if_tiny(tiny)
    assert (tiny.folder / "phrasebook" / "train.en").read_text("utf-8") == "mine"
