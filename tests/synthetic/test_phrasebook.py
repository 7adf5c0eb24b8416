"""The pairs of the phrasebook as a whole; the grammar below them is tested in the files beside this one."""

import os
import random
import re
import subprocess
import sys
from collections import defaultdict

import pytest

from attendo.errors import DataError
from attendo.synthetic import phrasebook
from attendo.synthetic.phrasebook import TEMPLATES, PhrasePair, Split, draw, generate, split, tokens


@pytest.fixture(scope="module")
def default_split() -> Split:
    return split(seed=1)


def test_default_split_has_the_sizes_asked_for(default_split: Split) -> None:
    assert (len(default_split.train), len(default_split.valid), len(default_split.test)) == (40_000, 500, 500)


def test_no_sentence_occurs_twice_on_either_side(default_split: Split) -> None:
    pairs = default_split.train + default_split.valid + default_split.test
    assert len({pair.source for pair in pairs}) == len({pair.target for pair in pairs}) == len(pairs)


def test_held_out_combinations_never_occur_in_training(default_split: Split) -> None:
    train, valid, test = (
        {pair.combination for pair in part} for part in (default_split.train, default_split.valid, default_split.test)
    )
    assert not train & valid
    assert not train & test
    assert not valid & test


@pytest.mark.parametrize("side", ["source", "target"])
def test_every_held_out_word_occurs_in_training(default_split: Split, side: str) -> None:
    seen = {word for pair in default_split.train for word in tokens(getattr(pair, side))}
    for pair in default_split.valid + default_split.test:
        assert set(tokens(getattr(pair, side))) <= seen


def test_every_template_is_trained_and_most_are_held_out(default_split: Split) -> None:
    assert {pair.template for pair in default_split.train} == set(TEMPLATES)
    held_out = {pair.template for pair in default_split.valid + default_split.test}
    assert len(held_out) > 0.8 * len(TEMPLATES)


def test_same_seed_same_pairs_whatever_the_hash_seed() -> None:
    command = "from attendo.synthetic.phrasebook import generate; print(generate(300, 5))"
    outputs = [
        subprocess.run(
            [sys.executable, "-c", command],
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            check=True,
            encoding="utf-8",
        ).stdout.strip()
        for hash_seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1] == str(generate(300, 5))


def test_another_seed_gives_other_pairs() -> None:
    assert generate(50, 1) != generate(50, 2)


def test_only_random_is_drawn_from_the_generator() -> None:
    # Only random() is promised to be the same in every Python version.
    class OnlyRandom(random.Random):
        def getrandbits(self, k: int, /) -> int:
            raise AssertionError("getrandbits is not portable across versions")

    for name in TEMPLATES:
        draw(name, OnlyRandom(3))


def test_same_english_never_has_two_germans_nor_the_reverse() -> None:
    generator = random.Random(9)
    germans, englishes = defaultdict(set), defaultdict(set)
    for name in TEMPLATES:
        for _ in range(400):
            pair = draw(name, generator)
            germans[pair.source].add(pair.target)
            englishes[pair.target].add(pair.source)
    assert not [source for source, several in germans.items() if len(several) > 1]
    assert not [target for target, several in englishes.items() if len(several) > 1]


def test_too_many_pairs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    # Twelve months and fourteen relatives with three possessives leave only some hundreds of birthdays.
    monkeypatch.setattr(phrasebook, "TEMPLATES", {"birthday": TEMPLATES["birthday"]})
    with pytest.raises(DataError, match=r"asked for 5,000 distinct pairs and has about \d+; ask for fewer"):
        generate(5_000, 1)


def test_too_large_a_held_out_part_is_refused() -> None:
    with pytest.raises(DataError, match="ask for a smaller held-out part or more training pairs"):
        split(seed=1, num_train=100, num_valid=400, num_test=400)


def test_small_splits_work() -> None:
    parts = split(seed=3, num_train=6_000, num_valid=40, num_test=40)
    assert (len(parts.train), len(parts.valid), len(parts.test)) == (6_000, 40, 40)


def _malformed(pair: PhrasePair) -> bool:
    return any(
        re.search(r"  | [.,?!]|^\W|\.\.|\b(\w+) \1\b", text) or not text[0].isupper() or text[-1] not in ".?!"
        for text in (pair.source, pair.target)
    )


def test_sentences_are_well_formed(default_split: Split) -> None:
    assert [pair for pair in default_split.train if _malformed(pair)] == []


def test_lengths_are_those_of_a_phrasebook(default_split: Split) -> None:
    lengths = [len(pair.source.split()) for pair in default_split.train]
    assert 7 <= sum(lengths) / len(lengths) <= 10
    assert max(lengths) <= 24


# Grammar by eye, over all that is generated: what no German sentence may contain.
_WRONG_GERMAN = re.compile(
    r"\b(in dem|zu dem|zu der|von dem|bei dem|an dem|an das|in das)\b"  # contracted in speech
    r"|\b(mit|aus|seit|zu|von) (den|die|das|einen|eine) [a-zäöü]*[A-Z]\w*(?<!n)(?<!s)[ .?]"  # a dative is governed
    r"|\bein (Suppe|Jacke|Tasche|Pizza)\b|\beine (Hut|Mantel|Koffer|Bus|Zug)\b"  # gender
    r"|\b(ich|er) haben\b|\bwir hat\b|\bSie hast\b"  # person
)
_WRONG_ENGLISH = re.compile(
    r"\ba [aeio]|\ban [^aeiouh]|\b(he|she) (have|go|want|do|are|were)\b(?! not)"
    r"|\bI (is|has|are)\b|\b(we|they) (is|has|was)\b"
)


def test_no_wrong_form_slips_through(default_split: Split) -> None:
    pairs = default_split.train + default_split.valid + default_split.test
    assert [pair.target for pair in pairs if _WRONG_GERMAN.search(pair.target)] == []
    statements = [pair.source for pair in pairs if pair.source.endswith(".")]
    assert [source for source in statements if _WRONG_ENGLISH.search(source)] == []
