"""Expected values: brute force over whole languages, a naive beam search over Python lists, and worked examples."""

import itertools
import math
from collections.abc import Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.decoding.conftest import EOS, TreeStep, random_table, score_of, token_log_probs
from torch import Tensor

from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.constraint import Rules
from attendo.decoding.searches.beam import beam_search
from attendo.decoding.searches.greedy import greedy_search
from attendo.decoding.searches.hypothesis import Hypothesis, length_penalty
from attendo.decoding.searches.search import search
from attendo.errors import ModelError


def up_to(max_lens: Sequence[int]) -> list[Rules]:
    return [Rules(max_len=max_len) for max_len in max_lens]


def exhaustive(table: Tensor, max_len: int, alpha: float) -> list[tuple[float, tuple[int, ...]]]:
    """Every sequence of at most `max_len` tokens of one sentence's table, best score first."""
    tokens = [token for token in range(table.shape[1]) if token != EOS]
    scored = []
    for length in range(max_len + 1):
        for ids in itertools.product(tokens, repeat=length):
            scored.append((score_of(sum(token_log_probs(table, (*ids, EOS))), length + 1, alpha), ids))
    return sorted(scored, reverse=True)


def naive_beam_search(table: Tensor, max_len: int, config: SearchConfig) -> list[tuple[float, tuple[int, ...]]]:
    """The same rule over lists, without any early stop: every sentence is searched to its longest length."""
    rows = table.tolist()
    vocab_size = len(rows[0])
    beam: list[tuple[float, int, tuple[int, ...]]] = [(0.0, 0, ())]
    finished: list[tuple[float, tuple[int, ...]]] = []
    for length in range(max_len + 1):
        allowed = range(vocab_size) if length < max_len else [EOS]
        grown = [
            (log_prob + rows[prefix][token], prefix * vocab_size + token + 1, (*ids, token))
            for log_prob, prefix, ids in beam
            for token in sorted(allowed, key=lambda token: -rows[prefix][token])
        ]
        grown = sorted(grown, key=lambda each: -each[0])[: config.beam_size]
        beam = [each for each in grown if each[2][-1] != EOS]
        finished += [
            (score_of(log_prob, length + 1, config.length_penalty), ids[:-1])
            for log_prob, _, ids in grown
            if ids[-1] == EOS
        ]
    return sorted(finished, key=lambda each: -each[0])[: config.n_best]


def outcome(hypotheses: list[Hypothesis]) -> list[tuple[float, tuple[int, ...]]]:
    return [(hypothesis.score, hypothesis.ids) for hypothesis in hypotheses]


@pytest.mark.parametrize("alpha", [-0.5, 0.0, 0.6, 1.0, 2.0])
@pytest.mark.parametrize(("vocab_size", "max_len"), [(2, 5), (3, 4), (4, 3)])
def test_a_wide_beam_is_exhaustive(vocab_size: int, max_len: int, alpha: float) -> None:
    tables = random_table(vocab_size, 4, vocab_size, max_len)
    config = SearchConfig(beam_size=vocab_size ** (max_len + 1), length_penalty=alpha, n_best=5)
    found = beam_search(TreeStep(tables), up_to([max_len] * 4), eos_id=EOS, config=config)
    for table, hypotheses in zip(tables, found, strict=True):
        expected = exhaustive(table, max_len, alpha)[:5]
        assert [hypothesis.ids for hypothesis in hypotheses] == [ids for _, ids in expected]
        assert [hypothesis.score for hypothesis in hypotheses] == pytest.approx([score for score, _ in expected])


def test_an_exhaustive_search_lists_the_whole_language() -> None:
    config = SearchConfig(beam_size=100, n_best=100, length_penalty=0.6)
    [found] = beam_search(TreeStep(random_table(5, 1, 3, 3)), up_to([3]), eos_id=EOS, config=config)
    # Two words, at most three of them: 1 + 2 + 4 + 8 sentences, whose probabilities are a part of 1.
    assert len({hypothesis.ids for hypothesis in found}) == len(found) == 15
    assert sum(math.exp(hypothesis.log_prob) for hypothesis in found) < 1


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    vocab_size=st.integers(2, 4),
    max_lens=st.lists(st.integers(0, 5), min_size=1, max_size=4),
    beam_size=st.integers(1, 6),
    n_best=st.integers(1, 6),
    alpha=st.sampled_from([-1.0, 0.0, 0.6, 1.0, 3.0]),
    sharpness=st.sampled_from([0.3, 1.0, 4.0]),
)
def test_stopping_early_changes_nothing(
    seed: int, vocab_size: int, max_lens: list[int], beam_size: int, n_best: int, alpha: float, sharpness: float
) -> None:
    tables = random_table(seed, len(max_lens), vocab_size, 5, sharpness=sharpness)
    config = SearchConfig(beam_size=beam_size, n_best=min(n_best, beam_size), length_penalty=alpha)
    found = beam_search(TreeStep(tables), up_to(max_lens), eos_id=EOS, config=config)
    expected = [naive_beam_search(table, max_len, config) for table, max_len in zip(tables, max_lens, strict=True)]
    assert [outcome(hypotheses) for hypotheses in found] == expected


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), levels=st.integers(1, 3), beam_size=st.integers(1, 4))
def test_ties_are_decided_as_documented(seed: int, levels: int, beam_size: int) -> None:
    # Few distinct values make many ties; the naive search is stable, so it keeps the order of hypotheses and ids.
    values = torch.randint(levels, (2, 4**0 + 4 + 16 + 64, 4), generator=torch.Generator().manual_seed(seed))
    tables = -1.0 - values.float()
    config = SearchConfig(beam_size=beam_size, n_best=beam_size)
    found = beam_search(TreeStep(tables), up_to([3, 3]), eos_id=EOS, config=config)
    assert [outcome(hypotheses) for hypotheses in found] == [naive_beam_search(table, 3, config) for table in tables]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), max_lens=st.lists(st.integers(0, 5), max_size=5))
def test_a_beam_of_one_is_greedy(seed: int, max_lens: list[int]) -> None:
    tables = random_table(seed, len(max_lens), 3, 5)
    config = SearchConfig(beam_size=1)
    greedy = [found for [found] in greedy_search(TreeStep(tables), up_to(max_lens), eos_id=EOS, config=config)]
    assert [[each] for each in greedy] == beam_search(TreeStep(tables), up_to(max_lens), eos_id=EOS, config=config)
    assert [[each] for each in greedy] == search(TreeStep(tables), up_to(max_lens), eos_id=EOS, config=config)
    for table, max_len, each in zip(tables, max_lens, greedy, strict=True):
        ids: tuple[int, ...] = ()
        prefix = 0
        while len(ids) < max_len and (token := int(table[prefix].argmax())) != EOS:
            ids, prefix = (*ids, token), prefix * 3 + token + 1
        assert each.ids == ids
        assert each.finished == (int(table[prefix].argmax()) == EOS)


@pytest.mark.parametrize("beam_size", [1, 4])
def test_the_rest_of_the_batch_changes_nothing(beam_size: int) -> None:
    tables = random_table(7, 6, 4, 4)
    max_lens = [4, 2, 3, 0, 4, 1]
    config = SearchConfig(beam_size=beam_size, n_best=beam_size)

    def run(chosen: list[int]) -> list[list[Hypothesis]]:
        return search(TreeStep(tables[chosen]), up_to([max_lens[i] for i in chosen]), eos_id=EOS, config=config)

    together = run([0, 1, 2, 3, 4, 5])
    assert run([5, 4, 3, 2, 1, 0]) == together[::-1]
    assert [run([i])[0] for i in range(6)] == together
    assert run([2, 2, 0]) == [together[2], together[2], together[0]]


def test_hypotheses_are_sorted_distinct_and_say_what_they_are_made_of() -> None:
    tables = random_table(11, 3, 4, 4)
    config = SearchConfig(beam_size=6, n_best=6)
    found = beam_search(TreeStep(tables), up_to([4, 4, 4]), eos_id=EOS, config=config)
    for table, hypotheses in zip(tables, found, strict=True):
        scores = [hypothesis.score for hypothesis in hypotheses]
        assert scores == sorted(scores, reverse=True)
        assert len({hypothesis.ids for hypothesis in hypotheses}) == 6
        for hypothesis in hypotheses:
            expected = token_log_probs(table, (*hypothesis.ids, EOS))
            assert list(hypothesis.token_log_probs) == expected
            assert hypothesis.log_prob == pytest.approx(sum(expected))
            assert hypothesis.score == pytest.approx(score_of(sum(expected), len(expected), 0.6))


@pytest.mark.parametrize("beam_size", [1, 3])
def test_each_sentence_keeps_to_its_own_limit(beam_size: int) -> None:
    # </s> is so improbable that only the limit ends a translation.
    tables = random_table(3, 4, 3, 5)
    tables[:, :, EOS] = -50.0
    max_lens = [5, 0, 3, 1]
    found = search(TreeStep(tables), up_to(max_lens), eos_id=EOS, config=SearchConfig(beam_size=beam_size))
    assert [len(best.ids) for [best] in found] == max_lens
    assert not any(best.finished for [best] in found)
    assert [best.token_log_probs[-1] for [best] in found] == [-50.0] * 4


@pytest.mark.parametrize("beam_size", [1, 2])
def test_finished_sentences_leave_the_batch(beam_size: int) -> None:
    # Sentence i says </s> almost surely after i tokens: in prefixes of that length it has all the probability.
    tables = torch.full((4, sum(2**n for n in range(6)), 2), math.log(1e-6))
    first = [0, 1, 3, 7, 15, 31, 63]
    for sentence in range(4):
        for length in range(6):
            tables[sentence, first[length] : first[length + 1], EOS if length >= sentence else 1] = math.log(1 - 1e-6)
    step = TreeStep(tables)
    found = search(step, up_to([5] * 4), eos_id=EOS, config=SearchConfig(beam_size=beam_size))
    assert [best.ids for [best] in found] == [(), (1,), (1, 1), (1, 1, 1)]
    # With two hypotheses a sentence: it is left at once, for the other one can never catch up.
    assert step.calls == [4, 3 * beam_size, 2 * beam_size, beam_size]


def test_length_penalty_by_hand() -> None:
    # ((5 + 7) / 6)^0.6 = 2^0.6 = 1.5157...; with alpha 0 nothing is divided; one token has penalty 1.
    assert length_penalty(7, 0.6) == pytest.approx(1.515716566510398)
    assert length_penalty(7, 0.0) == 1.0
    assert length_penalty(1, 0.6) == 1.0


def test_the_penalty_decides_between_short_and_long_as_worked_by_hand() -> None:
    # `</s>` at once has log-probability -1.0 and length 1; "1 </s>" has -1.2 and length 2: with alpha 0 the short one
    # wins; with alpha 2 the long one has -1.2 / (7/6)^2 = -0.88.
    table = torch.tensor([[[-1.0, -0.6], [-9.0, -9.0], [-0.6, -1.5]]])
    short, long = (
        beam_search(TreeStep(table), up_to([1]), eos_id=EOS, config=SearchConfig(beam_size=2, length_penalty=alpha))[0][
            0
        ]
        for alpha in (0.0, 2.0)
    )
    assert short.ids == ()
    assert short.score == pytest.approx(-1.0)
    assert long.ids == (1,)
    assert long.score == pytest.approx(-1.2 / (7 / 6) ** 2)


def test_a_negative_alpha_is_not_stopped_too_early_as_worked_by_hand() -> None:
    # Alpha -1 scores p (5 + length) / 6. `</s>` at once has -1.0. The open "1" has -0.8 and may end with -0.8 * 7/6 =
    # -0.93, which wins, though at the longest length, -0.8 * 11/6, or only a token later, -0.8 * 8/6, it would not.
    table = random_table(0, 1, 2, 5)
    table[0, 0], table[0, 2] = torch.tensor([-1.0, -0.8]), torch.tensor([0.0, -30.0])
    config = SearchConfig(beam_size=2, length_penalty=-1.0)
    [[best]] = beam_search(TreeStep(table), up_to([5]), eos_id=EOS, config=config)
    assert best.ids == (1,)
    assert best.score == pytest.approx(-0.8 * 7 / 6)


def test_no_sentences_no_hypotheses() -> None:
    tables = random_table(1, 0, 3, 2)
    assert beam_search(TreeStep(tables), up_to([]), eos_id=EOS, config=SearchConfig()) == []
    assert greedy_search(TreeStep(tables), up_to([]), eos_id=EOS, config=SearchConfig()) == []


@pytest.mark.parametrize("beam_size", [1, 2])
@pytest.mark.parametrize("prefix", [0, 2])
def test_probabilities_that_are_no_numbers_are_refused(beam_size: int, prefix: int) -> None:
    tables = torch.tensor([[-9.0, -0.1]]).log_softmax(-1).repeat(1, 7, 1)
    tables[0, prefix] = torch.nan
    with pytest.raises(ModelError, match="not numbers; its weights are damaged"):
        search(TreeStep(tables), up_to([2]), eos_id=EOS, config=SearchConfig(beam_size=beam_size))
