"""Which layer and head of the encoder-decoder attention aligns words best, on sentences whose alignment is known."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from attendo.decoding.lines import alignment
from attendo.decoding.lines.alignment import AlignmentStep
from attendo.evaluation.alignment_error import AlignmentScore, alignment_score
from attendo.paper.heads.markup import PUNCTUATION, Link, Pair, Side, links
from attendo.workflow.engines.engine import Engine


@dataclass(frozen=True, kw_only=True)
class Aligner:
    """One way to align."""

    layer: int | None
    """Of the decoder, from 1; None for the mean of all."""
    head: int | None
    """From 1; None for the mean of the layer's."""
    step: AlignmentStep

    def to_text(self) -> str:
        """For a table."""
        layer = "all layers" if self.layer is None else f"layer {self.layer}"
        return f"{layer}, {'all heads' if self.head is None else f'head {self.head}'}, {self.step}"


def score_aligners(engine: Engine, pairs: Iterable[Pair]) -> tuple[tuple[Aligner, AlignmentScore], ...]:
    """Scores every layer and head, and the means of heads and layers, by links between words with spaces around them.

    Args:
        engine: with a model between English and German.
        pairs: at least one; the given translations are aligned, not the model's own.

    Returns:
        All ways to align with their scores, the best first.
    """
    found: dict[Aligner, list[frozenset[Link]]] = {}
    known: list[frozenset[Link]] = []
    for pair in pairs:
        source, target = pair.sides(engine.description.source_language)
        attention = engine.attention(source.text, target.text)
        words = [alignment.words_of(pieces[:-1]) for pieces in (attention.source, attention.target)]
        known.append(written_links(source, target))
        for aligner, weights in _weights(attention.cross):
            its = alignment.links(weights, *words)
            found.setdefault(aligner, []).append(frozenset(its))
    scores = [(aligner, alignment_score(its, known)) for aligner, its in found.items()]
    return tuple(sorted(scores, key=lambda each: each[1].aer))


def written_links(source: Side, target: Side) -> frozenset[Link]:
    """Known links between words with spaces around them, to which punctuation belongs; its own links are left out."""
    return frozenset(
        (_written(source)[i], _written(target)[j])
        for i, j in links(source, target)
        if source.words[i] not in PUNCTUATION and target.words[j] not in PUNCTUATION
    )


def _written(side: Side) -> Sequence[int]:
    """Of each word the number of the one that it is written in."""
    numbers: list[int] = []
    for word in side.words:
        numbers.append((numbers[-1] if numbers else -1) + (word not in PUNCTUATION))
    return numbers


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
