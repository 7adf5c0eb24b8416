"""A small model as a folder."""

from pathlib import Path

import pytest
import torch

from attendo.checkpoint.model_folder import ModelDescription
from attendo.checkpoint.saving import save_model
from attendo.checkpoint.weights import named_weights
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.text.subwords.learning import learn_tokenizer
from attendo.text.subwords.tokenization import Tokenizer, TokenizerConfig

SHAPE = ModelConfig(d_model=16, d_ff=24, num_layers=1, num_heads=2)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    sentences = [f"the {a} {b} sees a {c}" for a in ("old", "young") for b in ("man", "cat") for c in ("dog", "bird")]
    path = tmp_path_factory.mktemp("tokenizer") / "source.spm"
    return learn_tokenizer(sentences, TokenizerConfig(vocab_size=290), path)


@pytest.fixture
def model(tokenizer: Tokenizer) -> Transformer:
    torch.manual_seed(0)
    return Transformer(SHAPE, tokenizer.vocab_size, tokenizer.vocab_size).eval()


@pytest.fixture
def folder(tmp_path: Path, model: Transformer, tokenizer: Tokenizer) -> Path:
    path = tmp_path / "a model"
    size = tokenizer.vocab_size
    description = ModelDescription(
        source_language="en", target_language="de", src_vocab_size=size, tgt_vocab_size=size, model=SHAPE,
        search={"beam_size": 3}, training={"steps": 7},
    )  # fmt: skip
    save_model(path, description, named_weights(model), tokenizer, tokenizer, "# card\n")
    return path
