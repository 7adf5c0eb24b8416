"""Expected values: the whole language of a toy model, filtered by the rules' own words and ranked; worked examples."""

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.decoding.conftest import EOS, TreeStep, random_table, score_of, token_log_probs
from torch import Tensor

from attendo.decoding.backends.ensemble import EnsembleStep
from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.constraint import (
    AllowedTokens,
    Constraint,
    Forbidden,
    NoRepeat,
    Prefix,
    Rules,
    check_rules,
    length_bounds,
)
from attendo.decoding.searches.hypothesis import Hypothesis
from attendo.decoding.searches.search import search
from attendo.errors import DataError

Ids = tuple[int, ...]


def occurs(sequence: Ids, ids: Ids) -> bool:
    return any(ids[start : start + len(sequence)] == sequence for start in range(len(ids)))


def keeps_to(rules: Rules, ids: Ids, ngram: int) -> bool:
    """The rules as they are described, of a whole translation."""
    ngrams = [(ids[end - ngram : end], end) for end in range(ngram, len(ids) + 1)] if ngram else []
    return (
        rules.min_len <= len(ids) <= rules.max_len
        and ids[: len(rules.prefix)] == rules.prefix
        and not any(occurs(sequence, ids) for sequence in rules.forbidden)
        and all(occurs(sequence, ids) for sequence in rules.forced)
        and all(any(occurs(sequence, ids) for sequence in group) for group in rules.forced_any)
        and not any(
            one == other and before < end and end > len(rules.prefix) for one, before in ngrams for other, end in ngrams
        )
        and all(_accepts(constraint, ids) for constraint in rules.constraints)
    )


def _accepts(constraint: Constraint, ids: Ids) -> bool:
    whole = (*ids, EOS)
    return all(whole[length] in constraint.following(whole[:length]) for length in range(len(whole)))


def language(vocab_size: int, rules: Rules, ngram: int) -> list[Ids]:
    lengths = range(rules.max_len + 1)
    every = (ids for length in lengths for ids in itertools.product(range(1, vocab_size), repeat=length))
    return [ids for ids in every if keeps_to(rules, ids, ngram)]


def best_of(table: Tensor, rules: Rules, config: SearchConfig) -> list[tuple[float, Ids]]:
    scored = [
        (score_of(sum(token_log_probs(table, (*ids, EOS))), len(ids) + 1, config.length_penalty), ids)
        for ids in language(table.shape[1], rules, config.no_repeat_ngram)
    ]
    return sorted(scored, reverse=True)[: config.n_best]


def outcome(hypotheses: Sequence[Hypothesis]) -> list[tuple[float, Ids]]:
    return [(hypothesis.score, hypothesis.ids) for hypothesis in hypotheses]


class EvenTwos:
    """A grammar: the token 2 comes in pairs."""

    def following(self, ids: Sequence[int]) -> AllowedTokens:
        twos = len(list(itertools.takewhile(lambda token: token == 2, reversed(ids))))
        return AllowedTokens(only=frozenset((2,))) if twos % 2 else AllowedTokens()


class TracedTwos(EvenTwos):
    """The same, of which a search only sees what it says of the tokens that it went along with."""

    beginning = property(lambda self: _Twos(()))


class _Twos:
    def __init__(self, ids: Ids) -> None:
        self._ids = ids

    @property
    def allowed(self) -> AllowedTokens:
        return EvenTwos().following(self._ids)

    def after(self, token: int) -> "_Twos":
        return _Twos((*self._ids, token))


def sequences(vocab_size: int, longest: int) -> st.SearchStrategy[Ids]:
    return st.lists(st.integers(1, vocab_size - 1), min_size=1, max_size=longest).map(tuple)


def groups(vocab_size: int) -> st.SearchStrategy[tuple[Ids, ...]]:
    return st.lists(sequences(vocab_size, 3), min_size=1, max_size=3).map(tuple)


@st.composite
def rules_of(draw: st.DrawFn, vocab_size: int, longest: int) -> Rules:
    """Rules for a small language; of those that say that they contradict each other some are left out."""
    values: dict[str, Any] = {
        "max_len": draw(st.integers(0, longest)),
        "min_len": draw(st.integers(0, 2)),
        "prefix": draw(st.just(()) | sequences(vocab_size, 3)),
        "forbidden": tuple(draw(st.lists(sequences(vocab_size, 3), max_size=2))),
        "forced": tuple(draw(st.lists(sequences(vocab_size, 3), max_size=3))),
        "forced_any": tuple(draw(st.lists(groups(vocab_size), max_size=2))),
        "constraints": draw(st.sampled_from([(), (EvenTwos(),), (TracedTwos(),)])),
    }
    for left_out in ("forced", "forced_any", "prefix", "min_len"):
        try:
            return Rules(**values)
        except DataError:
            # It must be true that nothing keeps to them.
            unchecked = Rules(max_len=longest)
            for key, value in values.items():
                object.__setattr__(unchecked, key, value)
            assert not language(vocab_size, unchecked, 0)
            del values[left_out]
    return Rules(**values)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1), ngram=st.integers(0, 2), alpha=st.sampled_from([-1.0, 0.0, 0.6]))
@pytest.mark.parametrize(("vocab_size", "max_len"), [(3, 5), (4, 4)])
def test_a_wide_beam_finds_the_best_that_keeps_to_all_rules(
    vocab_size: int, max_len: int, data: st.DataObject, seed: int, ngram: int, alpha: float
) -> None:
    rules = data.draw(st.lists(rules_of(vocab_size, max_len), min_size=1, max_size=3))
    tables = random_table(seed, len(rules), vocab_size, max_len)
    config = SearchConfig(beam_size=vocab_size ** (max_len + 1), n_best=4, length_penalty=alpha, no_repeat_ngram=ngram)
    found = search(TreeStep(tables), rules, eos_id=EOS, config=config)
    for table, its_rules, hypotheses in zip(tables, rules, found, strict=True):
        expected = best_of(table, its_rules, config)
        if expected:
            assert outcome(hypotheses) == expected
            continue
        [last_resort] = hypotheses
        assert not last_resort.finished
        assert len(last_resort.ids) <= its_rules.max_len


every_search = st.sampled_from(
    [
        {"beam_size": 1},
        {"beam_size": 2, "n_best": 2},
        {"beam_size": 5, "n_best": 3},
        {"beam_size": 4, "beam_groups": 2, "n_best": 4},
        {"sampling": True, "n_best": 3, "temperature": 1.5},
        {"sampling": True, "n_best": 2, "sample_top_k": 2, "sample_top_p": 0.8},
    ]
)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1), ngram=st.integers(0, 2), searched=every_search)
def test_every_search_keeps_to_all_rules_in_any_batch(
    data: st.DataObject, seed: int, ngram: int, searched: dict[str, Any]
) -> None:
    rules = data.draw(st.lists(rules_of(4, 4), min_size=2, max_size=4))
    tables = random_table(seed, len(rules), 4, 4, sharpness=2.0)
    config = SearchConfig(no_repeat_ngram=ngram, **searched)
    together = search(TreeStep(tables), rules, eos_id=EOS, config=config)
    for its_rules, hypotheses in zip(rules, together, strict=True):
        assert hypotheses
        for each in hypotheses:
            assert not each.finished or keeps_to(its_rules, each.ids, ngram)
            assert len(each.ids) <= its_rules.max_len
    alone = [search(TreeStep(tables[i : i + 1]), [rules[i]], eos_id=EOS, config=config)[0] for i in range(len(rules))]
    assert alone == together


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    searched=every_search,
    lengths=st.lists(st.integers(0, 5), min_size=1, max_size=4),
    more=st.sampled_from([{}, {"forbidden": ((1, 1),)}, {"forced": ((3, 1),), "max_len": 5}]),
)
def test_going_along_with_hypotheses_says_what_reading_them_says(
    seed: int, searched: dict[str, Any], lengths: list[int], more: dict[str, Any]
) -> None:
    tables = random_table(seed, len(lengths), 4, 5, sharpness=2.0)
    config = SearchConfig(**searched)
    read, traced = (
        search(
            TreeStep(tables),
            [Rules(**({"max_len": length} | more), constraints=constraints) for length in lengths],
            eos_id=EOS,
            config=config,
        )
        for constraints in ((EvenTwos(),), (TracedTwos(),))
    )
    assert read == traced


@settings(max_examples=60, deadline=None)
@given(
    data=st.data(),
    seed=st.integers(0, 2**32 - 1),
    searched=st.sampled_from([{"beam_size": 1}, {"beam_size": 3}, {"sampling": True}]),
)
def test_what_is_forced_always_comes(data: st.DataObject, seed: int, searched: dict[str, Any]) -> None:
    forced = tuple(data.draw(st.lists(sequences(5, 3), max_size=2)))
    forced_any = tuple(data.draw(st.lists(groups(5), min_size=1, max_size=2)))
    # </s> is what the model would always say.
    tables = random_table(seed, 1, 5, 6)
    tables[:, :, EOS] += 5.0
    tables = tables.log_softmax(-1)
    try:
        rules = Rules(max_len=6, forced=forced, forced_any=forced_any)
    except DataError:
        return
    [[best]] = search(TreeStep(tables), [rules], eos_id=EOS, config=SearchConfig(**searched))
    assert keeps_to(rules, best.ids, 0)


def table_that_says(*sayings: Sequence[tuple[int, int]]) -> Tensor:
    """Probabilities near 1: for each sentence pairs of the token that is written and the one it would say there."""
    table = torch.full((len(sayings), sum(4**n for n in range(6)), 4), -5.0)
    for sentence, saying in enumerate(sayings):
        prefix = 0
        for written, said in saying:
            table[sentence, prefix, said] = -0.1
            prefix = prefix * 4 + written + 1
    return table


def test_of_several_forms_the_most_probable_comes() -> None:
    # It would say "1" and end; behind 1 the form 3 3 is likelier than 2, though it has a token more.
    table = table_that_says([(1, 1), (EOS, EOS)])
    for prefix, token, log_prob in ((2, 3, -0.4), (2, 2, -3.0), (12, 3, -0.1), (52, EOS, -0.1)):
        table[0, prefix, token] = log_prob
    rules = Rules(max_len=5, forced_any=(((2,), (3, 3)),))
    [[best]] = search(TreeStep(table), [rules], eos_id=EOS, config=SearchConfig(beam_size=4, length_penalty=0.0))
    assert best.ids == (1, 3, 3)


@pytest.mark.parametrize("searched", [{"beam_size": 1}, {"sampling": True, "sample_top_k": 1}])
def test_greedy_search_says_what_it_would_and_appends_what_is_missing(searched: dict[str, Any]) -> None:
    # It says "1 1" and ends; then comes 3 2, which is forced, though after 3 it would say 1 rather than 2. The first
    # sentence leaves the batch when the second begins to owe.
    table = table_that_says([(1, 1), (1, 1), (EOS, EOS)], [(1, 1), (1, 1), (3, EOS), (2, 1), (EOS, EOS)])
    rules = [Rules(max_len=9), Rules(max_len=9, forced=((3, 2),))]
    [[first], [second]] = search(TreeStep(table), rules, eos_id=EOS, config=SearchConfig(**searched))
    assert first.ids == (1, 1)
    assert second.ids == (1, 1, 3, 2)
    assert second.token_log_probs == pytest.approx([-0.1, -0.1, -5.0, -5.0, -0.1])
    assert second.finished


def test_an_ensemble_keeps_to_the_rules() -> None:
    one, other = random_table(1, 1, 4, 4), random_table(2, 1, 4, 4)
    rules = Rules(max_len=4, min_len=2, forbidden=((1, 2),), forced=((3,),))
    config = SearchConfig(beam_size=4**5, n_best=5)
    [found] = search(EnsembleStep([TreeStep(one), TreeStep(other)]), [rules], eos_id=EOS, config=config)
    mean = ((one.double().exp() + other.double().exp()) / 2).log().float()
    expected = best_of(mean[0], rules, config)
    assert [hypothesis.ids for hypothesis in found] == [ids for _, ids in expected]
    assert [hypothesis.score for hypothesis in found] == pytest.approx([score for score, _ in expected], abs=1e-5)


@pytest.mark.parametrize(
    "searched",
    [{"beam_size": 1}, {"beam_size": 3, "n_best": 2}, {"beam_size": 4, "beam_groups": 2}, {"sampling": True}],
)
def test_where_nothing_is_permitted_the_best_there_is_ends_unfinished(searched: dict[str, Any]) -> None:
    # All tokens but </s> are forbidden after 1, and </s> before three tokens.
    table = random_table(3, 2, 3, 3)
    stuck = Rules(max_len=3, min_len=3, prefix=(1,), forbidden=((1, 1), (1, 2)))
    config = SearchConfig(**searched)
    [found, others] = search(TreeStep(table), [stuck, Rules(max_len=3)], eos_id=EOS, config=config)
    assert [(each.ids, each.finished) for each in found] == [((1,), False)]
    assert list(found[0].token_log_probs) == token_log_probs(table[0], (1, EOS))
    assert others == search(TreeStep(table[1:]), [Rules(max_len=3)], eos_id=EOS, config=config)[0]


def test_without_rules_nothing_is_banned() -> None:
    rules = [Rules(max_len=3), Rules(max_len=4)]
    tables = random_table(4, 2, 4, 4)
    config = SearchConfig(beam_size=3, n_best=3)
    expected = search(TreeStep(tables), rules, eos_id=EOS, config=config)
    idle = [Rules(max_len=each.max_len, forbidden=((3, 3, 3, 3, 3, 3),)) for each in rules]
    assert search(TreeStep(tables), idle, eos_id=EOS, config=config) == expected


def test_each_constraint_by_hand() -> None:
    assert Prefix((4, 5)).following([4]) == AllowedTokens(only=frozenset((5,)))
    assert Prefix((4, 5)).following([4, 5]) == AllowedTokens()
    forbidden = Forbidden(((7,), (1, 2), (1, 3), (2, 1, 4)))
    assert forbidden.following([]) == AllowedTokens(banned=frozenset((7,)))
    assert forbidden.following([2, 1]) == AllowedTokens(banned=frozenset((2, 3, 4, 7)))
    assert NoRepeat(1).following([5, 6]) == AllowedTokens(banned=frozenset((5, 6)))
    assert NoRepeat(3).following([1, 2, 3, 1, 2, 4, 1, 2]) == AllowedTokens(banned=frozenset((3, 4)))
    assert NoRepeat(3).following([1, 2]) == AllowedTokens()
    # A prefix may repeat itself; what comes after it may not repeat the prefix.
    assert NoRepeat(1, given=2).following([5]) == AllowedTokens()
    assert NoRepeat(1, given=2).following([5, 5]) == AllowedTokens(banned=frozenset((5,)))


def test_allowed_tokens_compose() -> None:
    both = AllowedTokens(only=frozenset((1, 2, 3))) & AllowedTokens(only=frozenset((2, 3)), banned=frozenset((3,)))
    assert [token for token in range(5) if token in both] == [2]
    assert AllowedTokens() & AllowedTokens(banned=frozenset((1,))) == AllowedTokens(banned=frozenset((1,)))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"min_len": 4}, "at least 4 and at most 3 tokens is impossible; take a min_len of at most max_len"),
        ({"max_len": -1}, "at least 0 and at most -1 tokens is impossible"),
        ({"prefix": (1, 2, 3, 4)}, "the forced prefix has 4 tokens, but the translation at most 3; shorten it"),
        ({"forced": ((),)}, "a forced or forbidden sequence without tokens; leave it out"),
        ({"forced_any": (((1,), ()),)}, "a forced or forbidden sequence without tokens; leave it out"),
        ({"forced_any": ((),)}, "a forced or forbidden sequence without tokens; leave it out"),
        (
            {"forced_any": (((1, 2), (2, 2)),), "forbidden": ((2,),)},
            r"each of the forced sequences \[\[1, 2\], \[2, 2\]\] holds one that is forbidden; drop one",
        ),
        ({"forced_any": (((1, 2, 3, 1), (3, 3, 1, 2)),)}, "need a translation of 4 tokens, but it has at most 3"),
        ({"prefix": (5, 6), "forbidden": ((6,),)}, r"prefix \[5, 6\] holds \[6\], which is forbidden; drop one"),
        ({"forced": ((1, 2),), "forbidden": ((1, 2),)}, r"sequence \[1, 2\] holds \[1, 2\], which is forbidden"),
        ({"forced": ((1, 2), (3, 4))}, "the forced sequences need a translation of 4 tokens, but it has at most 3"),
        ({"prefix": (1, 1), "forced": ((1, 2, 3),)}, "the forced sequences need a translation of 4 tokens"),
        ({"seed": -1}, "seed is -1; take 0 or more"),
    ],
)
def test_contradictions_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        Rules(**({"max_len": 3} | values))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"prefix": (1, 9)}, r"the prefix \[1, 9\] holds 9, but ids are 0 to 8"),
        ({"forced": ((-1,),)}, r"the forced sequence \[-1\] holds -1, but ids are 0 to 8"),
        ({"forbidden": ((3, 0),)}, r"the forbidden sequence \[3, 0\] holds 0, which is </s>; leave it out"),
        ({"forced": ((1, 2, 1, 2),)}, r"\[1, 2, 1, 2\] repeats 2 tokens, which no_repeat_ngram = 2 forbids"),
    ],
)
def test_ids_that_cannot_be_are_refused(values: dict[str, Any], message: str) -> None:
    rules = Rules(max_len=9, **values)
    with pytest.raises(DataError, match=message):
        check_rules(rules, eos_id=EOS, vocab_size=9, config=SearchConfig(no_repeat_ngram=2))


def test_good_rules_pass() -> None:
    rules = Rules(max_len=9, prefix=(1, 1, 1), forced=((1, 2, 3),), forbidden=((8, 8),))
    check_rules(rules, eos_id=EOS, vocab_size=9, config=SearchConfig(no_repeat_ngram=2))


@pytest.mark.parametrize(
    ("config", "max_positions", "expected"),
    [
        (SearchConfig(), None, (0, 57)),
        (SearchConfig(max_len=20), None, (0, 20)),
        (SearchConfig(max_len=100), None, (0, 57)),
        (SearchConfig(min_len=80), None, (80, 80)),
        (SearchConfig(min_len=25, max_len=25), None, (25, 25)),
        (SearchConfig(min_len=25), 20, (20, 20)),
        (SearchConfig(), 30, (0, 30)),
    ],
)
def test_lengths_by_hand(config: SearchConfig, max_positions: int | None, expected: tuple[int, int]) -> None:
    assert length_bounds(config, 7, max_positions) == expected
