"""Hugging Face's tokenizer on a folder of ours: the same ids and the same text, but for what is documented."""

from pathlib import Path

import pytest

from attendo.checkpoint.model_folder import LoadedModel, load_model
from attendo.errors import ModelError
from attendo.interop.huggingface import write_folder, write_settings
from attendo.interop.huggingface_runtime import text_differences

transformers = pytest.importorskip("transformers")

LINES = [
    "one red dogs see us.",
    "  two  spaces ",
    "tab\there",
    "“ß” – 日本語 😀",
    "<0x41>",
    "don 't , he said",
    "a\u200bb",
]
SYMBOLS = ["</s> typed", "<pad>", "a \u2581 b", ">>de<< one"]


@pytest.fixture
def loaded(model_folder: Path) -> LoadedModel:
    return load_model(model_folder)


@pytest.fixture
def folder(loaded: LoadedModel, tmp_path: Path) -> Path:
    write_folder(loaded, tmp_path)
    return tmp_path


def test_ids_and_texts_are_ours(loaded: LoadedModel, folder: Path) -> None:
    written = [ids[:-1] for ids in loaded.target_tokenizer.encode_batch([line.strip() for line in LINES])]
    assert not text_differences(folder, loaded, LINES, written)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    for line in LINES:
        ids = tokenizer(line)["input_ids"]
        assert ids == loaded.source_tokenizer.encode(line)
        assert tokenizer.decode(ids, skip_special_tokens=True) == line.strip()


def test_control_symbols_are_let_pass(loaded: LoadedModel, folder: Path) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    assert all(tokenizer(line)["input_ids"] != loaded.source_tokenizer.encode(line) for line in SYMBOLS)
    assert not text_differences(folder, loaded, SYMBOLS, [])


def test_differences_are_found(loaded: LoadedModel, model_folders: tuple[Path, Path, Path], folder: Path) -> None:
    other = load_model(model_folders[2])  # of another vocabulary
    found = text_differences(folder, other, LINES[:1], [other.target_tokenizer.encode("see ees red")[:-1]])
    assert found[0] == LINES[0]
    assert len(found) == 2


def test_a_piece_called_like_the_padding_is_refused(
    loaded: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attendo.interop.huggingface.PAD", "see"[:1])
    with pytest.raises(ModelError, match="the vocabulary has a piece s, which is what Hugging Face's Marian calls"):
        write_settings(loaded, tmp_path)
