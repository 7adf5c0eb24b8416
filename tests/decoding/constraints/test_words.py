"""Expected values: words looked for in the written text, character by character; SentencePiece's own segmentation."""

import itertools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.decoding.conftest import EOS, TreeStep, random_table

from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.constraint import Rules
from attendo.decoding.constraints.words import ForbiddenWords, Spelling, forced_word_ids
from attendo.decoding.searches.search import search
from attendo.errors import DataError
from attendo.text.subwords.learning import learn_tokenizer
from attendo.text.subwords.tokenization import Tokenizer, TokenizerConfig

S = "\u2581"
BYTES = [f"<0x{byte:02X}>" for byte in "aä b".encode()]


class Toy:
    """Pieces by hand; a text is the longest piece, then the longest again."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._pieces = ["</s>", "<unk>", *pieces]
        self.vocab_size = len(self._pieces)

    def pieces(self, ids: Sequence[int]) -> list[str]:
        return [self._pieces[i] for i in ids]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        return [[*self._encode(S + text.replace(" ", S)), EOS] for text in texts]

    def _encode(self, text: str) -> list[int]:
        if not text.strip(S):
            return []
        piece = max((piece for piece in self._pieces if text.startswith(piece)), key=len, default="")
        return [self._pieces.index(piece), *self._encode(text[len(piece) :])] if piece else [1]

    def text(self, ids: Sequence[int]) -> bytes:
        found = b""
        for piece in self.pieces(ids):
            if piece == "<unk>":
                found += " \u2047 ".encode()
            elif piece != "</s>":
                found += bytes((int(piece[3:5], 16),)) if piece.startswith("<0x") else piece.replace(S, " ").encode()
        return found


def completes(toy: Toy, ids: Sequence[int], token: int, word: str) -> bool:
    """Whether a token writes the end of a word as described: looked for at every place of the whole text."""
    before, whole, sought = toy.text(ids), toy.text([*ids, token]), word.encode()
    for start in range(len(whole)):
        end = start + len(sought)
        if whole[start:end] == sought and end > len(before):
            earlier = whole[:start].decode("utf-8", errors="replace")[-1:]
            later = whole[end:].decode("utf-8", errors="replace")[:1]
            if not earlier.isalnum() and not later.isalnum():
                return True
    return False


PIECES = [
    S,
    S + "a",
    "a",
    "ä",
    "aä",
    "b",
    "ab",
    S + "ab",
    "äb",
    "(",
    "(a",
    "b.",
    S + "aäb",
    "aäb)",
    "a" + S + "b",
    *BYTES,
]


@settings(max_examples=300, deadline=None)
@given(
    ids=st.lists(st.integers(1, len(PIECES) + 1), max_size=6),
    words=st.lists(st.sampled_from(["a", "ab", "aäb", "ä", "a b", "b.", "aab"]), min_size=1, max_size=3),
)
def test_exactly_the_pieces_that_complete_a_word_are_banned(ids: list[int], words: list[str]) -> None:
    toy = Toy(PIECES)
    allowed = ForbiddenWords(words, Spelling(toy)).following(ids)
    banned = [token for token in range(toy.vocab_size) if token not in allowed]
    expected = [token for token in range(toy.vocab_size) if any(completes(toy, ids, token, word) for word in words)]
    assert banned == expected


def test_a_word_is_banned_in_every_segmentation() -> None:
    toy = Toy(
        [S, "H", "a", "u", "s", "b", "Ha", "us", S + "Haus", S + "Hau", S + "Ha", "aus", "boot", S + "Hausboot", "("]
    )
    forbidden = ForbiddenWords(["Haus"], Spelling(toy))
    numbers = range(1, toy.vocab_size)
    spelled = [
        ids
        for length in range(1, 6)
        for ids in itertools.product(numbers, repeat=length)
        if toy.text(ids) in (b" Haus", b"Haus", b"(Haus")
    ]
    assert len(spelled) > 15
    assert all(ids[-1] not in forbidden.following(ids[:-1]) for ids in spelled)
    piece = {text: number for number, text in enumerate(toy.pieces(range(toy.vocab_size)))}
    # A longer word is not banned as a piece of its own, or where no piece ends with the shorter one.
    assert piece[S + "Hausboot"] in forbidden.following([])
    assert piece["b"] in forbidden.following([piece[S + "Hau"]])
    # Nor is it within a word.
    assert piece["aus"] in forbidden.following([piece["b"], piece["H"]])
    assert piece["aus"] not in forbidden.following([piece["("], piece["H"]])


@pytest.mark.parametrize("searched", [{"beam_size": 4**4, "n_best": 60}, {"sampling": True, "n_best": 60}])
def test_forbidden_words_in_a_search(searched: dict[str, Any]) -> None:
    toy = Toy([S + "ab", "b"])
    table = random_table(1, 1, toy.vocab_size, 3)
    rules = Rules(max_len=3, constraints=(ForbiddenWords(["abb"], Spelling(toy)),))
    [found] = search(TreeStep(table), [rules], eos_id=EOS, config=SearchConfig(**searched))
    texts = {toy.text(each.ids).decode() for each in found}
    assert " ab" in texts
    # After "abb" a piece has ended, whatever follows.
    assert not any(word.startswith("abb") for text in texts for word in re.split(r"\W", text))
    if "beam_size" in searched:
        every = [ids for length in range(4) for ids in itertools.product((1, 2, 3), repeat=length)]
        kept = [ids for ids in every if not re.search(r"(^|\W)abb", toy.text(ids).decode())]
        assert sorted(each.ids for each in found) == sorted(kept)


def test_forced_words_are_those_of_the_tokenizer(tmp_path: Path) -> None:
    text = ["das alte haus steht am see", "die häuser sind alt", "ein boot liegt am haus"] * 20
    tokenizer: Tokenizer = learn_tokenizer(text, TokenizerConfig(vocab_size=300), tmp_path / "target.spm")
    words = ["haus", " boote ", "das alte", "Zürich"]
    found = forced_word_ids(words, tokenizer)
    assert [tokenizer.decode(ids) for ids in found] == ["haus", "boote", "das alte", "Zürich"]
    assert all(tuple(tokenizer.encode(word.strip())[:-1]) == ids for word, ids in zip(words, found, strict=True))
    forbidden = ForbiddenWords(words, Spelling(tokenizer))
    for ids in found:
        assert ids[-1] not in forbidden.following(ids[:-1])
    [others] = forced_word_ids(["am see"], tokenizer)
    assert all(token in forbidden.following(others[:length]) for length, token in enumerate(others))


def test_words_that_cannot_be_are_refused() -> None:
    toy = Toy([S + "a", "b"])
    with pytest.raises(DataError, match="the forced word ' ' has no letter; leave it out"):
        forced_word_ids(["a", " "], toy)
    with pytest.raises(DataError, match="the forced word 'ax' cannot be spelled with the model's vocabulary"):
        forced_word_ids(["ax"], toy)
    with pytest.raises(DataError, match="the forbidden word '' has no letter; leave it out"):
        ForbiddenWords(["a", ""], Spelling(toy))
