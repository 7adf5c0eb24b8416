"""The measures of Figure 5: heads that keep to the constituents of sentences, and the roles that each head looks at."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attendo.attention_maps.weights import KINDS, Kind
from attendo.evaluation.estimates import Estimate, estimate
from attendo.paper.heads.chance import LEVEL, OffsetProfile, holm, sign_tests
from attendo.paper.heads.head_attention import CorpusAttention, Head, Heads, SentenceAttention, encoder_weights, ranked
from attendo.synthetic.annotated.markup import PUNCTUATION, Link, Side, links

# --- constituents -----------------------------------------------------------------------------------------------------

LEAST_WORDS = 3
"""Smallest number of words in a constituent that counts; within two words there is nothing but a neighbour."""
LEAST_SHARE = 0.2
"""Attention on other words, in the first half, below which a head ranks last: it looks at `</s>` or its own word."""


@dataclass(frozen=True, kw_only=True)
class StructureHead:
    """One encoder head, with its scores at keeping to constituents."""

    head: Head
    on_words: float
    """Mean attention on other words of the sentence, held out; the rest is on the word itself and on `</s>`."""
    inside: float
    """Share of that attention within the constituent, held out."""
    by_place: float
    """The same share for the head's positional twin."""
    difference: Estimate
    """Difference between `inside` and `by_place`, over held-out sentences."""
    above: float
    """Share of held-out sentences in which the head is above its twin."""
    chosen_low: float
    """The lower end of the difference's interval in the first half, by which heads are chosen."""
    p: float
    """P-value of the sign test on the sentences above the twin, corrected for all heads."""

    @property
    def follows(self) -> bool:
        """Whether it keeps to constituents more than its positional twin, in both halves."""
        return self.p < LEVEL and self.difference.mean > 0 and self.chosen_low > 0


@dataclass(frozen=True, kw_only=True)
class Structure:
    """The scores of all encoder heads."""

    heads: tuple[StructureHead, ...]
    """All heads, the best of the first half first; those below `LEAST_SHARE` last."""
    num_chosen_on: int
    """Number of sentences in the first half."""
    num_held_out: int
    """Number of sentences in the held-out half."""
    uniform: float
    """Share within the constituent of a head that attends to all other words equally, held out."""


def structure(looks: CorpusAttention) -> Structure:
    """Scores all encoder heads.

    Args:
        looks: attention on sentences of both halves; those without a large constituent are skipped.
    """
    halves = [[look for look in looks.half(held_out=half) if innermost(look.source)] for half in (False, True)]
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
    """Returns, by word, the smallest constituent of at least `LEAST_WORDS` words that contains it, if there is one."""
    large = [span for span in side.constituents if span[1] - span[0] + 1 >= LEAST_WORDS]
    smallest = {}
    for word in range(len(side.words)):
        around = [(first, last) for first, last in large if first <= word <= last]
        if around:
            smallest[word] = min(around, key=lambda span: span[1] - span[0])
    return smallest


def _scores(look: SentenceAttention, profile: OffsetProfile) -> NDArray[np.float64]:
    """Returns each head's share inside, its twin's, and its attention on other words: `(3, num_layers, num_heads)`."""
    length = len(look.source.words)
    weights = encoder_weights(look)[:, :, :length, :length]
    sums = np.zeros((4, *weights.shape[:2]))
    for word, (first, last) in innermost(look.source).items():
        others = [place for place in range(length) if place != word]
        inside = [place for place in others if first <= place <= last]
        for row, attention in enumerate((weights, profile.weights(length))):
            sums[2 * row] += attention[:, :, word, inside].sum(axis=-1)
            sums[2 * row + 1] += attention[:, :, word, others].sum(axis=-1)
    # A quotient of sums, so that a word that hardly attends to others hardly counts.
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
    """Returns the lower ends of all heads' intervals; with a single sentence, the difference."""
    lows: Heads = np.zeros(differences.shape[1:])
    for index in np.ndindex(*lows.shape):
        interval = estimate(_floats(differences[(slice(None), *index)]))
        lows[index] = interval.mean if interval.low is None else interval.low
    return lows


def _floats(values: NDArray[np.float64]) -> Sequence[float]:
    floats: list[float] = values.tolist()
    return floats


# --- roles ------------------------------------------------------------------------------------------------------------

Targets = Callable[[SentenceAttention, int], Collection[int]]
"""A function that returns the columns that play a role for a row; empty if none does."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RoleScore:
    """The attention of all heads of one kind on one role."""

    role: str
    num_queries: int
    """Number of words for which some column plays the role."""
    chance: float
    """Mean share of the visible columns that play the role, which is the score of uniform attention."""
    shares: Heads
    """Share of the attention that is on the role, averaged over those words."""
    hits: Heads
    """Share of those words whose strongest weight is on the role."""


def roles(looks: Sequence[SentenceAttention]) -> dict[Kind, tuple[RoleScore, ...]]:
    """Scores every head of every kind; a role that nothing plays in these sentences is skipped.

    Args:
        looks: attention on at least one sentence.
    """
    return {
        kind: tuple(
            score for role, targets in ROLES[kind].items() if (score := _score(looks, kind, role, targets)) is not None
        )
        for kind in KINDS
        if kind in looks[0].words.kinds
    }


def _score(looks: Sequence[SentenceAttention], kind: Kind, role: str, targets: Targets) -> RoleScore | None:
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
    def targets(look: SentenceAttention, row: int) -> Collection[int]:
        return {row + offset} & set(range(len(look.source.words)))

    return targets


def _source_column(index: int) -> Targets:
    """A word at a fixed index of the source; a negative index counts from the end, where -1 is `</s>`."""

    def targets(look: SentenceAttention, row: int) -> Collection[int]:
        return {index % len(look.words.source)}

    return targets


def _same_word(look: SentenceAttention, row: int) -> Collection[int]:
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


def _already_written(targets: Callable[[Side, int], Collection[int]]) -> Targets:
    """Keeps the targets before the word that is being written; their columns are one to the right of the words."""
    return lambda look, row: {place + 1 for place in targets(look.target, row) if place < row}


def _decoder_place(offset: int) -> Targets:
    """The word at an offset of 0 or less from the one that is being written; 0 is its own pieces, if it has several."""

    def targets(look: SentenceAttention, row: int) -> Collection[int]:
        place = row + offset
        # `</s>` has no column, and a word of one piece does not attend to itself.
        weights = look.words.decoder
        if not 0 <= place < len(look.target.words) or (offset == 0 and weights[:, :, row, place + 1].max() == 0):
            return set()
        return {place + 1}

    return targets


def _aligned(shift: int) -> Targets:
    """The source words aligned to a target word: to the one being written (0), the one before (-1) or after it (1)."""

    def targets(look: SentenceAttention, row: int) -> Collection[int]:
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
        "dependency": _already_written(_partner),
        "antecedent": _already_written(_antecedent),
        "constituent": _already_written(_constituent),
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
"""The roles by kind and name, in the order of the tables."""
