"""Treebanks that are prepared: sections of a folder like the Penn Treebank's, and what is kept of their trees."""

import json
from pathlib import Path

import pytest
from tests.tiny_parser import trees

from attendo.errors import DataError
from attendo.model.config import ModelConfig
from attendo.parsing.config import ParsingConfig
from attendo.recipe import Recipe, load_recipe
from attendo.text.corpora import CorpusConfig, DataConfig
from attendo.text.prepared import PreparedData, fingerprint
from attendo.text.subwords.tokenization import TokenizerConfig
from attendo.workflow.preparation.prepare import prepare
from attendo.workflow.preparation.prepared_data import open_if_prepared, prepared_folder
from attendo.workflow.preparation.treebank_text import linearization_facts

TOKENIZER = TokenizerConfig(vocab_size=300, character_coverage=1.0, joint=False, target_symbols=True)
PARSING = ParsingConfig(order="in-order")
DATA = DataConfig(
    folder="wsj",
    corpora=(CorpusConfig(name="wsj", trees="{02..21}"),),
    valid=CorpusConfig(trees="22"),
)


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    """wsj/00 to 24: two files a section, of five trees each, with an outer bracket, over several lines."""
    for section in range(25):
        folder = tmp_path / "wsj" / f"{section:02d}"
        folder.mkdir(parents=True)
        (folder / "README").write_text("no tree here: (\n")
        for number in (1, 2):
            made = trees(5, seed=100 * section + number)
            text = "".join(f"( {str(tree).replace(' (VP', chr(10) + '   (VP')} )\n\n" for tree in made)
            (folder / f"wsj_{section:02d}{number:02d}.mrg").write_text(text)
    return tmp_path


def prepared_from(folder: Path, data: DataConfig = DATA) -> PreparedData:
    return prepare(data, TOKENIZER, folder / "prepared", base_folder=folder, parsing=PARSING)


def test_sections_of_a_treebank(treebank: Path) -> None:
    found = prepared_from(treebank)
    [report] = found.report.corpora
    assert (report.read, report.kept) == (200, 200)
    assert len(report.files) == 40
    assert report.files[:2] == ("02/wsj_0201.mrg", "02/wsj_0202.mrg")
    assert report.files[-1] == "21/wsj_2102.mrg"
    expected = [*trees(5, seed=2201), *trees(5, seed=2202)]
    assert list(found.valid_trees) == [str(tree) for tree in expected]
    assert [line.split() for line in found.valid_source] == [
        [{"-LRB-": "(", "-RRB-": ")"}.get(word, word) for word in tree.words] for tree in expected
    ]
    assert found.report.valid is not None
    assert found.report.valid.files == ("22/wsj_2201.mrg", "22/wsj_2202.mrg")
    manifest = json.loads((treebank / "prepared" / "manifest.json").read_text())
    assert len(manifest["corpus_files"]) == 42
    assert (treebank / "prepared" / "unread.tsv").read_text().count("\n") == 1


def test_a_section_that_changes_is_noticed(treebank: Path) -> None:
    prepared_from(treebank)
    recipe = Recipe(
        name="x",
        folder=treebank,
        task="parse",
        data=DATA,
        tokenizer=TOKENIZER,
        model=ModelConfig(shared_embeddings="target"),
        parsing=PARSING,
    )
    assert open_if_prepared(recipe, treebank / "prepared") is not None
    (treebank / "wsj" / "21" / "wsj_2102.mrg").write_text("( (S (NN a)) )\n")
    assert open_if_prepared(recipe, treebank / "prepared") is None
    assert prepared_folder(recipe, treebank / "root").name == f"x-{_fingerprint()[:12]}"


def _fingerprint() -> str:
    return fingerprint(DATA, TOKENIZER, None, linearization_facts(PARSING))


def test_sections_that_miss_are_told(treebank: Path) -> None:
    data = DataConfig(folder="wsj", corpora=(CorpusConfig(name="wsj", trees="{23..26}"),), valid=DATA.valid)
    with pytest.raises(DataError, match="2 of the files") as caught:
        prepared_from(treebank, data)
    assert f"{treebank / 'wsj' / '25'}: there is no such file" in str(caught.value)


def test_gold_trees_stay_as_they_are_and_what_is_learned_is_what_can_be_written(tmp_path: Path) -> None:
    made = "".join(f"{tree}\n" for tree in trees(60, seed=1))
    (tmp_path / "train.mrg").write_text(made)
    (tmp_path / "valid.mrg").write_text(
        "( (S (NP-SBJ (NP (NN cat)) (-NONE- *)) (VP (VBD left)) (. .)) )\n(S (NN (x\n( (-NONE- *) )\n"
    )
    data = DataConfig(corpora=(CorpusConfig(name="mine", trees="train.mrg"),), valid=CorpusConfig(trees="valid.mrg"))
    found = prepared_from(tmp_path, data)
    assert found.valid_trees == ("(S (NP (NP (NN cat))) (VP (VBD left)) (. .))",)
    assert found.valid_target == ("NN (NP ) (S VBD (VP ) . )",)


def test_the_papers_recipe_reads_such_a_folder(treebank: Path) -> None:
    recipe = load_recipe("parsing-wsj", [f"data.folder={treebank}", "tokenizer.vocab_size=300"])
    assert recipe.data is not None
    found = prepare(
        recipe.data, recipe.tokenizer, treebank / "ready", base_folder=recipe.folder, parsing=recipe.parsing
    )
    assert (found.report.kept, len(found.valid_trees)) == (200, 10)
    assert found.valid_target[0].startswith("(S ")
    assert found.valid_target[0].endswith(" )S")
