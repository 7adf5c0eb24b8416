"""Expected values: the exact probability of every translation, by recursion over a toy model's whole language."""

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.decoding.conftest import EOS, TreeStep, random_table, score_of, token_log_probs

from attendo.decoding.backends.next_tokens import DenseNext
from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.constraint import Rules
from attendo.decoding.searches.sampling import draw, uniforms
from attendo.decoding.searches.search import search

Ids = tuple[int, ...]
Row = list[float]
SHARPENED = [
    {},
    {"temperature": 0.5},
    {"temperature": 3.0},
    {"sample_top_k": 2},
    {"sample_top_p": 0.6},
    {"sample_top_p": 0.9, "temperature": 0.7},
    {"sample_top_k": 3, "sample_top_p": 0.7, "temperature": 2.0},
]


def chances(row: Row, permitted: list[int], config: SearchConfig) -> dict[int, float]:
    """The probability of each token by the definitions, one token after the other."""
    ranked = sorted(permitted, key=lambda token: (-row[token], token))
    if config.sample_top_k:
        ranked = ranked[: config.sample_top_k]
    weights = {token: math.exp(row[token] / config.temperature) for token in ranked}
    whole, kept, mass = sum(weights.values()), {}, 0.0
    for token in ranked:
        kept[token] = weights[token]
        mass += weights[token]
        if config.sample_top_p < 1 and mass >= config.sample_top_p * whole:
            break
    return {token: weight / mass for token, weight in kept.items()}


def distribution(
    row_of: Callable[[Ids], Row], max_len: int, config: SearchConfig, permits: Callable[[Ids, int], bool]
) -> dict[Ids, float]:
    """The probability of each translation."""
    found: dict[Ids, float] = {}

    def go_on(ids: Ids, probability: float) -> None:
        row = row_of(ids)
        permitted = [token for token in range(len(row)) if permits(ids, token)]
        for token, chance in chances(row, permitted, config).items():
            if token == EOS or len(ids) == max_len:
                found[ids] = found.get(ids, 0.0) + probability * chance
            else:
                go_on((*ids, token), probability * chance)

    go_on((), 1.0)
    return found


def rows_of(table: torch.Tensor) -> Callable[[Ids], Row]:
    def row_of(ids: Ids) -> Row:
        prefix = 0
        for token in ids:
            prefix = prefix * table.shape[1] + token + 1
        row: Row = table[prefix].tolist()
        return row

    return row_of


def check_counts(ids: list[Ids], expected: dict[Ids, float]) -> None:
    """Counts within five standard deviations of their binomial distributions, and none that cannot be."""
    counts = Counter(ids)
    assert set(counts) <= set(expected)
    for each, probability in expected.items():
        mean = probability * len(ids)
        assert abs(counts[each] - mean) <= 5 * math.sqrt(mean * (1 - probability)) + 1e-9


@pytest.mark.parametrize("settings_", SHARPENED)
def test_samples_have_the_probabilities_that_the_definitions_give(settings_: dict[str, Any]) -> None:
    table = random_table(1, 1, 4, 3, sharpness=2.0)
    config = SearchConfig(sampling=True, n_best=6_000, seed=7, **settings_)
    [samples] = search(TreeStep(table), [Rules(max_len=3)], eos_id=EOS, config=config)
    expected = distribution(rows_of(table[0]), 3, config, lambda ids, token: True)
    check_counts([sample.ids for sample in samples], expected)


@pytest.mark.parametrize("settings_", SHARPENED)
def test_samples_under_rules_have_their_probabilities(settings_: dict[str, Any]) -> None:
    table = random_table(2, 1, 4, 4, sharpness=2.0)
    rules = Rules(max_len=4, min_len=2, prefix=(2,), forbidden=((1,), (3, 2)))
    config = SearchConfig(sampling=True, n_best=6_000, **settings_)

    def permits(ids: Ids, token: int) -> bool:
        if not ids:
            return token == 2
        if token == EOS:
            return len(ids) >= 2
        return token != 1 and (ids[-1], token) != (3, 2)

    [samples] = search(TreeStep(table), [rules], eos_id=EOS, config=config)
    check_counts([sample.ids for sample in samples], distribution(rows_of(table[0]), 4, config, permits))


def test_samples_with_a_forced_token_have_their_probabilities() -> None:
    # 2 is forced: where the end is drawn without it, 2 comes next and then all goes on as it would.
    table = random_table(3, 1, 3, 3, sharpness=1.5)
    row_of = rows_of(table[0])
    expected: dict[Ids, float] = {}

    def go_on(ids: Ids, probability: float) -> None:
        row = row_of(ids)
        if 2 not in ids and len(ids) == 2:
            go_on((*ids, 2), probability)  # the last place where it fits
            return
        for token, chance in chances(row, [0, 1, 2], config).items():
            if token == EOS and 2 not in ids:
                go_on((*ids, 2), probability * chance)
            elif token == EOS or len(ids) == 3:
                expected[ids] = expected.get(ids, 0.0) + probability * chance
            else:
                go_on((*ids, token), probability * chance)

    config = SearchConfig(sampling=True, n_best=6_000)
    go_on((), 1.0)
    [samples] = search(TreeStep(table), [Rules(max_len=3, forced=((2,),))], eos_id=EOS, config=config)
    check_counts([sample.ids for sample in samples], expected)


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    vocab_size=st.sampled_from([2, 5, 63, 64, 65, 300]),
    sharpened=st.sampled_from(SHARPENED),
    uniform=st.sampled_from([0.0, 1e-9, 0.25, 0.5, 0.999, 1 - 2**-53]),
    sharpness=st.sampled_from([0.01, 1.0, 30.0]),
)
def test_a_draw_turns_the_distribution_round(
    seed: int, vocab_size: int, sharpened: dict[str, Any], uniform: float, sharpness: float
) -> None:
    row = random_table(seed, 1, vocab_size, 0, sharpness=sharpness)[0]
    config = SearchConfig(sampling=True, **sharpened)
    tokens, log_probs = draw(DenseNext(row), None, np.array([uniform]), config)
    expected = chances(row[0].tolist(), list(range(vocab_size)), config)
    token = int(tokens[0])
    assert log_probs[0] == row[0, token]
    # By id where all may be drawn, else by probability: at what is summed up to before and with the token.
    order = list(expected) if config.sample_top_k or config.sample_top_p < 1 else sorted(expected)
    assert token in order
    before = sum(expected[each] for each in order[: order.index(token)])
    assert before - 1e-5 <= uniform <= before + expected[token] + 1e-5


@pytest.mark.parametrize("settings_", SHARPENED)
def test_samples_depend_on_their_seeds_alone(settings_: dict[str, Any]) -> None:
    table = random_table(5, 1, 4, 5, sharpness=0.5)
    table[:, :, EOS] -= 1.5  # so that translations have some length
    tables = table.log_softmax(-1).expand(4, -1, -1)
    rules = [Rules(max_len=5, seed=1), Rules(max_len=5, seed=2), Rules(max_len=3, seed=3), Rules(max_len=5, seed=1)]

    def run(chosen: list[int], **changes: Any) -> list[list[Ids]]:
        config = SearchConfig(sampling=True, **({"n_best": 8} | settings_ | changes))
        found = search(TreeStep(tables[chosen]), [rules[i] for i in chosen], eos_id=EOS, config=config)
        return [[each.ids for each in hypotheses] for hypotheses in found]

    together = run([0, 1, 2, 3])
    assert together[0] == together[3]
    assert together[0] != together[1]
    assert [run([i])[0] for i in range(4)] == together
    assert run([3, 2, 1, 0]) == together[::-1]
    assert run([0], seed=1) != run([0])
    # One sample more leaves the others what they are.
    assert Counter(run([0], n_best=9)[0]) > Counter(together[0])


def test_numbers_for_chance_are_those_of_the_sentence() -> None:
    config = SearchConfig(sampling=True, n_best=2)
    found = uniforms([Rules(max_len=3, seed=4), Rules(max_len=1, seed=4), Rules(max_len=3)], config)
    assert found.shape == (3, 2, 4, 2)
    assert ((found >= 0) & (found < 1)).all()
    assert (found[0] != found[2]).all()
    assert (found[1, 0, :2] == found[0, 0, :2]).all()


def test_samples_are_sorted_and_say_what_the_model_says() -> None:
    tables = random_table(6, 2, 4, 4)
    config = SearchConfig(sampling=True, n_best=30, temperature=0.8, sample_top_k=3)
    for table, samples in zip(
        tables, search(TreeStep(tables), [Rules(max_len=4)] * 2, eos_id=EOS, config=config), strict=True
    ):
        assert len(samples) == 30
        assert [sample.score for sample in samples] == sorted((sample.score for sample in samples), reverse=True)
        for sample in samples:
            expected = token_log_probs(table, (*sample.ids, EOS))
            assert list(sample.token_log_probs) == expected
            assert sample.score == pytest.approx(score_of(sum(expected), len(expected), 0.6))


def test_the_most_probable_token_alone_is_greedy_search() -> None:
    tables = random_table(8, 5, 4, 4)
    rules = [Rules(max_len=4, seed=i) for i in range(5)]
    sampled = search(TreeStep(tables), rules, eos_id=EOS, config=SearchConfig(sampling=True, sample_top_k=1))
    greedy = search(TreeStep(tables), rules, eos_id=EOS, config=SearchConfig(beam_size=1))
    assert [[each.ids for each in found] for found in sampled] == [[each.ids for each in found] for found in greedy]


def test_no_sentences_no_samples() -> None:
    assert search(TreeStep(random_table(0, 0, 3, 1)), [], eos_id=EOS, config=SearchConfig(sampling=True)) == []
