import dataclasses
import json
import os
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from attendo.errors import DataError, ModelError
from attendo.text.corpora import CorpusConfig, DataConfig
from attendo.text.prepared import Vocabulary, fingerprint, is_prepared, open_prepared, other_content
from attendo.text.subwords.tokenization import TokenizerConfig
from attendo.workflow.preparation.prepare import prepare

DATA = DataConfig(
    source_language="en",
    target_language="de",
    corpora=(CorpusConfig(name="a", tsv="a.tsv"),),
    valid=CorpusConfig(tsv="v.tsv"),
)
VOCABULARY = TokenizerConfig(vocab_size=300)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    rng = random.Random(1)
    lines = [" ".join(rng.choices(["kalo", "minu", "resota"], k=4)) + f" {number}" for number in range(200)]
    (folder / "a.tsv").write_text("".join(f"{line}\t{line[::-1]}\n" for line in lines[:190]))
    (folder / "v.tsv").write_text("".join(f"{line}\t{line[::-1]}\n" for line in lines[190:]))
    prepare(DATA, VOCABULARY, folder / "prepared", base_folder=folder)
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "copy")
    return tmp_path / "copy"


def test_a_prepared_folder_is_opened_as_it_was_written(folder: Path) -> None:
    prepared = open_prepared(folder / "prepared", verify=True)
    assert (prepared.source_language, prepared.target_language) == ("en", "de")
    assert prepared.target_tokenizer is prepared.source_tokenizer
    assert prepared.report.source_vocab_size == prepared.source_tokenizer.vocab_size == 300
    assert (list(prepared.corpora), len(prepared.corpora["a"]), len(prepared.valid_source)) == (["a"], 190, 10)


def test_it_is_prepared_for_the_same_settings_only(folder: Path) -> None:
    def holds(data: DataConfig = DATA, tokenizer: TokenizerConfig = VOCABULARY) -> bool:
        return is_prepared(folder / "prepared", fingerprint(data, tokenizer), folder)

    assert holds()
    assert holds(tokenizer=dataclasses.replace(VOCABULARY, bpe_dropout=0.1))  # which training alone reads
    assert not holds(tokenizer=dataclasses.replace(VOCABULARY, seed=2))
    assert not holds(tokenizer=dataclasses.replace(VOCABULARY, vocab_size=301))
    assert not holds(data=dataclasses.replace(DATA, valid=None))
    assert not is_prepared(folder / "none", fingerprint(DATA, VOCABULARY), folder)


def test_it_is_not_prepared_when_a_corpus_has_changed(folder: Path) -> None:
    expected = fingerprint(DATA, VOCABULARY)
    content = (folder / "a.tsv").read_bytes()
    os.utime(folder / "a.tsv", (1, 1))
    assert is_prepared(folder / "prepared", expected, folder)  # touched only
    (folder / "a.tsv").write_bytes(content.replace(b"kalo", b"kali"))
    assert not is_prepared(folder / "prepared", expected, folder)
    (folder / "a.tsv").write_bytes(content + b"x\ty\n")
    assert not is_prepared(folder / "prepared", expected, folder)
    (folder / "a.tsv").unlink()
    assert is_prepared(folder / "prepared", expected, folder)


def test_what_a_folder_was_prepared_from_instead_is_said(folder: Path) -> None:
    expected, prepared = fingerprint(DATA, VOCABULARY), folder / "prepared"
    assert other_content(prepared, expected, folder) is None
    assert other_content(folder / "none", expected, folder) is None
    assert (
        other_content(prepared, fingerprint(DATA, dataclasses.replace(VOCABULARY, vocab_size=301)), folder)
        == "other corpora or settings"
    )
    for name in ("a.tsv", "v.tsv"):
        (folder / name).write_text("x\ty\n")
    assert (
        other_content(prepared, expected, folder)
        == f"another {folder / 'a.tsv'} and another {folder / 'v.tsv'} than there is now"
    )
    (prepared / "source.spm").unlink()  # nobody can use it: what it was made from is no matter
    assert other_content(prepared, expected, folder) is None


def test_every_missing_and_torn_file_is_named_at_once(folder: Path) -> None:
    prepared = folder / "prepared"
    (prepared / "source.spm").unlink()
    path = prepared / "shards" / "a-00000.source_ids.npy"
    path.write_bytes(path.read_bytes()[:-2])
    with pytest.raises(
        DataError, match=r"a-00000\.source_ids\.npy has \d+ bytes.*, source\.spm is missing; make it anew with"
    ):
        open_prepared(prepared)
    assert not is_prepared(prepared, fingerprint(DATA, VOCABULARY), folder)
    for path in (prepared / "shards").iterdir():
        path.unlink()
    with pytest.raises(DataError, match=r"is missing, .* and \d+ more; make it anew"):
        open_prepared(prepared)


def test_a_flipped_bit_is_found_on_request(folder: Path) -> None:
    path = folder / "prepared" / "shards" / "a-00000.source_ids.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    open_prepared(folder / "prepared")
    with pytest.raises(DataError, match=r"a-00000\.source_ids\.npy has another SHA-256"):
        open_prepared(folder / "prepared", verify=True)
    expected = fingerprint(DATA, VOCABULARY)
    assert is_prepared(folder / "prepared", expected, folder)
    assert not is_prepared(folder / "prepared", expected, folder, verify=True)


def test_a_folder_without_a_manifest_is_none(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"this is no prepared folder, or not a whole one: it has no manifest\.json"):
        open_prepared(tmp_path)


@pytest.mark.parametrize("content", ["", "{}", "[1]", "{", "\ufffd", "[" * 100_000, '{"files": 1}'])
def test_a_torn_manifest_is_named_and_no_folder_to_be_kept(folder: Path, content: str) -> None:
    (folder / "prepared" / "manifest.json").write_text(content)
    with pytest.raises(DataError, match=r"manifest\.json: is torn or not a manifest"):
        open_prepared(folder / "prepared")
    assert not is_prepared(folder / "prepared", fingerprint(DATA, VOCABULARY), folder)
    assert other_content(folder / "prepared", fingerprint(DATA, VOCABULARY), folder) is None


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"files": {"../a.tsv": {"bytes": 1, "sha256": "0"}}}, r"'\.\./a\.tsv' is no name of a file in it"),
        ({"files": {"/etc/hostname": {"bytes": 1, "sha256": "0"}}}, r"'/etc/hostname' is no name of a file in it"),
        ({"files": {"a": {"bytes": "1", "sha256": "0"}}}, r"files\.a\.bytes: Input should be a valid integer"),
        ({"files": {"a": {"bytes": 1}}}, r"files\.a\.sha256: Field required"),
        ({"joint": "yes"}, r"joint: Input should be a valid boolean"),
    ],
)
def test_what_a_stranger_wrote_into_a_manifest_is_refused(folder: Path, changes: dict[str, Any], problem: str) -> None:
    path = folder / "prepared" / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    with pytest.raises(DataError, match=rf"manifest\.json: is torn or not a manifest \({problem}\)"):
        open_prepared(folder / "prepared")


def with_report(folder: Path, report: dict[str, Any]) -> Path:
    """The prepared folder with another report that its manifest agrees with."""
    path, manifest = folder / "prepared" / "report.json", folder / "prepared" / "manifest.json"
    path.write_text(json.dumps(report))
    content = json.loads(manifest.read_text())
    content["files"]["report.json"]["bytes"] = path.stat().st_size
    manifest.write_text(json.dumps(content))
    return folder / "prepared"


def test_what_a_stranger_wrote_into_a_report_is_refused(folder: Path) -> None:
    report = json.loads((folder / "prepared" / "report.json").read_text())
    (corpus,) = report["corpora"]
    for changed, problem in (
        ({**report, "corpora": [{**corpus, "name": "../../a"}]}, r"'\.\./\.\./a' is no name of a file in it"),
        ({**report, "corpora": [{**corpus, "kept": "many"}]}, r"corpora\.0\.kept: Input should be a valid integer"),
        ({**report, "valid": []}, r"valid: "),
        ({}, r"corpora: Field required"),
        ({**report, "corpora": [{**corpus, "tags": [1] * 60_000}]}, r"it has more values than attendo writes"),
        ({**report, "corpora": [{**corpus, "name": "x" * 300_000}]}, r"'x{80}' is no name of a file in it\)"),
    ):
        with pytest.raises(DataError, match=rf"prepared: is not as `attendo prepare` wrote it \({problem}"):
            open_prepared(with_report(folder, changed))


def test_a_validation_set_has_a_line_for_each_pair(folder: Path) -> None:
    prepared = folder / "prepared"
    path, manifest = prepared / "valid.target.txt", prepared / "manifest.json"
    path.write_bytes(path.read_bytes() + b"one more\n")
    content = json.loads(manifest.read_text())
    content["files"]["valid.target.txt"]["bytes"] = path.stat().st_size
    manifest.write_text(json.dumps(content))
    with pytest.raises(DataError, match=r"the validation set's shards and its two texts differ"):
        open_prepared(prepared)


def test_a_later_format_is_refused(folder: Path) -> None:
    path = folder / "prepared" / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format_version": 2}))
    with pytest.raises(DataError, match="has format_version 2, expected 1"):
        open_prepared(folder / "prepared")


def test_the_mix_is_training_s_alone(folder: Path) -> None:
    def named(**keys: Any) -> DataConfig:
        other = CorpusConfig(name="b", tsv="b.tsv", **keys)
        return dataclasses.replace(DATA, corpora=(*DATA.corpora, other))

    expected = fingerprint(named(), VOCABULARY)
    assert fingerprint(named(weight=3.0), VOCABULARY) == expected
    assert fingerprint(named(share=0.5), VOCABULARY) == expected
    assert fingerprint(named(source_tag="<b>"), VOCABULARY) != expected
    assert fingerprint(named(tags=("x",)), VOCABULARY) != expected


def test_a_models_vocabulary_counts_in_place_of_the_tokenizer_s_settings(folder: Path, tmp_path: Path) -> None:
    vocabulary = Vocabulary.of_model(folder / "prepared")
    assert vocabulary.joint
    expected = fingerprint(DATA, VOCABULARY, vocabulary)
    assert expected != fingerprint(DATA, VOCABULARY)
    assert fingerprint(DATA, TokenizerConfig(vocab_size=999), vocabulary) == expected
    assert fingerprint(DATA, VOCABULARY, dataclasses.replace(vocabulary, origin="elsewhere")) == expected
    (tmp_path / "other").mkdir()
    content = (folder / "prepared" / "source.spm").read_bytes()
    for name in ("source.spm", "target.spm"):
        (tmp_path / "other" / name).write_bytes(content)
    assert not Vocabulary.of_model(tmp_path / "other").joint
    (tmp_path / "other" / "target.spm").write_bytes(b"torn")
    with pytest.raises(ModelError, match=r"target\.spm: this is not a SentencePiece model"):
        Vocabulary.of_model(tmp_path / "other")


def test_a_report_of_before_is_read(folder: Path) -> None:
    # attendo wrote a corpus's weight into the report once.
    report = json.loads((folder / "prepared" / "report.json").read_text())
    del report["vocabulary_from"]
    weighted = {**report, "corpora": [{**entry, "weight": 2.0} for entry in report["corpora"]]}
    assert open_prepared(with_report(folder, weighted)).report.corpora[0].kept == 190
