"""The workload of `bench train`: models of two sizes, and batches of sentences of equal and of unequal length."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import numpy as np

from attendo.bench.trainers.serving import PairBatch
from attendo.errors import DataError
from attendo.text.batching import plan_epoch
from attendo.text.subwords.learning import learn_tokenizer
from attendo.text.subwords.tokenization import EOS_ID, UNK_ID, TokenizerConfig
from attendo.workflow.lines import line_pairs_from

ModelName = Literal["base", "small"]
BatchesName = Literal["equal", "unequal"]

MAX_TOKENS = 2050
"""Maximum number of tokens in each side of a batch, padding included: 82 sentences of 25 tokens."""
EQUAL_LENGTH = 25
LONGEST = 100
"""Maximum number of tokens in each side of a pair; longer pairs of a corpus are skipped."""
MADE_UP_PAIRS = 20_000
MEDIAN_LENGTH, LENGTH_SPREAD = 29, 0.57
"""Length of made-up sources in tokens: log-normal, as in news split into pieces of a vocabulary of 8,000."""
RATIO, RATIO_SPREAD = 1.09, 0.165
"""Length of made-up targets, relative to their sources: log-normal; German is longer than English by this much."""
CORPUS_VOCABULARY = 8_000
"""Size of the vocabulary of real sentences, for every model: small enough to be learned from any useful corpus."""
CORPUS_LINES = 50_000
"""Maximum number of pairs that are read from a corpus: enough for the distribution of lengths."""


@dataclass(frozen=True, kw_only=True)
class ModelShape:
    """The shape of a Transformer with one matrix for both embeddings and the logits."""

    name: ModelName
    d_model: int
    d_ff: int
    num_layers: int
    """Number of layers in each stack."""
    num_heads: int
    vocab_size: int
    group_steps: dict[BatchesName, int]
    """Number of updates in one turn: enough to last for seconds, few enough that turns alternate often."""

    @property
    def operations_per_token(self) -> float:
        """Additions and multiplications of an update per source and target token: three times a forward pass."""
        attention, feed_forward = 4 * self.d_model**2, 2 * self.d_model * self.d_ff
        layers = self.num_layers * (3 * attention + 2 * feed_forward)
        return 6.0 * (layers + self.d_model * self.vocab_size)


SHAPES: dict[ModelName, ModelShape] = {
    "base": ModelShape(  # Table 3, Section 5.1
        name="base", d_model=512, d_ff=2048, num_layers=6, num_heads=8, vocab_size=37_000,
        group_steps={"equal": 1, "unequal": 3},
    ),
    "small": ModelShape(
        name="small", d_model=256, d_ff=1024, num_layers=3, num_heads=4, vocab_size=8_000,
        group_steps={"equal": 4, "unequal": 6},
    ),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class TrainingWork:
    """The batches of one turn, on which all systems train in the same order, repeatedly."""

    name: BatchesName
    batches: tuple[PairBatch, ...]
    description: str

    @property
    def num_tokens(self) -> int:
        """Number of target tokens, without padding."""
        return sum(batch.num_tokens for batch in self.batches)


@dataclass(frozen=True, kw_only=True)
class SentencePairs:
    """Sentence pairs as ids, valid for any of the models."""

    source: Sequence[Sequence[int]]
    """Ids of each source, with `</s>` at the end."""
    target: Sequence[Sequence[int]]
    description: str


def equal_work(shape: ModelShape, *, seed: int = 1) -> TrainingWork:
    """Makes batches without any padding."""
    rng = np.random.default_rng([seed, 0])
    size = MAX_TOKENS // EQUAL_LENGTH
    lengths = [EQUAL_LENGTH] * size
    batches = tuple(
        PairBatch(source=_made_up(lengths, shape.vocab_size, rng), target=_made_up(lengths, shape.vocab_size, rng))
        for _ in range(shape.group_steps["equal"])
    )
    description = f"{size} made-up sentences of {EQUAL_LENGTH} tokens a batch, no padding"
    return TrainingWork(name="equal", batches=batches, description=description)


def unequal_work(shape: ModelShape, pairs: SentencePairs, *, seed: int = 1) -> TrainingWork:
    """Makes batches of pairs of similar length, as every toolkit compared here would make them from a whole corpus.

    All batches are sorted by length and divided into equal parts, and the middle batch of each part is taken.

    Raises:
        DataError: there is no pair.
    """
    lengths = [np.array([len(row) for row in side]) for side in (pairs.source, pairs.target)]
    if not len(lengths[0]):
        raise DataError(f"{pairs.description}: no pair of up to {LONGEST} tokens a side")
    plan = plan_epoch(*lengths, max_tokens=MAX_TOKENS, seed=seed, epoch=0)
    by_length = sorted(plan.batches, key=lambda members: int(lengths[0][members].sum()) / len(members))
    count = shape.group_steps["unequal"]
    chosen = [by_length[int((part + 0.5) / count * len(by_length))] for part in range(count)]
    batches = tuple(
        PairBatch(source=[pairs.source[i] for i in members], target=[pairs.target[i] for i in members])
        for members in chosen
    )
    padded = sum(len(side) * max(map(len, side)) for batch in batches for side in (batch.source, batch.target))
    tokens = sum(len(row) for batch in batches for side in (batch.source, batch.target) for row in side)
    description = (
        f"{pairs.description}; batches of like lengths up to {MAX_TOKENS:,} tokens a side, "
        f"{1 - tokens / padded:.1%} of it padding where rows are padded"
    )
    return TrainingWork(name="unequal", batches=batches, description=description)


def made_up_pairs(vocab_size: int, *, seed: int = 1) -> SentencePairs:
    """Makes pairs with lengths as in news and ids with the frequencies of words."""
    rng = np.random.default_rng([seed, 1])
    source = MEDIAN_LENGTH * np.exp(LENGTH_SPREAD * rng.standard_normal(MADE_UP_PAIRS))
    target = source * RATIO * np.exp(RATIO_SPREAD * rng.standard_normal(MADE_UP_PAIRS))
    lengths = [np.clip(np.rint(side), 2, LONGEST).astype(int).tolist() for side in (source, target)]
    return SentencePairs(
        source=_made_up(lengths[0], vocab_size, rng),
        target=_made_up(lengths[1], vocab_size, rng),
        description=(
            f"made-up sentences with lengths drawn as in news (log-normal, median {MEDIAN_LENGTH} source tokens, "
            f"targets {RATIO - 1:.0%} longer)"
        ),
    )


def _made_up(lengths: Sequence[int], vocab_size: int, rng: np.random.Generator) -> list[list[int]]:
    """Draws sentences, each with `</s>`, of ids with frequencies by Zipf's law, so that there is something to learn."""
    ranks = np.exp(rng.random(sum(lengths)) * math.log(vocab_size - UNK_ID - 1))
    ids = (UNK_ID + ranks).astype(int).tolist()
    rows, start = [], 0
    for length in lengths:
        rows.append([*ids[start : start + length - 1], EOS_ID])
        start += length
    return rows


def corpus_pairs(source: Path, target: Path, *, vocab_size: int = CORPUS_VOCABULARY) -> SentencePairs:
    """Reads the first pairs of a parallel corpus as ids of a vocabulary learned from them; skips empty and long ones.

    Args:
        source: file of sentences, one per line.
        target: file of their translations, with as many lines.
        vocab_size: number of pieces to learn.

    Raises:
        DataError: a file is missing or broken, one has more lines than the other, or there is too little text.
    """
    lines = islice(line_pairs_from(source, target), CORPUS_LINES)
    kept = [pair for pair in lines if all(text.strip() for text in pair)]
    if not kept:
        raise DataError(f"{source} and {target}: no pair of sentences; check the paths")
    with TemporaryDirectory(prefix="attendo-bench-") as name:
        config, texts = TokenizerConfig(vocab_size=vocab_size), (text for pair in kept for text in pair)
        try:
            tokenizer = learn_tokenizer(texts, config, Path(name) / "pieces")
        except DataError as error:
            raise DataError(
                f"{source} and {target}: too little text to cut it into {vocab_size:,} pieces; name a larger corpus"
            ) from error
    rows = zip(*(tokenizer.encode_batch([pair[side] for pair in kept]) for side in (0, 1)), strict=True)
    short = [pair for pair in rows if max(map(len, pair)) <= LONGEST]
    return SentencePairs(
        source=[pair[0] for pair in short],
        target=[pair[1] for pair in short],
        description=f"{len(short):,} pairs of {source} and {target} in pieces of a vocabulary of {vocab_size:,}",
    )
