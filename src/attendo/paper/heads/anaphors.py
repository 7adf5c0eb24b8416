"""Which heads link an anaphor to its antecedent: by twins that differ in the anaphor alone, scored held out.

In one twin *his* stands for the one person, in the other *her* for the other, at the same places. A head that does not
read the anaphor, or does not know whom it fits, is right in one twin as often as in the other: chance is exactly half.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attendo.paper.heads.looks import Head, Heads, Look, Looks, encoder_weights
from attendo.paper.heads.nulls import LEVEL, Case, PlaceRule, best_place_rule, holm, sign_tests

LEAST_SHARE = 0.05
"""Attention on antecedent and rival together below which a head looks elsewhere, and is not chosen."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Linked:
    """What all heads do about anaphors, in one half of the sentences."""

    templates: tuple[str, ...]
    """Of each twin pair."""
    cases: tuple[Case, ...]
    """Two a twin pair, one behind the other."""
    hits: NDArray[np.bool_]
    """Whether the antecedent gets more than any other word or `</s>`: `(cases, num_layers, num_heads)`."""
    on_antecedent: NDArray[np.float64]
    """Attention, of the same shape."""
    on_rival: NDArray[np.float64]

    @property
    def rights(self) -> NDArray[np.float64]:
        """Of each twin pair how many of both prefer the antecedent, a tie being half: `(twins, layers, heads)`."""
        won = (self.on_antecedent > self.on_rival) + 0.5 * (self.on_antecedent == self.on_rival)
        rights: NDArray[np.float64] = won.reshape(-1, 2, *won.shape[1:]).sum(axis=1)
        return rights


@dataclass(frozen=True, kw_only=True)
class AnaphorHead:
    """One head, and how well it links anaphors."""

    head: Head
    chosen_right: float
    """Share of the first half's anaphors whose antecedent gets more than the rival."""
    right: float
    """The same of the held-out half; chance is 0.5."""
    both_right: int
    """Held-out twins in which it is right both times."""
    both_wrong: int
    hits: float
    """Share of held-out anaphors that look at the antecedent more than at anything else."""
    on_antecedent: float
    """Attention, held out."""
    on_rival: float
    p: float
    """That a head which does not tell twins apart does so well, corrected for all heads."""

    @property
    def tells(self) -> bool:
        """Whether it tells antecedents from rivals better than chance in both halves, by however little attention."""
        return self.p < LEVEL and self.chosen_right > 0.5

    @property
    def links(self) -> bool:
        """Whether it tells them apart, and has attention to speak of on them."""
        return self.tells and self.on_antecedent + self.on_rival >= LEAST_SHARE


@dataclass(frozen=True, kw_only=True)
class Anaphors:
    """What came of all encoder heads."""

    heads: tuple[AnaphorHead, ...]
    """All, the best of the first half first; those that look at neither person last."""
    num_chosen_on: int
    """Twin pairs."""
    num_held_out: int
    rule: PlaceRule
    """The place that finds most of the held-out half's antecedents."""
    rule_hits: float
    """The share of them that it finds."""
    by_template: tuple[tuple[str, int, float, float], ...]
    """Of each template held-out twins, and how often the two best heads are right."""


def anaphors(looks: Looks) -> Anaphors:
    """Scores all encoder heads.

    Args:
        looks: of twins, in both halves.
    """
    chosen, held_out = (linked(looks.half(held_out=half)) for half in (False, True))
    rule = best_place_rule(held_out.cases)
    p_values = holm(sign_tests(held_out.rights - 1))
    scores = chosen.rights.mean(axis=0) / 2
    looks_there = (chosen.on_antecedent + chosen.on_rival).mean(axis=0) >= LEAST_SHARE
    order = np.argsort(-np.where(looks_there, scores, scores - 1), axis=None, kind="stable")
    heads = [
        Head(kind="encoder", layer=int(index) // scores.shape[1], head=int(index) % scores.shape[1]) for index in order
    ]
    return Anaphors(
        heads=tuple(_anaphor_head(head, scores, held_out, p_values) for head in heads),
        num_chosen_on=len(chosen.templates),
        num_held_out=len(held_out.templates),
        rule=rule,
        rule_hits=float(np.mean([rule.finds(case) for case in held_out.cases])),
        by_template=tuple(
            (name, count, *(_right_of(held_out, name, head) for head in heads[:2]))  # type: ignore[misc]
            for name in dict.fromkeys(held_out.templates)
            if (count := held_out.templates.count(name))
        ),
    )


def linked(looks: Sequence[Look]) -> Linked:
    """Measures all heads in twins; a sentence whose twin is missing is left out.

    Args:
        looks: twins one behind the other.
    """
    by_twin: dict[int | None, list[Look]] = {}
    for look in looks:
        by_twin.setdefault(look.pair.twin, []).append(look)
    templates, cases, hits, on_antecedent, on_rival = [], [], [], [], []
    for twins in by_twin.values():
        if len(twins) != 2:
            continue
        templates.append(twins[0].pair.template)
        for look in twins:
            side = look.source
            assert side.anaphor is not None
            assert side.antecedent is not None
            assert side.rival is not None
            row = encoder_weights(look)[:, :, side.anaphor]
            cases.append(Case(query=side.anaphor, target=side.antecedent, length=len(side.words)))
            hits.append(row.argmax(axis=-1) == side.antecedent)
            on_antecedent.append(row[:, :, side.antecedent])
            on_rival.append(row[:, :, side.rival])
    return Linked(
        templates=tuple(templates),
        cases=tuple(cases),
        hits=np.array(hits),
        on_antecedent=np.array(on_antecedent),
        on_rival=np.array(on_rival),
    )


def _anaphor_head(head: Head, chosen: Heads, held_out: Linked, p_values: Heads) -> AnaphorHead:
    place = (slice(None), head.layer, head.head)
    rights = held_out.rights[place]
    return AnaphorHead(
        head=head,
        chosen_right=float(chosen[head.layer, head.head]),
        right=float(rights.mean() / 2),
        both_right=int((rights > 1).sum()),
        both_wrong=int((rights < 1).sum()),
        hits=float(held_out.hits[place].mean()),
        on_antecedent=float(held_out.on_antecedent[place].mean()),
        on_rival=float(held_out.on_rival[place].mean()),
        p=float(p_values[head.layer, head.head]),
    )


def _right_of(linked_: Linked, template: str, head: Head) -> float:
    its = np.array([name == template for name in linked_.templates])
    return float(linked_.rights[its, head.layer, head.head].mean() / 2)
