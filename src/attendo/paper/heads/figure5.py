"""`attendo reproduce figure5`: heads that follow structure, the roles that each head looks at, and head ablation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from attendo.attention_maps.weights import TITLES, Kind
from attendo.paper.experiment import Scale, Stopped, StudyRequest
from attendo.paper.heads.ablation import (
    NUM_RESAMPLES,
    AblationResults,
    AblationRunner,
    DevSet,
    HeadAblation,
    compare_cuts,
    dev_set,
    heads_of,
    own_sentences,
)
from attendo.paper.heads.chance import p_text
from attendo.paper.heads.figure import HeadsFigure, ModelFindings, Reading, percent, to_data
from attendo.paper.heads.head_attention import CorpusAttention, Head
from attendo.paper.heads.pictures import cuts_png, lines_picture
from attendo.paper.heads.roles import LEAST_SHARE, LEAST_WORDS, RoleScore, Structure, StructureHead, roles, structure
from attendo.paper.page_text import page_text
from attendo.paper.report import Picture, Table

PARKED = 0.9
"""Share of attention on `</s>` or on the start from which a head counts as resting there."""

MOST_TRANSLATED: Mapping[Scale, int] = {"tiny": 8, "small": 300, "paper": 3000}
"""Largest number of sentences that are translated by the whole model and again with each head cut."""

_TEXT = "heads/figure5.md"
_NUM_ROWS = 6
_TEMPLATE_DRAWN = "that was bought"
_RESTING = {"encoder": "</s>", "decoder": "start", "cross": "</s>"}


@dataclass(frozen=True, kw_only=True)
class Figure5:
    """The measurements of one model."""

    structure: Structure
    roles: Mapping[Kind, tuple[RoleScore, ...]]
    dev: DevSet
    cuts: AblationResults


def _verdicts(shown: ModelFindings[Figure5]) -> list[str]:
    found, name = shown.found, shown.subject.name
    following = [result for result in found.structure.heads if result.follows and result.on_words >= LEAST_SHARE]
    if following:
        heads_text = "; ".join(
            f"{result.head.to_text()} with {percent(result.inside)}% (by place {percent(result.by_place)}%)"
            for result in following
        )
        structure_text = (
            f"encoder heads whose attention on other words keeps to the constituent more than by place: {heads_text}"
        )
    else:
        structure_text = "no encoder head keeps to constituents more than its places explain"
    clear = [cut for cut in found.cuts.cuts if cut.is_clear]
    worst = min(found.cuts.cuts, key=lambda cut: cut.difference)
    counts = {kind: (len(_resting(scores, kind)), scores[0].shares.size) for kind, scores in found.roles.items()}
    resting = ", ".join(
        f"{num_resting} of {num_heads} in {TITLES[kind].lower()}" for kind, (num_resting, num_heads) in counts.items()
    )
    return [
        f"{name}: {structure_text}.",
        f"{name}: heads that rest, with {percent(PARKED)}% of their attention or more on </s> or on the start: "
        f"{resting}. Without one head BLEU changes clearly for {len(clear)} of {len(found.cuts.cuts)} heads; "
        f"most without {_name(worst.head)}, by {worst.difference:+.2f} of {found.cuts.bleu:.2f}.",
    ]


def _resting(scores: Sequence[RoleScore], kind: Kind) -> list[Head]:
    return [
        Head(kind=kind, layer=layer, head=head)
        for score in scores
        if score.role == _RESTING[kind]
        for layer, heads in enumerate(score.shares)
        for head, share in enumerate(heads)
        if share >= PARKED
    ]


def _values(shown: ModelFindings[Figure5]) -> Mapping[str, object]:
    found, cuts, dev = shown.found.structure, shown.found.cuts, shown.found.dev
    rows, best = found.heads[:_NUM_ROWS], found.heads[:2]
    by_layer = {
        result.head.layer: [other for other in best if other.head.layer == result.head.layer] for result in best
    }
    listed = sorted(cuts.cuts, key=lambda cut: cut.difference)[:_NUM_ROWS]
    return {
        "num_rows": len(rows),
        "num_chosen_on": found.num_chosen_on,
        "num_held_out": found.num_held_out,
        "heads": [
            (result, 100 * result.difference.mean, 100 * (result.difference.half_width or 0), p_text(result.p))
            for result in rows
        ],
        "uniform": percent(found.uniform),
        "pictures": [
            _picture(shown, tuple(same_layer), number) for number, same_layer in enumerate(by_layer.values(), start=1)
        ],
        "roles": [_roles_table(kind, scores) for kind, scores in shown.found.roles.items()],
        "dev_set": dev.name,
        "bleu": f"{cuts.bleu:.2f}",
        "cut_minutes": f"{cuts.processor_s / 60:.1f}",
        "cuts_picture": _cuts_picture(shown),
        "num_listed": len(listed),
        "num_cuts": len(cuts.cuts),
        "cuts": [(cut, _name(cut.head), "*" * cut.is_clear) for cut in listed],
        "num_sentences": len(dev.sources),
    }


def _picture(shown: ModelFindings[Figure5], best: tuple[StructureHead, ...], number: int) -> Picture:
    looks = shown.dependencies.half(held_out=True)
    look = next((candidate for candidate in looks if candidate.pair.template == _TEMPLATE_DRAWN), looks[0])
    heads = tuple(sorted((result.head for result in best), key=lambda head: head.head))
    numbers = " and ".join(str(head.head + 1) for head in heads)
    caption = (
        f"{shown.subject.name}, encoder layer {best[0].head.layer + 1}, head{'s' * (len(best) > 1)} {numbers}: all "
        "words of a held-out sentence."
    )
    return lines_picture(f"{shown.subject.slug}-structure-{number}", look, heads, caption)


def _roles_table(kind: Kind, scores: Sequence[RoleScore]) -> Table:
    num_layers, num_heads = scores[0].shares.shape
    rows = [
        (
            Head(kind=kind, layer=layer, head=head).to_text(),
            *(f"{percent(score.shares[layer, head])} / {percent(score.hits[layer, head])}" for score in scores),
        )
        for layer in range(num_layers)
        for head in range(num_heads)
    ]
    return Table(
        caption=f"{TITLES[kind]}: % of the attention / % of the strongest weights on each role",
        columns=("head", *(score.role for score in scores)),
        rows=(
            *rows,
            ("chance", *(percent(score.chance) for score in scores)),
            ("words", *(f"{score.num_queries:,}" for score in scores)),
        ),
        words=1,
    )


def _cuts_picture(shown: ModelFindings[Figure5]) -> Picture:
    found = shown.found.cuts
    return Picture(
        name=f"{shown.subject.slug}-cuts.png",
        png=cuts_png(found),
        alt=f"Heat maps of layers by heads for each kind of attention: {_extremes(found.cuts)}",
        caption=f"{shown.subject.name}: BLEU without each head, difference to the whole model. A star: the interval "
        f"that is corrected for {len(found.cuts)} heads (Bonferroni) excludes 0.",
    )


def _extremes(cuts: Sequence[HeadAblation]) -> str:
    low, high = min(cuts, key=lambda cut: cut.difference), max(cuts, key=lambda cut: cut.difference)
    return (
        f"from {low.difference:+.1f} BLEU without {_name(low.head)} to {high.difference:+.1f} without "
        f"{_name(high.head)}."
    )


def _name(head: Head) -> str:
    return f"{TITLES[head.kind].lower()} {head.to_text()}"


def _method(shown: Sequence[ModelFindings[Figure5]]) -> Mapping[str, object]:
    return {
        "least_words": LEAST_WORDS,
        "num_heads": ", ".join(f"{len(result.found.structure.heads)} of {result.subject.name}" for result in shown),
        "least_share": percent(LEAST_SHARE),
        "num_resamples": f"{NUM_RESAMPLES:,}",
    }


# --- measurement ------------------------------------------------------------------------------------------------------


def _measure(reading: Reading) -> Figure5 | Stopped:
    """Scores all heads, and translates with each head cut in turn."""
    both = (reading.dependencies, reading.anaphors)
    together = CorpusAttention(
        all=tuple(look for looks in both for look in looks.all), skipped=sum(looks.skipped for looks in both)
    )
    dev = _dev_set(reading)
    folder = reading.request.folder / "cuts" / reading.subject.slug
    cutting = AblationRunner(folder, reading.subject.model, dev, reading.should_stop)
    whole, cut = cutting.whole(), []
    for head in heads_of(reading.subject.model.transformer):
        if whole is None or reading.should_stop():
            return Stopped()
        reading.tell(f"{reading.subject.name} without {head.kind} head {head.to_text()}")
        written = cutting.cut(head)
        if written is None:
            return Stopped()
        cut.append((head, written))
    assert whole is not None, "there are heads"
    return Figure5(
        structure=structure(together),
        roles=roles(together.all),
        dev=dev,
        cuts=compare_cuts(dev, reading.subject.model.description.target_language, whole, cut),
    )


def _dev_set(reading: Reading) -> DevSet:
    """The sentences that are translated with heads cut: the user's development set, or our own sentences."""
    request, read, most = reading.request, reading.read, MOST_TRANSLATED[reading.request.scale]
    language = reading.subject.source_language
    if request.data is None:
        return own_sentences((*read.dependencies, *read.anaphors), language, most)
    return dev_set(request.data, language, reading.subject.model.description.target_language, most)


def _further(request: StudyRequest) -> tuple[str, ...]:
    return (page_text(_TEXT).note("further", most=MOST_TRANSLATED[request.scale]),)


def _data(found: Figure5) -> dict[str, object]:
    return {
        "structure": to_data(found.structure),
        "roles": to_data(found.roles),
        "cuts": {"set": found.dev.name, **to_data(found.cuts)},
    }


FIGURE5 = HeadsFigure[Figure5](
    title="Figure 5: heads that follow sentence structure, and what every head does",
    text=_TEXT,
    dependencies=True,
    anaphors=True,
    measure=_measure,
    verdicts=_verdicts,
    values=_values,
    method=_method,
    data=_data,
    note=lambda shown: f"BLEU is sacreBLEU's: {shown[0].found.cuts.signature}",
    reads_corpora=True,
    further_steps=lambda subject: len(heads_of(subject.model.transformer)),
    further=_further,
)
