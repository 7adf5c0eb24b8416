"""What is measured at each length and position, held against torch's own functions and tables moved by hand."""

import copy
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

from attendo.checkpoint.model_folder import ModelDescription, load_model
from attendo.checkpoint.saving import save_model
from attendo.checkpoint.weights import named_weights
from attendo.decoding.config import SearchConfig
from attendo.errors import DataError
from attendo.files import write_json
from attendo.model.batch import collate
from attendo.model.config import ModelConfig
from attendo.model.positions import LearnedPositions, sinusoids
from attendo.model.transformer import Transformer
from attendo.paper.length_extrapolation.measures import MEASURES, kept_measures, measure, moved, teacher_forced

CONFIG = ModelConfig(d_model=16, d_ff=32, num_layers=2, num_heads=2)
SOURCE, TARGET = [[5, 9, 3, 0], [7, 2, 0]], [[4, 4, 8, 0], [6, 0]]


def model(config: ModelConfig = CONFIG) -> Transformer:
    torch.manual_seed(4)
    return Transformer(config, 12, 12).eval()


@pytest.mark.parametrize("first", [0, 1, 300])
def test_moved_sinusoids_are_those_of_later_positions(first: int) -> None:
    """The other way: a model of learned positions that has these very rows in its tables."""
    transformer = model()
    learned = model(replace(CONFIG, positions="learned", max_positions=8))
    weights = transformer.state_dict()
    for side in ("source_embedding", "target_embedding"):
        weights[f"{side}.positions.table"] = sinusoids(400, 16, "interleaved")[first : first + 8]
    learned.load_state_dict(weights)
    batch = collate(SOURCE, TARGET)
    with torch.no_grad():
        found, expected = moved(transformer, first, 4)(batch), learned(batch)
    torch.testing.assert_close(found, expected)
    is_equal = bool(torch.allclose(found, transformer(batch), atol=1e-4))
    assert is_equal == (first == 0)


def test_moved_learned_positions_are_later_rows_and_the_model_stays() -> None:
    transformer = model(replace(CONFIG, positions="learned", max_positions=20))
    rolled = copy.deepcopy(transformer)
    for embedding in (rolled.source_embedding, rolled.target_embedding):
        assert isinstance(embedding.positions, LearnedPositions)
        embedding.positions.table.data = embedding.positions.table.data.roll(-9, 0)
    before = copy.deepcopy(transformer.state_dict())
    batch = collate(SOURCE, TARGET)
    with torch.no_grad():
        torch.testing.assert_close(moved(transformer, 9, 4)(batch), rolled(batch))
    assert all(torch.equal(before[name], value) for name, value in transformer.state_dict().items())
    with pytest.raises(DataError, match="longer than the 20 learned positions"):
        moved(transformer, 17, 4)


def test_loss_and_accuracy_are_those_of_each_sentence_alone() -> None:
    transformer = model()
    losses, right = [], []
    for source, target in zip(SOURCE, TARGET, strict=True):
        with torch.no_grad():
            logits = transformer(collate([source], [target]))[0]
        losses += [
            float(F.cross_entropy(row[None], torch.tensor([token]))) for row, token in zip(logits, target, strict=True)
        ]
        right += [int(row.argmax()) == token for row, token in zip(logits, target, strict=True)]
    log_loss, accuracy = teacher_forced(transformer, list(zip(SOURCE, TARGET, strict=True)))
    assert log_loss == pytest.approx(sum(losses) / 6, rel=1e-5)
    assert accuracy == sum(right) / 6


@pytest.fixture
def folder(model_folders: tuple[Path, Path, Path], tmp_path: Path) -> Path:
    """A model of learned positions with a real vocabulary and random weights."""
    tokenizer = load_model(model_folders[0]).source_tokenizer
    size = tokenizer.vocab_size
    torch.manual_seed(2)
    config = replace(CONFIG, positions="learned", max_positions=200)
    description = ModelDescription(src_vocab_size=size, tgt_vocab_size=size, model=config, search={}, training={})
    weights = named_weights(Transformer(config, size, size))
    save_model(tmp_path / "model", description, weights, tokenizer, tokenizer, "card")
    return tmp_path / "model"


PAIRS = [("one red dog sees us.", "su sees god der eno."), ("two old men hear them.", "meht raeh nem dlo owt.")] * 2


def test_lengths_positions_and_what_is_kept(folder: Path, tmp_path: Path) -> None:
    search = SearchConfig(beam_size=1, max_len_offset=0)
    found = measure(folder, PAIRS, (1, 2, 4), (0, 10, 190), search, lambda: False, threads=1)
    assert found is not None
    assert [(one.sentences, one.texts) for one in found.lengths] == [(1, 4), (2, 2), (4, 1)]
    single, double, whole = found.lengths
    # A text of four sentences has three ends of text less than four texts, and as many spaces more at least.
    assert whole.source_tokens > 3.5 * (single.source_tokens - 1)
    assert single.longest < double.longest < whole.longest
    assert whole.longest >= max(whole.source_tokens, whole.target_tokens)
    assert [one.first for one in found.shifts] == [0, 10]  # no learned row is at 190 and the rest of a sentence
    assert found.shifts[0].log_loss == pytest.approx(single.log_loss)
    assert found.shifts[1].log_loss != pytest.approx(single.log_loss, abs=1e-4)
    assert "tok:13a" in found.bleu_signature
    assert kept_measures(tmp_path) is None
    write_json(tmp_path / MEASURES, asdict(found))
    assert kept_measures(tmp_path) == found


def test_it_stops_between_tests(folder: Path) -> None:
    asked: list[int] = []

    def should_stop() -> bool:
        asked.append(1)
        return len(asked) == 2

    assert measure(folder, PAIRS, (1, 2), (0,), SearchConfig(beam_size=1), should_stop, threads=1) is None
    assert len(asked) == 2
