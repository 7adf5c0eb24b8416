"""`attendo reproduce figure4`: which heads link an anaphor to its antecedent, against chance, and the heads drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from attendo.paper.heads.figure import HeadsFigure, Shown, percent, to_data
from attendo.paper.heads.looks import Head, Heads, Look, Looks, encoder_weights, ranked
from attendo.paper.heads.nulls import LEVEL, Case, PlaceRule, best_place_rule, holm, p_text, sign_tests
from attendo.paper.heads.pictures import lines_picture
from attendo.paper.report import Picture

# --- heads by twins ---------------------------------------------------------------------------------------------------

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
    heads = ranked(np.where(looks_there, scores, scores - 1))
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


# --- the page ---------------------------------------------------------------------------------------------------------

_NUM_ROWS = 6
_TEMPLATE_DRAWN = "gave"


def _verdict(shown: Shown[Anaphors]) -> str:
    found = shown.found
    best = found.heads[0]
    linking = [one for one in found.heads if one.links]
    faintly = [one for one in found.heads if one.tells and not one.links]
    if linking:
        text = "; ".join(f"head {_told(one)}" for one in linking)
    else:
        text = (
            "no encoder head that looks at the two persons tells antecedents from rivals. The best of the first half, "
            f"{best.head.to_text()} with {percent(best.chosen_right)}%, is right about {percent(best.right)}% of the "
            f"held-out half's {2 * found.num_held_out} anaphors"
        )
    if faintly:
        text += (
            f". With less than {percent(LEAST_SHARE)}% of its attention on both persons together: "
            f"{'; '.join(_told(one) for one in faintly)}"
        )
    return f"{shown.subject.name}: {text}. Chance is 50%.{_by_half(found)}"


def _by_half(found: Anaphors) -> str:
    """What must not be read into a small p."""
    alone = [one for one in found.heads if one.p < LEVEL and not one.tells]
    if not alone:
        return ""
    told = ", ".join(
        f"{one.head.to_text()} ({percent(one.right)}% there, {percent(one.chosen_right)}% in the first)"
        for one in alone
    )
    return f" Above chance in the held-out half alone, and so not counted: {told}."


def _told(one: AnaphorHead) -> str:
    return (
        f"{one.head.to_text()} prefers the antecedent in {percent(one.right)}% of held-out anaphors, p {p_text(one.p)}"
    )


def _values(shown: Shown[Anaphors]) -> Mapping[str, object]:
    found = shown.found
    listed = [one for place, one in enumerate(found.heads) if place < _NUM_ROWS or one.p < LEVEL]
    return {
        "num_rows": _NUM_ROWS,
        "num_chosen_on": found.num_chosen_on,
        "num_held_out": found.num_held_out,
        "heads": [(one, p_text(one.p)) for one in listed],
        "place": found.rule.to_text(),
        "place_hits": percent(found.rule_hits),
        "first": found.heads[0].head.to_text(),
        "second": found.heads[1].head.to_text(),
        "by_template": found.by_template,
        "pictures": _pictures(shown),
    }


def _pictures(shown: Shown[Anaphors]) -> tuple[Picture, ...]:
    """As in the paper: all lines of the best head, then those of the anaphor alone, by all heads of its layer."""
    best: AnaphorHead = shown.found.heads[0]
    looks = shown.anaphors.half(held_out=True)
    look = next((each for each in looks if each.pair.template == _TEMPLATE_DRAWN), looks[0])
    side = look.source
    assert side.anaphor is not None
    assert side.antecedent is not None
    anaphor, antecedent = side.words[side.anaphor], side.words[side.antecedent]
    layer, name = best.head.layer, f"{shown.subject.name}, encoder layer {best.head.layer + 1}"
    heads = tuple(replace(best.head, head=head) for head in range(shown.subject.model.transformer.config.num_heads))
    given = look.words.weights("encoder")[layer, best.head.head, side.anaphor]
    return (
        lines_picture(
            f"{shown.subject.slug}-all-words",
            look,
            (best.head,),
            f"{name}, head {best.head.head + 1}: all words. The best head of the first half, in a held-out sentence.",
        ),
        lines_picture(
            f"{shown.subject.slug}-anaphor",
            look,
            heads,
            f"{name}, all heads: '{anaphor}' alone. It stands for '{antecedent}', to which head {best.head.head + 1} "
            f"gives {percent(float(given[side.antecedent]))}%.",
            (anaphor,),
        ),
    )


def _method(shown: Sequence[Shown[Anaphors]]) -> Mapping[str, object]:
    num_heads = ", ".join(f"{len(each.found.heads)} of {each.subject.name}" for each in shown)
    return {"num_heads": num_heads, "least": percent(LEAST_SHARE)}


FIGURE4 = HeadsFigure[Anaphors](
    title="Figure 4: heads that link an anaphor to its antecedent",
    text="heads/figure4.md",
    dependencies=False,
    anaphors=True,
    measure=lambda reading: anaphors(reading.anaphors),
    verdicts=lambda shown: [_verdict(shown)],
    values=_values,
    method=_method,
    data=to_data,
)
