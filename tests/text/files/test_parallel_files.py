"""Which files of two languages belong together, in folders as they lie about."""

from pathlib import Path

import pytest

from attendo.errors import DataError
from attendo.text.corpora import CorpusConfig
from attendo.text.files.parallel_files import listed_files, paired_files, sides_of
from attendo.text.pair_reading import read_corpus


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b", "a", "c 1", "x.y"):
        for language in ("en", "de"):
            (tmp_path / f"{name}.{language}").write_text(f"{name} {language}\n")
    (tmp_path / ".hidden.en").write_text("no\n")
    (tmp_path / "folder.en").mkdir()
    for number in (9, 10, 11):
        (tmp_path / f"part{number:02}.en").write_text("p\n")
        (tmp_path / f"teil{number:02}.de").write_text("t\n")
    return tmp_path


def test_a_pattern_is_sorted_and_what_it_stands_for_is_the_same_on_both_sides(folder: Path) -> None:
    assert paired_files(["[abcx]*.en"], ["[abcx]*.de"], folder) == (
        ("a.en", "a.de"),
        ("b.en", "b.de"),
        ("c 1.en", "c 1.de"),
        ("x.y.en", "x.y.de"),
    )


def test_other_names_pair_by_what_the_star_stands_for(folder: Path) -> None:
    expected = (("part09.en", "teil09.de"), ("part10.en", "teil10.de"), ("part11.en", "teil11.de"))
    assert paired_files(["part*.en"], ["teil*.de"], folder) == expected
    assert paired_files(["part{09..11}.en"], ["teil{09..11}.de"], folder) == expected
    assert paired_files(["part[01][0-9].en"], ["teil[01][0-9].de"], folder) == expected
    absolute = paired_files([f"{folder}/part*.en"], [f"{folder}/teil*.de"], folder)
    assert absolute == tuple((f"{folder}/{en}", f"{folder}/{de}") for en, de in expected)


def test_lists_pair_in_their_order(folder: Path) -> None:
    assert paired_files(["b.en", "a.en"], ["b.de", "x.y.de"], folder) == (("b.en", "b.de"), ("a.en", "x.y.de"))
    assert paired_files(["part*.en"], ["teil09.de", "teil10.de", "teil11.de"], folder)[0] == ("part09.en", "teil09.de")


def test_files_in_folders(folder: Path) -> None:
    for name in ("2019/q1", "2020/q1"):
        (folder / name).mkdir(parents=True)
        for language in ("en", "de"):
            (folder / name / f"news.{language}").write_text("n\n")
    expected = (("2019/q1/news.en", "2019/q1/news.de"), ("2020/q1/news.en", "2020/q1/news.de"))
    assert paired_files(["**/news.en"], ["**/news.de"], folder) == expected
    assert paired_files(["20*/*/news.en"], ["20*/*/news.de"], folder) == expected


def test_hidden_files_and_folders_are_not_meant(folder: Path) -> None:
    found = listed_files(["*.en"], folder)
    assert ".hidden.en" not in found
    assert "folder.en" not in found
    assert found[:3] == ("a.en", "b.en", "c 1.en")


def test_a_file_without_a_counterpart_is_named_with_both_sides(folder: Path) -> None:
    (folder / "b.de").unlink()
    (folder / "lonely.de").write_text("l\n")
    with pytest.raises(DataError) as caught:
        CorpusConfig(name="mine", source="[a-l]*.en", target="[a-l]*.de").resolved(folder)
    told = str(caught.value)
    assert told.startswith("data.corpora: mine: b.en of source = [a-l]*.en matches no file of target = [a-l]*.de")
    assert "lonely.de of target = [a-l]*.de matches no file of source = [a-l]*.en" in told


@pytest.mark.parametrize(
    ("source", "target", "told"),
    [
        (("a.en", "b.en"), ("a.de",), r"the sources a\.en, b\.en are 2 files and the targets a\.de are 1"),
        (("part*.en",), ("a.de",), r"source = part\*\.en stands for 3 files .* and target = a\.de for 1 \(a\.de\)"),
        (("{0..9999}{0..9999}",), ("a.de",), "more than 20,000 files"),
    ],
)
def test_sides_of_unequal_number_are_refused(
    folder: Path, source: tuple[str, ...], target: tuple[str, ...], told: str
) -> None:
    with pytest.raises(DataError, match=told):
        paired_files(source, target, folder)


def test_a_name_with_marks_means_its_own_file_first(folder: Path) -> None:
    for language in ("en", "de"):
        (folder / f"x[1].{language}").write_text("marks\n")
    assert paired_files(["x[1].en"], ["x[1].de"], folder) == (("x[1].en", "x[1].de"),)


def test_what_is_not_there_stands_for_itself(folder: Path) -> None:
    assert paired_files(["no*.en"], ["no*.de"], folder) == (("no*.en", "no*.de"),)
    assert paired_files(["none.en"], ["none.de"], folder) == (("none.en", "none.de"),)


@pytest.mark.parametrize(
    ("pair", "sides"),
    [
        ("corpus.{en,de}", ("corpus.en", "corpus.de")),
        ("{source,target}.txt", ("source.txt", "target.txt")),
        ("part{01..12}.{en,de}.gz", ("part{01..12}.en.gz", "part{01..12}.de.gz")),
        ("news/*.{,x}", ("news/*.", "news/*.x")),
        ("corpus.en", None),
        ("corpus.{en,de,fr}", None),
        ("corpus.{en,en}", None),
        ("{a,b}.{en,de}", None),
    ],
)
def test_a_pair_has_two_sides(pair: str, sides: tuple[str, str] | None) -> None:
    assert sides_of(pair) == sides


def test_line_numbers_are_those_of_each_file(folder: Path) -> None:
    pairs = list(read_corpus(CorpusConfig(pair="[ab].{en,de}"), folder))
    assert [(pair.line, pair.source, pair.target) for pair in pairs] == [(1, b"a en", b"a de"), (1, b"b en", b"b de")]
    (folder / "t1.tsv").write_text("a\tb\n")
    (folder / "t2.tsv").write_text("c\td\ne\tf\n")
    assert [pair.line for pair in read_corpus(CorpusConfig(tsv="t*.tsv"), folder)] == [1, 1, 2]
    assert CorpusConfig(tsv=("t2.tsv", "t1.tsv")).names(folder) == ("t2.tsv", "t1.tsv")
