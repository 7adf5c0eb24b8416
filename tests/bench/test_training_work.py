"""Batches of equal and of unequal sentences: what they are made of, and that they can be made of a corpus."""

import random
import statistics
from pathlib import Path

import pytest

from attendo.bench.training_work import (
    LONGEST,
    MAX_TOKENS,
    SHAPES,
    SentencePairs,
    corpus_pairs,
    equal_work,
    made_up_pairs,
    unequal_work,
)
from attendo.errors import DataError
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer

SMALL = SHAPES["small"]


def test_equal_batches_have_no_padding() -> None:
    work = equal_work(SMALL)
    assert len(work.batches) == SMALL.group_steps["equal"]
    for batch in work.batches:
        for side in (batch.source, batch.target):
            assert {len(row) for row in side} == {25}
            assert len(side) == 82
            assert all(row[-1] == 0 and 0 not in row[:-1] for row in side)
            assert max(map(max, side)) < SMALL.vocab_size
    assert work.num_tokens == 4 * 2050


def test_unequal_batches_are_of_like_lengths_and_stand_for_all_of_them() -> None:
    pairs = made_up_pairs(SMALL.vocab_size)
    work = unequal_work(SMALL, pairs)
    assert len(work.batches) == SMALL.group_steps["unequal"]
    for batch in work.batches:
        assert len(batch.source) == len(batch.target)
        for side in (batch.source, batch.target):
            assert len(side) * max(map(len, side)) <= MAX_TOKENS
    means = [statistics.mean(map(len, batch.source)) for batch in work.batches]
    assert means == sorted(means)
    assert means[0] < 25 < 50 < means[-1]
    assert "3.0% of it padding" in work.description


def test_the_same_batches_each_time() -> None:
    pairs = made_up_pairs(SMALL.vocab_size)
    assert unequal_work(SMALL, pairs) == unequal_work(SMALL, made_up_pairs(SMALL.vocab_size))
    assert equal_work(SMALL) == equal_work(SMALL)


def test_made_up_lengths_are_those_of_news() -> None:
    # The newspaper sentences they were taken from: median 30, 5 % below 11 and 5 % above 68, targets 9 % longer.
    pairs = made_up_pairs(8000)
    lengths = sorted(map(len, pairs.source))
    assert lengths[len(lengths) // 2] == pytest.approx(30, abs=1.5)
    assert lengths[len(lengths) // 20] == pytest.approx(11, abs=1.5)
    assert lengths[-len(lengths) // 20] == pytest.approx(70, abs=5)
    assert lengths[-1] == LONGEST
    ratios = sorted(len(t) / len(s) for s, t in zip(pairs.source, pairs.target, strict=True))
    assert ratios[len(ratios) // 2] == pytest.approx(1.09, abs=0.02)


def test_operations_are_three_times_two_for_each_weight() -> None:
    # With one token on each side every weight of the shared matrix is used once, and all others once.
    shape = SHAPES["small"]
    config = ModelConfig(d_model=shape.d_model, d_ff=shape.d_ff, num_layers=shape.num_layers, num_heads=shape.num_heads)
    model = Transformer(config, shape.vocab_size, shape.vocab_size)
    matrices = sum(parameter.numel() for parameter in model.parameters() if parameter.dim() > 1)
    assert shape.operations_per_token == 6 * matrices


@pytest.fixture
def corpus(tmp_path: Path) -> tuple[Path, Path]:
    """400 pairs of made-up words, one pair empty on one side and one too long."""
    rng = random.Random(1)
    words = ["".join(rng.choices("abdeiklmnorstu", k=rng.randint(2, 7))) for _ in range(300)]
    lines = [[" ".join(rng.choices(words, k=rng.randint(2, 12))) for _ in range(400)] for _ in range(2)]
    lines[0][7] = " "
    lines[1][9] = " ".join(words[:150])
    paths = tmp_path / "text.a", tmp_path / "text.b"
    for path, side in zip(paths, lines, strict=True):
        path.write_text("".join(f"{line}\n" for line in side), encoding="utf-8")
    return paths


def test_pairs_of_a_corpus(corpus: tuple[Path, Path]) -> None:
    pairs = corpus_pairs(*corpus, vocab_size=400)
    assert len(pairs.source) == len(pairs.target) == 398  # without the empty and the long one
    assert all(row[-1] == 0 and max(row) < 400 for side in (pairs.source, pairs.target) for row in side)
    assert pairs.description == f"398 pairs of {corpus[0]} and {corpus[1]} in pieces of a vocabulary of 400"
    work = unequal_work(SMALL, pairs)
    assert work.description.startswith(pairs.description)


def test_a_corpus_that_is_too_small(corpus: tuple[Path, Path]) -> None:
    with pytest.raises(DataError, match=r"too little text to cut it into 8,000 pieces; name a larger corpus$"):
        corpus_pairs(*corpus)


def test_a_corpus_without_sentences(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.write_text("\n\n", encoding="utf-8")
    with pytest.raises(DataError, match="no pair of sentences; check the paths"):
        corpus_pairs(empty, empty)


def test_pairs_that_are_all_too_long() -> None:
    with pytest.raises(DataError, match="a corpus: no pair of up to 100 tokens a side"):
        unequal_work(SMALL, SentencePairs(source=[], target=[], description="a corpus"))
