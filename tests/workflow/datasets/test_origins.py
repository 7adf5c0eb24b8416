"""Where the files are: by mtdata's own listing (the real one in a slow test) and sacreBLEU's own table."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sacrebleu.dataset import DATASETS as SACREBLEU_SETS
from tests.workflow.datasets.wmt_server import MTDATA, put_mtdata_in_place

from attendo.errors import AttendoError, DataError
from attendo.workflow.datasets.catalogue import DATASETS, MtdataEntry, find_dataset
from attendo.workflow.datasets.origins import locate, mtdata_entries


@pytest.fixture
def mtdata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    put_mtdata_in_place(tmp_path / "packages", monkeypatch)
    return tmp_path / "packages" / "mtdata"


def test_every_text_of_a_dataset_is_found(mtdata: Path) -> None:
    found = {text.name: text for text in locate(find_dataset("wmt14-en-fr"))}
    assert list(found) == [text.name for text in DATASETS["wmt14-en-fr"].texts]
    europarl = found["train.europarl"]
    assert europarl.archive.url == "http://www.statmt.org/wmt13/training-parallel-europarl-v7.tgz"
    # mtdata has French first; ours is the order of the translation
    assert europarl.members == ("training/europarl-v7.fr-en.en", "training/europarl-v7.fr-en.fr")
    assert europarl.archive.checksum is not None
    assert europarl.archive.checksum.digits.startswith("0224c7c710c8")
    assert found["train.un"].archive.checksum is None
    assert found["train.giga"].archive.file_name == "training-giga-fren.tar"
    test = found["newstest2014"]
    assert (test.archive.url, test.format) == ("https://statmt.org/wmt14/test-full.tgz", "sgm")
    assert test.members == ("test-full/newstest2014-fren-src.en.sgm", "test-full/newstest2014-fren-ref.fr.sgm")
    assert test.archive.checksum is not None
    assert test.archive.checksum.digits == "a8cd784e006feb32ac6f3d9ec7eb389a"  # as sacrebleu/dataset/__init__.py has it


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(DataError, match="wmt15: no dataset of this name is known; take one of wmt14-en-de, wmt14-"):
        find_dataset("wmt15")


def test_missing_mtdata_is_told_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attendo.workflow.extras.find_spec", lambda name: None)
    with pytest.raises(AttendoError, match=r'mtdata: not installed, and needed here; pip install "attendo\[data\]"'):
        locate(find_dataset("wmt14-en-de"))


def test_another_mtdata_is_told(mtdata: Path) -> None:
    with pytest.raises(DataError, match="Statmt-europarl_wmt13-8-deu-eng: mtdata's index has no such entry"):
        mtdata_entries(["Statmt-europarl_wmt13-7-deu-eng", "Statmt-europarl_wmt13-8-deu-eng"])
    (mtdata / "__main__.py").write_text("import sys; sys.exit('the index is locked')")
    with pytest.raises(DataError, match="mtdata cannot list its corpora: the index is locked"):
        mtdata_entries(["Statmt-europarl_wmt13-7-deu-eng"])
    renamed = MTDATA.replace(",training/europarl-v7.de-en.en", ",training/europarl-v7.de-en.english")
    (mtdata / "__main__.py").write_text(f"print({renamed!r})")
    with pytest.raises(DataError, match=r"-v7.de-en.de and .*-v7.de-en.english are not one file in each of en and de"):
        locate(find_dataset("wmt14-en-de"))


def test_another_sacrebleu_is_told(mtdata: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SACREBLEU_SETS["wmt13"], "langpairs", {})
    with pytest.raises(DataError, match="sacreBLEU has no test set wmt13 for en-de"):
        locate(find_dataset("wmt14-en-de"))


@pytest.mark.slow
def test_mtdata_itself_says_what_the_other_tests_have_it_say(tmp_path: Path) -> None:
    pytest.importorskip("mtdata.entry", reason="an extra")
    lines = {line.split("\t")[0]: line for line in MTDATA.splitlines()}
    ids = [
        text.origin.id
        for dataset in DATASETS.values()
        for text in dataset.texts
        if isinstance(text.origin, MtdataEntry)
    ]
    assert sorted(lines) == sorted(ids)
    for languages in ("deu-eng", "fra-eng"):
        finished = subprocess.run(
            [sys.executable, "-m", "mtdata", "list", "-l", languages, "-g", "Statmt"],
            check=True,
            capture_output=True,
            cwd=tmp_path,
            env=os.environ | {"MTDATA": str(tmp_path / "index")},
            text=True,
        )
        said = finished.stdout.splitlines()
        assert [line for id, line in lines.items() if id.endswith(languages) and line not in said] == []
