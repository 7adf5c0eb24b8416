"""A parser's evaluation against brackets counted another way; the parser is that of tests/tiny_parser.py."""

from pathlib import Path

import pytest
from tests.tiny_parser import PUNCTUATION, brackets, random_parser, trees

from attendo.errors import DataError, ModelError
from attendo.parsing.evalb.parameters import COLLINS
from attendo.parsing.tree import Tree
from attendo.workflow.engines.engine import Engine
from attendo.workflow.engines.parse import with_tags
from attendo.workflow.engines.translate import load
from attendo.workflow.evaluation.evaluate_parser import evaluate_parser, read_gold

GOLD = trees(20, seed=11)


@pytest.fixture(scope="module")
def engine(parser_folder: Path) -> Engine:
    return load(parser_folder)


def test_f1_with_every_sentence_counted(engine: Engine) -> None:
    found = evaluate_parser(engine, GOLD, COLLINS)
    matched = gold_total = test_total = failed = 0
    for gold, test in zip(GOLD, engine.parse([tree.words for tree in GOLD]), strict=True):
        gold_total += brackets(gold).total()
        if [tag in PUNCTUATION for tag in gold.tags] != [tag in PUNCTUATION for tag in test.tags]:
            failed += 1
            continue
        test_total += brackets(test).total()
        matched += (brackets(gold) & brackets(test)).total()
    assert found.failures.num == failed
    assert found.f1 == pytest.approx(100 * 2 * matched / (gold_total + test_total))
    assert 0 < found.f1 < 100
    assert (found.given, found.constrained, found.malformed) == ("words", True, 0.0)
    assert sum(each.matched for each in found.errors.lengths) == matched
    told = found.to_json()
    assert told["f1"] == told["every_sentence"]["bracketing_fmeasure"] == found.f1
    assert f"F1 {found.f1:.2f} with every sentence counted, from words alone; 20 sentences parsed" in found.to_text()


def test_gold_tags_are_kept_and_fail_nowhere(engine: Engine) -> None:
    found = evaluate_parser(engine, GOLD, COLLINS, given="gold-tags")
    assert found.failures.num == 0
    assert [parse.tree.tags for parse in found.parses] == [tree.tags for tree in GOLD]
    assert found.scores.summary.all.num_valid == len(GOLD)
    assert found.to_json()["input"] == "gold-tags"


def test_why_sentences_fail_is_told(engine: Engine) -> None:
    [words] = [tree for tree in GOLD if tree.words == GOLD[0].words][:1]
    last = words.words[-1]
    # A full stop that the treebank takes for a noun; and a sentence too long for the parser.
    wrong = with_tags(words, [None] * (len(words.words) - 1) + ["NN"])
    long = Tree("S", tuple(Tree("DT", word="the") for _ in range(2000)))
    found = evaluate_parser(engine, [wrong, long, GOLD[1]], COLLINS)
    assert (found.failures.tags, found.failures.not_parsed, found.failures.others) == (1, 1, 0)
    assert found.failures.tagged == ((last, "NN", ".", 1),)
    assert "2 sentences are not compared: 1 since a word is punctuation" in found.to_text()
    assert f"     1  {last} NN > .\n" in found.to_text()
    assert found.scores.summary.all.num_valid == 1
    assert found.scores.every_sentence.num_failed == 2


def test_malformed_outputs_are_counted(tmp_path: Path) -> None:
    folder = random_parser(tmp_path, 'order = "top-down"')
    found = evaluate_parser(load(folder, parsing={"constrained": False}), GOLD[:4], COLLINS)
    assert not found.constrained
    assert found.counts.mended == 4, "it has learned nothing"
    assert found.to_json()["malformed"]["share"] == found.malformed == 1.0
    assert "malformed outputs, mended before they are compared: 4 of 4 (100.00%)" in found.to_text()


def test_what_does_not_go_together(engine: Engine, model_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="evaluate it with --source"):
        evaluate_parser(load(model_folder), GOLD, COLLINS)
    reader = load(random_parser(tmp_path, "read_tags = true"))
    with pytest.raises(ModelError, match="--input gold-tags"):
        evaluate_parser(reader, GOLD[:1], COLLINS, given="words")
    assert evaluate_parser(reader, GOLD[:1], COLLINS).given == "gold-tags"
    no_tags = load(random_parser(tmp_path / "XX", 'tags = "XX"'), search={"beam_size": 1})
    with pytest.raises(ModelError, match="writes no tags"):
        evaluate_parser(no_tags, GOLD[:1], COLLINS, given="words")
    found = evaluate_parser(no_tags, GOLD[:3], COLLINS)
    assert (found.failures.num, found.to_json()["all"]["tagging_accuracy"]) == (0, 100)


def test_gold_trees_are_as_the_treebank_has_them(tmp_path: Path) -> None:
    (tmp_path / "a.mrg").write_text("( (S (NP-SBJ (NP (NN a) ) (-NONE- *)) (VP (VB b))) )\n(NP (NN\n")
    found = read_gold(str(tmp_path))
    assert [str(tree) for tree in found.trees] == ["(S (NP (NP (NN a))) (VP (VB b)))"]
    assert len(found.problems) == 1
    (tmp_path / "a.mrg").write_text("\n")
    with pytest.raises(DataError, match="no tree that can be read"):
        read_gold(str(tmp_path))
