"""Whole datasets from a local server: what is left behind, what is done again, what is refused."""

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.workflow.datasets.wmt_server import (
    COMMON_CRAWL,
    EUROPARL,
    GIGA,
    NEWS_COMMENTARY,
    NEWSTEST2014,
    UN,
    FileServer,
    as_lines,
    put_mtdata_in_place,
    sentences,
    served,
    write_archive,
    write_wmt14,
)

from attendo.errors import DataError
from attendo.files import locked
from attendo.workflow.datasets.catalogue import find_dataset
from attendo.workflow.datasets.download import Progress
from attendo.workflow.datasets.get import UnpackedText, get, plan
from attendo.workflow.datasets.origins import locate


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    monkeypatch.setattr("attendo.workflow.datasets.download._WAITS_S", ())
    put_mtdata_in_place(tmp_path / "packages", monkeypatch)
    write_wmt14(tmp_path / "site", monkeypatch)
    with served(tmp_path / "site") as server:
        yield server


def got(name: str, folder: Path, files: FileServer, told: list[Progress] | None = None) -> tuple[UnpackedText, ...]:
    dataset = find_dataset(name)
    progress: list[Progress] = [] if told is None else told
    return get(dataset, locate(dataset), folder, mirror=files.url, progress=progress.append)


@pytest.mark.parametrize(
    ("name", "language", "corpora"),
    [
        ("wmt14-en-de", "de", {"europarl": "parliament", "common-crawl": "the web", "news-commentary": "opinion"}),
        (
            "wmt14-en-fr",
            "fr",
            {
                "europarl": "parliament",
                "common-crawl": "the web",
                "un": "nations",
                "news-commentary": "opinion",
                "giga": "ten to the nine",
            },
        ),
    ],
)
def test_a_dataset_is_fetched_unpacked_and_accounted_for(
    files: FileServer, tmp_path: Path, name: str, language: str, corpora: dict[str, str]
) -> None:
    folder = tmp_path / name
    texts = got(name, folder, files)
    for corpus, kind in corpora.items():
        for side in ("en", language):
            assert (folder / f"train.{corpus}.{side}").read_bytes() == as_lines(sentences(kind, 60, side))
    for test in ("newstest2013", "newstest2014"):
        for side in ("en", language):
            assert (folder / f"{test}.{side}").read_bytes() == as_lines(sentences("news", 6, side))
    assert [(text.name, text.source.lines, text.target.lines) for text in texts] == [
        *((f"train.{corpus}", 60, 60) for corpus in corpora),
        ("newstest2013", 6, 6),
        ("newstest2014", 6, 6),
    ]
    manifest = json.loads((folder / "dataset.json").read_text(encoding="utf-8"))
    assert manifest["name"] == name
    europarl = manifest["texts"][0]
    assert europarl["url"] == f"http://{EUROPARL}"
    assert europarl["source"]["sha256"] == hashlib.sha256((folder / "train.europarl.en").read_bytes()).hexdigest()
    assert europarl["archive_sha256"] == hashlib.sha256((files.folder / EUROPARL).read_bytes()).hexdigest()
    attribution = (folder / "ATTRIBUTION.md").read_text(encoding="utf-8")
    for corpus in corpora:
        assert f"## train.{corpus}: " in attribution
    assert attribution.count("- Terms: ") == attribution.count("- Cite: ") == len(texts)
    # coreutils read the checksums of first downloads
    checked = subprocess.run(
        ["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=folder / "archives", check=True, capture_output=True
    )
    assert checked.stdout.count(b": OK") == len(texts)
    assert not [path for path in folder.rglob("*") if ".part" in path.name or path.name.startswith(".tmp")]


def test_a_complete_dataset_is_only_verified(files: FileServer, tmp_path: Path) -> None:
    first = got("wmt14-en-de", tmp_path / "de", files)
    shutil.rmtree(tmp_path / "de" / "archives")
    files.requests.clear()
    told: list[Progress] = []
    assert got("wmt14-en-de", tmp_path / "de", files, told) == first
    assert files.requests == []
    assert {progress.stage.split()[0] for progress in told} == {"verifying"}


def test_what_has_changed_is_made_anew_from_the_archive(files: FileServer, tmp_path: Path) -> None:
    folder = tmp_path / "de"
    first = got("wmt14-en-de", folder, files)
    (folder / "train.europarl.de").write_text("verändert\n", encoding="utf-8")
    (folder / "newstest2014.en").unlink()
    files.requests.clear()
    assert got("wmt14-en-de", folder, files) == first
    assert files.requests == []
    assert (folder / "train.europarl.de").read_bytes() == as_lines(sentences("parliament", 60, "de"))


def test_an_interrupted_job_does_only_what_is_left(files: FileServer, tmp_path: Path) -> None:
    folder = tmp_path / "de"
    (files.folder / NEWS_COMMENTARY).rename(files.folder / "away")
    with pytest.raises(DataError, match=r"training-parallel-nc-v9.tgz: cannot be fetched \(HTTP 404"):
        got("wmt14-en-de", folder, files)
    assert not (folder / "train.news-commentary.en").exists()
    (files.folder / "away").rename(files.folder / NEWS_COMMENTARY)
    files.requests.clear()
    assert len(got("wmt14-en-de", folder, files)) == 5
    asked = [path for path, _ in files.requests]
    assert EUROPARL not in asked
    assert COMMON_CRAWL not in asked


def test_an_archive_that_is_there_is_used_and_a_wrong_one_is_not(files: FileServer, tmp_path: Path) -> None:
    archives = tmp_path / "fr" / "archives"
    archives.mkdir(parents=True)
    shutil.copy(files.folder / EUROPARL, archives)
    (archives / Path(COMMON_CRAWL).name).write_bytes(b"half of it")
    got("wmt14-en-fr", tmp_path / "fr", files)
    asked = [path for path, _ in files.requests]
    assert EUROPARL not in asked
    assert asked.count(COMMON_CRAWL) == 1


@pytest.mark.parametrize("archive", [EUROPARL, NEWSTEST2014])
def test_an_archive_other_than_the_published_one_is_refused(files: FileServer, tmp_path: Path, archive: str) -> None:
    write_archive(files.folder / archive, {"x": b"y"})
    with pytest.raises(DataError, match=rf"{Path(archive).name}: the file has (sha256|md5) \w+, not \w+, as "):
        got("wmt14-en-de", tmp_path / "de", files)
    assert not (tmp_path / "de" / "archives" / Path(archive).name).exists()


@pytest.mark.parametrize("archive", [UN, GIGA])
def test_an_archive_other_than_that_of_the_first_download_is_refused(
    files: FileServer, tmp_path: Path, archive: str
) -> None:
    folder = tmp_path / "fr"
    got("wmt14-en-fr", folder, files)
    (folder / "archives" / Path(archive).name).unlink()
    (folder / ("train.un.fr" if archive == UN else "train.giga.fr")).unlink()
    write_archive(files.folder / archive, {"x": b"y"})
    with pytest.raises(DataError, match=r"which it had at its first download; .* take its line out of SHA256SUMS"):
        got("wmt14-en-fr", folder, files)


def test_a_folder_holds_one_dataset(files: FileServer, tmp_path: Path) -> None:
    got("wmt14-en-de", tmp_path / "x", files)
    with pytest.raises(DataError, match="x: holds wmt14-en-de; give wmt14-en-fr a folder of its own with -o"):
        got("wmt14-en-fr", tmp_path / "x", files)


@pytest.mark.parametrize("content", ["{", "[]", '{"name": "wmt14-en-de", "texts": [{"name": "x"}]}'])
def test_a_torn_manifest_is_told(files: FileServer, tmp_path: Path, content: str) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "dataset.json").write_text(content)
    with pytest.raises(DataError, match=r"dataset.json: cannot be read .* remove it"):
        got("wmt14-en-de", tmp_path / "x", files)


def test_two_at_once_are_not_let_into_one_folder(files: FileServer, tmp_path: Path) -> None:
    folder = tmp_path / "x"
    folder.mkdir()
    with (
        locked(folder / ".lock"),
        pytest.raises(DataError, match=rf"x: is in use by process {os.getpid()} .*, which is fetching into it; wait"),
    ):
        got("wmt14-en-de", folder, files)
    assert files.requests == []
    for leftover in (folder / ".tmp-4194305-train.europarl.en", folder / "archives" / ".tmp-4194305-SHA256SUMS"):
        leftover.parent.mkdir(exist_ok=True)
        leftover.write_bytes(b"half of i")
    got("wmt14-en-de", folder, files)
    assert not list(folder.rglob(".tmp*"))


def test_a_plan_says_what_would_be_done_and_does_nothing(files: FileServer, tmp_path: Path) -> None:
    folder = tmp_path / "fr"
    texts = locate(find_dataset("wmt14-en-fr"))
    planned = {text.located.name: text for text in plan(texts, folder, files.url)}
    assert planned["train.un"].url == f"{files.url}/{UN}"
    assert planned["train.un"].checksum is None
    assert planned["train.europarl"].checksum is not None
    assert not any(text.unpacked or text.archive_there for text in planned.values())
    assert files.requests == []
    assert not folder.exists()
    got("wmt14-en-fr", folder, files)
    (folder / "train.giga.en").unlink()
    planned = {text.located.name: text for text in plan(texts, folder)}
    assert (planned["train.un"].unpacked, planned["train.giga"].unpacked) == (True, False)
    assert planned["train.giga"].archive_there
    recorded = planned["train.un"].checksum
    assert recorded is not None
    assert recorded.digits == hashlib.sha256((files.folder / UN).read_bytes()).hexdigest()
    other = replace(texts[0], name="train.other")
    assert not plan((other,), folder)[0].unpacked
