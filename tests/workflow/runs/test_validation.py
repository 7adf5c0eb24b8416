"""Validation against the same figures worked out another way."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sacrebleu
import torch
from tests.tiny_parser import PUNCTUATION, brackets, random_parser, trees
from torch.nn import functional as F

from attendo.checkpoint.model_folder import load_model
from attendo.checkpoint.weights import named_weights
from attendo.decoding.backends.models import decoding_model
from attendo.decoding.config import GuardConfig, SearchConfig
from attendo.decoding.lines.translator import Translator
from attendo.errors import DataError
from attendo.model.batch import collate
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.parsing.sentences import Sentence
from attendo.recipe import load_recipe
from attendo.text.corpora import CorpusConfig, DataConfig
from attendo.text.subwords.tokenization import TokenizerConfig
from attendo.training.config import TrainingConfig
from attendo.workflow.engines.translate import load
from attendo.workflow.preparation.prepare import open_prepared, prepare
from attendo.workflow.runs.run_model import build_model
from attendo.workflow.runs.validation import Validator


def test_some_sentences_spread_over_the_set(corpus: Any, tmp_path: Path) -> None:
    data = DataConfig(
        folder=str(corpus.source.parent),
        corpora=(CorpusConfig(name="mine", source="source.txt", target="target.txt"),),
        valid=CorpusConfig(name="valid", source="source.txt", target="target.txt"),
    )
    prepared = prepare(data, TokenizerConfig(vocab_size=300), tmp_path / "ready", base_folder=tmp_path)
    shape, size = ModelConfig(d_model=16, d_ff=16, num_layers=1, num_heads=2), prepared.source_tokenizer.vocab_size
    torch.manual_seed(5)
    model = Transformer(shape, size, size).eval()
    search = SearchConfig(beam_size=1, max_len_offset=3, guards=GuardConfig.off())
    found = Validator(model, prepared, TrainingConfig(eval_sentences=4), search)(named_weights(model), lambda: False)
    assert found is not None
    chosen = [corpus.pairs[place] for place in (0, 54, 108, 162)]
    engine = Translator([decoding_model(model)], prepared.source_tokenizer, prepared.target_tokenizer, search)
    outputs = [translation.text for translation in engine.translate([source for source, _ in chosen])]
    assert found.bleu == sacrebleu.corpus_bleu(outputs, [[target for _, target in chosen]]).score


@pytest.mark.parametrize(
    ("parsing", "gold_tags"), [("read_tags = false", False), ("read_tags = true", True), ('tags = "XX"', True)]
)
def test_f1_of_a_parser(tmp_path: Path, parsing: str, gold_tags: bool) -> None:
    folder = random_parser(tmp_path, parsing)
    recipe, prepared = load_recipe(str(tmp_path / "parser.toml")), open_prepared(tmp_path / "prepared")
    gold = trees(20, seed=2)
    assert [str(tree) for tree in gold] == list(prepared.valid_trees)
    config = TrainingConfig(eval_sentences=7)
    validator = Validator(build_model(recipe, prepared), prepared, config, recipe.search, recipe.parsing)
    weights = named_weights(load_model(folder).transformer)
    found = validator(weights, lambda: False)
    assert found is not None
    # The same seven sentences by way of the engine, and F1 of labels with the numbers of their words.
    chosen = [gold[20 * place // 7] for place in range(7)]
    sentences = [Sentence(words=tree.words, tags=tree.tags if gold_tags else None) for tree in chosen]
    outputs = load(folder, search={"beam_size": 1}).parse(sentences)
    matched = total = 0
    for tree, output in zip(chosen, outputs, strict=True):
        ours, theirs = brackets(tree), brackets(output)
        total += ours.total()
        if [tag in PUNCTUATION for tag in tree.tags] == [tag in PUNCTUATION for tag in output.tags]:
            matched, total = matched + (ours & theirs).total(), total + theirs.total()
    assert found.f1 == pytest.approx(100 * 2 * matched / total)
    assert found.score == found.f1
    assert found.bleu is None
    told = "gold tags, " if gold_tags else ""
    assert found.f1_signature == f"COLLINS.prm, a failed parse as recall 0, greedy, {told}7 of 20 sentences"
    whole = Validator(build_model(recipe, prepared), prepared, TrainingConfig(), recipe.search, recipe.parsing)
    everything = whole(weights, lambda: False)
    assert everything is not None
    assert everything.f1_signature.endswith(f"greedy, {told}all sentences")
    assert everything.log_loss == found.log_loss
    asked = iter([False, True])
    assert validator(weights, lambda: next(asked)) is None, "it stops between perplexity and F1"
    without = TrainingConfig(eval_bleu=False)
    alone = Validator(build_model(recipe, prepared), prepared, without, recipe.search, recipe.parsing)
    perplexity = alone(weights, lambda: False)
    assert perplexity is not None
    assert (perplexity.f1, perplexity.score) == (None, -perplexity.log_loss)


def test_data_that_was_prepared_without_trees_is_refused(tmp_path: Path) -> None:
    random_parser(tmp_path, "")
    recipe, prepared = load_recipe(str(tmp_path / "parser.toml")), open_prepared(tmp_path / "prepared")
    older = replace(prepared, valid_trees=())
    with pytest.raises(DataError, match="prepare the data again"):
        Validator(build_model(recipe, prepared), older, TrainingConfig(), recipe.search, recipe.parsing)


def test_perplexity_and_bleu_of_the_weights_given(corpus: Any, tmp_path: Path) -> None:
    data = DataConfig(
        folder=str(corpus.source.parent),
        corpora=(CorpusConfig(name="mine", source="source.txt", target="target.txt"),),
        valid=CorpusConfig(name="valid", source="source.txt", target="target.txt"),
    )
    tokenizer = TokenizerConfig(vocab_size=300)
    prepared = prepare(data, tokenizer, tmp_path / "ready", base_folder=tmp_path)
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
