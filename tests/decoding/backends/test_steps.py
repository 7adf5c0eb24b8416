"""Held against each other: the cache and a decoder that computes everything again, an ensemble and its model."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from attendo.decoding.backends.ensemble import EnsembleStep
from attendo.decoding.backends.steps import RecomputingStep, TransformerStep
from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.constraint import Rules
from attendo.decoding.searches.search import search
from attendo.decoding.step import Step
from attendo.model.batch import pad_source
from attendo.model.transformer import Transformer

MakeModel = Callable[..., Transformer]
SOURCES = [[5, 9, 3, 7, 0], [4, 0], [8, 8, 2, 0], [6, 3, 11, 2, 9, 30, 0], [0]]


def longest(*max_lens: int) -> list[Rules]:
    return [Rules(max_len=max_len) for max_len in max_lens]


def both(model: Transformer, sources: list[list[int]] = SOURCES) -> tuple[TransformerStep, RecomputingStep]:
    src_ids, src_mask = pad_source(sources)
    return TransformerStep(model, src_ids, src_mask), RecomputingStep(model, src_ids, src_mask)


@pytest.mark.parametrize("positions", ["interleaved", "halves", "learned"])
@pytest.mark.parametrize("start", ["zero", 7])
def test_cached_log_probs_are_those_computed_again(make_model: MakeModel, positions: str, start: str | int) -> None:
    cached, again = both(make_model(positions=positions, start=start, d_k=6, d_v=10))
    np.testing.assert_allclose(cached.start().all(), again.start().all(), atol=1e-5)
    # To two hypotheses a sentence; then reordered, and sentences 1 and 2 leave; then to three.
    for rows, tokens in (
        ([[0, 0], [1, 1], [2, 2], [3, 3], [4, 4]], [3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
        ([[1, 0], [6, 6], [8, 9]], [2, 2, 3, 4, 13, 14]),
        ([[0, 1, 1], [5, 4, 4]], [9, 8, 7, 6, 5, 4]),
    ):
        for step in (cached, again):
            step.select(np.array(rows))
        first, second = (step.advance(np.array(tokens)).all() for step in (cached, again))
        np.testing.assert_allclose(first, second, atol=1e-5)


@pytest.mark.parametrize("beam_size", [1, 2, 5])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_cached_search_is_uncached_search(make_model: MakeModel, beam_size: int, seed: int) -> None:
    config = SearchConfig(beam_size=beam_size, n_best=beam_size)
    cached, again = (search(step, longest(8, 5, 7, 10, 4), eos_id=0, config=config) for step in both(make_model(seed)))
    assert [[found.ids for found in each] for each in cached] == [[found.ids for found in each] for each in again]
    for each, other in zip(cached, again, strict=True):
        assert [found.score for found in each] == pytest.approx([found.score for found in other], abs=1e-5)


@pytest.mark.parametrize("window", [1, 3, 50])
@pytest.mark.parametrize("encoder", ["recurrent", "dilated-convolutional", "restricted-self-attention"])
def test_cached_search_is_uncached_search_for_other_layer_types(
    make_model: MakeModel, encoder: str, window: int
) -> None:
    config = SearchConfig(beam_size=3, n_best=3)
    model = make_model(encoder_layer=encoder, decoder_layer="restricted-self-attention", window=window)
    cached, again = (search(step, longest(8, 5, 7, 10, 4), eos_id=0, config=config) for step in both(model))
    assert [[found.ids for found in each] for each in cached] == [[found.ids for found in each] for each in again]


@pytest.mark.parametrize("count", [2, 3])
def test_an_ensemble_of_a_model_with_itself_is_the_model(make_model: MakeModel, count: int) -> None:
    model = make_model(4)
    steps: list[Step] = [both(model)[0] for _ in range(count)]
    config = SearchConfig(beam_size=4, n_best=4)
    together = search(EnsembleStep(steps), longest(8, 8, 8, 8, 8), eos_id=0, config=config)
    alone = search(both(model)[0], longest(8, 8, 8, 8, 8), eos_id=0, config=config)
    assert [[found.ids for found in each] for each in together] == [[found.ids for found in each] for each in alone]
    for each, other in zip(together, alone, strict=True):
        assert [found.score for found in each] == pytest.approx([found.score for found in other], abs=1e-5)


def test_an_ensemble_keeps_its_models_in_step(make_model: MakeModel) -> None:
    models = [make_model(5), make_model(6, num_layers=1)]
    config = SearchConfig(beam_size=3, n_best=3)
    cached, again = (
        search(EnsembleStep([both(model)[kind] for model in models]), longest(6, 6, 6, 6, 6), eos_id=0, config=config)
        for kind in (0, 1)
    )
    assert [[found.ids for found in each] for each in cached] == [[found.ids for found in each] for each in again]


def test_log_probs_are_float32_and_normalised_for_any_dtype(make_model: MakeModel) -> None:
    cached, _ = both(make_model().bfloat16())
    log_probs = torch.from_numpy(cached.start().all())
    assert log_probs.dtype == torch.float32
    torch.testing.assert_close(log_probs.exp().sum(1), torch.ones(5))
