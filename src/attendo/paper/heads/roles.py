"""What Figure 5 counts: heads that keep to the constituents of sentences, and the roles that each head looks at."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attendo.attention_maps.weights import KINDS, Kind
from attendo.paper.heads.looks import Head, Heads, Look, Looks, encoder_weights, ranked
from attendo.paper.heads.markup import PUNCTUATION, Link, Side, links
from attendo.paper.heads.nulls import LEVEL, OffsetProfile, holm, sign_tests
from attendo.paper.statistics import Estimate, estimate

# --- constituents -----------------------------------------------------------------------------------------------------

LEAST_WORDS = 3
"""Of a constituent: within two words there is nothing but a neighbour."""
LEAST_SHARE = 0.2
"""Attention on other words, in the first half, below which a head is not chosen: it looks at `</s>` or at itself."""


@dataclass(frozen=True, kw_only=True)
class StructureHead:
    """One head, and how well it keeps to constituents."""

    head: Head
    on_words: float
    """Attention on other words of the sentence, held out; the rest is on the word itself and on `</s>`."""
    inside: float
    """Of it the share within the constituent, held out."""
    by_place: float
    """The same of the head's positional twin."""
    difference: Estimate
    """Of the two, over held-out sentences."""
    above: float
    """The share of held-out sentences above the twin."""
    chosen_low: float
    """The lower end of the difference's interval in the first half, by which heads are chosen."""
    p: float
    """That as many sentences or more lie above the twin by chance, corrected for all heads."""

    @property
    def follows(self) -> bool:
        """Whether it keeps to constituents more than its places explain, in both halves."""
        return self.p < LEVEL and self.difference.mean > 0 and self.chosen_low > 0


@dataclass(frozen=True, kw_only=True)
class Structure:
    """What came of all encoder heads."""

    heads: tuple[StructureHead, ...]
    """All, the best of the first half first; those that look elsewhere last."""
    num_chosen_on: int
    """Sentences."""
    num_held_out: int
    uniform: float
    """What a head that looks at all other words alike has within the constituent, held out."""


def structure(looks: Looks) -> Structure:
    """Scores all encoder heads.

    Args:
        looks: in both halves.
    """
    halves = [[each for each in looks.half(held_out=half) if innermost(each.source)] for half in (False, True)]
    profile = OffsetProfile(encoder_weights(look) for look in halves[0])
    chosen, held_out = (np.array([_scores(look, profile) for look in half]) for half in halves)
    p_values = holm(sign_tests(held_out[:, 0] - held_out[:, 1]))
    lows = _lows(chosen[:, 0] - chosen[:, 1])
    looks_there = chosen[:, 2].mean(axis=0) >= LEAST_SHARE
    heads = ranked(np.where(looks_there, lows, lows - 4))
    return Structure(
        heads=tuple(_structure_head(head, lows, held_out, p_values) for head in heads),
        num_chosen_on=len(halves[0]),
        num_held_out=len(halves[1]),
        uniform=float(np.mean([_uniform(look.source) for look in halves[1]])),
    )


def innermost(side: Side) -> dict[int, Link]:
    """Of each word that has one the smallest constituent of at least three words that it is in."""
    large = [each for each in side.constituents if each[1] - each[0] + 1 >= LEAST_WORDS]
    found = {}
    for word in range(len(side.words)):
        around = [(first, last) for first, last in large if first <= word <= last]
        if around:
            found[word] = min(around, key=lambda each: each[1] - each[0])
    return found


def _scores(look: Look, profile: OffsetProfile) -> NDArray[np.float64]:
    """Of each head what stays inside, its twin's, and the attention on other words: `(3, num_layers, num_heads)`."""
    length = len(look.source.words)
    weights = encoder_weights(look)[:, :, :length, :length]
    sums = np.zeros((4, *weights.shape[:2]))
    for word, (first, last) in innermost(look.source).items():
        others = [place for place in range(length) if place != word]
        inside = [place for place in others if first <= place <= last]
        for row, each in enumerate((weights, profile.weights(length))):
            sums[2 * row] += each[:, :, word, inside].sum(axis=-1)
            sums[2 * row + 1] += each[:, :, word, others].sum(axis=-1)
    # Sums before the quotient, so that a word that hardly looks at others hardly counts.
    tiny = 1e-12
    num_words = len(innermost(look.source))
    return np.array([sums[0] / (sums[1] + tiny), sums[2] / (sums[3] + tiny), sums[1] / num_words])


def _uniform(side: Side) -> float:
    shares = [(last - first) / (len(side.words) - 1) for first, last in innermost(side).values()]
    return float(np.mean(shares))


def _structure_head(head: Head, lows: Heads, held_out: NDArray[np.float64], p_values: Heads) -> StructureHead:
    inside, by_place, on_words = (held_out[:, row, head.layer, head.head] for row in range(3))
    return StructureHead(
        head=head,
        on_words=float(on_words.mean()),
        inside=float(inside.mean()),
        by_place=float(by_place.mean()),
        difference=estimate(_floats(inside - by_place)),
        above=float((inside > by_place).mean()),
        chosen_low=float(lows[head.layer, head.head]),
        p=float(p_values[head.layer, head.head]),
    )


def _lows(differences: NDArray[np.float64]) -> Heads:
    """The lower ends of all heads' intervals; where there is one sentence alone, the difference."""
    found: Heads = np.zeros(differences.shape[1:])
    for place in np.ndindex(*found.shape):
        its = estimate(_floats(differences[(slice(None), *place)]))
        found[place] = its.mean if its.low is None else its.low
    return found


def _floats(values: NDArray[np.float64]) -> Sequence[float]:
    found: list[float] = values.tolist()
    return found


# --- roles ------------------------------------------------------------------------------------------------------------

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
