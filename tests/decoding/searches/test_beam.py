"""Diverse beam search, held against the paper's procedure over Python lists."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.decoding.conftest import EOS, TreeStep, random_table, score_of
from torch import Tensor

from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.constraint import Rules
from attendo.decoding.searches.beam import beam_search

Ids = tuple[int, ...]
Open = tuple[float, int, Ids]


def naive_diverse_beam_search(table: Tensor, max_len: int, config: SearchConfig) -> list[tuple[float, Ids]]:
    """Group after group at each step, to the longest length: Vijayakumar et al., Algorithm 1, Hamming diversity."""
    rows = table.tolist()
    vocab_size, size = len(rows[0]), config.beam_size // config.beam_groups
    groups: list[list[Open]] = [[(0.0, 0, ())] for _ in range(config.beam_groups)]
    finished: list[list[tuple[float, Ids]]] = [[] for _ in groups]
    for length in range(max_len + 1):
        allowed = range(vocab_size) if length < max_len else [EOS]
        taken: list[int] = []
        for number, group in enumerate(groups):
            grown = []
            for log_prob, prefix, ids in group:
                for token in sorted(allowed, key=lambda token: -rows[prefix][token]):
                    total = log_prob + rows[prefix][token]
                    ranked = total - config.diversity_penalty * taken.count(token)
                    grown.append((ranked, total, prefix * vocab_size + token + 1, (*ids, token)))
            kept = sorted(grown, key=lambda each: -each[0])[:size]
            groups[number] = [(total, prefix, ids) for _, total, prefix, ids in kept if ids[-1] != EOS]
            finished[number] += [
                (score_of(total, length + 1, config.length_penalty), ids[:-1])
                for _, total, _, ids in kept
                if ids[-1] == EOS
            ]
            taken += [ids[-1] for _, _, _, ids in kept if ids[-1] != EOS]
    best = [sorted(each, key=lambda found: -found[0])[:size] for each in finished]
    distinct = dict.fromkeys(found for each in best for found in each)
    return sorted(distinct, key=lambda found: -found[0])[: config.n_best]


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    vocab_size=st.integers(2, 5),
    max_lens=st.lists(st.integers(0, 4), min_size=1, max_size=3),
    shape=st.sampled_from([(2, 2), (4, 2), (6, 3), (6, 2), (4, 4), (3, 1)]),
    penalty=st.sampled_from([0.0, 0.3, 1.0, 10.0]),
    alpha=st.sampled_from([-1.0, 0.0, 0.6]),
    sharpness=st.sampled_from([0.3, 1.0, 4.0]),
)
def test_groups_choose_as_in_the_paper(
    seed: int,
    vocab_size: int,
    max_lens: list[int],
    shape: tuple[int, int],
    penalty: float,
    alpha: float,
    sharpness: float,
) -> None:
    tables = random_table(seed, len(max_lens), vocab_size, 4, sharpness=sharpness)
    config = SearchConfig(
        beam_size=shape[0], beam_groups=shape[1], n_best=shape[0], diversity_penalty=penalty, length_penalty=alpha
    )
    rules = [Rules(max_len=max_len) for max_len in max_lens]
    found = beam_search(TreeStep(tables), rules, eos_id=EOS, config=config)
    for table, max_len, hypotheses in zip(tables, max_lens, found, strict=True):
        expected = naive_diverse_beam_search(table, max_len, config)
        assert [(each.score, each.ids) for each in hypotheses] == expected


def test_a_large_penalty_makes_groups_differ_from_the_first_token_on() -> None:
    table = random_table(1, 1, 6, 3)
    config = SearchConfig(beam_size=4, beam_groups=4, n_best=4, diversity_penalty=100.0)
    [found] = beam_search(TreeStep(table), [Rules(max_len=3, min_len=1)], eos_id=EOS, config=config)
    assert len({each.ids[0] for each in found}) == 4


def test_no_penalty_makes_all_groups_one_beam() -> None:
    tables = random_table(2, 3, 5, 4)
    rules = [Rules(max_len=4)] * 3
    groups = SearchConfig(beam_size=6, beam_groups=3, n_best=2, diversity_penalty=0.0)
    alone = SearchConfig(beam_size=2, n_best=2)
    expected = beam_search(TreeStep(tables), rules, eos_id=EOS, config=alone)
    assert beam_search(TreeStep(tables), rules, eos_id=EOS, config=groups) == expected


@pytest.mark.parametrize("beam_size", [1, 4])
def test_rows_are_reordered_only_where_they_change(beam_size: int) -> None:
    # A model that always prefers 1 and never ends: a beam of 1 never changes places, whatever the length.
    table = random_table(3, 2, 3, 5)
    table[:, :, EOS], table[:, :, 1] = -60.0, -0.01
    step = TreeStep(table)
    beam_search(step, [Rules(max_len=5)] * 2, eos_id=EOS, config=SearchConfig(beam_size=beam_size))
    unmoved: Sequence[list[list[int]]] = [[[0], [1]]] if beam_size == 1 else []
    assert not [rows for rows in step.selects if rows in unmoved]
    assert len(step.calls) == 6
    assert beam_size > 1 or step.selects == []
