"""`attendo reproduce figure3`: tests which heads follow long-distance dependencies, and draws them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from attendo.attention_maps.weights import Kind
from attendo.paper.heads.chance import (
    LEVEL,
    Case,
    OffsetProfile,
    PositionalBaseline,
    best_positional_baseline,
    holm,
    p_text,
    sign_tests,
)
from attendo.paper.heads.figure import HeadsFigure, ModelFindings, percent, to_data
from attendo.paper.heads.head_attention import (
    CorpusAttention,
    Head,
    Heads,
    SentenceAttention,
    decoder_weights,
    encoder_weights,
)
from attendo.paper.heads.pictures import lines_picture
from attendo.paper.report import Picture
from attendo.synthetic.annotated.markup import Side

# --- heads by relation ------------------------------------------------------------------------------------------------

Direction = Literal["onwards", "back"]
"""`onwards`: the governor attends to its dependent; `back`: the reverse. The governor comes first in the sentences."""

Question = tuple[Kind, str, Direction]
"""The kind of the heads, the relation, which is named after its template, and the direction of attention."""

KINDS: tuple[tuple[Kind, Direction], ...] = (("encoder", "onwards"), ("encoder", "back"), ("decoder", "back"))
"""The kinds and directions that are measured; the decoder cannot look onwards, since it sees only what is written."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RelationAttention:
    """The attention of all heads along one relation in one direction, in one half of the sentences."""

    cases: tuple[Case, ...]
    hits: NDArray[np.bool_]
    """Whether the head gives the partner more attention than anything else: `(cases, num_layers, num_heads)`."""
    shares: NDArray[np.float64]
    """Attention on the partner, of the same shape."""
    by_place: NDArray[np.float64]
    """Attention that the head's positional twin gives the partner."""
    by_others: NDArray[np.float64]
    """Mean attention that the other words give the partner, by the same head."""

    def tests(self, rule: PositionalBaseline) -> tuple[Heads, Heads]:
        """Returns two exact p-values of each head, for its hits and for its attention.

        Args:
            rule: the position rule that the hits are compared to; the attention is compared to that of the positional
                twin and of the other words, and the larger p is taken.
        """
        by_rule = np.array([rule.finds(case) for case in self.cases])
        beats_place = sign_tests(self.hits.astype(np.float64) - by_rule[:, None, None])
        p_attention = [sign_tests(self.shares - null) for null in (self.by_place, self.by_others)]
        return beats_place, np.maximum(*p_attention)


@dataclass(frozen=True, kw_only=True)
class Relation:
    """The head that follows a relation best, with its scores."""

    name: str
    """Name of the sentences' template."""
    direction: Direction
    head: Head
    """The head with the most hits in the first half, then with the most attention."""
    num_chosen_on: int
    """Number of cases in the first half."""
    num_held_out: int
    """Number of cases in the held-out half."""
    distance: float
    """Mean distance between the two words in the held-out half, in words."""
    chosen_hits: float
    """Share of the first half's cases that are hits, as in `RelationAttention.hits`."""
    hits: float
    """The same share for the held-out half."""
    rule: PositionalBaseline
    """The position rule that finds most of the held-out half's partners."""
    rule_hits: float
    """Share of those partners that the rule finds."""
    share: float
    """Mean attention on the partner, held out."""
    place_share: float
    """Mean attention that the head's positional twin gives the partner, held out."""
    other_share: float
    """Mean attention that the other words give the partner by the same head, held out."""
    p_hits: float
    """P-value of more hits than the rule has, corrected for all heads, relations and directions."""
    p_share: float
    """P-value of more attention than by the twin and from the other words, corrected for the same."""
    also: tuple[Head, ...]
    """The other heads that pass both tests of the relation."""

    @property
    def follows(self) -> bool:
        """Whether the head finds the partner more often than any position rule, and passes the test of attention."""
        return self.p_hits < LEVEL and self.p_share < LEVEL

    @property
    def leans(self) -> bool:
        """Whether the head at least gives the partner more attention than its twin and the other words do."""
        return self.p_share < LEVEL


def relations(looks: CorpusAttention) -> tuple[Relation, ...]:
    """Returns the best self-attention head for each relation and direction, scored on held-out sentences.

    Args:
        looks: attention on sentences with dependencies, of both halves.
    """
    halves = [looks.half(held_out=held_out) for held_out in (False, True)]
    names = tuple(dict.fromkeys(look.pair.template for look in looks.all))
    rows: list[Question] = [
        (kind, name, direction)
        for kind, direction in KINDS
        for name in names
        if all(_with_dependency(half, kind, name) for half in halves)
    ]
    profiles = {kind: OffsetProfile(_weights(look, kind) for look in halves[0]) for kind in ("encoder", "decoder")}
    chosen, held_out = (
        [
            followed(_with_dependency(half, kind, name), kind, direction, profiles[kind])
            for kind, name, direction in rows
        ]
        for half in halves
    )
    # The rules are fitted to the held-out cases themselves, so that no position does better than the head's baseline.
    rules = [best_positional_baseline(measured.cases) for measured in held_out]
    tests = [measured.tests(rule) for measured, rule in zip(held_out, rules, strict=True)]
    p_hits, p_share = (_corrected([p_values[which] for p_values in tests]) for which in (0, 1))
    return tuple(
        _relation(row, (chosen[index], held_out[index]), rules[index], (p_hits[index], p_share[index]))
        for index, row in enumerate(rows)
    )


def followed(
    looks: Sequence[SentenceAttention], kind: Kind, direction: Direction, profile: OffsetProfile
) -> RelationAttention:
    """Measures all heads of a kind in sentences that have a dependency.

    Args:
        looks: attention on at least one sentence.
        kind: the encoder's self-attention, in the source, or the decoder's, in the target.
        direction: `onwards` or `back`.
        profile: the heads' positional twins.
    """
    cases, hits, shares, by_place, by_others = [], [], [], [], []
    for look in looks:
        side = _pair_side(look, kind)
        assert side.dependency is not None
        query, target = side.dependency if direction == "onwards" else side.dependency[::-1]
        length = len(side.words)
        weights = _weights(look, kind)
        # In the decoder, the words up to the target cannot attend to it.
        first = target + 1 if kind == "decoder" else 0
        others = [place for place in range(first, length) if place not in (query, target)]
        cases.append(Case(query=query, target=target, length=length))
        hits.append(weights[:, :, query].argmax(axis=-1) == target)
        shares.append(weights[:, :, query, target])
        by_place.append(profile.weights(length)[:, :, query, target])
        by_others.append(weights[:, :, others, target].mean(axis=-1))
    return RelationAttention(
        cases=tuple(cases),
        hits=np.array(hits),
        shares=np.array(shares),
        by_place=np.array(by_place),
        by_others=np.array(by_others),
    )


def _corrected(tests: Sequence[Heads]) -> list[Heads]:
    """Corrects all p-values together; returns arrays of the given shapes."""
    together = holm(np.concatenate([p_values.ravel() for p_values in tests]))
    ends = np.cumsum([p_values.size for p_values in tests])[:-1]
    return [part.reshape(p_values.shape) for part, p_values in zip(np.split(together, ends), tests, strict=True)]


def _pair_side(look: SentenceAttention, kind: Kind) -> Side:
    return look.source if kind == "encoder" else look.target


def _weights(look: SentenceAttention, kind: Kind) -> Heads:
    return encoder_weights(look) if kind == "encoder" else decoder_weights(look)


def _relation(
    row: Question,
    halves: tuple[RelationAttention, RelationAttention],
    rule: PositionalBaseline,
    p_values: tuple[Heads, Heads],
) -> Relation:
    chosen, held_out = halves
    # Attention breaks ties between equal numbers of hits.
    scores = chosen.hits.mean(axis=0) + 1e-6 * chosen.shares.mean(axis=0)
    layer, head = (int(index) for index in np.unravel_index(scores.argmax(), scores.shape))
    return Relation(
        name=row[1],
        direction=row[2],
        head=Head(kind=row[0], layer=layer, head=head),
        num_chosen_on=len(chosen.cases),
        num_held_out=len(held_out.cases),
        distance=float(np.mean([abs(case.target - case.query) for case in held_out.cases])),
        chosen_hits=float(chosen.hits[:, layer, head].mean()),
        hits=float(held_out.hits[:, layer, head].mean()),
        rule=rule,
        rule_hits=float(np.mean([rule.finds(case) for case in held_out.cases])),
        share=float(held_out.shares[:, layer, head].mean()),
        place_share=float(held_out.by_place[:, layer, head].mean()),
        other_share=float(held_out.by_others[:, layer, head].mean()),
        p_hits=float(p_values[0][layer, head]),
        p_share=float(p_values[1][layer, head]),
        also=tuple(
            Head(kind=row[0], layer=int(other[0]), head=int(other[1]))
            for other in np.argwhere((p_values[0] < LEVEL) & (p_values[1] < LEVEL))
            if (other[0], other[1]) != (layer, head)
        ),
    )


def _with_dependency(looks: Sequence[SentenceAttention], kind: Kind, name: str) -> list[SentenceAttention]:
    return [look for look in looks if look.pair.template == name and _pair_side(look, kind).dependency is not None]


# --- the page ---------------------------------------------------------------------------------------------------------

_NUM_DRAWN = 2
_MOST_WORDS = 16
"""Largest number of words in a sentence that is drawn, if there is one so short."""


def _verdict(shown: ModelFindings[tuple[Relation, ...]]) -> str:
    following = [relation for relation in shown.found if relation.follows]
    leaning = [relation for relation in shown.found if relation.leans and not relation.follows]
    name = shown.subject.name
    if not following:
        parts = [f"{name}: no head finds the partner more often than a fixed place does."]
    else:
        parts = [f"{name}: in {len(following)} of the {len(shown.found)} rows below a head follows the relation."]
        for head, direction in dict.fromkeys((relation.head, relation.direction) for relation in following):
            same_head = [relation for relation in following if (relation.head, relation.direction) == (head, direction)]
            hits = "; ".join(_hits_text(shown, relation) for relation in same_head)
            parts.append(f"{head.kind.capitalize()} head {head.to_text()}, looking {direction}: {hits}.")
        if all(relation.head.kind == "decoder" for relation in following):
            parts.append("In the encoder, which the paper's figure is of, none does.")
    if leaning:
        names = ", ".join(
            f"'{_ends(shown, relation)}' {relation.direction} ({relation.head.kind} {relation.head.to_text()})"
            for relation in leaning
        )
        parts.append(
            "More attention than by place and from other words, though not clearly more hits than the best place has: "
            f"{names}."
        )
    return " ".join(parts)


def _hits_text(shown: ModelFindings[tuple[Relation, ...]], relation: Relation) -> str:
    also = f"; so {'does' if len(relation.also) == 1 else 'do'} {', '.join(head.to_text() for head in relation.also)}"
    return (
        f"'{_ends(shown, relation)}' in {percent(relation.hits)}% of {relation.num_held_out} held-out cases "
        f"(the best place in {percent(relation.rule_hits)}%{also * bool(relation.also)})"
    )


def _values(shown: ModelFindings[tuple[Relation, ...]]) -> Mapping[str, object]:
    rows = [
        (relation, _ends(shown, relation), relation.rule.to_text(), p_text(relation.p_hits), p_text(relation.p_share))
        for relation in shown.found
    ]
    best = sorted(
        shown.found, key=lambda relation: (-relation.follows, -relation.leans, -relation.hits, -relation.share)
    )
    drawn: list[Relation] = []
    for relation in best:
        if relation.head not in {other.head for other in drawn}:
            drawn.append(relation)
    return {
        "relations": rows,
        "pictures": [_picture(shown, relation, number) for number, relation in enumerate(drawn[:_NUM_DRAWN], start=1)],
    }


def _picture(shown: ModelFindings[tuple[Relation, ...]], relation: Relation, number: int) -> Picture:
    look = _example(shown, relation)
    side = _side(look, relation)
    assert side.dependency is not None
    asking = side.words[side.dependency[0 if relation.direction == "onwards" else 1]]
    verb = "follows" if relation.follows else "does best, though not better than chance, at"
    caption = (
        f"{shown.subject.name}, {relation.head.kind} layer {relation.head.layer + 1}, all heads, the lines of "
        f"'{asking}' alone: head {relation.head.head + 1} {verb} '{_words(side)}'. A held-out sentence."
    )
    heads = tuple(replace(relation.head, head=head) for head in range(shown.subject.model.transformer.config.num_heads))
    return lines_picture(f"{shown.subject.slug}-{number}", look, heads, caption, (asking,))


def _method(shown: Sequence[ModelFindings[tuple[Relation, ...]]]) -> Mapping[str, object]:
    tests = (
        f"{_num_tests(result)} pairs of a head and a row of the tables for {result.subject.name}" for result in shown
    )
    return {"num_tests": ", ".join(tests)}


def _num_tests(shown: ModelFindings[tuple[Relation, ...]]) -> int:
    config = shown.subject.model.transformer.config
    layers = {"encoder": config.encoder_layers, "decoder": config.decoder_layers}
    return sum(layers[relation.head.kind] * config.num_heads for relation in shown.found)


def _side(look: SentenceAttention, relation: Relation) -> Side:
    return look.source if relation.head.kind == "encoder" else look.target


def _example(shown: ModelFindings[tuple[Relation, ...]], relation: Relation) -> SentenceAttention:
    """A held-out sentence with a dependency of at least mean distance and at most `_MOST_WORDS` words, or the first."""
    looks = _cases(shown, relation)

    def fits(look: SentenceAttention) -> bool:
        side = _side(look, relation)
        assert side.dependency is not None
        return side.dependency[1] - side.dependency[0] >= relation.distance and len(side.words) <= _MOST_WORDS

    return next((look for look in looks if fits(look)), looks[0])


def _ends(shown: ModelFindings[tuple[Relation, ...]], relation: Relation) -> str:
    """The two words of a relation in its first held-out sentence, which is the same for both source languages."""
    return _words(_side(_cases(shown, relation)[0], relation))


def _cases(shown: ModelFindings[tuple[Relation, ...]], relation: Relation) -> list[SentenceAttention]:
    """The held-out sentences of a relation."""
    return [
        look
        for look in shown.dependencies.half(held_out=True)
        if look.pair.template == relation.name and _side(look, relation).dependency is not None
    ]


def _words(side: Side) -> str:
    assert side.dependency is not None
    first, last = side.dependency
    return f"{side.words[first]} … {side.words[last]}"


def _data(relation: Relation) -> dict[str, object]:
    return {**to_data(relation), "follows": relation.follows, "leans": relation.leans}


FIGURE3 = HeadsFigure[tuple[Relation, ...]](
    title="Figure 3: heads that follow long-distance dependencies",
    text="heads/figure3.md",
    dependencies=True,
    anaphors=False,
    measure=lambda reading: relations(reading.dependencies),
    verdicts=lambda shown: [_verdict(shown)],
    values=_values,
    method=_method,
    data=lambda found: {"relations": [_data(relation) for relation in found]},
)
