"""Random segmentations: SentencePiece's own without chance, its distribution with it, the same in every process."""

import itertools
import math
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from attendo.text.subwords.learning import learn_tokenizer
from attendo.text.subwords.pieces import SPACE_MARK
from attendo.text.subwords.sampling import LatticeSampler, MergeSampler, Vocabulary
from attendo.text.subwords.tokenization import Tokenizer, TokenizerConfig

WORDS = [
    "the",
    "old",
    "miller",
    "grinds",
    "rye",
    "and",
    "barley",
    "under",
    "a",
    "pale",
    "autumn",
    "moon",
    "while",
    "three",
    "geese",
    "wander",
    "homeward",
]
SYMBOL = "<field>"


def sentences(number: int) -> list[str]:
    rng = random.Random(7)
    return [" ".join(rng.choices(WORDS, k=rng.randint(3, 12))) for _ in range(number)]


def learned(folder: Path, kind: str) -> Tokenizer:
    config = TokenizerConfig(
        type="bpe" if kind == "bpe" else "unigram", vocab_size=360 if kind == "bpe" else 297, placeholders=2
    )
    return learn_tokenizer(sentences(400), config, folder / f"{kind}.spm", symbols=[SYMBOL])


@pytest.fixture(scope="module")
def bpe(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return learned(tmp_path_factory.mktemp("bpe"), "bpe")


@pytest.fixture(scope="module")
def unigram(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return learned(tmp_path_factory.mktemp("unigram"), "unigram")


TEXT = st.lists(
    st.one_of(
        st.sampled_from([*WORDS, SYMBOL, "⟦1⟧", " ", "  ", "\t", "ß", "漢字", "é", "<0x41>"]), st.text(max_size=6)
    ),
    max_size=8,
).map("".join)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(text=TEXT.filter(lambda text: not any("\ud800" <= character <= "\udfff" for character in text)))
def test_hardly_any_dropout_is_sentencepieces_own_segmentation(bpe: Tokenizer, text: str) -> None:
    """With a chance this small no merge is left out, so that every merge here has to be the library's."""
    assert bpe.encode_sampled([text], 1e-300, seed=1) == [bpe.encode(text)]


def test_text_without_words_is_merged_as_a_whole() -> None:
    """A vocabulary with a piece over a space: by hand, the best score first, of equals the leftmost."""
    pieces = {"a": 2, "b": 3, SPACE_MARK: 4, f"b{SPACE_MARK}a": 5, f"b{SPACE_MARK}": 6, "ab": 7}
    vocabulary = Vocabulary(pieces=pieces, scores=[0, 0, -9, -9, -9, -1, -2, -3], symbols={}, byte_ids=(), unknown_id=1)
    sampler = MergeSampler(vocabulary, 0.0)
    assert sampler.sample([f"ab{SPACE_MARK}ab", "xxa", ""], seed=1) == [[2, 5, 3], [1, 2], []]


def drawn_by_sentencepiece(tokenizer: Tokenizer, word: str, alpha: float, number: int) -> list[list[int]]:
    processor = sentencepiece.SentencePieceProcessor(model_proto=tokenizer.serialized)
    # On several threads, each would draw the same.
    found: list[list[int]] = processor.encode(
        [word] * number, enable_sampling=True, alpha=alpha, nbest_size=-1, num_threads=1
    )
    return found


def frequencies(segmentations: list[list[int]]) -> Counter[tuple[int, ...]]:
    return Counter(map(tuple, segmentations))


def assert_alike(one: Counter[tuple[int, ...]], other: Counter[tuple[int, ...]]) -> None:
    """Two samples of equal size: a chi-square test of homogeneity over what is common, at 5 sigma."""
    common = [key for key in one.keys() | other.keys() if one[key] + other[key] >= 20]
    assert len(common) > 1
    statistic = sum((one[key] - other[key]) ** 2 / (one[key] + other[key]) for key in common)
    freedom = len(common)
    assert statistic < freedom + 5 * math.sqrt(2 * freedom)


@pytest.mark.parametrize("dropout", [0.1, 0.5])
@pytest.mark.parametrize("word", ["homeward", "grinds rye"])
def test_dropout_is_distributed_as_sentencepieces(bpe: Tokenizer, word: str, dropout: float) -> None:
    number = 6000
    theirs = drawn_by_sentencepiece(bpe, word, dropout, number)
    ours = [ids[:-1] for ids in bpe.encode_sampled([word] * number, dropout, seed=3)]
    assert_alike(frequencies(ours), frequencies(theirs))


def test_dropout_of_nearly_one_leaves_characters(bpe: Tokenizer) -> None:
    (ids,) = bpe.encode_sampled(["the miller"], 0.999999, seed=1)
    assert bpe.pieces(ids[:-1]) == [*"▁the▁miller"]


def every_segmentation(text: str) -> list[tuple[str, ...]]:
    found = []
    for cuts in itertools.product([False, True], repeat=len(text) - 1):
        starts = [0, *(i + 1 for i, cut in enumerate(cuts) if cut), len(text)]
        found.append(tuple(text[a:b] for a, b in itertools.pairwise(starts)))
    return found


def test_unigram_is_drawn_by_its_probability() -> None:
    """Held against all segmentations of a word, enumerated."""
    pieces = {piece: number for number, piece in enumerate(["a", "b", "ab", "ba", "aba", "bab"], start=2)}
    scores = [0.0, 0.0, -2.0, -2.5, -3.0, -3.5, -4.0, -4.2]
    alpha, text, number = 0.7, "ababa", 20_000
    vocabulary = Vocabulary(pieces=pieces, scores=scores, symbols={}, byte_ids=(), unknown_id=1)
    weights = {
        tuple(pieces[piece] for piece in cut): math.exp(alpha * sum(scores[pieces[piece]] for piece in cut))
        for cut in every_segmentation(text)
        if all(piece in pieces for piece in cut)
    }
    total = sum(weights.values())
    drawn = frequencies(LatticeSampler(vocabulary, alpha).sample([text] * number, seed=1))
    assert drawn.keys() == weights.keys()
    for key, weight in weights.items():
        expected = number * weight / total
        assert abs(drawn[key] - expected) < 5 * math.sqrt(expected), key


@pytest.mark.parametrize("word", ["grinds rye", "barleymoon"])
def test_unigram_is_distributed_as_sentencepieces(unigram: Tokenizer, word: str) -> None:
    number = 6000
    theirs = drawn_by_sentencepiece(unigram, word, 0.05, number)
    ours = [ids[:-1] for ids in unigram.encode_sampled([word] * number, 0.05, seed=3)]
    assert_alike(frequencies(ours), frequencies(theirs))


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_symbols_are_never_cut_and_unknown_characters_are_spelled(
    kind: str, bpe: Tokenizer, unigram: Tokenizer
) -> None:
    tokenizer = bpe if kind == "bpe" else unigram
    texts = [f"{SYMBOL} the⟦2⟧ old漢{SYMBOL}moon 🦆"] * 200
    for ids in tokenizer.encode_sampled(texts, 0.5, seed=2):
        assert tokenizer.decode(ids) == texts[0]
        assert tokenizer.pieces(ids).count(SYMBOL) == 2
        assert tokenizer.pieces(ids).count("⟦2⟧") == 1


IN_A_PROCESS = """
import json, sys
from pathlib import Path
from attendo.text.subwords.tokenization import Tokenizer
texts = Path(sys.argv[2]).read_text(encoding="utf-8").splitlines()
print(json.dumps(Tokenizer.load(Path(sys.argv[1])).encode_sampled(texts, 0.2, seed=5)))
"""


def test_every_process_draws_the_same(tmp_path: Path, bpe: Tokenizer, unigram: Tokenizer) -> None:
    (tmp_path / "text").write_text("\n".join(sentences(50)), encoding="utf-8")
    for name, tokenizer in (("bpe", bpe), ("unigram", unigram)):
        tokenizer.save(tmp_path / name)
        command = [sys.executable, "-c", IN_A_PROCESS, str(tmp_path / name), str(tmp_path / "text")]
        outputs = [subprocess.run(command, check=True, capture_output=True).stdout for _ in range(2)]
        assert outputs[0] == outputs[1]
        assert outputs[0].decode().strip() == str(tokenizer.encode_sampled(sentences(50), 0.2, seed=5))
        assert np.mean([len(ids) for ids in tokenizer.encode_sampled(sentences(50), 0.2, 6)]) > 1
