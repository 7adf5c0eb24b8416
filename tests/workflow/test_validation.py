"""Validation against the same figures worked out another way."""

from pathlib import Path
from typing import Any

import pytest
import sacrebleu
import torch
from torch.nn import functional as F

from attendo.checkpoint.weights import named_weights
from attendo.decoding.config import GuardConfig, SearchConfig
from attendo.decoding.engine import Translator
from attendo.decoding.models import decoding_model
from attendo.model.batch import collate
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.text.corpora import CorpusConfig, DataConfig
from attendo.text.tokenization import TokenizerConfig
from attendo.training.config import TrainingConfig
from attendo.workflow.prepare import prepare
from attendo.workflow.validation import Validator


def test_perplexity_and_bleu_of_the_weights_given(corpus: Any, tmp_path: Path) -> None:
    data = DataConfig(
        folder=str(corpus.source.parent),
        corpora=(CorpusConfig(name="mine", source="source.txt", target="target.txt"),),
        valid=CorpusConfig(name="valid", source="source.txt", target="target.txt"),
    )
    tokenizer = TokenizerConfig(vocab_size=300)
    prepared = prepare(data, tokenizer, tmp_path / "ready", base_folder=tmp_path, seed=1)
    assert prepared.valid is not None
    shape, size = ModelConfig(d_model=16, d_ff=16, num_layers=1, num_heads=2), prepared.source_tokenizer.vocab_size
    torch.manual_seed(5)
    wanted, other = Transformer(shape, size, size).eval(), Transformer(shape, size, size)
    search = SearchConfig(beam_size=2, max_len_offset=3, guards=GuardConfig.off())
    validator = Validator(other, prepared, TrainingConfig(), search)
    found = validator(named_weights(wanted), lambda: False)
    assert found is not None

    nats = tokens = 0.0
    with torch.no_grad():
        for i in range(len(prepared.valid)):
            batch = collate([prepared.valid.source(i)], [prepared.valid.target(i)])
            nats += F.cross_entropy(wanted(batch)[0], batch.tgt_ids[0], reduction="sum").item()
            tokens += batch.num_tokens
    assert found.log_loss == pytest.approx(nats / tokens, rel=1e-5)
    engine = Translator([decoding_model(wanted)], prepared.source_tokenizer, prepared.target_tokenizer, search)
    outputs = [translation.text for translation in engine.translate([source for source, _ in corpus.pairs])]
    assert found.bleu == sacrebleu.corpus_bleu(outputs, [[target for _, target in corpus.pairs]]).score
    assert "tok:13a" in found.bleu_signature

    without = Validator(other, prepared, TrainingConfig(eval_bleu=False), search)(named_weights(wanted), lambda: False)
    assert without is not None
    assert without.bleu is None
    assert without.score == -without.log_loss

    asked = iter([False, True])  # one batch holds all pairs, so that the second time is between perplexity and BLEU
    assert validator(named_weights(wanted), lambda: next(asked)) is None, "it stops where it is asked to"
    assert list(asked) == []
    assert validator(named_weights(wanted), lambda: True) is None
