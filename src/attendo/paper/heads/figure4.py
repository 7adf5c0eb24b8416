"""`attendo reproduce figure4`: which heads link an anaphor to its antecedent, against chance, and the heads drawn."""

from collections.abc import Sequence
from dataclasses import replace

from attendo.paper.heads.anaphors import LEAST_SHARE, AnaphorHead, Anaphors, anaphors
from attendo.paper.heads.figure import (
    HeadsFigure,
    Shown,
    percent,
    to_data,
)
from attendo.paper.heads.nulls import LEVEL, p_text
from attendo.paper.heads.pictures import lines_picture
from attendo.paper.report import Block, Paragraph, Picture, Section, Table

_QUESTION = (
    "The paper's Figure 4 shows two heads of the encoder's fifth layer of six in one sentence: all their "
    "lines, and those of the word 'its' alone, which are sharp and go to what it stands for. It is an example; "
    "the paper counts nothing.",
    "Here it is counted, on twins: two sentences alike but for the anaphor, such as 'his' and 'her', of which "
    "each stands for another of two persons at the same places. Chance is exactly one half.",
)
"""What the paper shows and what is counted here."""

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


def _section(shown: Shown[Anaphors]) -> Section:
    found = shown.found
    rows = tuple(
        (
            one.head.to_text(),
            percent(one.chosen_right),
            percent(one.right),
            str(one.both_right),
            str(one.both_wrong),
            p_text(one.p),
            percent(one.on_antecedent),
            percent(one.on_rival),
            percent(one.hits),
        )
        for place, one in enumerate(found.heads)
        if place < _NUM_ROWS or one.p < LEVEL
    )
    table = Table(
        caption=f"The {_NUM_ROWS} best encoder heads of the first half ({found.num_chosen_on} pairs of twins), and "
        f"what else has a small p, scored on the held-out half ({found.num_held_out} pairs)",
        columns=("head", "right %, first half", "right %", "both right", "both wrong", "p", "attention on antecedent %",
                 "on rival %", "hits %"),
        rows=rows,
        words=1,
    )  # fmt: skip
    best = found.heads[:2]
    by_template = Table(
        caption="The two best heads by template, held out",
        columns=("template", "pairs", *(f"{one.head.to_text()} right %" for one in best)),
        rows=tuple(
            (name, str(count), percent(first), percent(second)) for name, count, first, second in found.by_template
        ),
        words=1,
    )
    place = (
        f"A hit is an anaphor whose antecedent gets more than any other word, </s> included. The best place, "
        f"{found.rule.to_text()}, hits {percent(found.rule_hits)}%."
    )
    blocks: list[Block] = [
        Paragraph(text=f"{shown.subject.to_text()}."), table, Paragraph(text=place), by_template
    ]  # fmt: skip
    return Section(title=shown.subject.name, blocks=(*blocks, *_pictures(shown)))


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


def _method(shown: Sequence[Shown[Anaphors]]) -> Sequence[str]:
    num_heads = ", ".join(f"{len(each.found.heads)} of {each.subject.name}" for each in shown)
    return (
        "A head is right about an anaphor if it gives the antecedent more than the rival. If it does not read the "
        "anaphor, or does not know whom it fits, it prefers the same person in both twins, and is right in one of "
        "them. So the exact sign test, one-sided, is over held-out twins: is it right in both more often than wrong in "
        f"both? The p-values are corrected by Holm for all encoder heads that were looked at, {num_heads}. The "
        "sentences of a half share its few nouns, so that a small p alone says little: a head counts only if it is "
        "right more often than not in the first half too.",
        f"Heads that give both persons together less than {percent(LEAST_SHARE)}% in the first half look elsewhere, "
        "and stand behind the others. Weights are those between words: a word is looked at as much as its pieces "
        "together, and looks as they do on average.",
    )


FIGURE4 = HeadsFigure[Anaphors](
    title="Figure 4: heads that link an anaphor to its antecedent",
    question=_QUESTION,
    dependencies=False,
    anaphors=True,
    measure=lambda reading: anaphors(reading.anaphors),
    verdicts=lambda shown: [_verdict(shown)],
    sections=lambda shown: [_section(shown)],
    method=_method,
    data=to_data,
)
