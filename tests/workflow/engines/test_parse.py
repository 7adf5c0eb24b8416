"""A parser that was trained on trees of a small language, and some that have learned nothing."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.native.conftest import each_variant
from tests.tiny_parser import random_parser, trees

import attendo
from attendo.checkpoint.model_folder import load_model
from attendo.decoding.backends.models import DecodingModel, decoding_model
from attendo.decoding.backends.native_model import Dtype, NativeModel
from attendo.decoding.backends.torch_model import TorchModel
from attendo.decoding.config import SearchConfig
from attendo.errors import DataError, ModelError, RecipeError
from attendo.native.library import Kernels
from attendo.parsing.config import Order
from attendo.parsing.linearization import tree_of
from attendo.parsing.tree import Tree
from attendo.parsing.treebank import parse_tree
from attendo.workflow.engines.engine import Engine
from attendo.workflow.engines.model_search import own_parsing
from attendo.workflow.engines.parse import Parse, ParseCounts, Parser, with_tags
from attendo.workflow.engines.translate import load

GOLD = trees(25, seed=3)
"""Sentences that were not trained on."""
SENTENCES = [tree.words for tree in GOLD]
ROUGH = [
    ["😀"],
    ["(", "[", "-LRB-", "\\/", ")", "-RRB-"],
    ["``", "''", '"', "“", "‘", "’", "«"],
    ["\x00", "\x07", "\x1b[2J", "\u2028", "\xa0", "\u200b", "\u2581", "\u2581x"],
    ["</s>", "<unk>", "<0x41>", "(NP", ")", "NN"],
    ["e\u0301", "\U0010ffff", "日本語", "\u202e"],
    ["zyxwvut" * 20],
    ["the", "dog"] * 150,
]
"""What is in no treebank."""


@pytest.fixture(scope="module")
def engine(parser_folder: Path) -> Engine:
    return load(parser_folder, search={"beam_size": 4, "n_best": 3})


@pytest.fixture(scope="module")
def random_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Parsers that have learned nothing, by the recipe's section; each made once."""
    made: dict[str, Path] = {}

    def find(parsing: str) -> Path:
        if parsing not in made:
            made[parsing] = random_parser(tmp_path_factory.mktemp("parser"), parsing)
        return made[parsing]

    return find


def longest_chain(tree: Tree) -> int:
    """The most constituents over the very same words."""
    return max([0, *(sum(span[1:] == other[1:] for other in tree.spans) for span in tree.spans)])


def test_it_has_learned_something(engine: Engine) -> None:
    found = engine.parse(SENTENCES)
    assert all(isinstance(tree, attendo.Tree) for tree in found)
    right = [set(tree.spans) & set(gold.spans) for tree, gold in zip(found, GOLD, strict=True)]
    # Right branching, a guess for English, comes to some 40 % of labelled constituents here; chance to none.
    assert sum(map(len, right)) > 0.7 * sum(len(gold.spans) for gold in GOLD)


def test_a_batch_is_one_by_one_in_order(engine: Engine, parser_folder: Path) -> None:
    some = SENTENCES[:6]
    together = engine.parse_n_best(some)
    for words, parse in zip(some, together, strict=True):
        [alone] = engine.parse_n_best([words])
        assert parse.words == words
        assert [each.tree for each in parse.n_best] == [each.tree for each in alone.n_best]
        assert [each.score for each in parse.n_best] == pytest.approx([each.score for each in alone.n_best], abs=1e-3)
    by_window = load(parser_folder, search={"n_best": 3, "window_lines": 4})
    streamed = list(by_window.stream_parses(iter(some)))
    assert [parse.tree for parse in streamed] == [parse.tree for parse in together]
    assert load(parser_folder, threads=2).parse(some[:2]) == [parse.tree for parse in together[:2]]


@each_variant
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8"])
def test_the_kernels_find_what_plain_torch_finds(parser_folder: Path, kernels: Kernels, dtype: Dtype) -> None:
    loaded = load_model(parser_folder)
    plain, native = TorchModel(loaded.transformer), NativeModel(loaded.transformer, dtype=dtype, kernels=kernels)
    for config in (SearchConfig(beam_size=1, length_penalty=0.0), SearchConfig(beam_size=5, n_best=2)):

        def parse(model: DecodingModel, some: Sequence[Sequence[str]], config: SearchConfig = config) -> list[Parse]:
            tokenizers = loaded.source_tokenizer, loaded.target_tokenizer
            return Parser([model], *tokenizers, config, own_parsing(loaded)).parse(some)

        expected, found = parse(plain, SENTENCES), parse(native, SENTENCES)
        best = [(one.tree, other.tree) for one, other in zip(expected, found, strict=True)]
        if dtype == "float32":
            assert all(one == other for one, other in best)
            scores = [[each.log_prob for parse in parses for each in parse.n_best] for parses in (expected, found)]
            assert scores[1] == pytest.approx(scores[0], abs=1e-3)
        else:
            assert sum(one == other for one, other in best) >= len(best) - 3
        # In any batch to the last bit, padding or not.
        assert parse(native, SENTENCES[:9:-1]) == found[:9:-1]
        assert [parse(native, [words])[0] for words in SENTENCES[:5]] == found[:5]


def test_the_n_best_are_distinct_and_sorted_and_score_as_they_say(engine: Engine) -> None:
    for parse in engine.parse_n_best(SENTENCES[:8]):
        assert len({each.tree for each in parse.n_best}) == len(parse.n_best) == 3
        assert [each.score for each in parse.n_best] == sorted((each.score for each in parse.n_best), reverse=True)
        for found in parse.n_best:
            assert found.faults == ()
            assert found.tree == tree_of(found.symbols, parse.words, "in-order")
            # Teacher forcing gives the same log-probability as the search has added up; alpha is 0.
            [score] = engine.score([(" ".join(parse.words), " ".join(found.symbols))])
            assert found.log_prob == pytest.approx(score.log_prob, abs=1e-3)
            assert found.score == found.log_prob


def test_rough_input_has_trees_over_its_very_words(parser_folder: Path) -> None:
    found = load(parser_folder, search={"beam_size": 1}).parse(ROUGH)
    assert [list(tree.words) for tree in found] == ROUGH
    assert [parse_tree(str(tree)).spans for tree in found] == [tree.spans for tree in found]


def test_what_cannot_be_parsed_has_a_problem_and_a_place(parser_folder: Path) -> None:
    engine = load(parser_folder, search={"max_source_tokens": 40})
    given = [["it"], [], ["x y"], ["\ud800"], ["the"] * 41, ["the" * 1000], ["left"]]
    found = engine.parse_n_best(given)
    assert [parse.problem and parse.problem[:20] for parse in found] == [
        None,
        None,
        "word 1, 'x y', is em",
        "'\\ud800' is not text",
        "too long: 41 tokens,",
        "too long: 3,000 char",
        None,
    ]
    assert [bool(parse.n_best) for parse in found] == [True, False, False, False, False, False, True]
    assert [parse.is_empty for parse in found] == [False, True, False, False, False, False, False]
    assert found[4].words == ("the",) * 41
    for parse, message in (
        (found[1], "a sentence has no words"),
        (found[4], "41 tokens, more than 40; raise search.m"),
    ):
        with pytest.raises(DataError, match=message):
            _ = parse.tree
    with pytest.raises(DataError, match=r"^sentence 2: it has no words; leave it out"):
        engine.parse(given[:2])
    with pytest.raises(DataError, match=r"^sentence 1: too long: 41 tokens, more than 40"):
        engine.parse(given[4:5])
    counts = ParseCounts()
    for parse in found:
        counts.add(parse)
    assert (counts.sentences, counts.empty, counts.failed, counts.parsed, counts.mended) == (7, 1, 4, 2, 0)


def test_problems_of_reading_pass_through_a_stream(engine: Engine) -> None:
    found = list(engine.stream_parses([["it"], DataError("no tree"), attendo.Sentence(words=["x"], tags=["FW"])]))
    assert [parse.problem for parse in found] == [None, "no tree", None]
    assert found[2].tree.tags == ("FW",)


def test_tags_are_kept(engine: Engine) -> None:
    gold = engine.parse([attendo.Sentence(words=tree.words, tags=tree.tags) for tree in GOLD])
    assert [tree.tags for tree in gold] == [tree.tags for tree in GOLD]
    # The wrong ones too, those of another language, and only those that are given.
    words = ["the", "dog", "left", "."]
    [wrong, foreign, open_ones] = engine.parse_n_best(
        [
            attendo.Sentence(words=words, tags=["VBD", "DT", "DT", "."]),
            attendo.Sentence(words=words, tags=["ART", "NN", None, "$."]),
            attendo.Sentence(words=words, tags=[None, "PRP", None, None]),
        ]
    )
    assert {each.tree.tags for each in wrong.n_best} == {("VBD", "DT", "DT", ".")}
    assert {(each.tree.tags[0], each.tree.tags[1], each.tree.tags[3]) for each in foreign.n_best} == {
        ("ART", "NN", "$.")
    }
    assert {each.tree.tags[1] for each in open_ones.n_best} == {"PRP"}
    assert open_ones.tree.tags[0] == "DT"


def test_with_other_tags_a_tree_is_otherwise_the_same() -> None:
    tree = parse_tree("(S (NP (DT the) (NN dog)) (VP (VBD left)))")
    assert str(with_tags(tree, ["X", None, "VB"])) == "(S (NP (X the) (NN dog)) (VP (VB left)))"
    assert with_tags(Tree("NN", word="a"), ["X"]) == Tree("X", word="a")


ORDERS: tuple[Order, ...] = ("top-down", "in-order", "bottom-up")
SECTIONS = [f'order = "{order}"\ntags = "{tags}"' for order in ORDERS for tags in ("kept", "XX")]


@pytest.mark.parametrize("parsing", [*SECTIONS, 'order = "top-down"\nmax_unary = 1'])
def test_without_learning_there_are_trees_all_the_same(random_folder: Callable[[str], Path], parsing: str) -> None:
    engine = load(random_folder(parsing), search={"beam_size": 2, "n_best": 2})
    most = 1 if "max_unary" in parsing else 4
    sentences = [*SENTENCES[:6], *ROUGH[:5]]
    for words, parse in zip(sentences, engine.parse_n_best(sentences), strict=True):
        assert parse.problem is None
        for found in parse.n_best:
            assert found.tree.words == tuple(words)
            assert found.faults == ()
            assert longest_chain(found.tree) <= most
            assert "XX" not in parsing or set(found.tree.tags) == {"XX"}
    [tagged] = engine.parse([attendo.Sentence(words=GOLD[0].words, tags=GOLD[0].tags)])
    assert tagged.tags == GOLD[0].tags


@pytest.mark.parametrize("order", ORDERS)
def test_free_search_is_mended_and_counted(random_folder: Callable[[str], Path], order: Order) -> None:
    folder = random_folder(f'order = "{order}"\ntags = "kept"')
    search = {"beam_size": 3, "n_best": 3, "max_len_offset": 10}
    free = load(folder, search=search, parsing={"constrained": False})
    counts = ParseCounts()
    for words, parse in zip(SENTENCES[:8], free.parse_n_best(SENTENCES[:8]), strict=True):
        counts.add(parse)
        assert 1 <= len({each.tree for each in parse.n_best}) == len(parse.n_best) <= 3
        assert [each.score for each in parse.n_best] == sorted((each.score for each in parse.n_best), reverse=True)
        for found in parse.n_best:
            assert found.tree.words == words
            if not found.faults:
                assert found.tree == tree_of(found.symbols, words, order)
            else:
                with pytest.raises(DataError, match=f"^no {order} tree over "):
                    tree_of(found.symbols, words, order)
    assert counts.mended == 8, "whoever has learned nothing writes no trees"
    assert sum(counts.faults.values()) >= 8
    assert max(counts.faults.values()) <= 8, "sentences are counted, not faults"


def test_free_search_finds_the_trees_that_are_learned(parser_folder: Path) -> None:
    free = load(parser_folder, parsing={"constrained": False}).parse_n_best(SENTENCES)
    constrained = load(parser_folder).parse_n_best(SENTENCES)
    whole = [(a, b) for a, b in zip(free, constrained, strict=True) if not a.n_best[0].faults]
    assert len(whole) >= 5
    assert sum(a.tree == b.tree for a, b in whole) > 0.8 * len(whole)


def test_a_parser_that_reads_tags_needs_them(random_folder: Callable[[str], Path]) -> None:
    engine = load(random_folder('order = "in-order"\nread_tags = true'))
    words = ("the", "dog", "left")
    for tags in (None, ("DT", None, "VBD")):
        with pytest.raises(ModelError, match=r"^this parser reads words with their tags; give each word its tag"):
            engine.parse([attendo.Sentence(words=words, tags=tags)])
    one, other = (
        engine.parse_n_best([attendo.Sentence(words=words, tags=tags)])[0].n_best[0]
        for tags in (("DT", "NN", "VBD"), ("DT", "ZZ", "VBD"))
    )
    assert one.tree.tags == ("DT", "NN", "VBD")
    assert other.tree.tags == ("DT", "ZZ", "VBD")
    assert one.log_prob != other.log_prob, "the tags are read"


def test_what_is_typed_is_read_as_treebanks_have_it(engine: Engine) -> None:
    parser = engine._parser("parse", {})
    words = ["“", "It", "ca", "n’t", "–", "-LRB-", "''", "\\/", "…", "”"]
    # The characters of the trained trees have pieces, these have none.
    assert parser.read(attendo.Sentence(words=words)) == '" It ca n\'t -- ( " / ... "'
    typed, plain = engine.parse([["it", "ca", "n’t", "sleep", "."], ["it", "ca", "n't", "sleep", "."]])
    assert typed.words[2] == "n’t"
    assert typed.spans == plain.spans


def test_marks_have_the_tags_that_they_had_in_training(random_folder: Callable[[str], Path]) -> None:
    words = ["(", "it", "-RRB-", "left", "?", "😀", "."]
    tags = load(random_folder(SECTIONS[2])).parse([words])[0].tags
    assert (tags[0], tags[2], tags[4], tags[6]) == ("-LRB-", "-RRB-", ".", ".")
    assert not {"-LRB-", "-RRB-", "."} & {tags[1], tags[3]}, "which no word with letters had"


def test_a_vocabulary_that_has_a_character_reads_it(parser_folder: Path) -> None:
    class Known:
        """The tokenizer of a parser, and pieces with typographic apostrophes."""

        def __init__(self, tokenizer: object) -> None:
            self._tokenizer = tokenizer

        def __getattr__(self, name: str) -> object:
            return getattr(self._tokenizer, name)

        def pieces(self, ids: object) -> list[str]:
            return [*self._tokenizer.pieces(ids), "’s"]  # type: ignore[attr-defined]

    loaded = load_model(parser_folder)
    known = Known(loaded.source_tokenizer)
    parser = Parser(
        [decoding_model(loaded.transformer)],
        known,  # type: ignore[arg-type]
        loaded.target_tokenizer,
        SearchConfig(),
        loaded.description.parsing,  # type: ignore[arg-type]
    )
    assert parser.read(attendo.Sentence(words=["“", "n’t"])) == '" n’t'


def test_settings_of_parsing(parser_folder: Path, model_folder: Path) -> None:
    engine = load(parser_folder, parsing={"max_unary": 1}, search={"n_best": 4, "beam_size": 4})
    found = [each.tree for parse in engine.parse_n_best(SENTENCES) for each in parse.n_best]
    assert {longest_chain(tree) for tree in found} == {1}
    with pytest.raises(
        RecipeError, match=r"has learned to write .*'in-order'.*; only constrained and max_unary can be"
    ):
        load(parser_folder, parsing={"order": "top-down"})
    with pytest.raises(RecipeError, match=r"parsing\.max_unary = 0"):
        load(parser_folder, parsing={"max_unary": 0})
    with pytest.raises(RecipeError, match=r"parsing\.unary = 2: there is no such key"):
        load(parser_folder, parsing={"unary": 2})
    with pytest.raises(ModelError, match=r"translates, so there is nothing about parsing that could be changed"):
        load(model_folder, parsing={"constrained": False})


def test_a_model_is_for_one_task(parser_folder: Path, model_folder: Path) -> None:
    parser, translator = load(parser_folder), load(model_folder)
    for parses in (parser.translate, parser.stream, lambda lines: next(parser.stream_aligned(lines))):
        with pytest.raises(
            ModelError, match=r"^this model parses sentences and does not translate; use `attendo parse`"
        ):
            parses(["it left"])
    for translates in (translator.parse, translator.parse_n_best, translator.stream_parses):
        with pytest.raises(ModelError, match=r"^this model translates and does not parse; use `attendo translate`"):
            translates([["it"]])
    with pytest.raises(ModelError, match=r"has another task than .*; all models of an ensemble need the same one"):
        load(parser_folder, ensemble=[model_folder])


def test_an_ensemble_of_one_parser_twice_is_that_parser(
    parser_folder: Path, random_folder: Callable[[str], Path]
) -> None:
    alone, twice = (load(parser_folder, ensemble=others) for others in ([], [parser_folder]))
    for one, two in zip(alone.parse_n_best(SENTENCES[:5]), twice.parse_n_best(SENTENCES[:5]), strict=True):
        assert one.tree == two.tree
        assert one.n_best[0].score == pytest.approx(two.n_best[0].score, abs=1e-3)
    with pytest.raises(ModelError, match=r"has another task than .*; all models of an ensemble need the same one"):
        load(parser_folder, ensemble=[random_folder(SECTIONS[0])])


@pytest.mark.parametrize("dtype", ["int8", "bfloat16"])
def test_other_numbers_parse_too(parser_folder: Path, engine: Engine, dtype: Dtype) -> None:
    rough = load(parser_folder, dtype=dtype).parse(SENTENCES[:10])
    exact = engine.parse(SENTENCES[:10])
    assert sum(a == b for a, b in zip(rough, exact, strict=True)) >= 6


def test_samples_hang_on_the_sentences_number(parser_folder: Path) -> None:
    search = {"sampling": True, "n_best": 6, "temperature": 2.0}
    drawn = load(parser_folder, search=search).parse_n_best([SENTENCES[0], SENTENCES[0], SENTENCES[1]])
    by_window = load(parser_folder, search={**search, "window_lines": 2})
    again = list(by_window.stream_parses([SENTENCES[0], SENTENCES[0], SENTENCES[1]]))

    def found(parses: list[Parse]) -> list[list[Tree]]:
        return [[each.tree for each in parse.n_best] for parse in parses]

    assert found(again) == found(drawn)
    assert found(drawn)[0] != found(drawn)[1], "the same sentence twice is drawn for twice"
    assert all(len(set(trees)) == len(trees) for trees in found(drawn))


def test_attention_of_a_parse(engine: Engine) -> None:
    pytest.importorskip("nltk")
    [parse] = engine.parse_n_best(["she can’t sleep."])
    drawn = engine.attention("she can’t sleep.")
    assert "".join(drawn.source).replace("▁", " ") == " she ca n't sleep .</s>"
    assert [piece.removeprefix("▁") for piece in drawn.target] == [*parse.n_best[0].symbols, "</s>"]
