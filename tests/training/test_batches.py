"""The stream of batches: every pair once an epoch, the same from any position, and cut anew under BPE-dropout."""

from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from attendo.errors import DataError
from attendo.text.shards import PairShards, ShardWriter
from attendo.text.tokenization import Tokenizer, TokenizerConfig, learn_tokenizer
from attendo.training.batches import BatchStream, Pairs, Segmentation
from attendo.training.config import TrainingConfig

CONFIG = TrainingConfig(max_tokens=60, seed=3)
SENTENCES = [
    f"{a} {b} {c}" for a in ("seven", "eleven") for b in ("little", "lonely") for c in ("ships", "kettles", "hills")
]


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    path = tmp_path_factory.mktemp("tokenizer") / "source.spm"
    return learn_tokenizer(SENTENCES * 5, TokenizerConfig(vocab_size=300), path, seed=1)


@pytest.fixture
def pairs(tmp_path: Path, tokenizer: Tokenizer) -> PairShards:
    with ShardWriter(tmp_path, "ships", tokenizer.vocab_size) as writer:
        for sentence in SENTENCES:
            writer.add(tokenizer.encode(sentence), tokenizer.encode(sentence[::-1]))
    return PairShards.open(tmp_path, "ships")


def epoch_of(stream: BatchStream, epoch: int) -> list[Pairs]:
    return [pairs for _, _, pairs in islice(stream.from_position(epoch, 0), len(stream.plan(epoch).batches))]


def test_each_pair_comes_once_an_epoch_and_sides_stay_together(pairs: PairShards, tokenizer: Tokenizer) -> None:
    for epoch in (0, 1):
        batches = epoch_of(BatchStream([pairs], [1.0], CONFIG), epoch)
        sources = [tokenizer.decode(row) for batch in batches for row in batch.source]
        targets = [tokenizer.decode(row) for batch in batches for row in batch.target]
        assert sorted(sources) == sorted(SENTENCES)
        assert targets == [source[::-1] for source in sources]


def test_a_corpus_that_weighs_two_comes_twice(pairs: PairShards, tokenizer: Tokenizer) -> None:
    batches = epoch_of(BatchStream([pairs], [2.0], CONFIG), 0)
    counts = Counter(tokenizer.decode(row) for batch in batches for row in batch.source)
    assert counts == Counter(dict.fromkeys(SENTENCES, 2))


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_it_goes_on_from_any_position(pairs: PairShards, tokenizer: Tokenizer, dropout: float) -> None:
    cut = Segmentation(source_tokenizer=tokenizer, target_tokenizer=tokenizer, dropout=dropout) if dropout else None

    def rows(stream: BatchStream, epoch: int, batch: int, number: int) -> list[tuple[int, int, list[list[int]]]]:
        taken = islice(stream.from_position(epoch, batch), number)
        return [(e, b, [list(map(int, row)) for row in (*some.source, *some.target)]) for e, b, some in taken]

    whole = rows(BatchStream([pairs], [1.0], CONFIG, cut), 0, 0, 25)
    for done in (1, 7, 20):
        epoch, batch, _ = whole[done - 1]
        assert rows(BatchStream([pairs], [1.0], CONFIG, cut), epoch, batch, 25 - done) == whole[done:]


def test_bpe_dropout_cuts_the_same_text_in_other_pieces(pairs: PairShards, tokenizer: Tokenizer) -> None:
    cut = Segmentation(source_tokenizer=tokenizer, target_tokenizer=tokenizer, dropout=0.5)
    stream = BatchStream([pairs], [1.0], CONFIG, cut)
    first, second = (
        {tokenizer.decode(row): tuple(row) for batch in epoch_of(stream, epoch) for row in batch.source}
        for epoch in (0, 1)
    )
    assert set(first) == set(second) == set(SENTENCES)
    assert sum(first[sentence] != second[sentence] for sentence in SENTENCES) > len(SENTENCES) / 2


def test_pieces_keep_the_budget() -> None:
    pairs = Pairs(source=[[5] * 4] * 7, target=[[6] * 10] * 7)
    assert [len(piece.src_ids) for piece in pairs.pieces(30, -1)] == [3, 3, 1]
    assert [len(piece.src_ids) for piece in pairs.pieces(3, -1)] == [1] * 7, "a long pair is a piece of its own"
    assert [len(piece.src_ids) for piece in pairs.pieces(None, -1)] == [7]


def test_nothing_to_train_on(tmp_path: Path) -> None:
    with ShardWriter(tmp_path, "none", 300):
        pass
    with pytest.raises(DataError, match="no pair to train on"):
        BatchStream([PairShards.open(tmp_path, "none")], [1.0], CONFIG)
