import json
import os
import tomllib
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attendo.decoding.config import SearchConfig
from attendo.errors import RecipeError
from attendo.model.config import ModelConfig
from attendo.recipe import (
    SECTIONS,
    Recipe,
    load_recipe,
    override_section,
    shipped_recipe_text,
    shipped_recipes,
    to_toml,
)
from attendo.text.corpora import CorpusConfig, DataConfig
from attendo.training.config import TrainingConfig

OWN = """
[data]
source_language = "en"
target_language = "de"

[[data.corpora]]
name = "mine"
source = "source.txt"
target = "target.txt"
"""


def recipe_file(folder: Path, text: str) -> str:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def problems_of(name_or_path: str, *overrides: str) -> list[str]:
    with pytest.raises(RecipeError) as caught:
        load_recipe(name_or_path, overrides)
    return str(caught.value).splitlines()


@pytest.mark.parametrize("name", shipped_recipes())
def test_shipped_recipes_load_and_survive_a_round_trip(name: str, tmp_path: Path) -> None:
    recipe = load_recipe(name)
    assert recipe.name == name.replace("/", "-")  # folders are named so
    path = tmp_path / "elsewhere" / "recipe.toml"
    path.parent.mkdir()
    path.write_text(to_toml(recipe), encoding="utf-8")
    assert load_recipe(str(path)) == recipe
    assert load_recipe(str(path.parent)) == recipe  # a run folder stands for its recipe.toml


def test_shipped_recipes_are_those_of_the_issue() -> None:
    assert set(shipped_recipes()) >= {"base", "big", "base-en-fr", "big-en-fr", "tiny", "multi30k-en-de"}


def test_the_papers_figures_stand_in_its_recipes() -> None:
    # Sections 5.1 to 6.1 and Table 3 of the paper.
    base, big, french = load_recipe("base"), load_recipe("big"), load_recipe("big-en-fr")
    assert (base.model.d_model, base.model.d_ff, base.model.num_layers, base.model.num_heads) == (512, 2048, 6, 8)
    assert (base.model.dropout, base.training.max_steps, base.training.average_last) == (0.1, 100_000, 5)
    assert (base.training.max_tokens, base.training.warmup_steps, base.training.label_smoothing) == (25_000, 4000, 0.1)
    assert (base.tokenizer.type, base.tokenizer.vocab_size, base.tokenizer.joint) == ("bpe", 37_000, True)
    assert (base.training.adam_beta1, base.training.adam_beta2, base.training.adam_epsilon) == (0.9, 0.98, 1e-9)
    assert (base.training.checkpoint_minutes, base.training.checkpoint_steps) == (10.0, None)
    assert (base.search.beam_size, base.search.length_penalty, base.search.max_len_offset) == (4, 0.6, 50)
    assert (big.model.d_model, big.model.d_ff, big.model.num_heads, big.model.dropout) == (1024, 4096, 16, 0.3)
    assert (big.training.max_steps, big.training.average_last) == (300_000, 20)
    assert (french.tokenizer.type, french.tokenizer.vocab_size, french.model.dropout) == ("unigram", 32_000, 0.1)


def test_everything_left_out_has_its_default(tmp_path: Path) -> None:
    recipe = load_recipe(recipe_file(tmp_path, ""))
    assert recipe == Recipe(name="mine", folder=tmp_path)
    assert recipe.data is None


def test_paths_start_from_the_recipes_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "recipes").mkdir()
    path = recipe_file(tmp_path / "recipes", OWN)
    data = load_recipe(path, ["data.folder=../corpora"]).data
    assert data is not None
    assert Path(data.folder) == tmp_path / "corpora"
    monkeypatch.chdir(tmp_path)
    shipped = load_recipe("base").data  # the package's folder is nobody's place for corpora
    assert shipped is not None
    assert Path(shipped.folder) == tmp_path / "wmt14-en-de"


def test_overrides_take_toml_values_and_bare_strings(tmp_path: Path) -> None:
    path = recipe_file(tmp_path, OWN)
    recipe = load_recipe(
        path,
        [
            "name=my engine",
            "model.d_model=128",
            "model.dropout=0.3",
            "model.layer_norm_eps = 1",
            "training.eval_bleu=false",
            "training.checkpoint_minutes=none",
            "training.checkpoint_steps=500",
            "data.cleaning.max_ratio=3",
            "data.corpora.mine.weight=2",
            'data.corpora.mine.tags=["a", "b=c"]',
            "data.target_language=fr",
        ],
    )
    assert recipe.name == "my engine"
    assert recipe.model == ModelConfig(d_model=128, dropout=0.3, layer_norm_eps=1.0)
    assert recipe.training == TrainingConfig(eval_bleu=False, checkpoint_minutes=None, checkpoint_steps=500)
    assert recipe.data is not None
    assert recipe.data.cleaning.max_ratio == 3.0
    assert recipe.data.corpora[0].weight == 2.0
    assert recipe.data.corpora[0].tags == ("a", "b=c")
    assert recipe.data.target_language == "fr"


def test_a_list_of_corpora_can_be_set(tmp_path: Path) -> None:
    recipe = load_recipe(recipe_file(tmp_path, ""), ['data.corpora=[{name = "x", tsv = "x.tsv"}]'])
    assert recipe.data is not None
    assert recipe.data.corpora == (CorpusConfig(name="x", tsv="x.tsv"),)


def test_all_problems_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    path = recipe_file(
        tmp_path,
        """
        nmae = "x"
        [model]
        d_model = "512"
        num_layers = 6.0
        dropuot = 0.3
        start = "x"
        norm_order = "pre"
        label_smoothing = 0.2
        [trainig]
        max_steps = 3
        [tokenizer]
        vocab_size = 3
        [search]
        beam_size = true
        """,
    )
    assert problems_of(path) == [
        f"{path}: tokenizer.vocab_size = 3: 258 are </s>, <unk> and bytes; take 300 or more",
        f'{path}: model.d_model = "512" is not a whole number; correct it, or leave it out for 512',
        f"{path}: model.num_layers = 6.0 is not a whole number; correct it, or leave it out for 6",
        f'{path}: model.norm_order = "pre" is not "post"; correct it, or leave it out for "post"',
        f'{path}: model.start = "x" is not "zero" or a whole number; correct it, or leave it out for "zero"',
        f"{path}: model.dropuot = 0.3: there is no such key; did you mean model.dropout?",
        f"{path}: model.label_smoothing = 0.2: there is no such key here; it belongs elsewhere: "
        "training.label_smoothing",
        f"{path}: search.beam_size = true is not a whole number; correct it, or leave it out for 4",
        f'{path}: nmae = "x": there is no such key; did you mean name?',
        f"{path}: [trainig]: there is no such section; did you mean training?",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[model]\nnum_heads = 7", "model.num_heads = 7 does not divide d_model = 512; take one of 1, 2, 4, 8, 16"),
        ("model = 3", "model = 3 is no table; write [model] with its keys below"),
        ("[data]\ncorpora = [3]", "data.corpora.0 = 3 is no table; write [[data.corpora]] with its keys below"),
        ("[data]\nfolder = 2012-01-01", "data.folder = 2012-01-01 is not a string in quotes"),
        ('[[data.corpora]]\nname = "c"\nsorce = "x"', 'data.corpora.c.sorce = "x": there is no such key'),
        (
            "[data.valid]\nweight = 2.0",
            "data.valid: has no file; give source and target, or tsv, translations, back_",
        ),
        ("[data.cleaning]\nmax_ratio = 0.5", "data.cleaning.max_ratio = 0.5 is less than 1"),
        ("[search]\nqqq = 1", "search.qqq = 1: there is no such key; search has beam_size, length_penalty"),
        ("[tokenizer]\njoint = false", 'model.shared_embeddings = "all" needs one vocabulary, but tokenizer.joint'),
        ("[training.augmentation]\nplaceholders = 0.1", "training.augmentation.placeholders = 0.1 needs a vocabulary"),
        ('[model]\npositions = "learned"\nmax_positions = 9\n[data]', "data.cleaning.max_tokens = 1024 is more than"),
        ('task = "parse"', 'task = "parse" writes symbols; set tokenizer.target_symbols = true'),
        ('[parsing]\norder = "in-order"', 'the section parsing goes with task = "parse"'),
        ("[model]\nnext_word = true", 'model.next_word = true is for task = "parse"'),
        ("[model]\nparser_stack = true", "model.parser_stack = true goes with next_word = true; set that too"),
        (
            'task = "parse"\n[tokenizer]\njoint = false\ntarget_symbols = true\n[model]\nshared_embeddings = "target"\n'
            'next_word = true\nparser_stack = true\n[parsing]\norder = "bottom-up"',
            "model.parser_stack = true needs brackets",
        ),
        ("[model]\ndropout = 0.0\n[training]\nr_drop = 5.0", "training.r_drop = 5.0 compares passes with different"),
        (
            '[model]\ndraft_tokens = 3\n[training]\ninit_from = "en-de"\nr_drop = 5.0',
            "training.r_drop = 5.0 is for a model without a drafter",
        ),
        (
            '[training]\ninit_from = "en-de"\nr_drop = 5.0\n'
            '[[data.corpora]]\nname = "c"\nsource = "s"\ntarget = "t"\ndistilled = true',
            "training.r_drop = 5.0 is for corpora without distilled = true",
        ),
        ("[tokenizer]\ntarget_symbols = true", "tokenizer.target_symbols = true needs a vocabulary for each side"),
        ('task = "sing"', 'task = "sing" is not "translate"'),
        ("[model]\nd_model = 512\nd_model = 256\n", "not TOML: Cannot overwrite a value (at line 3, column 14)"),
        ("[model]\nd_model 512", "not TOML: Expected '=' after a key in a key/value pair (at line 2, column 9)"),
    ],
)
def test_each_problem_names_key_value_and_way_out(tmp_path: Path, text: str, message: str) -> None:
    path = recipe_file(tmp_path, text)
    (problem,) = problems_of(path)
    assert problem.startswith(f"{path}: {message}")


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("model.d_modl=3", "--set: model.d_modl = 3: there is no such key; did you mean model.d_model?"),
        ("model.dropout=0,3", '--set: model.dropout = "0,3" is not a number'),
        ("model.num_heads=7", "--set: model.num_heads = 7 does not divide d_model = 512"),
        ("data.corpora.mine.weight=heavy", '--set: data.corpora.mine.weight = "heavy" is not a number'),
        ("data.corpora.other.weight=2", "--set data.corpora.other.weight=2: data.corpora.other is no table"),
        ("data.corpora.mine=2", "--set data.corpora.mine=2: data.corpora is a list or one of its entries; name a key"),
        ("model.d_model.x=3", "--set model.d_model.x=3: "),
        ("max_steps", "--set max_steps: write it as section.key=value, such as training.max_steps=1000"),
        ("model.=3", "--set model.=3: write it as section.key=value"),
    ],
)
def test_problems_of_an_override_are_its_own(tmp_path: Path, override: str, message: str) -> None:
    path = recipe_file(tmp_path, OWN + "[model]\nd_model = 512")
    (problem,) = problems_of(path, override)
    assert problem.startswith(message)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            ["tokenizer.vocab_size=266", "tokenizer.placeholders=8"],
            "tokenizer.vocab_size = 266: 258 are </s>, <unk> and",
        ),
        (
            ["tokenizer.vocab_size=259", "data.corpora.mine.source_tag=<b>"],
            "tokenizer.vocab_size = 259: 258 are </s>, <u",
        ),
        (["model.start=37000"], "model.start = 37000 is no id of a vocabulary of tokenizer.vocab_size = 37000; take"),
        (
            ["search.alignment_layer=7"],
            "search.alignment_layer = 7, but the decoder has model.num_layers = 6; take 1 to 6",
        ),
        (["search.alignment_head=9"], "search.alignment_head = 9, but a layer has model.num_heads = 8; take 1 to 8"),
    ],
)
def test_sections_that_contradict_each_other(tmp_path: Path, overrides: list[str], message: str) -> None:
    path = recipe_file(tmp_path, OWN)
    (problem,) = problems_of(path, *overrides)
    assert problem.startswith(f"--set: {message}")
    # A model that is fine-tuned brings another vocabulary and shape.
    load_recipe(path, [*overrides, "training.init_from=there"])


@pytest.mark.parametrize("overrides", [["tokenizer.vocab_size=267", "tokenizer.placeholders=8"], ["model.start=36999"]])
def test_what_just_fits_is_taken(tmp_path: Path, overrides: list[str]) -> None:
    load_recipe(recipe_file(tmp_path, OWN), overrides)


@pytest.mark.parametrize("name", ["../there", "a/b", "a\\b", ".", "..", "a\nb", "\x1b[2J", "x" * 201, "ü" * 101])
def test_a_name_is_that_of_a_folder(tmp_path: Path, name: str) -> None:
    path = recipe_file(tmp_path, f"name = {json.dumps(name)}")
    (problem,) = problems_of(path)
    assert problem.startswith(f"{path}: name = ")
    assert problem.isprintable()
    assert "; take " in problem


def test_the_files_name_has_to_be_one_too(tmp_path: Path) -> None:
    path = tmp_path / "a\nb.toml"
    path.touch()
    (problem,) = problems_of(str(path))
    assert problem.endswith('name = "a\\nb" is no name of a folder; take letters, digits, spaces, -, _ and ., as '
        "folders are named so")  # fmt: skip
    assert load_recipe(str(path), ["name=ab"]).name == "ab"


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("circle")
    path = recipe_file(tmp_path, OWN)
    (problem,) = problems_of(path, "data.folder=circle/x")
    assert problem.startswith('--set: data.folder = "circle/x" is no path (')
    strange = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    strange.mkdir()
    (problem,) = problems_of(recipe_file(strange, OWN))
    assert "is not UTF-8, which recipes are written in; rename the folder" in problem


def test_a_recipe_is_read_up_to_a_megabyte(tmp_path: Path) -> None:
    path = recipe_file(tmp_path, "#" * 1_048_576)
    assert load_recipe(path).name == "mine"
    with Path(path).open("ab") as file:
        file.truncate(1 << 40)  # a file with a hole: a terabyte that takes no room
    (problem,) = problems_of(path)
    assert problem == f"{path}: has more than 1,048,576 bytes, which no recipe has; name another file"


def test_a_value_cannot_smuggle_in_a_second_key(tmp_path: Path) -> None:
    recipe = load_recipe(recipe_file(tmp_path, OWN), ["data.valid={tsv = 'v'}", "data.valid.licence=1\nx = 2"])
    assert recipe.data is not None
    assert recipe.data.valid == CorpusConfig(tsv="v", licence="1\nx = 2")


def test_a_missing_recipe_names_the_nearest(tmp_path: Path) -> None:
    (problem,) = problems_of("bsae")
    assert problem.startswith("bsae: there is no such recipe; did you mean base?")
    assert all(name in problem for name in shipped_recipes())
    path = recipe_file(tmp_path, "")
    (problem,) = problems_of(str(tmp_path / "mien.toml"))
    assert f"did you mean {path}?" in problem
    (problem,) = problems_of(str(tmp_path))
    assert problem.startswith(f"{tmp_path}: there is no such recipe")


def test_files_of_other_editors_are_read(tmp_path: Path) -> None:
    path = tmp_path / "windows.toml"
    path.write_bytes(b"\xef\xbb\xbf[model]\r\nd_model = 256\r\n")
    assert load_recipe(str(path)).model.d_model == 256
    path.write_bytes(b'name = "\xe4"')
    (problem,) = problems_of(str(path))
    assert problem == f"{path}: not UTF-8 at byte 8; save the file as UTF-8"


def test_one_section_alone_can_be_changed() -> None:
    changed = override_section(SearchConfig(n_best=2), "search", ["search.max_len_offset=9", "search.beam_size=8"])
    assert changed == SearchConfig(n_best=2, max_len_offset=9, beam_size=8)
    with pytest.raises(RecipeError, match=r"^--set model.dropout=0: only keys of search can be set here"):
        override_section(SearchConfig(), "search", ["model.dropout=0"])
    with pytest.raises(RecipeError, match=r"^--set: search.beam_size = 0 is too small; take 1 or more"):
        override_section(SearchConfig(), "search", ["search.beam_size=0"])
    assert override_section(SearchConfig(), "search", changes={"beam_size": 9}) == SearchConfig(beam_size=9)
    with pytest.raises(RecipeError, match=r"^settings of search: search.beam = 9: there is no such key; did you mean"):
        override_section(SearchConfig(), "search", changes={"beam": 9})


def test_a_shipped_recipe_can_be_copied_with_its_comments(tmp_path: Path) -> None:
    copy = recipe_file(tmp_path, shipped_recipe_text("tiny"))
    assert load_recipe(copy).model == load_recipe("tiny").model
    assert shipped_recipe_text("tiny").startswith("#")
    with pytest.raises(RecipeError, match=r"^tny: there is no such recipe; did you mean tiny\?"):
        shipped_recipe_text("tny")


def test_every_section_is_a_field_of_the_recipe() -> None:
    assert {item.name for item in fields(Recipe)} == {"name", "folder", "task", "written", *SECTIONS}


# Any text of Unicode characters; a lone surrogate is none, and TOML cannot hold it.
text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
# What folders, files and headings may be called: no line end, no other control character.
name = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters="/\\."), min_size=1, max_size=50
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=name,
    language=name,
    tags=st.lists(text, max_size=3),
    weight=st.floats(min_value=1e-300, max_value=999.0),
    minutes=st.none() | st.floats(min_value=1e-9, max_value=1e12),
    steps=st.integers(min_value=1, max_value=2**20),
)
def test_any_recipe_survives_a_round_trip(
    tmp_path: Path, name: str, language: str, tags: list[str], weight: float, minutes: float | None, steps: int
) -> None:
    corpus = CorpusConfig(name="c", tsv=name, weight=weight, tags=tuple(tags), licence="".join(tags))
    recipe = Recipe(
        name=name,
        folder=tmp_path,
        data=DataConfig(source_language=language, folder=str(tmp_path), corpora=(corpus,), valid=replace(corpus)),
        training=TrainingConfig(checkpoint_minutes=minutes, checkpoint_steps=steps, eval_steps=None),
        model=ModelConfig(d_k=steps, start=5),
    )
    written = to_toml(recipe)
    assert load_recipe(recipe_file(tmp_path, written)) == recipe
    assert tomllib.loads(written)["data"]["source_language"] == language


def test_a_recipe_knows_which_keys_were_written(tmp_path: Path) -> None:
    path = recipe_file(tmp_path, OWN + "[model]\nd_model = 512\n[search]\n")
    recipe = load_recipe(path, ["training.seed=1"])
    assert recipe.model == ModelConfig()  # 512 is the default, but it was asked for
    assert recipe.written == {
        "data.source_language", "data.target_language", "data.corpora", "model.d_model", "training.seed"
    }  # fmt: skip


def test_the_papers_parser_stands_in_its_recipes() -> None:
    # Section 6.3: 4 layers, d_model 1024, 16K and 32K tokens, beam 21, alpha 0.3, the input and 300 more.
    wsj, more = load_recipe("parsing-wsj"), load_recipe("parsing-wsj-semi-supervised")
    for recipe, vocab_size in ((wsj, 16_000), (more, 32_000)):
        assert recipe.task == "parse"
        assert (recipe.model.num_layers, recipe.model.d_model, recipe.tokenizer.vocab_size) == (4, 1024, vocab_size)
        assert (recipe.search.beam_size, recipe.search.length_penalty, recipe.search.max_len_offset) == (21, 0.3, 300)
        assert recipe.parsing is not None
        assert (recipe.parsing.constrained, recipe.parsing.symbols_per_word) == (False, 0)
        assert recipe.data is not None
        assert recipe.data.corpora[0].trees == "wsj/{02..21}"
        assert recipe.data.valid is not None
        assert recipe.data.valid.trees == "wsj/22"
