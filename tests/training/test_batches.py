"""The stream of batches: every pair once an epoch, the same from any position, and cut anew under BPE-dropout."""

import multiprocessing
from collections import Counter
from contextlib import closing
from functools import partial
from itertools import islice, takewhile
from pathlib import Path

import pytest

from attendo.errors import DataError
from attendo.model.batch import Batch, collate
from attendo.text.augmentation import AugmentationConfig
from attendo.text.shards import PairShards, ShardWriter
from attendo.text.subwords.learning import learn_tokenizer
from attendo.text.subwords.tokenization import Tokenizer, TokenizerConfig
from attendo.training import batches
from attendo.training.batches import BatchStream, Pairs, Place
from attendo.training.config import TrainingConfig
from attendo.training.rewriting import Rewriting, RewritingTask, RewrittenLines
from attendo.workers import local_workers

CONFIG = TrainingConfig(max_tokens=60, seed=3)
SENTENCES = [
    f"{a} {b} {c}" for a in ("seven", "eleven") for b in ("little", "lonely") for c in ("ships", "kettles", "hills")
]


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    path = tmp_path_factory.mktemp("tokenizer") / "source.spm"
    return learn_tokenizer(SENTENCES * 5, TokenizerConfig(vocab_size=300), path)


@pytest.fixture
def pairs(tmp_path: Path, tokenizer: Tokenizer) -> PairShards:
    with ShardWriter(tmp_path, "ships", tokenizer.vocab_size) as writer:
        for sentence in SENTENCES:
            writer.add(tokenizer.encode(sentence), tokenizer.encode(sentence[::-1]))
    return PairShards.open(tmp_path, "ships", (1 << 16, 1 << 16))


def epoch_of(stream: BatchStream, epoch: int) -> list[Pairs]:
    return [pairs for _, pairs in islice(stream.from_place(Place(epoch=epoch)), len(stream.plan(epoch).batches))]


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


def rewriting(tokenizer: Tokenizer, max_tokens: int = 60, /, dropout: float = 0.0, **shares: float) -> Rewriting:
    config = AugmentationConfig(**shares)
    return Rewriting(tokenizer, tokenizer, dropout=dropout, augmentation=config, max_tokens=max_tokens)


@pytest.mark.parametrize(
    "changed", [{}, {"dropout": 0.5}, {"dropout": 0.2, "joined": 0.5, "typos": 0.5, "copies": 1.0}]
)
def test_it_goes_on_from_any_position(
    pairs: PairShards, tokenizer: Tokenizer, changed: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "_WINDOW_LINES", 5)
    rewritten = rewriting(tokenizer, **changed) if changed else None

    def rows(stream: BatchStream, place: Place, number: int) -> list[tuple[Place, list[list[int]]]]:
        taken = islice(stream.from_place(place), number)
        return [(at, [list(map(int, row)) for row in (*some.source, *some.target)]) for at, some in taken]

    whole = rows(BatchStream([pairs], [1.0], CONFIG, rewritten), Place(), 25)
    assert len({place.epoch for place, _ in whole}) > 1
    for done in (1, 7, 20):
        place, _ = whole[done - 1]
        assert rows(BatchStream([pairs], [1.0], CONFIG, rewritten), place, 25 - done) == whole[done:]
        # A run of a version before that kept the epoch and the batch alone.
        older = Place(epoch=place.epoch, batch=place.batch)
        assert rows(BatchStream([pairs], [1.0], CONFIG, rewritten), older, 25 - done) == whole[done:]


def test_going_on_rewrites_no_window_that_is_done(
    pairs: PairShards, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "_WINDOW_LINES", 5)
    rewritten: list[int] = []

    class Counting(Rewriting):
        def rewrite(self, task: RewritingTask) -> RewrittenLines:
            rewritten.append(len(task.starts) - 1)
            return super().rewrite(task)

    off = AugmentationConfig()
    counting = Counting(tokenizer, tokenizer, dropout=0.5, augmentation=off, max_tokens=60)
    stream = BatchStream([pairs], [1.0], CONFIG, counting)
    place = next(place for place, _ in stream.from_place(Place()) if place.windows == 1)
    assert rewritten == [5, 5]
    rewritten.clear()
    next(stream.from_place(place))
    assert rewritten == [5], "the second window alone, whose first batch is done"


def test_worker_processes_change_nothing(
    pairs: PairShards, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "_WINDOW_LINES", 6)
    monkeypatch.setattr(batches, "_PART_LINES", 2)
    rewritten = rewriting(tokenizer, dropout=0.2, joined=0.5, typos=0.5)

    def rows(number: int) -> list[tuple[Place, list[list[int]]]]:
        stream = BatchStream([pairs], [1.0], CONFIG, rewritten, workers=partial(local_workers, number))
        with closing(stream.from_place(Place(epoch=1, batch=1))) as taken:
            return [
                (at, [[int(number) for number in row] for row in (*some.source, *some.target, *some.members)])
                for at, some in islice(taken, 20)
            ]

    alone = rows(1)
    assert any(place.windows for place, _ in alone)
    assert rows(2) == alone
    assert not multiprocessing.active_children()


def test_bpe_dropout_cuts_the_same_text_in_other_pieces(pairs: PairShards, tokenizer: Tokenizer) -> None:
    stream = BatchStream([pairs], [1.0], CONFIG, rewriting(tokenizer, dropout=0.5))
    first, second = (
        {tokenizer.decode(row): tuple(row) for some in whole_epoch(stream, epoch) for row in some.source}
        for epoch in (0, 1)
    )
    assert set(first) == set(second) == set(SENTENCES)
    assert sum(first[sentence] != second[sentence] for sentence in SENTENCES) > len(SENTENCES) / 2


def whole_epoch(stream: BatchStream, epoch: int) -> list[Pairs]:
    return [some for _, some in takewhile(lambda drawn: drawn[0].epoch == epoch, stream.from_place(Place(epoch=epoch)))]


def test_joined_pairs_stay_whole_and_come_once(pairs: PairShards, tokenizer: Tokenizer) -> None:
    config = TrainingConfig(max_tokens=200, seed=3)
    stream = BatchStream([pairs], [1.0], config, rewriting(tokenizer, 200, joined=0.8))
    for epoch in (0, 1):
        lines = [
            (tokenizer.decode(source), tokenizer.decode(target))
            for some in whole_epoch(stream, epoch)
            for source, target in zip(some.source, some.target, strict=True)
        ]
        words = [source.split() for source, _ in lines]
        sentences = [" ".join(line[start : start + 3]) for line in words for start in range(0, len(line), 3)]
        assert sorted(sentences) == sorted(SENTENCES)
        sizes = [len(line) // 3 for line in words]
        assert set(sizes) <= {1, 2, 3, 4}
        assert sum(sizes) - sizes.count(1) >= 6, "8 pairs in 10, less what fills no line"
        for source, target in lines:
            parts = [" ".join(source.split()[start : start + 3])[::-1] for start in range(0, len(source.split()), 3)]
            assert target == " ".join(parts)


def test_a_tag_stays_first_and_only_its_like_is_joined(tmp_path: Path, tokenizer: Tokenizer) -> None:
    for name, tag in (("plain", ""), ("tagged", "<x> ")):
        with ShardWriter(tmp_path, name, tokenizer.vocab_size) as writer:
            for sentence in SENTENCES:
                writer.add(tokenizer.encode(tag + sentence), tokenizer.encode(f"{tag.strip()}{sentence}"))
    corpora = [PairShards.open(tmp_path, name, (1 << 16, 1 << 16)) for name in ("plain", "tagged")]
    config = AugmentationConfig(joined=1.0, casing=1.0, typos=1.0)
    rewritten = Rewriting(
        tokenizer, tokenizer, dropout=0.0, augmentation=config, max_tokens=300, source_tags=["<y>", "<x>"]
    )
    stream = BatchStream(corpora, [1.0, 1.0], TrainingConfig(max_tokens=300, seed=3), rewritten, kinds=[0, 1])
    for some in whole_epoch(stream, 0):
        for source, target in zip(some.source, some.target, strict=True):
            text, pairs_in_line = tokenizer.decode(source), len(tokenizer.decode(target).split()) // 3
            assert tokenizer.decode(target).count("<x>") == (pairs_in_line if text.startswith("<x> ") else 0)
            assert text.count("<x>") == text.startswith("<x> ")


@pytest.mark.parametrize("changed", [{}, {"joined": 1.0}, {"typos": 0.5}])
def test_distilled_lines_are_known_and_joined_with_their_like(
    tmp_path: Path, tokenizer: Tokenizer, changed: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "_WINDOW_LINES", 5)
    for name in ("seen", "replayed"):
        with ShardWriter(tmp_path, name, tokenizer.vocab_size) as writer:
            for sentence in SENTENCES:
                writer.add(tokenizer.encode(sentence), tokenizer.encode(f"{name} {sentence}"))
    corpora = [PairShards.open(tmp_path, name, (1 << 16, 1 << 16)) for name in ("seen", "replayed")]
    rewritten = rewriting(tokenizer, 300, **changed) if changed else None
    config = TrainingConfig(max_tokens=300, seed=3)
    stream = BatchStream(corpora, [1.0, 1.0], config, rewritten, distilled=[False, True])
    marks = []
    for some in whole_epoch(stream, 0):
        for target, is_distilled in zip(some.target, some.distilled, strict=True):
            words = {word for word in tokenizer.decode(target).split() if word in ("seen", "replayed")}
            assert words <= {"replayed" if is_distilled else "seen"}, "no line has pairs of both"
            marks.append(bool(is_distilled))
    assert {True, False} == set(marks)
    if not changed.get("joined"):
        assert marks.count(True) == marks.count(False) == len(SENTENCES)


def test_without_distilled_corpora_nothing_is_marked(pairs: PairShards) -> None:
    for distilled in (None, [False]):
        assert all(
            len(some.distilled) == 0
            for some in epoch_of(BatchStream([pairs], [1.0], CONFIG, None, None, None, distilled), 0)
        )


def test_no_line_is_joined_beyond_the_limit(pairs: PairShards, tokenizer: Tokenizer) -> None:
    longest = max(int(side.max()) for side in (pairs.source_lengths, pairs.target_lengths))
    stream = BatchStream([pairs], [1.0], CONFIG, rewriting(tokenizer, longest, joined=1.0))
    rows = [row for some in whole_epoch(stream, 0) for row in (*some.source, *some.target)]
    assert max(map(len, rows)) <= longest
    assert len(rows) == 2 * len(SENTENCES), "every pair has an end of its own"


def test_rewritten_lines_are_batched_by_the_lengths_they_have_then(pairs: PairShards, tokenizer: Tokenizer) -> None:
    stream = BatchStream([pairs], [8.0], CONFIG, rewriting(tokenizer, dropout=0.9))
    for some in whole_epoch(stream, 0):
        for side in (some.source, some.target):
            assert max(map(len, side)) * len(side) <= CONFIG.max_tokens


def test_pieces_keep_the_budget() -> None:
    pairs = Pairs(source=[[5] * 4] * 7, target=[[6] * 10] * 7)

    def sizes(max_tokens: int | None) -> list[int]:
        return [len(piece.src_ids) for piece in pairs.pieces(max_tokens, collate) if isinstance(piece, Batch)]

    assert sizes(30) == [3, 3, 1]
    assert sizes(3) == [1] * 7, "a long pair is a piece of its own"
    assert sizes(None) == [7]


def test_nothing_to_train_on(tmp_path: Path) -> None:
    with ShardWriter(tmp_path, "none", 300):
        pass
    with pytest.raises(DataError, match="no pair to train on"):
        BatchStream([PairShards.open(tmp_path, "none", (1 << 16, 1 << 16))], [1.0], CONFIG)
