"""What each head of each kind looks at: the shares of its attention and of its strongest weights on each role."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from attendo.attention_maps.weights import KINDS, Kind
from attendo.paper.heads.looks import Heads, Look
from attendo.paper.heads.markup import PUNCTUATION, Side, links
from attendo.paper.heads.structure import innermost

Targets = Callable[[Look, int], Collection[int]]
"""The columns that play a role for a row; none where nothing does."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RoleScore:
    """How much all heads of one kind look at one role."""

    role: str
    num_queries: int
    """Words for which something plays it."""
    chance: float
    """Of all columns that may be seen those that play it, on average: what looking anywhere comes to."""
    shares: Heads
    """Of the attention."""
    hits: Heads
    """Of the rows' strongest weights."""


def roles(looks: Sequence[Look]) -> dict[Kind, tuple[RoleScore, ...]]:
    """Scores every head of every kind; a role that nothing plays in these sentences is left out.

    Args:
        looks: at least one.
    """
    return {
        kind: tuple(
            score for role, targets in ROLES[kind].items() if (score := _score(looks, kind, role, targets)) is not None
        )
        for kind in KINDS
        if kind in looks[0].words.kinds
    }


def _score(looks: Sequence[Look], kind: Kind, role: str, targets: Targets) -> RoleScore | None:
    shares, hits, chances = [], [], []
    for look in looks:
        weights = look.words.weights(kind).astype(np.float64)
        strongest = weights.argmax(axis=-1)
        for row in range(weights.shape[2]):
            columns = sorted(targets(look, row))
            if columns:
                shares.append(weights[:, :, row, columns].sum(axis=-1))
                hits.append(np.isin(strongest[:, :, row], columns))
                seen = min(row + 1, weights.shape[3]) if kind == "decoder" else weights.shape[3]
                chances.append(min(1.0, len(columns) / seen))
    if not shares:
        return None
    return RoleScore(
        role=role,
        num_queries=len(shares),
        chance=float(np.mean(chances)),
        shares=np.mean(shares, axis=0),
        hits=np.mean(hits, axis=0),
    )


def _encoder_place(offset: int) -> Targets:
    def targets(look: Look, row: int) -> Collection[int]:
        return {row + offset} & set(range(len(look.source.words)))

    return targets


def _source_column(place: int) -> Targets:
    """The place of a word of the source, from the end where it is negative, where -1 is `</s>`."""

    def targets(look: Look, row: int) -> Collection[int]:
        return {place % len(look.words.source)}

    return targets


def _same_word(look: Look, row: int) -> Collection[int]:
    words = [word.lower() for word in look.source.words]
    if row >= len(words) or words[row] in PUNCTUATION:
        return set()
    return {place for place, word in enumerate(words) if word == words[row] and place != row}


def _partner(side: Side, row: int) -> Collection[int]:
    if side.dependency is None or row not in side.dependency:
        return set()
    return set(side.dependency) - {row}


def _antecedent(side: Side, row: int) -> Collection[int]:
    return {side.antecedent} if side.antecedent is not None and row == side.anaphor else set()


def _constituent(side: Side, row: int) -> Collection[int]:
    if row not in (around := innermost(side)):
        return set()
    first, last = around[row]
    return set(range(first, last + 1)) - {row}


def _written(targets: Callable[[Side, int], Collection[int]]) -> Targets:
    """Of a word that is being written those before it, whose columns stand one to the right of their words."""
    return lambda look, row: {place + 1 for place in targets(look.target, row) if place < row}


def _decoder_place(offset: int) -> Targets:
    """The word so many places before the one that is being written; 0 is its own pieces, if it has several."""

    def targets(look: Look, row: int) -> Collection[int]:
        place = row + offset
        # Of </s> no column is seen, and a word of one piece has not read itself.
        weights = look.words.decoder
        if not 0 <= place < len(look.target.words) or (offset == 0 and weights[:, :, row, place + 1].max() == 0):
            return set()
        return {place + 1}

    return targets


def _aligned(shift: int) -> Targets:
    """The source's words that a target word comes from: the one being written, one before or one after it."""

    def targets(look: Look, row: int) -> Collection[int]:
        return {source for source, target in links(look.source, look.target) if target == row + shift}

    return targets


ROLES: Mapping[Kind, Mapping[str, Targets]] = {
    "encoder": {
        "previous word": _encoder_place(-1),
        "own word": _encoder_place(0),
        "next word": _encoder_place(1),
        "first word": _source_column(0),
        "final mark": _source_column(-2),
        "</s>": _source_column(-1),
        "same word": _same_word,
        "dependency": lambda look, row: _partner(look.source, row),
        "antecedent": lambda look, row: _antecedent(look.source, row),
        "constituent": lambda look, row: _constituent(look.source, row),
    },
    "decoder": {
        "start": lambda look, row: {0},
        "last word written": _decoder_place(-1),
        "the one before": _decoder_place(-2),
        "own pieces": _decoder_place(0),
        "dependency": _written(_partner),
        "antecedent": _written(_antecedent),
        "constituent": _written(_constituent),
    },
    "cross": {
        "aligned word": _aligned(0),
        "aligned to the last": _aligned(-1),
        "aligned to the next": _aligned(1),
        "first word": _source_column(0),
        "final mark": _source_column(-2),
        "</s>": _source_column(-1),
    },
}
"""By kind and name, in the order of the tables."""
