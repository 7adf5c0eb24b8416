"""What a Table 2 study trains and translates: recipes, test sets, and what is missing, told at the start."""

from dataclasses import replace
from pathlib import Path

import pytest

from attendo.errors import DataError, RecipeError
from attendo.paper.experiment import Scale, StudyRequest
from attendo.paper.phrasebook_texts import write_if_tiny
from attendo.paper.table2.plan import TEST_PAIRS, make_plan, recipes_of


def request(scale: Scale, folder: Path, data: Path | None) -> StudyRequest:
    return StudyRequest(scale=scale, folder=folder, seeds=2, jobs=1, data=data, command="attendo reproduce table2")


def touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def test_small_takes_the_test_sets_that_are_there(tmp_path: Path) -> None:
    captions = tmp_path / "multi30k" / "test_2016_flickr"
    with pytest.raises(DataError, match=r"test set of en-de is missing: .*test_2016_flickr\.en, .*\.de; --data names"):
        make_plan(request("small", tmp_path / "study", tmp_path))
    touch(*(captions.with_suffix(suffix) for suffix in (".en", ".de")))
    touch(*((tmp_path / "newstest2013_en-de" / f"newstest2013.{language}") for language in ("en", "de")))
    touch(tmp_path / "tatoeba_en-de" / "valid.en")  # without its other side
    plan = make_plan(request("small", tmp_path / "study", tmp_path))
    [direction] = plan.directions
    assert direction.languages == ("en", "de")
    assert direction.test.path("de") == captions.with_suffix(".de")
    assert [test.name for test in plan.shipped_tests] == ["Multi30k test 2016", "newstest2013"]
    assert [test.name for test in plan.missing_tests] == ["Tatoeba valid", "newstest2014"]


def test_the_papers_scale_is_four_recipes_of_two_corpora(tmp_path: Path) -> None:
    found = recipes_of(request("paper", tmp_path, tmp_path))
    assert {direction: [recipe.name for recipe in rows.values()] for direction, rows in found.items()} == {
        "en-de": ["base", "big"],
        "en-fr": ["base-en-fr", "big-en-fr"],
    }
    for direction, rows in found.items():
        for recipe in rows.values():
            assert recipe.data is not None
            assert Path(recipe.data.folder) == tmp_path / f"wmt14-{direction}"
    # After days of training it would be late to find out.
    touch(*(tmp_path / "wmt14-en-de" / f"newstest2014.{language}" for language in ("en", "de")))
    with pytest.raises(DataError, match=r"test set of en-fr is missing: .*newstest2014\.en, .*newstest2014\.fr"):
        make_plan(request("paper", tmp_path, tmp_path))
    touch(*(tmp_path / "wmt14-en-fr" / f"newstest2014.{language}" for language in ("en", "fr")))
    plan = make_plan(request("paper", tmp_path, tmp_path))
    assert [direction.test.name for direction in plan.directions] == ["newstest2014"] * 2
    assert [test.prefix.parent.name for test in plan.shipped_tests] == ["wmt14-en-de"], "no shipped model speaks French"


def test_the_small_recipe_is_the_papers_but_for_its_size() -> None:
    small, paper = (recipes_of(request(scale, Path(), None))["en-de"]["base"] for scale in ("small", "paper"))
    assert small.search == paper.search
    sizes = {"d_model": 512, "d_ff": 2048, "num_layers": 6}
    assert replace(small.model, **sizes) == paper.model  # type: ignore[arg-type]
    assert small.training.average_last == paper.training.average_last == 5
    assert small.training.label_smoothing == paper.training.label_smoothing
    assert small.training.cooldown_steps == paper.training.cooldown_steps == 0
    assert small.training.checkpoint_steps is not None
    assert small.training.max_steps % small.training.checkpoint_steps == 0, "the last update is of the average"


def test_tiny_writes_its_own_corpus_and_takes_no_other(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="--data"):
        make_plan(request("tiny", tmp_path / "study", tmp_path))
    plan = make_plan(request("tiny", tmp_path, None))
    write_if_tiny(request("tiny", tmp_path, None), test=TEST_PAIRS)
    [direction] = plan.directions
    lines = {language: direction.test.path(language).read_text("utf-8").splitlines() for language in ("en", "de")}
    assert len(lines["en"]) == len(lines["de"]) == 60
    before = direction.test.path("de").stat().st_mtime_ns
    write_if_tiny(request("tiny", tmp_path, None), test=TEST_PAIRS)
    assert direction.test.path("de").stat().st_mtime_ns == before
