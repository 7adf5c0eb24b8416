"""Alignment by each layer and head, between words as they are written."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from attendo.attention_maps.weights import AttentionMap
from attendo.paper.heads.sentences import aligned_texts, dependency_pairs
from attendo.synthetic.annotated.markup import Side, links
from attendo.workflow.evaluation.aligners import AlignedTexts, Aligner, anchored, score_aligners

SPACE = "\u2581"


@dataclass
class Description:
    """A model's languages."""

    source_language: str = "en"


class Planted:
    """A model of 2 layers of 2 heads, of which the last head of the first layer aligns the word that is read."""

    def __init__(self, known: dict[str, tuple[Side, Side]]) -> None:
        self.description, self._known = Description(), known

    def attention(self, source: str, target: str) -> AttentionMap:
        sides = self._known[source]
        pieces = [(*(word if word in ".," else SPACE + word for word in side.words), "</s>") for side in sides]
        src_len, tgt_len = map(len, pieces)
        cross = np.full((2, 2, tgt_len, src_len), 1 / src_len, dtype=np.float32)
        planted = np.zeros((tgt_len, src_len), dtype=np.float32)
        for i, j in links(*sides):
            planted[j + 1, i] += 1
        empty = planted.sum(axis=1) == 0
        planted[empty, -1] = 1
        cross[0, 1] = planted / planted.sum(axis=1, keepdims=True)
        return AttentionMap(
            source=pieces[0],
            target=pieces[1],
            encoder=None,
            decoder=np.zeros((2, 2, tgt_len, tgt_len), dtype=np.float32),
            cross=cross,
        )


def test_a_planted_head_aligns_best() -> None:
    pairs = [pair for pair in dependency_pairs(48, 1) if pair.template in ("particle", "made so")]
    engine = Planted({pair.english.text: (pair.english, pair.german) for pair in pairs})
    texts = [aligned_texts(pair, "en") for pair in pairs]
    found = score_aligners(cast(Any, engine), texts)
    assert len(found) == 2 * (1 + 2 + 4)
    (best, score), *others = found
    assert best == Aligner(layer=1, head=2, step="reads")
    assert best.to_text() == "layer 1, head 2, reads"
    assert score.precision > 0.95  # all but German words of two English ones, of which one is found
    assert all(other.aer >= score.aer for _, other in others)
    by_aligner = dict(found)
    assert by_aligner[Aligner(layer=2, head=1, step="reads")].aer > 0.5
    assert by_aligner[Aligner(layer=1, head=None, step="reads")].aer < 0.1


def test_words_that_stand_in_both_are_known() -> None:
    found = anchored(
        "Open setup.exe (64-bit) and setup.py, or see the FAQ.", "Öffnen Sie setup.exe oder setup.py; FAQ."
    )
    assert found is not None
    assert found.known == {(1, 2), (4, 4), (8, 5)}
    assert not found.are_all
    assert anchored("No, no one knows.", "Nein, das weiß keiner.") is None
    assert anchored("to be or not to be", "to to be be") is None, "which is which"


def test_of_known_words_alone_the_planted_head_is_found_too() -> None:
    """Its other links are neither right nor wrong."""
    pairs = [pair for pair in dependency_pairs(48, 1) if pair.template in ("particle", "made so")]
    engine = Planted({pair.english.text: (pair.english, pair.german) for pair in pairs})
    texts = [aligned_texts(pair, "en") for pair in pairs]
    some = [
        AlignedTexts(source=text.source, target=text.target, known=frozenset([min(text.known)]), are_all=False)
        for text in texts
    ]
    scores = dict(score_aligners(cast(Any, engine), some))
    planted = scores[Aligner(layer=1, head=2, step="reads")]
    assert planted.aer < 0.1
    assert planted.recall == 1.0
    assert scores[Aligner(layer=2, head=1, step="reads")].aer > 0.5
