"""The decoder that is told where in a tree it is, held against plain loops and against itself without a cache."""

import random

import pytest
import torch

from attendo.decoding.steps import RecomputingStep, TransformerStep
from attendo.model.batch import collate, pad_source
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.model.tree_depth import MAX_DEPTH

VOCABULARY = 30
BEGINS = {number for number in range(VOCABULARY) if number % 3 == 1}
WRITES = {number for number in range(VOCABULARY) if number % 2 == 1}
OPENS = {number for number in range(VOCABULARY) if number % 5 == 2}
CLOSES = {number for number in range(VOCABULARY) if number % 7 == 4}


def make_model(*, word: bool, depth: bool) -> Transformer:
    torch.manual_seed(3)
    config = ModelConfig(d_model=32, d_ff=48, num_layers=2, num_heads=4, dropout=0.0, next_word=word, tree_depth=depth)
    made = Transformer(config, VOCABULARY, VOCABULARY).eval()
    if made.next_word is not None:
        made.next_word.know(*(torch.tensor([n in known for n in range(VOCABULARY)]) for known in (BEGINS, WRITES)))
    if made.tree_depth is not None:
        made.tree_depth.know(torch.tensor([(n in OPENS) - (n in CLOSES) for n in range(VOCABULARY)]))
    return made


@pytest.fixture(params=[(True, False), (False, True), (True, True)], ids=["word", "depth", "both"])
def model(request: pytest.FixtureRequest) -> Transformer:
    word, depth = request.param
    return make_model(word=word, depth=depth)


def sentences(seed: int, count: int) -> list[list[int]]:
    rng = random.Random(seed)
    return [[rng.randint(1, VOCABULARY - 1) for _ in range(rng.randint(1, 12))] + [0] for _ in range(count)]


def next_word_places(source: list[int], target_in: list[int]) -> list[int]:
    """Where in the source the word stands that is next at each position: by counting, one after the other."""
    found, written = [], 0
    starts = [place for place, token in enumerate(source) if token in BEGINS]
    for token in target_in:
        written += token in WRITES
        found.append(starts[written] if written < len(starts) else source.index(0))
    return found


@torch.no_grad()
def test_what_is_told_is_of_the_next_word() -> None:
    model = make_model(word=True, depth=False)
    source, target = sentences(1, 20), sentences(2, 20)
    batch = collate(source, target)
    memory = torch.randn(20, batch.src_ids.shape[1], 32)
    assert model.next_word is not None
    words = model.next_word.words(memory, batch.src_ids)
    told = model.next_word(words, model.next_word.written(batch.tgt_in_ids))
    for row, (src, tgt) in enumerate(zip(source, target, strict=True)):
        places = next_word_places(src, [-1, *tgt[:-1]])
        expected = torch.stack([model.next_word.memory(memory[row, place]) for place in places])
        torch.testing.assert_close(told[row, : len(tgt)], expected)


@torch.no_grad()
def test_what_is_told_is_of_the_depth() -> None:
    model = make_model(word=False, depth=True)
    target = sentences(8, 20)
    assert model.tree_depth is not None
    batch = collate(target, target)
    told = model.tree_depth(model.tree_depth.written(batch.tgt_in_ids))
    for row, tgt in enumerate(target):
        depth, expected = 0, []
        for token in [-1, *tgt[:-1]]:
            depth += (token in OPENS) - (token in CLOSES)
            expected.append(model.tree_depth.depths[max(depth, 0)])
        torch.testing.assert_close(told[row, : len(tgt)], torch.stack(expected))


def test_what_is_deeper_than_the_table_is_told_as_the_deepest() -> None:
    model = make_model(word=False, depth=True)
    assert model.tree_depth is not None
    told = model.tree_depth(torch.tensor([-1, 0, MAX_DEPTH, MAX_DEPTH + 1]))
    assert torch.equal(told[0], told[1])
    assert torch.equal(told[2], told[3])
    assert not torch.equal(told[1], told[2])


@torch.no_grad()
def test_a_padded_batch_gives_what_each_sentence_gives_alone(model: Transformer) -> None:
    source, target = sentences(4, 8), sentences(5, 8)
    together = model(collate(source, target))
    for row, (src, tgt) in enumerate(zip(source, target, strict=True)):
        torch.testing.assert_close(together[row, : len(tgt)], model(collate([src], [tgt]))[0], atol=1e-5, rtol=1e-4)


def test_a_cache_changes_nothing(model: Transformer) -> None:
    source, rng = sentences(6, 3), random.Random(7)
    cached, plain = (kind(model, *pad_source(source)) for kind in (TransformerStep, RecomputingStep))
    answers = [step.start().all() for step in (cached, plain)]
    rows = torch.tensor([[0, 0], [1, 1], [2, 2]]).numpy()
    for number in range(9):
        torch.testing.assert_close(torch.from_numpy(answers[0]), torch.from_numpy(answers[1]), atol=1e-5, rtol=1e-4)
        if number:  # the hypotheses of a sentence change places, and one sentence leaves
            rows = torch.tensor([[2 * i + rng.randint(0, 1) for _ in range(2)] for i in range(len(rows))]).numpy()
            rows = rows[1:] if number == 5 else rows
        for step in (cached, plain):
            step.select(rows)
        last = torch.tensor([rng.randint(1, VOCABULARY - 1) for _ in range(rows.size)]).numpy()
        answers = [step.advance(last).all() for step in (cached, plain)]
