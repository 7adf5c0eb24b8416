"""The package as Argos Translate 1.11 reads it: one folder with a CTranslate2 model and a SentencePiece file."""

import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from attendo.checkpoint.model_folder import LoadedModel, load_model
from attendo.errors import ModelError
from attendo.interop.argos import unpack, write_package
from attendo.text.subwords.tokenization import Tokenizer

ctranslate2 = pytest.importorskip("ctranslate2")


@pytest.fixture
def loaded(model_folder: Path) -> LoadedModel:
    return load_model(model_folder)


def test_the_package_is_what_argos_reads(loaded: LoadedModel, tmp_path: Path) -> None:
    path = write_package(loaded, tmp_path, "# Card\n", quantization="int8")
    assert [file.name for file in tmp_path.iterdir()] == ["translate-en_de-1_0.argosmodel"]
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
    top = "translate-en_de-1_0"
    files = ("metadata.json", "sentencepiece.model", "README.md", "model/model.bin", "model/config.json")
    assert {f"{top}/{name}" for name in (*files, "model/shared_vocabulary.json")} <= names
    folder = unpack(path, tmp_path / "installed")
    assert folder == tmp_path / "installed" / top
    metadata = json.loads((folder / "metadata.json").read_text(encoding="utf-8"))
    expected = {
        "from_code": "en",
        "from_name": "English",
        "to_code": "de",
        "to_name": "German",
        "package_version": "1.0",
    }
    assert expected.items() <= metadata.items()
    assert Tokenizer.load(folder / "sentencepiece.model").serialized == loaded.source_tokenizer.serialized
    translator = ctranslate2.Translator(str(folder / "model"), device="cpu")
    pieces = loaded.source_tokenizer.pieces(loaded.source_tokenizer.encode("one red dogs see us.")[:-1])
    (result,) = translator.translate_batch([pieces], replace_unknowns=True, max_decoding_length=5)  # as Argos calls it
    assert result.hypotheses[0]


def test_what_a_package_cannot_hold_is_refused(loaded: LoadedModel, tmp_path: Path) -> None:
    apart = replace(
        loaded,
        target_tokenizer=Tokenizer(loaded.source_tokenizer.serialized),
        description=replace(loaded.description, source_language=""),
    )
    with pytest.raises(
        ModelError, match=r"has a vocabulary for each language.*; its config\.json has no source_language"
    ):
        write_package(apart, tmp_path, "")
    assert not any(tmp_path.iterdir())


def test_what_is_no_package_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "x.argosmodel"
    path.write_text("no zip")
    with pytest.raises(ModelError, match="is not a zip"):
        unpack(path, tmp_path / "folder")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a/x", "")
        archive.writestr("b/x", "")
    with pytest.raises(ModelError, match=r"has no single folder with metadata\.json"):
        unpack(path, tmp_path / "folder")
