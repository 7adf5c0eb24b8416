"""The position tables of trained models: which rows count as trained, and which are held beside them."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
import torch

from attendo.checkpoint.model_folder import ModelDescription, load_model
from attendo.checkpoint.saving import save_model
from attendo.checkpoint.weights import named_weights
from attendo.model.config import ModelConfig
from attendo.model.positions import LearnedPositions, sinusoids
from attendo.model.transformer import Transformer
from attendo.paper.length_extrapolation.tables import OFFSETS, tables, trained
from attendo.text.prepared import PreparedData

CONFIG = ModelConfig(d_model=16, d_ff=16, num_layers=1, num_heads=2, positions="learned", max_positions=300)


@pytest.fixture
def prepared() -> PreparedData:
    """Short texts of 1 to 100 tokens and, all lengths, of 1 to 200; targets twice as long."""
    corpora = {
        name: Lengths(source_lengths=np.arange(1, longest + 1), target_lengths=2 * np.arange(1, longest + 1))
        for name, longest in (("short", 100), ("all", 200))
    }
    return cast(PreparedData, SimpleNamespace(corpora=corpora))


class Lengths(SimpleNamespace):
    """What `PairShards` is here."""

    def __len__(self) -> int:
        return len(self.source_lengths)


@pytest.fixture
def model(model_folders: tuple[Path, Path, Path], tmp_path: Path) -> Path:
    """A model whose first 100 learned rows are sinusoids and whose others are as they were drawn."""
    tokenizer = load_model(model_folders[0]).source_tokenizer
    torch.manual_seed(1)
    transformer = Transformer(CONFIG, tokenizer.vocab_size, tokenizer.vocab_size)
    positions = transformer.source_embedding.positions
    assert isinstance(positions, LearnedPositions)
    positions.table.data[:100] = sinusoids(100, 16, "interleaved")
    description = ModelDescription(
        src_vocab_size=tokenizer.vocab_size, tgt_vocab_size=tokenizer.vocab_size, model=CONFIG, search={}, training={}
    )
    save_model(tmp_path / "model", description, named_weights(transformer), tokenizer, tokenizer, "card")
    return tmp_path / "model"


def test_what_a_corpus_trains(prepared: PreparedData) -> None:
    found = trained(prepared, "short")
    assert (found.texts, found.longest_source, found.longest_target, found.mean_target) == (100, 100, 200, 101.0)
    assert (found.usual_source, found.usual_target) == (95, 190)


def test_trained_rows_are_told_from_those_that_were_never_trained(prepared: PreparedData, model: Path) -> None:
    found = tables({"learned-short": [model, model]}, 16, prepared)
    by_title = {fit.title: fit for fit in found.fits}
    assert set(by_title) == {
        "sinusoids",
        "sinusoids, as many rows as 'all lengths'",
        "learned, short texts, often trained rows",
        "learned, short texts, rows never trained",
    }
    assert {title: fit.rows for title, fit in by_title.items()} == dict(zip(by_title, (95, 190, 95, 95), strict=True))
    for offset in OFFSETS:
        assert by_title["sinusoids"].by_offset[offset].mean < 1e-4
        learned = by_title["learned, short texts, often trained rows"].by_offset[offset]
        assert learned.mean == pytest.approx(by_title["sinusoids"].by_offset[offset].mean, rel=0.1)
        assert learned.count == 2
        assert by_title["learned, short texts, rows never trained"].by_offset[offset].mean > 0.7
    assert found.shown == 200
    similarity = found.similarity["learned, short texts"]
    np.testing.assert_allclose(similarity[:100, :100], found.similarity["sinusoids"][:100, :100], atol=1e-6)
    assert abs(similarity[100:, :100]).mean() < 0.3
    assert found.curves["learned, short texts"] == pytest.approx(found.curves["sinusoids"], abs=1e-6)


def test_without_learned_models_there_are_sinusoids_alone(prepared: PreparedData) -> None:
    found = tables({}, 16, prepared)
    assert list(found.similarity) == list(found.curves) == ["sinusoids"]
    assert len(found.fits) == 2
