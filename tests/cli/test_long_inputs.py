"""The recipe `long-input` from beginning to end: documents as lines, on a model of a few thousand weights."""

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Command
from tests.conftest import Corpus

from attendo.checkpoint.model_folder import load_model

SETTINGS = [
    "training.max_steps=2", "training.warmup_steps=1", "training.cooldown_steps=1", "training.checkpoint_steps=1",
    "training.average_last=1", "training.eval_bleu=false", "model.window=8", "search.max_len_offset=0",
]  # fmt: skip


def documents(corpus: Corpus, folder: Path, lines: int) -> None:
    """Every so many lines as one."""
    folder.mkdir()
    for name, path in (("en", corpus.source), ("de", corpus.target)):
        text = path.read_text(encoding="utf-8").splitlines()
        joined = [" ".join(text[first : first + lines]) for first in range(0, len(text), lines)]
        for part, kept in (("train", joined), ("valid", joined[-1:])):
            (folder / f"{part}.{name}").write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")


def test_a_document_is_trained_on_and_translated_as_a_whole(
    attendo: Command, corpus: Corpus, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    documents(corpus, tmp_path / "documents", 108)
    settings = [part for setting in (f"training.init_from={model_folder}", *SETTINGS) for part in ("--set", setting)]
    trained = attendo("train", "long-input", "-o", "run", *settings)
    assert trained.status == 0, trained.err
    model = load_model(tmp_path / "run" / "model")
    config = model.transformer.config
    assert (config.encoder_layer, config.decoder_layer) == ("restricted-self-attention", "restricted-self-attention")
    assert config.window == 8
    text = attendo("info", "run/model").out
    assert "encoder_layer restricted-self-attention, decoder_layer restricted-self-attention" in text
    assert "max_source_tokens 20000, guards.sentences False" in text

    [line] = (tmp_path / "documents" / "valid.en").read_text(encoding="utf-8").splitlines()
    assert len(model.source_tokenizer.encode(line)) > 1024, "longer than a line may be where nothing is said"
    found = attendo("translate", "run", "documents/valid.en", "--json", "--beam-size", "1")
    assert found.status == 0, found.err
    translation = json.loads(found.out)
    assert translation["source_truncated"] is False
    assert "sentences" not in translation["guards"]
    assert translation["read"] == line
