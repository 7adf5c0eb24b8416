"""How long a tree may be: as its words want, where that is more than the search's own limit."""

from pathlib import Path

import pytest
from tests.tiny_parser import random_parser

from attendo.decoding.constraints.constraint import Constraint
from attendo.decoding.constraints.grammar import Grammar
from attendo.errors import DataError
from attendo.workflow.engines.translate import load
from attendo.workflow.preparation.prepare import open_prepared


def test_a_sentence_of_300_words_has_room_for_its_tree(tmp_path: Path) -> None:
    # The default is 6 symbols a word; trees of treebanks have up to 5.
    folder = random_parser(tmp_path, 'order = "top-down"')
    words = ["the", "dog"] * 150
    [parse] = load(folder, search={"beam_size": 1, "max_len_offset": 0}).parse_n_best([words])
    assert list(parse.tree.words) == words
    asked: list[int] = []

    def remember(self: Grammar, num_words: int, max_symbols: int, tags: object = None) -> Constraint:
        asked.append(max_symbols)
        raise DataError(f"{num_words} words")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Grammar, "sentence", remember)
        for search, parsing in (
            ({"max_len_offset": 50}, {}),
            ({"max_len_offset": 5000}, {}),
            ({"max_len_offset": 50}, {"symbols_per_word": 0}),
            ({"max_len": 500}, {}),
        ):
            [parse] = load(folder, search=search, parsing=parsing).parse_n_best([words])
            assert parse.problem == "300 words"
    tokens = len(open_prepared(tmp_path / "prepared").source_tokenizer.encode(" ".join(words))) - 1
    assert asked == [1800, tokens + 5000, tokens + 50, 500]


def test_where_no_tree_has_room_it_is_told(tmp_path: Path) -> None:
    folder = random_parser(tmp_path, 'order = "top-down"')
    [short] = load(folder, search={"max_len": 200}).parse_n_best([["the", "dog"] * 150])
    assert short.problem == "its trees have at least 302 symbols, but may have 200; allow more"
