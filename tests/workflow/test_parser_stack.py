"""A parser that is told what is on top of its stack: through a model folder, in int8 too, and in every search."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tests.tiny_parser import random_parser, trees

from attendo.checkpoint.model_folder import load_model
from attendo.checkpoint.saving import save_model
from attendo.checkpoint.weights import named_weights
from attendo.model.words import SymbolKind
from attendo.workflow.engines.translate import load

WORDS = [list(tree.words) for tree in trees(6, seed=41)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return random_parser(tmp_path, 'order = "in-order"', told=("next_word", "parser_stack"))


@pytest.mark.parametrize("order", ["in-order", "top-down"])
def test_the_vocabulary_says_what_opens_and_what_closes(tmp_path: Path, order: str) -> None:
    model = load_model(random_parser(tmp_path, f'order = "{order}"', told=("next_word", "parser_stack")))
    stack, next_word = model.transformer.parser_stack, model.transformer.next_word
    assert stack is not None
    assert next_word is not None
    symbols = model.target_tokenizer.pieces(range(model.target_tokenizer.vocab_size))
    said = {symbol.lstrip("\u2581"): kind for symbol, kind in zip(symbols, stack.kinds.tolist(), strict=True)}
    opens = SymbolKind.OPENS_BEHIND if order == "in-order" else SymbolKind.OPENS_BEFORE
    assert {said["(NP"], said["(S"]} == {opens}
    assert {said[")"]} if order == "in-order" else {said[")NP"], said[")S"]} == {SymbolKind.CLOSES}
    assert {said["NN"], said["."]} == {SymbolKind.WORD}
    assert said["</s>"] == SymbolKind.OTHER
    assert torch.equal(next_word.writes, stack.kinds == SymbolKind.WORD)


def test_it_matters(folder: Path) -> None:
    told = [parse.n_best[0].log_prob for parse in load(folder).parse_n_best(WORDS)]
    model = load_model(folder)
    assert model.transformer.parser_stack is not None
    with torch.no_grad():
        for values in model.transformer.parser_stack.parameters():
            values.zero_()
    untold = folder.parent / "untold"
    weights = named_weights(model.transformer)
    save_model(untold, model.description, weights, model.source_tokenizer, model.target_tokenizer, "# card\n")
    assert told != pytest.approx([parse.n_best[0].log_prob for parse in load(untold).parse_n_best(WORDS)])


def test_a_folder_in_int8_keeps_it(folder: Path, tmp_path: Path) -> None:
    model = load_model(folder)
    description, weights = replace(model.description, dtype="int8"), named_weights(model.transformer)
    save_model(tmp_path / "int8", description, weights, model.source_tokenizer, model.target_tokenizer, "# card\n")
    whole, small = (load_model(path).transformer.parser_stack for path in (folder, tmp_path / "int8"))
    assert whole is not None
    assert small is not None
    assert torch.equal(whole.depths, small.depths)
    assert torch.equal(whole.opened, small.opened)
    assert torch.equal(whole.completed, small.completed)
    assert torch.equal(whole.kinds, small.kinds)
    trees_of = [load(path, dtype="int8").parse(WORDS) for path in (folder, tmp_path / "int8")]
    assert trees_of[0] == trees_of[1]


@pytest.mark.parametrize("order", ["in-order", "top-down"])
def test_a_sentence_is_parsed_alike_alone_and_among_others(tmp_path: Path, order: str) -> None:
    folder = random_parser(tmp_path, f'order = "{order}"', told=("next_word", "parser_stack"))
    engine = load(folder, search={"beam_size": 4})
    assert engine.parse(WORDS) == [engine.parse([words])[0] for words in WORDS]
