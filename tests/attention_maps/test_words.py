"""Pieces joined to words: which belong together, and what becomes of their weights."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from attendo.attention_maps.weights import START_LABEL, AttentionMap
from attendo.attention_maps.words import joined, word_sizes, words_of

MakeMap = Callable[..., AttentionMap]

# Tatoeba-like sentences, cut by hand; the words are what a reader would point at.
SPLITS = [
    (["▁The", "▁animal", "▁didn", "'", "t", "▁cross", ".", "</s>"], ["The", "animal", "didn't", "cross", ".", "</s>"]),
    (["▁über", "qu", "erte", ",", "▁weil", "</s>"], ["überquerte", ",", "weil", "</s>"]),
    (["▁(", "▁", "quo", "ted", ")", "!", "!", "</s>"], ["(", "quoted", ")", "!", "!", "</s>"]),
    (["▁3", ".", "14", "▁-", "▁1", "%", "</s>"], ["3.14", "-", "1", "%", "</s>"]),
    # Bytes, where the vocabulary has no piece for a character: U+1F600 is F0 9F 98 80 in UTF-8.
    (["▁", "<0xF0>", "<0x9F>", "<0x98>", "<0x80>", "▁ok", "</s>"], ["😀", "ok", "</s>"]),
    # Two thirds of a character.
    (["▁a", "<0xE2>", "<0x96>", "</s>"], ["a\ufffd", "</s>"]),
    # Scripts without spaces: all would be one word.
    (["▁我", "喜欢", "音楽", "。", "</s>"], ["我", "喜欢", "音楽", "。", "</s>"]),
    (["▁สวัส", "ดี", "▁GP", "U", "が", "</s>"], ["สวัส", "ดี", "GPU", "が", "</s>"]),
    # A vowel sign is no letter by itself, but is no punctuation either.
    (["▁हिन", "्", "दी", "▁कि", "त", "ा", "</s>"], ["हिन्दी", "किता", "</s>"]),
    (["▁end", "▁", "▁", "</s>"], ["end", "▁", "</s>"]),
    (["▁...", "</s>"], ["...", "</s>"]),
    (["▁", "</s>"], ["▁", "</s>"]),
    (["</s>"], ["</s>"]),
]


@pytest.mark.parametrize(("pieces", "words"), SPLITS)
def test_pieces_become_the_words_of_a_reader(pieces: list[str], words: list[str]) -> None:
    sizes = word_sizes(pieces)
    assert words_of(pieces, sizes) == tuple(words)
    assert sum(sizes) == len(pieces)
    assert min(sizes) > 0


def by_hand(weights: NDArray[np.float32], queries: list[list[int]], keys: list[list[int]]) -> NDArray[np.float64]:
    """Clark et al. (2019), Section 4.1, in plain loops: sums over a word's keys, the mean over its queries."""
    return np.array(
        [
            [
                [[sum(float(head[q, k]) for q in query for k in key) / len(query) for key in keys] for query in queries]
                for head in layer
            ]
            for layer in weights
        ]
    )


def test_joined_weights_are_sums_over_keys_and_means_over_queries(random_map: MakeMap) -> None:
    attention = random_map(("▁a", "b", "▁c", "d", "e", ".", "</s>"), ("▁x", "▁y", "z", "</s>"))
    source, target = [[0, 1], [2, 3, 4], [5], [6]], [[0], [1, 2], [3]]
    # The decoder reads one position behind: its columns are the start, x, y, z, of which y and z are one word.
    read = [[0], [1], [2, 3]]
    words = joined(attention)
    assert words.unit == "words"
    assert (words.source, words.target) == (("ab", "cde", ".", "</s>"), ("x", "yz", "</s>"))
    assert words.keys("decoder") == (START_LABEL, "x", "yz")
    assert words.encoder is not None
    np.testing.assert_allclose(words.encoder, by_hand(attention.weights("encoder"), source, source), atol=1e-6)
    np.testing.assert_allclose(words.decoder, by_hand(attention.decoder, target, read), atol=1e-6)
    np.testing.assert_allclose(words.cross, by_hand(attention.cross, target, source), atol=1e-6)


@pytest.mark.parametrize(("pieces", "words"), SPLITS)
def test_rows_still_sum_to_1(pieces: list[str], words: list[str], random_map: MakeMap) -> None:
    attention = joined(random_map(tuple(pieces), tuple(pieces)))
    for kind in attention.kinds:
        np.testing.assert_allclose(attention.weights(kind).sum(axis=-1), 1, atol=1e-5)
        assert len(attention.queries(kind)) == len(words)


def test_a_word_of_one_piece_never_looks_ahead(random_map: MakeMap) -> None:
    words = joined(random_map(("▁a", "</s>"), ("▁x", "▁y", "z", "▁w", "</s>")))
    ahead = [(row, column) for row in range(4) for column in range(4) if column > row]
    seen = {place for place in ahead if words.decoder[:, :, place[0], place[1]].any()}
    assert seen == {(1, 2)}, "only a word's later pieces look at its earlier ones"


def test_words_are_joined_once(random_map: MakeMap) -> None:
    words = joined(random_map(("▁a", "b", "</s>"), ("▁x", "</s>")))
    assert joined(words) is words


def test_a_map_without_encoder_stays_without(random_map: MakeMap) -> None:
    attention = replace(random_map(("▁a", "b", "</s>"), ("▁x", "</s>")), encoder=None)
    assert joined(attention).kinds == ("decoder", "cross")
