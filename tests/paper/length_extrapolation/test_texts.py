"""Texts of chosen lengths: nothing lost, nothing twice, no length that was not asked for."""

from collections import Counter
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from attendo.errors import DataError
from attendo.paper.length_extrapolation.rows import (
    ALL,
    SHORT,
    Lengths,
    joined,
    on_texts,
    read_test,
    regrouped,
    write_texts,
)
from attendo.recipe import Recipe, load_recipe
from attendo.training.batches import Place
from attendo.workflow.preparation.prepared_data import prepare_if_missing
from attendo.workflow.runs.reporting import Silence
from attendo.workflow.runs.run_batches import batch_stream

PAIRS = [(f"a{number} b c", f"x{number} y") for number in range(200)]
LENGTHS = Lengths(trained_sentences=2, trained_words=12, all_sentences=5, tested=(1, 2, 4), test_sentences=20)


def test_every_pair_is_in_one_text_in_order() -> None:
    texts = list(joined(PAIRS, 3, 100))
    assert " ".join(source for source, _ in texts) == " ".join(source for source, _ in PAIRS)
    assert " ".join(target for _, target in texts) == " ".join(target for _, target in PAIRS)
    assert list(joined([], 3, 100)) == []


def test_as_many_sentences_stand_in_texts_of_every_length() -> None:
    texts = Counter(len(source.split()) // 3 for source, _ in joined(PAIRS * 60, 4, 100))
    assert set(texts) == {1, 2, 3, 4}
    sentences = [length * found for length, found in texts.items()]
    assert max(sentences) < 1.2 * min(sentences)


def test_no_text_has_more_words_than_wanted_on_either_side() -> None:
    pairs = [("a", "x y z")] * 500 + [("a b c", "x")] * 500
    texts = list(joined(pairs, 10, 7))
    assert max(max(len(source.split()), len(target.split())) for source, target in texts) == 7
    assert sum(len(source.split()) for source, _ in texts) == 2000


def test_regrouped_texts_have_the_same_sentences() -> None:
    texts = regrouped(PAIRS, 8)
    assert len(texts) == 25
    assert texts[1] == (" ".join(s for s, _ in PAIRS[8:16]), " ".join(t for _, t in PAIRS[8:16]))


def test_tests_of_unlike_content_are_refused() -> None:
    with pytest.raises(AssertionError):
        replace(LENGTHS, test_sentences=21)


@pytest.fixture
def recipe(recipe_path: Path) -> Recipe:
    return load_recipe(str(recipe_path))


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_the_files_hold_the_corpus_once_each_and_the_test_apart(recipe: Recipe, tmp_path: Path, corpus: Any) -> None:
    pairs: tuple[tuple[str, str], ...] = corpus.pairs
    write_texts(recipe, LENGTHS, tmp_path)
    for name in (SHORT, ALL):
        source, target = lines(tmp_path / f"{name}.en"), lines(tmp_path / f"{name}.de")
        assert len(source) == len(target)
        assert " ".join(source) == " ".join(pair[0] for pair in pairs)
        assert " ".join(target) == " ".join(pair[1] for pair in pairs)
    assert max(len(line.split()) for line in lines(tmp_path / "short.en")) <= 12
    assert max(line.count(".") for line in lines(tmp_path / "all.en")) == 5
    assert read_test(recipe, tmp_path) == list(pairs[:20])
    assert " ".join(lines(tmp_path / "valid.en")) == " ".join(pair[0] for pair in pairs[20:])
    before = {path.name: path.read_bytes() for path in tmp_path.glob("*.??")}
    write_texts(recipe, LENGTHS, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.??")} == before


def test_long_sentences_are_left_out_of_both(recipe: Recipe, tmp_path: Path) -> None:
    write_texts(recipe, replace(LENGTHS, trained_words=4), tmp_path)
    assert lines(tmp_path / "short.en") == lines(tmp_path / "all.en") == []


def test_too_few_sentences_to_test_with(recipe: Recipe, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="216 pairs are too few; the first 216 are tested"):
        write_texts(recipe, replace(LENGTHS, test_sentences=216), tmp_path)


def test_missing_corpora_leave_nothing(recipe: Recipe, tmp_path: Path) -> None:
    assert recipe.data is not None
    gone = replace(recipe, data=replace(recipe.data, folder=str(tmp_path / "nowhere")))
    with pytest.raises(DataError, match="cannot be used"):
        write_texts(gone, LENGTHS, tmp_path / "texts")
    assert not (tmp_path / "texts").exists()


def test_one_preparation_serves_both_and_long_texts_are_trained_on_beside_short_ones(
    recipe: Recipe, tmp_path: Path
) -> None:
    texts = tmp_path / "texts"
    write_texts(recipe, LENGTHS, texts)
    short, every = on_texts(recipe, texts, SHORT), on_texts(recipe, texts, ALL)
    prepared = prepare_if_missing(short, tmp_path / "prepared", Silence())
    assert prepare_if_missing(every, tmp_path / "prepared", Silence()).folder == prepared.folder
    for made, names in ((short, (SHORT,)), (every, (SHORT, ALL))):
        stream = batch_stream(made, prepared)
        batches = takewhile(lambda batch: batch[0].epoch == 0, stream.from_place(Place()))
        members = (int(member) for _, pairs in batches for of_text in pairs.members for member in of_text)
        seen = Counter(map(stream.origin, members))
        numbers = {name: list(prepared.corpora).index(name) for name in names}
        assert seen == Counter({(numbers[n], index): 1 for n in names for index in range(len(prepared.corpora[n]))})
