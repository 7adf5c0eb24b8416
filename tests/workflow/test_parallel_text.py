"""Test sets as people have them: two files of lines, two of subtitles, or one that holds both sides."""

from pathlib import Path

import pytest

from attendo.errors import DataError
from attendo.workflow.parallel_text import ParallelText, read_parallel


def srt(*texts: str) -> str:
    return "".join(f"{n}\n00:00:0{n},000 --> 00:00:0{n},900\n{text}\n\n" for n, text in enumerate(texts, 1))


def test_two_files_of_lines_are_read_line_by_line(tmp_path: Path, model_folder: Path) -> None:
    (tmp_path / "s").write_text("a\n\n")
    (tmp_path / "t").write_text("b\nc\n")
    found = read_parallel(tmp_path / "s", tmp_path / "t", str(model_folder))
    assert found == ParallelText(sources=["a", ""], targets=["b", "c"])
    assert found.note(tmp_path / "s") is None


def test_two_files_of_subtitles_are_paired_by_their_times(tmp_path: Path, model_folder: Path) -> None:
    (tmp_path / "en.srt").write_text(srt("Good\nmorning.", "Yes."))
    (tmp_path / "de.srt").write_text(srt("Guten Morgen.", "Ja.", "Nur hier."))
    found = read_parallel(tmp_path / "en.srt", tmp_path / "de.srt", str(model_folder))
    assert (found.sources, found.targets) == (["Good morning.", "Yes."], ["Guten Morgen.", "Ja."])
    assert found.note(tmp_path / "en.srt") == f"{tmp_path / 'en.srt'}: 2 pairs; left out: 1 untranslated"


def test_a_memory_is_read_in_the_languages_of_the_model(tmp_path: Path, model_folder: Path) -> None:
    variants = "".join(f'<tuv xml:lang="{code}"><seg>{code}</seg></tuv>' for code in ("fr", "en-GB", "de-CH", "de"))
    (tmp_path / "a.tmx").write_text(f'<tmx version="1.4"><body><tu>{variants}</tu></body></tmx>')
    found = read_parallel(tmp_path / "a.tmx", None, str(model_folder))
    assert (found.sources, found.targets) == (["en-GB", "en-GB"], ["de-CH", "de"])


def test_a_name_that_no_file_can_have_is_an_error(tmp_path: Path, model_folder: Path) -> None:
    with pytest.raises(DataError, match="is no file's name; leave out its control characters"):
        read_parallel(tmp_path / "a\n.tmx", None, str(model_folder))
