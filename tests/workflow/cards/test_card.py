"""The card of a trained model: its data with licences, its recipe without private paths, its limits."""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attendo.checkpoint.model_folder import ModelDescription
from attendo.model.config import ModelConfig
from attendo.parsing.config import ParsingConfig
from attendo.recipe import Recipe, load_recipe
from attendo.text.accounting import CorpusReport
from attendo.text.cleaning import DROP_REASONS
from attendo.text.corpora import CorpusConfig, DataConfig
from attendo.text.prepared import PreparationReport
from attendo.text.subwords.tokenization import TokenizerConfig
from attendo.training.config import TrainingConfig
from attendo.workflow.cards.card import model_card

DATA = DataConfig(
    source_language="en",
    target_language="fi",
    folder="/home/someone/private",
    corpora=(
        CorpusConfig(
            name="letters",
            source="/mnt/disk/a.en",
            target="a.fi",
            licence="CC BY 2.0",
            attribution="The | Letter\nClub",
        ),
        CorpusConfig(name="notes", tsv="n.tsv", weight=2.0, tags=("mine", "old")),
    ),
    valid=CorpusConfig(tsv="v.tsv", licence="CC0"),
)


def corpus_report(name: str, *, files: tuple[str, ...], kept: int, tags: tuple[str, ...] = ()) -> CorpusReport:
    return CorpusReport(
        name=name, files=files, tags=tags, read=kept + 3, kept=kept, trimmed=0, in_valid=1,
        dropped=dict.fromkeys(DROP_REASONS, 0) | {"empty": 2, "ratio": 1},
        source_tokens=10 * kept, target_tokens=12 * kept, source_byte_tokens=kept, target_byte_tokens=0,
        unknown_tokens=0,
    )  # fmt: skip


REPORT = PreparationReport(
    corpora=(
        corpus_report("letters", files=("a.en", "a.fi"), kept=1500),
        corpus_report("notes", files=("n.tsv",), kept=500, tags=("mine", "old")),
    ),
    valid=corpus_report("valid", files=("v.tsv",), kept=40),
    source_vocab_size=300,
    target_vocab_size=300,
    sampled_pairs=2000,
    seconds=1.0,
)


def description(**training: Any) -> ModelDescription:
    return ModelDescription(
        source_language="en",
        target_language="fi",
        src_vocab_size=300,
        tgt_vocab_size=300,
        model=ModelConfig(d_model=16, d_ff=32, num_heads=2),
        search={},
        training=training,
    )


RECIPE = Recipe(
    name="mail",
    folder=Path("/home/someone"),
    data=DATA,
    model=ModelConfig(d_model=16, d_ff=32, num_heads=2),
    training=TrainingConfig(max_steps=70, init_from="/home/someone/runs/base"),
)


def card(**training: Any) -> str:
    return model_card(RECIPE, REPORT, description(**training), 12345)


def test_every_corpus_has_its_counts_licence_and_attribution() -> None:
    text = card(steps=70)
    assert "| letters | 1503 | 1500 | 2 empty, 1 ratio | 15,000, 18,000 | CC BY 2.0 |  |" in text
    assert "| notes | 503 | 500 | 2 empty, 1 ratio | 5,000, 6,000 | not known | mine old |" in text
    assert "- **letters**: The | Letter Club" in text
    assert "The licence of notes is not known to attendo" in text
    assert "Validated on 40 pairs of v.tsv (CC0)." in text
    named = tuple(replace(corpus, licence="own") for corpus in DATA.corpora)
    whole = model_card(replace(RECIPE, data=replace(DATA, corpora=named)), REPORT, description(), 1)
    assert "The licence of" not in whole


def test_the_recipe_in_it_is_one_without_paths_of_this_machine(tmp_path: Path) -> None:
    text = card()
    assert "/home" not in text
    assert "/mnt" not in text
    toml = text.split("```toml\n")[1].split("```")[0]
    found = tomllib.loads(toml)
    assert found["training"] == {"max_steps": 70, "init_from": "base"}
    assert found["model"] == {"d_model": 16, "d_ff": 32, "num_heads": 2}
    assert [corpus["name"] for corpus in found["data"]["corpora"]] == ["letters", "notes"]
    assert "tokenizer" not in found, "all of it is as by default"
    (tmp_path / "mail.toml").write_text(toml, encoding="utf-8")
    again = load_recipe(str(tmp_path / "mail.toml"))
    assert again.data is not None
    assert replace(again, data=None) == replace(RECIPE, data=None, training=replace(RECIPE.training, init_from="base"))
    assert again.data.corpora == (replace(DATA.corpora[0], source="a.en"), DATA.corpora[1])
    assert again.data.valid == DATA.valid


def test_validation_scores_come_with_what_flatters_them() -> None:
    text = card(steps=70, valid={"perplexity": 4.25, "bleu": 31.125, "bleu_signature": "nrefs:1|case:mixed"})
    assert "| validation perplexity, per word piece | 4.250 |" in text
    assert r"| validation BLEU (nrefs:1\|case:mixed) | 31.12 |" in text
    assert "2 pairs of the corpora are in the validation set too" in text
    assert "It was not validated" in card()


def test_a_fine_tuned_model_names_the_one_it_began_from() -> None:
    text = card(init_from={"model": "base-run", "weights_sha256": "0" * 64, "training": {"steps": 9}})
    assert "| fine-tuned from | base-run |" in text
    assert "base-run brings its own data and licences along" in text
    assert 'init_from = "base-run"' in text
    assert "fine-tuned" not in card()


@pytest.mark.parametrize("wanted", ["en to fi and no other way", "10.0 subwords", "in bytes, 10 % of the source"])
def test_limits_come_from_the_data(wanted: str) -> None:
    assert wanted in card()


def test_a_parsers_card_speaks_of_trees() -> None:
    data = DataConfig(
        source_language="en",
        target_language="trees",
        corpora=(CorpusConfig(name="letters", trees="/mnt/disk/wsj/{02..21}", licence="CC BY 3.0"),),
        valid=CorpusConfig(trees="wsj/22"),
    )
    recipe = replace(
        RECIPE,
        task="parse",
        data=data,
        tokenizer=TokenizerConfig(joint=False, target_symbols=True),
        model=replace(RECIPE.model, shared_embeddings="target"),
        parsing=ParsingConfig(read_tags=True),
    )
    valid = {"perplexity": 1.25, "f1": 84.567, "f1_signature": "COLLINS.prm, all"}
    told = replace(description(steps=70, valid=valid), task="parse", parsing=recipe.parsing)
    report = replace(REPORT, corpora=(corpus_report("letters", files=tuple("abc"), kept=1500),))
    text = model_card(recipe, report, told, num_parameters=1)
    assert text.startswith("# mail: constituency trees of sentences (en)\n")
    assert "    attendo parse PATH-OF-THIS-FOLDER --input tagged < sentences.txt > trees.txt\n" in text
    assert "| corpus | trees read | kept |" in text
    assert "Validated on 40 trees of v.tsv." in text
    assert "| validation F1 (COLLINS.prm, all) | 84.57 |" in text
    assert "attendo evaluate MODEL --trees GOLD" in text
    assert "translat" not in text
    assert "/mnt/disk" not in text
    assert tomllib.loads(text.split("```toml\n")[1].split("```")[0])["parsing"]["read_tags"] is True


def test_lists_and_files_of_units_lose_their_folders_too() -> None:
    corpora = (
        CorpusConfig(name="letters", source=("/mnt/a.en", "b.en"), target=("/mnt/a.fi", "b.fi")),
        CorpusConfig(name="notes", file="/home/someone/notes.tmx"),
    )
    text = model_card(replace(RECIPE, data=replace(DATA, corpora=corpora)), REPORT, description(), 1)
    assert "/mnt" not in text
    assert "/home" not in text
    found = tomllib.loads(text.split("```toml\n")[1].split("```")[0])["data"]["corpora"]
    assert (found[0]["source"], found[1]["file"]) == (["a.en", "b.en"], "notes.tmx")
