"""Finds the layer and head of the encoder-decoder attention that align words best, on sentences of known alignment."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from attendo.decoding.lines import alignment
from attendo.decoding.lines.alignment import AlignmentStep
from attendo.evaluation.alignment_error import AlignmentScore, alignment_score
from attendo.workflow.engines.engine import Engine

Link = tuple[int, int]
"""A word of the source and one of the target, from 0."""

_AROUND = ".,:;!?()\"'«»„“”‚‘’…"


@dataclass(frozen=True, kw_only=True)
class Aligner:
    """A layer and head used for alignment."""

    layer: int | None
    """The decoder layer, from 1; None for the mean of all."""
    head: int | None
    """The attention head, from 1; None for the mean of the layer's heads."""
    step: AlignmentStep

    def to_text(self) -> str:
        """The aligner's name in a table."""
        layer = "all layers" if self.layer is None else f"layer {self.layer}"
        return f"{layer}, {'all heads' if self.head is None else f'head {self.head}'}, {self.step}"


@dataclass(frozen=True, kw_only=True)
class AlignedTexts:
    """A sentence and its translation with links between words that have spaces around them."""

    source: str
    target: str
    known: frozenset[Link]
    are_all: bool
    """Whether these are all links; otherwise only the links of the words that they join are known."""


def anchored(source: str, target: str) -> AlignedTexts | None:
    """A sentence and its translation with links between the words that occur once, and identically, in both.

    Those are names, numbers and identifiers; None if there is none.
    """
    sides = [[word.strip(_AROUND) for word in text.split()] for text in (source, target)]
    once = [{word for word, count in Counter(side).items() if count == 1 and len(word) > 1} for side in sides]
    known = frozenset((sides[0].index(word), sides[1].index(word)) for word in once[0] & once[1])
    return AlignedTexts(source=source, target=target, known=known, are_all=False) if known else None


def score_aligners(engine: Engine, texts: Iterable[AlignedTexts]) -> tuple[tuple[Aligner, AlignmentScore], ...]:
    """Scores every layer and head, and the means of heads and layers, by links between words with spaces around them.

    Args:
        engine: the engine with the model.
        texts: the aligned texts, at least one; the given translations are aligned, not the model's own.

    Returns:
        All ways to align with their scores, the best first.
    """
    found: dict[Aligner, list[frozenset[Link]]] = {}
    known: list[frozenset[Link]] = []
    for text in texts:
        attention = engine.attention(text.source, text.target)
        words = [alignment.words_of(pieces[:-1]) for pieces in (attention.source, attention.target)]
        known.append(text.known)
        sources, targets = ({link[side] for link in text.known} for side in (0, 1))
        for aligner, weights in _weights(attention.cross):
            its = alignment.links(weights, *words)
            found.setdefault(aligner, []).append(
                frozenset(link for link in its if text.are_all or link[0] in sources or link[1] in targets)
            )
    scores = [(aligner, alignment_score(its, known)) for aligner, its in found.items()]
    return tuple(sorted(scores, key=lambda each: each[1].aer))


def _weights(cross: NDArray[np.float32]) -> Iterable[tuple[Aligner, NDArray[np.float32]]]:
    num_layers, num_heads = cross.shape[:2]
    steps: tuple[AlignmentStep, ...] = get_args(AlignmentStep)
    for step in steps:
        moved = alignment.at_step(cross, step)
        yield Aligner(layer=None, head=None, step=step), moved.mean(axis=(0, 1))
        for layer in range(num_layers):
            yield Aligner(layer=layer + 1, head=None, step=step), moved[layer].mean(axis=0)
            for head in range(num_heads):
                yield Aligner(layer=layer + 1, head=head + 1, step=step), moved[layer, head]
