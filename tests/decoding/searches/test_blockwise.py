"""Drafting and verifying against greedy search itself: the same hypothesis, in as many steps as the proposals allow."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from tests.native.conftest import as_ids, assert_same_bits, each_variant, random_model

from attendo.decoding.backends.native_model import Dtype, NativeModel
from attendo.decoding.backends.next_tokens import DenseNext
from attendo.decoding.backends.torch_model import TorchModel
from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.constraint import Prefix, Rules
from attendo.decoding.parallel import IdSearch
from attendo.decoding.searches.blockwise import blockwise_search, keeps_to_length
from attendo.decoding.searches.greedy import greedy_search
from attendo.decoding.searches.hypothesis import Hypothesis
from attendo.decoding.step import Block, DraftingStep, IntArray, can_draft
from attendo.errors import ModelError
from attendo.model.transformer import Transformer
from attendo.native.library import Kernels

EOS, VOCABULARY = 0, 12
GREEDY = SearchConfig(beam_size=1)
Draft = Callable[[tuple[int, ...]], list[int]]
"""What follows these tokens, the next one among them."""


class TableStep:
    """Probabilities that hang on what was written, drawn once for each beginning; proposals by a function."""

    start_id = -1

    def __init__(self, seed: int, draft: Draft, *, eos_share: float = 0.0) -> None:
        self._seed, self._draft, self._eos_share = seed, draft, eos_share
        self.written: tuple[int, ...] = ()
        self.steps = 0

    def start(self) -> DenseNext:
        return self._answer([()])

    def advance(self, last_ids: IntArray) -> DenseNext:
        self.written = (*self.written, int(last_ids[0]))
        return self._answer([self.written])

    def select(self, rows: IntArray) -> None:
        raise AssertionError("one sentence has nothing to select")

    def draft(self, next_id: int) -> list[int]:
        return self._draft((*self.written, *self._tokens([next_id])))

    def _tokens(self, ids: Sequence[int]) -> Sequence[int]:
        """Without the start, which stands before all tokens and nowhere else."""
        assert self.start_id not in ids[1:]
        if ids[0] != self.start_id:
            return ids
        assert self.written == ()
        return ids[1:]

    def block(self, ids: Sequence[int], eos_id: int) -> Block:
        beginnings = [(*self.written, *self._tokens(ids[:count])) for count in range(1, len(ids) + 1)]
        values, tokens = self._answer(beginnings).top_k(1)
        best = tokens[:, 0].tolist()
        right = [ids[at] == best[at - 1] != eos_id for at in range(1, len(ids))]
        kept = 1 + [*right, False].index(False)
        self.written = beginnings[kept - 1]
        return Block(
            log_probs=values[:kept, 0].tolist(),
            ids=best[:kept],
            proposed=[] if best[kept - 1] == eos_id else self.draft(best[kept - 1]),
            last=DenseNext(self.log_probs(self.written)[None]),
        )

    def log_probs(self, written: tuple[int, ...]) -> torch.Tensor:
        # Where what was written is equal, so is what follows; a longer one ends sooner.
        generator = torch.Generator().manual_seed(hash((self._seed, written)) % 2**62)
        logits = torch.randn(VOCABULARY, generator=generator)
        logits[EOS] += self._eos_share * len(written) - 3
        return logits.log_softmax(dim=0)

    def _answer(self, beginnings: Sequence[tuple[int, ...]]) -> DenseNext:
        self.steps += 1
        return DenseNext(torch.stack([self.log_probs(each) for each in beginnings]))


def greedy_of(step: TableStep, max_len: int) -> Hypothesis:
    return greedy_search(step, [Rules(max_len=max_len)], eos_id=EOS, config=GREEDY)[0][0]


def right(found: Hypothesis, count: int) -> Draft:
    """Always what greedy search will write, `</s>` included, and more of it behind."""
    whole = (*found.ids, EOS)
    return lambda beginning: [*whole[len(beginning) : len(beginning) + count], *[EOS] * count][:count]


def sometimes_right(found: Hypothesis, count: int, seed: int) -> Draft:
    def draft(beginning: tuple[int, ...]) -> list[int]:
        rng = np.random.default_rng([seed, len(beginning)])
        return [
            token if rng.random() < 0.7 else int(rng.integers(VOCABULARY)) for token in right(found, count)(beginning)
        ]

    return draft


def steps_needed(found: Hypothesis, draft: Draft, max_len: int) -> int:
    """Counted from the tokens alone: each passage takes a token and the proposals that are right behind it."""
    whole = (*found.ids, EOS) if found.finished else found.ids
    steps, written = 1, 0  # the first passage has the start in the place of a token
    first = draft(())[:max_len]
    while written < len(first) and written < len(whole) and first[written] == whole[written] != EOS:
        written += 1
    while written < len(found.ids):
        proposals = [*whole[written : written + 1], *draft(whole[: written + 1])][: max_len - written]
        kept = 1
        while kept < len(proposals) and written + kept < len(whole) and proposals[kept] == whole[written + kept] != EOS:
            kept += 1
        written, steps = written + kept, steps + 1
    return steps


@pytest.mark.parametrize("max_len", [0, 1, 2, 7, 60])
@pytest.mark.parametrize("count", [1, 3, 8])
@pytest.mark.parametrize("seed", range(6))
def test_any_proposals_give_what_greedy_search_gives(seed: int, count: int, max_len: int) -> None:
    expected = greedy_of(TableStep(seed, lambda _: [], eos_share=0.3), max_len)
    for draft in (
        right(expected, count),
        sometimes_right(expected, count, seed),
        lambda _: [EOS] * count,
        lambda _: list(range(1, count + 1)),
    ):
        step = TableStep(seed, draft, eos_share=0.3)
        found = blockwise_search(step, Rules(max_len=max_len), eos_id=EOS, config=GREEDY)
        assert found.hypothesis == expected
        assert found.steps == step.steps == steps_needed(expected, draft, max_len)


def test_proposals_that_are_right_divide_the_steps() -> None:
    expected = greedy_of(TableStep(3, lambda _: []), 40)
    assert len(expected.ids) == 40
    found = blockwise_search(TableStep(3, right(expected, 4)), Rules(max_len=40), eos_id=EOS, config=GREEDY)
    assert found.steps == 1 + (40 - 4 + 4) // 5  # the start with 4 tokens, then 5 at a time


def test_what_is_no_number_is_an_error() -> None:
    class Broken(TableStep):
        def log_probs(self, written: tuple[int, ...]) -> torch.Tensor:
            return super().log_probs(written) * (float("nan") if len(written) > 3 else 1.0)

    with pytest.raises(ModelError, match="not numbers"):
        blockwise_search(Broken(1, lambda _: [3, 4]), Rules(max_len=20), eos_id=EOS, config=GREEDY)


def test_sentences_with_rules_are_left_to_greedy_search() -> None:
    assert keeps_to_length(Rules(max_len=9), GREEDY)
    for rules in (
        Rules(max_len=9, min_len=1),
        Rules(max_len=9, prefix=(3,)),
        Rules(max_len=9, forbidden=((3,),)),
        Rules(max_len=9, forced=((3,),)),
        Rules(max_len=9, constraints=(Prefix((3,)),)),
    ):
        assert not keeps_to_length(rules, GREEDY)
    assert not keeps_to_length(Rules(max_len=9), replace(GREEDY, no_repeat_ngram=2))


# --- models -----------------------------------------------------------------------------------------------------------

SOURCES = ([5, 9, 33, 2, 17, 0], [4, 0], [8] * 30 + [0], [31, 7, 7, 29, 0])
SHAPES: dict[str, dict[str, Any]] = {
    "the paper's": {},
    "odd heads": {"d_k": 6, "d_v": 10, "num_heads": 3},
    "imported": {"activation": "swish", "attention_bias": True, "output_bias": True, "start": 7, "positions": "halves"},
    "learned positions": {"positions": "learned", "max_positions": 80},
    "two vocabularies": {"vocab_size": (40, 1700), "shared_embeddings": "none", "output_bias": True},
    "a shortlist": {"vocab_size": (40, 1700), "shared_embeddings": "target", "draft_vocabulary": 77},
}


def drafting_model(name: str) -> Transformer:
    model = random_model(draft_tokens=3, **SHAPES[name])
    assert model.drafter is not None
    ids = torch.randperm(model.tgt_vocab_size)[: len(model.drafter.shortlist)].sort().values
    with torch.no_grad():
        model.drafter.shortlist.copy_(ids)
    return model


@each_variant
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8"])
@pytest.mark.parametrize("name", SHAPES)
def test_kernels_give_greedy_searchs_own_bits(kernels: Kernels, name: str, dtype: Dtype) -> None:
    model = NativeModel(drafting_model(name), dtype=dtype, kernels=kernels)
    for source in SOURCES:
        for max_len in (3, 60):
            rules = Rules(max_len=max_len)
            ((expected,),) = greedy_search(model.step([source]), [rules], eos_id=EOS, config=GREEDY)
            found = blockwise_search(model.step([source]), rules, eos_id=EOS, config=GREEDY)
            assert found.hypothesis == expected


@pytest.mark.parametrize("name", SHAPES)
def test_plain_torch_gives_greedy_searchs_tokens(name: str) -> None:
    model = TorchModel(drafting_model(name).double())
    for source in SOURCES:
        rules = Rules(max_len=60)
        ((expected,),) = greedy_search(model.step([source]), [rules], eos_id=EOS, config=GREEDY)
        step = model.step([source])
        assert can_draft(step)
        found = blockwise_search(step, rules, eos_id=EOS, config=GREEDY).hypothesis
        assert (found.ids, found.finished) == (expected.ids, expected.finished)
        np.testing.assert_allclose(found.token_log_probs, expected.token_log_probs, atol=1e-6, rtol=0)


@each_variant
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8"])
def test_several_tokens_at_once_have_the_bits_of_one_after_the_other(kernels: Kernels, dtype: Dtype) -> None:
    model = NativeModel(drafting_model("the paper's"), dtype=dtype, kernels=kernels)
    for threads in (1, 2):
        one, many = model.step([SOURCES[0]]), model.step([SOURCES[0]], threads=threads)
        _, tokens = one.start().top_k(1)
        expected, token = many.start().all(), int(tokens[0, 0])
        for count in (1, 5, 33, 2, 7, 42):  # some of them past the places where memory grows
            ids, answers = [token], []
            for _ in range(count):
                answers.append(one.advance(as_ids(ids[-1:])).all())
                ids.append(int(answers[-1].argmax()))
            block = many.block([*ids[:count], *[(token + 1) % 40 for token in ids[count:]]], eos_id=-1)
            assert block.ids == ids[1:]
            expected = answers[-1]
            assert_same_bits([block.last.all()], [expected])
            assert block.log_probs == [float(answer.max()) for answer in answers]
            token = ids[-1]


@each_variant
@pytest.mark.parametrize("name", SHAPES)
def test_kernels_and_torch_propose_the_same(kernels: Kernels, name: str) -> None:
    steps = [
        NativeModel(drafting_model(name), dtype="float32", kernels=kernels).step([SOURCES[0]]),
        TorchModel(drafting_model(name)).step([SOURCES[0]]),
    ]
    found: list[list[list[int]]] = []
    for step in steps:
        assert can_draft(step)
        proposals = [step.draft(step.start_id)]
        proposals += [step.block([token, 4, 30], eos_id=0).proposed for token in (step.start_id, 31, 12)]
        found.append([*proposals, *(step.draft(token) for token in range(10, 20))])
    assert found[0] == found[1]


@each_variant
@pytest.mark.parametrize("vocabulary", [5, 77, 1700])
def test_of_equal_proposals_the_lower_id_is_taken(kernels: Kernels, vocabulary: int) -> None:
    model = random_model(
        (40, 1700), draft_tokens=3, draft_vocabulary=vocabulary, shared_embeddings="none", output_bias=True
    )
    assert model.drafter is not None
    assert model.output_bias is not None
    ids = model.drafter.ids
    with torch.no_grad():
        model.output_weight.zero_()  # so that logits are the biases
        model.output_bias.zero_()
        model.output_bias[ids[vocabulary // 2 :: 2]] = 1.0
    step = NativeModel(model, dtype="float32", kernels=kernels).step([SOURCES[0]])
    assert step.draft(step.start_id) == [int(ids[vocabulary // 2])] * 3


def test_a_model_without_a_drafter_refuses_to_propose() -> None:
    model = TorchModel(random_model())
    step = model.step([SOURCES[0]])
    assert can_draft(step)
    step.start()
    with pytest.raises(AssertionError):
        step.draft(3)


@each_variant
def test_kernels_refuse_what_cannot_be(kernels: Kernels) -> None:
    model = NativeModel(drafting_model("the paper's"), dtype="float32", kernels=kernels)
    without = NativeModel(random_model(), dtype="float32", kernels=kernels).step([SOURCES[0]])
    without.start()
    with pytest.raises(ModelError, match="session_draft"):
        without.draft(3)
    step = model.step([SOURCES[0]])
    step.start()
    with pytest.raises(ModelError, match="session_draft"):
        step.draft(40)
    with pytest.raises(ModelError, match="session_write"):  # it is at its start no more
        step.write(5, eos_id=0)
    two = model.step(SOURCES[:2])
    two.start()
    with pytest.raises(ModelError, match="session_block"):
        two.block([3], eos_id=0)
    step = model.step([SOURCES[0]])
    step.start()
    with pytest.raises(ModelError, match="session_block"):
        step.block([3, 40], eos_id=0)


# --- who drafts -------------------------------------------------------------------------------------------------------


class Counted:
    """A model that says how often proposals were asked for."""

    concurrent = False

    def __init__(self, transformer: Transformer) -> None:
        self._model = TorchModel(transformer)
        self.kernel, self.asked, self.config = "counted", 0, transformer.config
        self.src_vocab_size, self.tgt_vocab_size = transformer.src_vocab_size, transformer.tgt_vocab_size
        self.at_work, self.token_log_probs = self._model.at_work, self._model.token_log_probs
        self.attention = self._model.attention
        self.encoder_decoder_attention = self._model.encoder_decoder_attention
        self.free_unused = self._model.free_unused

    def step(self, sources: Sequence[Sequence[int]], *, threads: int = 1) -> DraftingStep:
        step = self._model.step(sources, threads=threads)
        assert can_draft(step)
        draft = step.draft

        def counted(next_id: int) -> list[int]:
            self.asked += 1
            return draft(next_id)

        step.draft = counted  # type: ignore[method-assign]
        return step


@pytest.mark.parametrize(
    ("config", "sources", "models", "drafts"),
    [
        (GREEDY, 1, 1, True),
        (GREEDY, 2, 1, False),
        (GREEDY, 1, 2, False),
        (replace(GREEDY, draft=False), 1, 1, False),
        (replace(GREEDY, sampling=True), 1, 1, False),
        (SearchConfig(beam_size=2), 1, 1, False),
    ],
)
def test_a_sentence_that_comes_alone_is_drafted(config: SearchConfig, sources: int, models: int, drafts: bool) -> None:
    counted = [Counted(drafting_model("the paper's")) for _ in range(models)]
    rules = [Rules(max_len=20)] * sources
    found = IdSearch(counted, config).search(SOURCES[:sources], rules)
    assert (counted[0].asked > 0) == drafts
    if drafts:
        expected = IdSearch(counted, replace(config, draft=False)).search(SOURCES[:1], rules)
        assert found[0][0].ids == expected[0][0].ids
