"""Which files a treebank's path means, in a folder made like the Penn Treebank's."""

from pathlib import Path

import pytest

from attendo.errors import DataError
from attendo.text.corpora import CorpusConfig, DataConfig
from attendo.text.files.file_patterns import matching_files
from attendo.text.text_check import check_files


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    """mrg/wsj/00 to 24 with two files each, and what else lies about in such folders."""
    for section in range(25):
        folder = tmp_path / "mrg" / "wsj" / f"{section:02d}"
        folder.mkdir(parents=True)
        for number in (1, 2):
            (folder / f"wsj_{section:02d}{number:02d}.mrg").write_text(f"( (S (NN s{section}) (NN n{number})) )\n")
        (folder / "README").write_text("no trees\n")
        (folder / ".wsj.mrg").write_text("no trees\n")
    (tmp_path / "mrg" / "wsj" / "MERGE.LOG").write_text("no trees\n")
    return tmp_path / "mrg"


def names(pattern: str, folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in matching_files(pattern, folder)]


def test_sections_by_range(treebank: Path) -> None:
    found = names("wsj/{02..21}", treebank)
    assert len(found) == 2 * 20
    assert found[:3] == ["wsj/02/wsj_0201.mrg", "wsj/02/wsj_0202.mrg", "wsj/03/wsj_0301.mrg"]
    assert found[-1] == "wsj/21/wsj_2102.mrg"
    assert found == names(f"{treebank}/wsj/{{02..21}}", treebank), "an absolute one too"


def test_folders_files_lists_and_stars(treebank: Path) -> None:
    assert len(names("wsj", treebank)) == 50
    assert names("wsj/22", treebank) == ["wsj/22/wsj_2201.mrg", "wsj/22/wsj_2202.mrg"]
    assert names("wsj/22/wsj_2201.mrg", treebank) == ["wsj/22/wsj_2201.mrg"]
    assert names("wsj/22/README", treebank) == ["wsj/22/README"], "a file that is named is taken, whatever it is called"
    assert names("wsj/{22,00}/*1.mrg", treebank) == ["wsj/22/wsj_2201.mrg", "wsj/00/wsj_0001.mrg"]
    assert names("wsj/{8..11}/*1.mrg", treebank)[-2:] == ["wsj/10/wsj_1001.mrg", "wsj/11/wsj_1101.mrg"]
    assert len(names("wsj/0?/wsj_*.mrg", treebank)) == 20
    assert names("wsj/{23,00..01}/*2.mrg", treebank) == [f"wsj/{n}/wsj_{n}02.mrg" for n in ("23", "00", "01")]
    assert matching_files("wsj/{00.01}", treebank) == (treebank / "wsj/{00.01}",), "no braces of ours"
    assert names("wsj/{00,0?}/*1.mrg", treebank).count("wsj/00/wsj_0001.mrg") == 1, "each file once"


def test_compressed_files_and_names_with_marks(tmp_path: Path) -> None:
    odd = tmp_path / "my [old] {1..2}"
    (odd / "trees").mkdir(parents=True)
    for name in ("a.PTB", "b.trees.gz", "c.parse.xz", "d.txt"):
        (odd / "trees" / name).write_text("(NN a)\n")
    assert names("trees", odd) == ["trees/a.PTB", "trees/b.trees.gz", "trees/c.parse.xz"]
    assert names("my [old] {1..2}", tmp_path) == [f"my [old] {{1..2}}/{name}" for name in names("trees", odd)]
    assert names("*/b.*", odd) == ["trees/b.trees.gz"]


def test_what_is_not_there_is_told_all_at_once(treebank: Path) -> None:
    corpora = (
        CorpusConfig(name="wsj", trees="wsj/{23..26}"),
        CorpusConfig(name="brown", trees="brown"),
        CorpusConfig(name="stars", trees="wsj/*/*.xml"),
    )
    with pytest.raises(DataError) as caught:
        check_files(DataConfig(corpora=corpora), treebank)
    told = str(caught.value)
    assert told.startswith("4 of the files")
    for name in ("wsj/25", "wsj/26", "brown", "wsj/*/*.xml"):
        assert f"{treebank / name}: there is no such file" in told
    (treebank / "brown").mkdir()
    with pytest.raises(DataError, match="brown: is a folder"):
        check_files(DataConfig(corpora=corpora[1:2]), treebank)


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("wsj/{21..02}", "is no range"),
        ("{0..9999}", "is no range"),
        ("{0..9}{0..9}", "more than 50 files"),
        ("wsj/**2/*", "is no pattern"),
    ],
)
def test_patterns_that_cannot_be_meant(
    pattern: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attendo.text.files.file_patterns.MAX_FILES", 50)
    with pytest.raises(DataError, match=told):
        matching_files(pattern, tmp_path)
