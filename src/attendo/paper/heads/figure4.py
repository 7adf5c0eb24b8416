"""`attendo reproduce figure4`: tests which heads link an anaphor to its antecedent, and draws the best one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from attendo.paper.heads.chance import (
    LEVEL,
    Case,
    PositionalBaseline,
    best_positional_baseline,
    holm,
    p_text,
    sign_tests,
)
from attendo.paper.heads.figure import HeadsFigure, ModelFindings, percent, to_data
from attendo.paper.heads.head_attention import CorpusAttention, Head, Heads, SentenceAttention, encoder_weights, ranked
from attendo.paper.heads.pictures import lines_picture
from attendo.paper.report import Picture

# --- heads by twins ---------------------------------------------------------------------------------------------------

LEAST_SHARE = 0.05
"""Attention on antecedent and rival together below which a head looks elsewhere: it ranks last and does not link."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AnaphorAttention:
    """The attention of all heads from anaphors, in one half of the sentences."""

    templates: tuple[str, ...]
    """The template of each pair of twins."""
    cases: tuple[Case, ...]
    """The cases, two in a row for each pair of twins."""
    hits: NDArray[np.bool_]
    """Whether the antecedent gets more attention than any other word or `</s>`: `(cases, num_layers, num_heads)`."""
    on_antecedent: NDArray[np.float64]
    """Attention on the antecedent, of the same shape."""
    on_rival: NDArray[np.float64]
    """Attention on the rival, of the same shape."""

    @property
    def rights(self) -> NDArray[np.float64]:
        """Sentences of each pair of twins in which a head prefers the antecedent: `(pairs, num_layers, num_heads)`.

        Each number is from 0 to 2; a tie between antecedent and rival counts one half.
        """
        wins = (self.on_antecedent > self.on_rival) + 0.5 * (self.on_antecedent == self.on_rival)
        rights: NDArray[np.float64] = wins.reshape(-1, 2, *wins.shape[1:]).sum(axis=1)
        return rights


@dataclass(frozen=True, kw_only=True)
class AnaphorHead:
    """One encoder head, with its scores at linking anaphors."""

    head: Head
    chosen_right: float
    """Share of the first half's anaphors whose antecedent gets more attention than the rival; a tie counts one half."""
    right: float
    """The same share for the held-out half; chance is 0.5."""
    both_right: int
    """Number of held-out pairs of twins in which the head is right both times, or once beside a tie."""
    both_wrong: int
    """Number of held-out pairs of twins in which the head is wrong both times, or once beside a tie."""
    hits: float
    """Share of held-out anaphors that give the antecedent more attention than anything else."""
    on_antecedent: float
    """Mean attention on the antecedent, held out."""
    on_rival: float
    """Mean attention on the rival, held out."""
    p: float
    """P-value against a head that cannot distinguish twins, corrected for all heads."""

    @property
    def tells(self) -> bool:
        """Whether it prefers antecedents significantly, and in the first half too, with however little attention."""
        return self.p < LEVEL and self.chosen_right > 0.5

    @property
    def links(self) -> bool:
        """Whether it distinguishes them, with at least `LEAST_SHARE` of its attention on both together."""
        return self.tells and self.on_antecedent + self.on_rival >= LEAST_SHARE


@dataclass(frozen=True, kw_only=True)
class Anaphors:
    """The scores of all encoder heads."""

    heads: tuple[AnaphorHead, ...]
    """All heads, the best of the first half first; those that look at neither person last."""
    num_chosen_on: int
    """Number of pairs of twins in the first half."""
    num_held_out: int
    """Number of pairs of twins in the held-out half."""
    rule: PositionalBaseline
    """The position rule that finds most of the held-out half's antecedents."""
    rule_hits: float
    """Share of those antecedents that the rule finds."""
    by_template: tuple[tuple[str, int, float, float], ...]
    """For each template: name, number of held-out pairs, and the share that each of the two best heads gets right."""


def anaphors(looks: CorpusAttention) -> Anaphors:
    """Scores all encoder heads.

    Args:
        looks: attention on twins, of both halves.
    """
    chosen, held_out = (linked(looks.half(held_out=half)) for half in (False, True))
    rule = best_positional_baseline(held_out.cases)
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


def linked(looks: Sequence[SentenceAttention]) -> AnaphorAttention:
    """Measures all heads in twins; a sentence whose twin is missing is skipped.

    Args:
        looks: attention on sentences with an anaphor; those with the same `Pair.twin` are twins.
    """
    by_twin: dict[int | None, list[SentenceAttention]] = {}
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
    return AnaphorAttention(
        templates=tuple(templates),
        cases=tuple(cases),
        hits=np.array(hits),
        on_antecedent=np.array(on_antecedent),
        on_rival=np.array(on_rival),
    )


def _anaphor_head(head: Head, chosen: Heads, held_out: AnaphorAttention, p_values: Heads) -> AnaphorHead:
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


def _right_of(linked_: AnaphorAttention, template: str, head: Head) -> float:
    of_template = np.array([name == template for name in linked_.templates])
    return float(linked_.rights[of_template, head.layer, head.head].mean() / 2)


# --- the page ---------------------------------------------------------------------------------------------------------

_NUM_ROWS = 6
_TEMPLATE_DRAWN = "gave"


def _verdict(shown: ModelFindings[Anaphors]) -> str:
    found = shown.found
    best = found.heads[0]
    linking = [result for result in found.heads if result.links]
    faintly = [result for result in found.heads if result.tells and not result.links]
    if linking:
        text = "; ".join(f"head {_head_text(result)}" for result in linking)
    else:
        text = (
            "no encoder head that looks at the two persons tells antecedents from rivals. The best of the first half, "
            f"{best.head.to_text()} with {percent(best.chosen_right)}%, is right about {percent(best.right)}% of the "
            f"held-out half's {2 * found.num_held_out} anaphors"
        )
    if faintly:
        text += (
            f". With less than {percent(LEAST_SHARE)}% of its attention on both persons together: "
            f"{'; '.join(_head_text(result) for result in faintly)}"
        )
    return f"{shown.subject.name}: {text}. Chance is 50%.{_uncounted_text(found)}"


def _uncounted_text(found: Anaphors) -> str:
    """Names heads whose small p does not count, since they fail in the first half; empty if there are none."""
    uncounted = [result for result in found.heads if result.p < LEVEL and not result.tells]
    if not uncounted:
        return ""
    names = ", ".join(
        f"{result.head.to_text()} ({percent(result.right)}% there, {percent(result.chosen_right)}% in the first)"
        for result in uncounted
    )
    return f" Above chance in the held-out half alone, and so not counted: {names}."


def _head_text(result: AnaphorHead) -> str:
    return (
        f"{result.head.to_text()} prefers the antecedent in {percent(result.right)}% of held-out anaphors, "
        f"p {p_text(result.p)}"
    )


def _values(shown: ModelFindings[Anaphors]) -> Mapping[str, object]:
    found = shown.found
    listed = [result for rank, result in enumerate(found.heads) if rank < _NUM_ROWS or result.p < LEVEL]
    return {
        "num_rows": _NUM_ROWS,
        "num_chosen_on": found.num_chosen_on,
        "num_held_out": found.num_held_out,
        "heads": [(result, p_text(result.p)) for result in listed],
        "place": found.rule.to_text(),
        "place_hits": percent(found.rule_hits),
        "first": found.heads[0].head.to_text(),
        "second": found.heads[1].head.to_text(),
        "by_template": found.by_template,
        "pictures": _pictures(shown),
    }


def _pictures(shown: ModelFindings[Anaphors]) -> tuple[Picture, ...]:
    """Draws, like the paper, all lines of the best head, then those of the anaphor alone for all heads of its layer."""
    best: AnaphorHead = shown.found.heads[0]
    looks = shown.anaphors.half(held_out=True)
    look = next((candidate for candidate in looks if candidate.pair.template == _TEMPLATE_DRAWN), looks[0])
    side = look.source
    assert side.anaphor is not None
    assert side.antecedent is not None
    anaphor, antecedent = side.words[side.anaphor], side.words[side.antecedent]
    layer, name = best.head.layer, f"{shown.subject.name}, encoder layer {best.head.layer + 1}"
    heads = tuple(replace(best.head, head=head) for head in range(shown.subject.model.transformer.config.num_heads))
    weights = look.words.weights("encoder")[layer, best.head.head, side.anaphor]
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
            f"gives {percent(float(weights[side.antecedent]))}%.",
            (anaphor,),
        ),
    )


def _method(shown: Sequence[ModelFindings[Anaphors]]) -> Mapping[str, object]:
    num_heads = ", ".join(f"{len(result.found.heads)} of {result.subject.name}" for result in shown)
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
