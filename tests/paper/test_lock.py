"""Which folder a study may work in."""

from pathlib import Path

import pytest

from attendo.errors import ModelError
from attendo.files import write_text
from attendo.paper.study_folder import alone, own_folder


def test_a_study_goes_on_in_its_own_folder_and_in_no_other_s(tmp_path: Path) -> None:
    for _ in range(2):
        with own_folder(tmp_path / "study", "table3", "small"):
            write_text(tmp_path / "study" / "index.html", "")
    for name, scale in (("table2", "small"), ("table3", "tiny")):
        message = (
            r"study: holds table3 at the scale small; name another folder with -o, or write into this one with --force$"
        )
        with pytest.raises(ModelError, match=message), own_folder(tmp_path / "study", name, scale):
            pass
    with own_folder(tmp_path / "study", "table2", "small", force=True):
        pass
    with own_folder(tmp_path / "study", "table2", "small"):
        pass


@pytest.mark.parametrize("first", [".lock", ".lock-prepared", "prepared/manifest.json", "phrasebook/train.en"])
def test_a_study_that_was_killed_goes_on(first: str, tmp_path: Path) -> None:
    write_text(tmp_path / "study" / first, "")
    write_text(tmp_path / "study" / "logs" / "a run.log", "")
    with own_folder(tmp_path / "study", "table3", "small"), alone(tmp_path / "study"):
        pass


def test_a_run_and_a_folder_of_something_else_are_no_study_s(tmp_path: Path) -> None:
    write_text(tmp_path / "run" / "run.json", "{}")
    write_text(tmp_path / "run" / ".lock", "")
    write_text(tmp_path / "other" / "mine", "mine")
    for name, held in (("run", "run.json"), ("other", "mine")):
        message = rf"{name}: holds something else than `attendo reproduce` writes \({held}\); .* --force"
        with pytest.raises(ModelError, match=message), own_folder(tmp_path / name, "table3", "small"):
            pass
        assert not (tmp_path / name / "study.json").exists()
