"""`attendo reproduce figure3`: which heads follow long-distance dependencies, against chance, and the heads drawn."""

from collections.abc import Sequence
from dataclasses import replace

from attendo.paper.heads.dependencies import Relation, relations
from attendo.paper.heads.figure import (
    HeadsFigure,
    Shown,
    percent,
    to_data,
)
from attendo.paper.heads.looks import Look
from attendo.paper.heads.markup import Side
from attendo.paper.heads.nulls import p_text
from attendo.paper.heads.pictures import lines_picture
from attendo.paper.report import Block, Paragraph, Picture, Section, Table

_QUESTION = (
    "The paper's Figure 3 shows one sentence in which several heads of the encoder's fifth layer of six, "
    "looking from a verb, find the distant words that complete it. It is an example; the paper counts nothing.",
    "Here it is counted, on sentences whose dependencies are known: a verb and its particle, to make something "
    "so and so, a subject and its verb across a relative clause, and in German an auxiliary and its participle "
    "and a modal verb and its infinitive at the clause's end.",
)
"""What the paper shows and what is counted here."""

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


def _section(shown: Shown[tuple[Relation, ...]]) -> Section:
    asked = [
        (one.head.kind, f"{one.name}: {_ends(shown, one)}", one.direction, one.head.to_text()) for one in shown.found
    ]
    hits = Table(
        caption="How often the head that was best on the first half finds the partner, held out",
        columns=("attention", "relation", "looks", "head", "words away", "cases", "hits %", "best place", "its hits %",
                 "p"),
        rows=tuple(
            (
                *question,
                f"{one.distance:.1f}",
                str(one.num_held_out),
                percent(one.hits),
                one.rule.to_text(),
                percent(one.rule_hits),
                p_text(one.p_hits),
            )
            for question, one in zip(asked, shown.found, strict=True)
        ),
        words=4,
    )  # fmt: skip
    attention = Table(
        caption="How much attention it gives the partner, held out",
        columns=("attention", "relation", "looks", "head", "on the partner %", "by place %", "from others %", "p"),
        rows=tuple(
            (
                *question,
                percent(one.share),
                percent(one.place_share),
                percent(one.other_share),
                p_text(one.p_share),
            )
            for question, one in zip(asked, shown.found, strict=True)
        ),
        words=4,
    )
    best = sorted(shown.found, key=lambda one: (-one.follows, -one.leans, -one.hits, -one.share))
    drawn: list[Relation] = []
    for one in best:
        if one.head not in {other.head for other in drawn}:
            drawn.append(one)
    blocks: list[Block] = [Paragraph(text=f"{shown.subject.to_text()}."), hits, attention]
    blocks += [_picture(shown, one, number) for number, one in enumerate(drawn[:_NUM_DRAWN], start=1)]
    return Section(title=shown.subject.name, blocks=tuple(blocks))


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


def _method(shown: Sequence[Shown[tuple[Relation, ...]]]) -> Sequence[str]:
    num_tests = ", ".join(
        f"{_num_tests(each)} pairs of a head and a row of the tables for {each.subject.name}" for each in shown
    )
    return (
        "Weights are those between words: a word is looked at as much as its pieces together, and looks as they do on "
        "average. A hit: the partner gets more than anything else, the word itself, </s> or the start included. "
        "'Onwards' looks from the governor, which stands first in these sentences, to what belongs to it; 'back' the "
        "other way. The paper's figure is of the encoder; the decoder, which reads the words written so far while it "
        "writes a word, is counted too.",
        "The best place is what a head could do that reads no word: of all fixed offsets and places counted from "
        "either end of the sentence the one that finds most of the held-out partners, so that no place does "
        "better than what a head is held against. The first p is McNemar's exact test, one-sided: among held-out cases "
        "that only one of both finds, are more the head's?",
        "'By place' is the head's positional twin: what it gives a word so many places away on average over all words "
        "of the first half. 'From others' is what the other words of the sentence give the partner by the same head: a "
        "word that all look at is not found by the one that needs it (in the decoder of those that can see it). The "
        "second p is the larger of two exact sign tests, held out, of more attention than either.",
        f"All p-values are corrected by Holm for all that was looked at: {num_tests}. A relation counts as followed "
        "with both below 0.05.",
    )


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
    question=_QUESTION,
    dependencies=True,
    anaphors=False,
    measure=lambda reading: relations(reading.dependencies),
    verdicts=lambda shown: [_verdict(shown)],
    sections=lambda shown: [_section(shown)],
    method=_method,
    data=lambda found: {"relations": [_data(one) for one in found]},
)
