"""The work must be the same for all, and the random model's answers must depend on everything."""

import pytest
import torch
from tests.bench.conftest import TINY

from attendo.bench.work import Work, operations, random_model, random_work, take, text_work
from attendo.decoding.constraints.constraint import Rules
from attendo.errors import DataError
from attendo.model.batch import pad_source
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer


def greedy(model: Transformer, sources: tuple[tuple[int, ...], ...], length: int) -> list[list[int]]:
    ids, written = torch.full((len(sources),), model.config.start_id), []
    with torch.no_grad():
        cache = model.start_cache(model.encode(*pad_source(sources)), None)
        for _ in range(length):
            logits, cache = model.step(ids, cache)
            ids = logits[:, 1:].argmax(1) + 1
            written.append(ids)
    return torch.stack(written, 1).tolist()


def test_random_weights_do_not_repeat_themselves() -> None:
    work = random_work(ModelConfig(d_model=128, d_ff=256, num_heads=4), 2000, length=20, sentences=20)
    written = greedy(work.model, work.sources, 20)
    assert sum(len(set(ids)) for ids in written) / 20 > 5, "distinct tokens of a translation"
    assert len({tuple(ids) for ids in written}) == 20
    # Without the change of signs a model with tied embeddings says one thing again and again.
    plain = Transformer(work.model.config, 2000, 2000).eval()
    assert sum(len(set(ids)) for ids in greedy(plain, work.sources, 20)) / 20 < 2


def test_the_same_seed_gives_the_same_work_and_leaves_torchs_own_random_numbers() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    one, other = (random_work(TINY, 90, length=7, sentences=count) for count in (3, 5))
    torch.testing.assert_close(torch.rand(3), expected, rtol=0, atol=0)
    assert one.sources == other.sources[:3]
    for left, right in zip(one.model.parameters(), other.model.parameters(), strict=True):
        torch.testing.assert_close(left, right, rtol=0, atol=0)
    assert any(
        not torch.equal(left, right)
        for left, right in zip(one.model.parameters(), random_model(TINY, 90, seed=2).parameters(), strict=True)
    )


def test_sentences_have_their_end_and_no_special_token(tiny_work: Work) -> None:
    assert {len(source) for source in tiny_work.sources} == {7}
    assert all(source[-1] == 0 and min(source[:-1]) > 1 for source in tiny_work.sources)


def test_lengths_are_forced_or_follow_the_source(tiny_work: Work, natural_work: Work) -> None:
    assert tiny_work.rules(tiny_work.sources[:2]) == [Rules(min_len=7, max_len=7)] * 2
    assert natural_work.rules([(5, 6, 0), (5, 0)]) == [Rules(max_len=6), Rules(max_len=5)]
    assert natural_work.max_len([(5, 6, 0), (5, 0)]) == 6
    assert (tiny_work.max_positions, natural_work.max_positions) == (8, 11)


def test_more_sentences_than_there_are_begin_again(tiny_work: Work) -> None:
    assert take(tiny_work, 13) == [*tiny_work.sources, *tiny_work.sources[:3]]


def test_the_base_models_operations_are_those_counted_by_hand() -> None:
    # 25 tokens in and out: encoder 6 * 12 d^2, keys and values 6 * 2 d^2, decoder 6 * 14 d^2 and d * 37,000 a token.
    d = 512
    expected = 2 * 25 * (6 * 12 * d**2 + 6 * 2 * d**2 + 6 * 14 * d**2 + d * 37_000)
    assert operations(ModelConfig(), 37_000, source=25, target=25, beam=1) == expected
    assert expected == pytest.approx(3.1e9, rel=0.02)  # as estimated for the measurements of the peers


def test_text_without_a_sentence_is_refused(tiny_work: Work) -> None:
    with pytest.raises(DataError, match="m: no sentence to translate; give --source a file with one sentence per line"):
        text_work(tiny_work.model, [[0], [0]], name="m", length_penalty=0.6, max_len_offset=50)
    work = text_work(tiny_work.model, [[0], [4, 5, 0]], name="m", length_penalty=0.6, max_len_offset=50)
    assert (work.sources, work.length) == (((4, 5, 0),), None)
