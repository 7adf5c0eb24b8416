"""`attendo reproduce figure3`: which heads follow long-distance dependencies, against chance, and the heads drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from attendo.attention_maps.weights import Kind
from attendo.paper.heads.figure import HeadsFigure, Shown, percent, to_data
from attendo.paper.heads.looks import Head, Heads, Look, Looks, decoder_weights, encoder_weights
from attendo.paper.heads.markup import Side
from attendo.paper.heads.nulls import LEVEL, Case, OffsetProfile, PlaceRule, best_place_rule, holm, p_text, sign_tests
from attendo.paper.heads.pictures import lines_picture
from attendo.paper.report import Picture

# --- heads by relation ------------------------------------------------------------------------------------------------

Direction = Literal["onwards", "back"]
"""From the governor to what belongs to it, or back; in the sentences the governor stands first."""

Question = tuple[Kind, str, Direction]
"""Whose heads, which relation, which way."""

KINDS: tuple[tuple[Kind, Direction], ...] = (("encoder", "onwards"), ("encoder", "back"), ("decoder", "back"))
"""The decoder has only what is written to look at."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Followed:
    """What all heads do about one relation in one direction, in one half of the sentences."""

    cases: tuple[Case, ...]
    hits: NDArray[np.bool_]
    """Whether the head looks at the partner more than at anything else: `(cases, num_layers, num_heads)`."""
    shares: NDArray[np.float64]
    """Attention on the partner."""
    by_place: NDArray[np.float64]
    """What the head's positional twin gives it."""
    by_others: NDArray[np.float64]
    """What the other words give it on average, by the same head."""

    def tests(self, rule: PlaceRule) -> tuple[Heads, Heads]:
        """Each head's exact p against the best place, and against the twin and the other words."""
        by_rule = np.array([rule.finds(case) for case in self.cases])
        beats_place = sign_tests(self.hits.astype(np.float64) - by_rule[:, None, None])
        leans = [sign_tests(self.shares - null) for null in (self.by_place, self.by_others)]
        return beats_place, np.maximum(*leans)


@dataclass(frozen=True, kw_only=True)
class Relation:
    """The head that follows a relation best, and how well."""

    name: str
    """The sentences' template."""
    direction: Direction
    head: Head
    """Chosen on the first half: most hits, then the most attention."""
    num_chosen_on: int
    num_held_out: int
    distance: float
    """Words from one to the other, on average."""
    chosen_hits: float
    """Share of the first half's cases in which the head looks at the partner most."""
    hits: float
    """The same of the held-out half."""
    rule: PlaceRule
    """The place that finds most of the held-out half's partners."""
    rule_hits: float
    """The share of them that it finds."""
    share: float
    """Attention on the partner, held out."""
    place_share: float
    """By the head's positional twin."""
    other_share: float
    """By the same head from the other words."""
    p_hits: float
    """Of hits as many more than the place's, corrected for all heads, relations and directions."""
    p_share: float
    """Of as much more attention than by place and from others, corrected likewise."""
    also: tuple[Head, ...]
    """The other heads that follow the relation by both tests."""

    @property
    def follows(self) -> bool:
        """Whether the head looks at the partner more often than any place would have it, and because of who asks."""
        return self.p_hits < LEVEL and self.p_share < LEVEL

    @property
    def leans(self) -> bool:
        """Whether the head at least gives the partner more than by its place and than others do."""
        return self.p_share < LEVEL


def relations(looks: Looks) -> tuple[Relation, ...]:
    """The best self-attention head for each relation and direction, scored on held-out sentences.

    Args:
        looks: of sentences with dependencies, in both halves.
    """
    halves = [looks.half(held_out=held_out) for held_out in (False, True)]
    names = tuple(dict.fromkeys(look.pair.template for look in looks.all))
    rows: list[Question] = [
        (kind, name, way) for kind, way in KINDS for name in names if all(_of(half, kind, name) for half in halves)
    ]
    profiles = {kind: OffsetProfile(_weights(look, kind) for look in halves[0]) for kind in ("encoder", "decoder")}
    chosen, held_out = (
        [followed(_of(half, kind, name), kind, way, profiles[kind]) for kind, name, way in rows] for half in halves
    )
    # Of the held-out cases themselves, so that no place does better than the head's baseline.
    rules = [best_place_rule(each.cases) for each in held_out]
    tests = [each.tests(rule) for each, rule in zip(held_out, rules, strict=True)]
    p_hits, p_share = (_corrected([each[which] for each in tests]) for which in (0, 1))
    return tuple(
        _relation(row, (chosen[place], held_out[place]), rules[place], (p_hits[place], p_share[place]))
        for place, row in enumerate(rows)
    )


def followed(looks: Sequence[Look], kind: Kind, direction: Direction, profile: OffsetProfile) -> Followed:
    """Measures all heads of a kind in sentences that have a dependency.

    Args:
        looks: at least one.
        kind: the encoder's self-attention, in the source, or the decoder's, in the target.
        direction: which end looks.
        profile: the heads' positional twins.
    """
    cases, hits, shares, by_place, by_others = [], [], [], [], []
    for look in looks:
        side = _pair_side(look, kind)
        assert side.dependency is not None
        query, target = side.dependency if direction == "onwards" else side.dependency[::-1]
        length = len(side.words)
        weights = _weights(look, kind)
        # The words before it cannot see it while the decoder writes them.
        first = target + 1 if kind == "decoder" else 0
        others = [place for place in range(first, length) if place not in (query, target)]
        cases.append(Case(query=query, target=target, length=length))
        hits.append(weights[:, :, query].argmax(axis=-1) == target)
        shares.append(weights[:, :, query, target])
        by_place.append(profile.weights(length)[:, :, query, target])
        by_others.append(weights[:, :, others, target].mean(axis=-1))
    return Followed(
        cases=tuple(cases),
        hits=np.array(hits),
        shares=np.array(shares),
        by_place=np.array(by_place),
        by_others=np.array(by_others),
    )


def _corrected(tests: Sequence[Heads]) -> list[Heads]:
    """All p-values corrected together, in the arrays they came in."""
    together = holm(np.concatenate([each.ravel() for each in tests]))
    ends = np.cumsum([each.size for each in tests])[:-1]
    return [part.reshape(each.shape) for part, each in zip(np.split(together, ends), tests, strict=True)]


def _pair_side(look: Look, kind: Kind) -> Side:
    return look.source if kind == "encoder" else look.target


def _weights(look: Look, kind: Kind) -> Heads:
    return encoder_weights(look) if kind == "encoder" else decoder_weights(look)


def _relation(
    row: Question, halves: tuple[Followed, Followed], rule: PlaceRule, p_values: tuple[Heads, Heads]
) -> Relation:
    chosen, held_out = halves
    # The attention decides between equal numbers of hits.
    best = chosen.hits.mean(axis=0) + 1e-6 * chosen.shares.mean(axis=0)
    layer, head = (int(index) for index in np.unravel_index(best.argmax(), best.shape))
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


def _of(looks: Sequence[Look], kind: Kind, name: str) -> list[Look]:
    return [look for look in looks if look.pair.template == name and _pair_side(look, kind).dependency is not None]


# --- the page ---------------------------------------------------------------------------------------------------------

_NUM_DRAWN = 2
_MOST_WORDS = 16
"""Of a sentence that is drawn, if there is one so short."""


def _verdict(shown: Shown[tuple[Relation, ...]]) -> str:
    following = [one for one in shown.found if one.follows]
    leaning = [one for one in shown.found if one.leans and not one.follows]
    name = shown.subject.name
    if not following:
        parts = [f"{name}: no head finds the partner more often than a fixed place does."]
    else:
        parts = [f"{name}: in {len(following)} of the {len(shown.found)} rows below a head follows the relation."]
        for head, direction in dict.fromkeys((one.head, one.direction) for one in following):
            its = [one for one in following if (one.head, one.direction) == (head, direction)]
            found = "; ".join(_told(shown, one) for one in its)
            parts.append(f"{head.kind.capitalize()} head {head.to_text()}, looking {direction}: {found}.")
        if all(one.head.kind == "decoder" for one in following):
            parts.append("In the encoder, which the paper's figure is of, none does.")
    if leaning:
        names = ", ".join(
            f"'{_ends(shown, one)}' {one.direction} ({one.head.kind} {one.head.to_text()})" for one in leaning
        )
        parts.append(
            "More attention than by place and from other words, though not clearly more hits than the best place has: "
            f"{names}."
        )
    return " ".join(parts)


def _told(shown: Shown[tuple[Relation, ...]], one: Relation) -> str:
    also = f"; so {'does' if len(one.also) == 1 else 'do'} {', '.join(head.to_text() for head in one.also)}"
    return (
        f"'{_ends(shown, one)}' in {percent(one.hits)}% of {one.num_held_out} held-out cases (the best place in "
        f"{percent(one.rule_hits)}%{also * bool(one.also)})"
    )


def _values(shown: Shown[tuple[Relation, ...]]) -> Mapping[str, object]:
    rows = [
        (one, _ends(shown, one), one.rule.to_text(), p_text(one.p_hits), p_text(one.p_share)) for one in shown.found
    ]
    best = sorted(shown.found, key=lambda one: (-one.follows, -one.leans, -one.hits, -one.share))
    drawn: list[Relation] = []
    for one in best:
        if one.head not in {other.head for other in drawn}:
            drawn.append(one)
    return {
        "relations": rows,
        "pictures": [_picture(shown, one, number) for number, one in enumerate(drawn[:_NUM_DRAWN], start=1)],
    }


def _picture(shown: Shown[tuple[Relation, ...]], one: Relation, number: int) -> Picture:
    look = _example(shown, one)
    side = _side(look, one)
    assert side.dependency is not None
    asking = side.words[side.dependency[0 if one.direction == "onwards" else 1]]
    what = "follows" if one.follows else "does best, though not better than chance, at"
    caption = (
        f"{shown.subject.name}, {one.head.kind} layer {one.head.layer + 1}, all heads, the lines of '{asking}' alone: "
        f"head {one.head.head + 1} {what} '{_words(side)}'. A held-out sentence."
    )
    heads = tuple(replace(one.head, head=head) for head in range(shown.subject.model.transformer.config.num_heads))
    return lines_picture(f"{shown.subject.slug}-{number}", look, heads, caption, (asking,))


def _method(shown: Sequence[Shown[tuple[Relation, ...]]]) -> Mapping[str, object]:
    tests = (f"{_num_tests(each)} pairs of a head and a row of the tables for {each.subject.name}" for each in shown)
    return {"num_tests": ", ".join(tests)}


def _num_tests(shown: Shown[tuple[Relation, ...]]) -> int:
    config = shown.subject.model.transformer.config
    layers = {"encoder": config.encoder_layers, "decoder": config.decoder_layers}
    return sum(layers[one.head.kind] * config.num_heads for one in shown.found)


def _side(look: Look, one: Relation) -> Side:
    return look.source if one.head.kind == "encoder" else look.target


def _example(shown: Shown[tuple[Relation, ...]], one: Relation) -> Look:
    """A held-out sentence whose dependency is of the usual length, and which is no longer than need be."""
    looks = _cases(shown, one)

    def fits(look: Look) -> bool:
        side = _side(look, one)
        assert side.dependency is not None
        return side.dependency[1] - side.dependency[0] >= one.distance and len(side.words) <= _MOST_WORDS

    return next((look for look in looks if fits(look)), looks[0])


def _ends(shown: Shown[tuple[Relation, ...]], one: Relation) -> str:
    """Both ends in the first held-out sentence, which is the same for both languages."""
    return _words(_side(_cases(shown, one)[0], one))


def _cases(shown: Shown[tuple[Relation, ...]], one: Relation) -> list[Look]:
    """The held-out sentences of a relation."""
    return [
        look
        for look in shown.dependencies.half(held_out=True)
        if look.pair.template == one.name and _side(look, one).dependency is not None
    ]


def _words(side: Side) -> str:
    assert side.dependency is not None
    first, last = side.dependency
    return f"{side.words[first]} … {side.words[last]}"


def _data(one: Relation) -> dict[str, object]:
    return {**to_data(one), "follows": one.follows, "leans": one.leans}


FIGURE3 = HeadsFigure[tuple[Relation, ...]](
    title="Figure 3: heads that follow long-distance dependencies",
    text="heads/figure3.md",
    dependencies=True,
    anaphors=False,
    measure=lambda reading: relations(reading.dependencies),
    verdicts=lambda shown: [_verdict(shown)],
    values=_values,
    method=_method,
    data=lambda found: {"relations": [_data(one) for one in found]},
)
