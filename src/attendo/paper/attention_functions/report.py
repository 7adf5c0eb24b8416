"""The page of the study of attention functions: the footnote's variance, the rows by d_k, speed and memory."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from attendo.paper.attention_functions.comparison import (
    Claim,
    Difference,
    MeasuredRun,
    RowSummary,
    claims,
    difference_names,
    differences,
    summarise,
    with_interval,
)
from attendo.paper.attention_functions.cost import WHOLE, Cost, Spread
from attendo.paper.attention_functions.picture import cost_png, quality_png, variance_png
from attendo.paper.attention_functions.rows import ADDITIVE, KEY_SIZES, SCALED, SHORT, UNSCALED
from attendo.paper.attention_functions.variance import NUM_KEYS, Products, Softmax
from attendo.paper.experiment import Order
from attendo.paper.page_parts import corpora_of, each, how_to_repeat, run_cells, seeds_of, signatures_of, still_open
from attendo.paper.report import Paragraph, Picture, Report, Section, Table
from attendo.paper.statistics import CONFIDENCE, Estimate
from attendo.recipe import Recipe


@dataclass(frozen=True, kw_only=True)
class StudyFacts:
    """What the page says beside the trained rows' figures."""

    recipe: Recipe
    """Of any row: the rows differ in function and d_k alone."""
    num_runs: int
    """That there are when all are done."""
    products: tuple[Products, ...]
    softmax: tuple[Softmax, ...]
    costs: tuple[Cost, ...]
    machine: str
    """That the costs are of."""
    failures: tuple[str, ...] = ()


def attention_functions_report(order: Order, facts: StudyFacts, runs: Sequence[MeasuredRun]) -> Report:
    """Makes the page of what is done so far.

    Args:
        order: how the study is wanted.
        facts: what was measured beside the trained rows.
        runs: none, or those that are done.
    """
    summaries, apart, results = summarise(runs), differences(runs), [run.result for run in runs]
    told = claims(apart, facts.costs, KEY_SIZES[order.scale])
    sections = [_outcome(order, told), _variance(facts.products), _softmax(facts)]
    if summaries:
        sections += [_quality(summaries, apart), _heads(summaries)]
    sections.append(_cost(facts))
    if summaries:
        sections.append(_runs(summaries))
    sections.append(how_to_repeat(order, results, f"BLEU is sacreBLEU's: {signatures_of(results)}"))
    return Report(
        title="Attention functions: scaled, unscaled and additive (Section 3.2.1)",
        introduction=_introduction(order, facts, runs),
        sections=tuple(sections),
        data={
            "result": "attention-functions",
            "scale": order.scale,
            "command": order.command,
            "runs_done": len(runs),
            "runs": facts.num_runs,
            "failures": list(facts.failures),
            "claims": [claim.to_json() for claim in told],
            "products": [one.to_json() for one in facts.products],
            "softmax": [one.to_json() for one in facts.softmax],
            "rows": [one.to_json() for one in summaries],
            "differences": [one.to_json() for one in apart],
            "costs": [one.to_json() for one in facts.costs],
            "results": [asdict(run.result) for run in runs],
        },
    )


def _introduction(order: Order, facts: StudyFacts, runs: Sequence[MeasuredRun]) -> tuple[str, ...]:
    recipe = facts.recipe
    training, model, corpora = recipe.training, recipe.model, corpora_of(recipe)
    parts = [
        "A head weighs values by how well each key fits its query. Scaled: q·k / sqrt(d_k), the paper's. Unscaled: "
        "q·k. Additive: v·tanh(q + k) with a learned v in each head, which is Bahdanau et al.'s function, as the "
        "projections of a head are its matrices already. A recipe chooses by the key model.attention_function.",
        f"Trained here on {corpora} at the scale '{order.scale}', {seeds_of(order)} "
        f"a row; the rows differ in function and d_k alone: d_model "
        f"{model.d_model}, N {model.encoder_layers}, h {model.num_heads}, d_v {model.value_size}, "
        f"{training.max_steps:,} updates of up to {training.max_tokens:,} tokens a side. Perplexity is per word piece "
        "of the validation set, without label smoothing, and BLEU is of its translations with beam "
        f"{recipe.search.beam_size}, both by the weights of the last update.",
    ]
    if order.scale == "tiny":
        parts.append("This scale shows that the study works. So little training says nothing about the functions.")
    if order.scale == "small":
        parts.append(
            "These runs are short: their models have only begun to translate, and what comes of longer training may "
            "differ."
        )
    return *parts, *still_open(len(runs), facts.num_runs, facts.failures)


def _outcome(order: Order, told: Sequence[Claim]) -> Section:
    table = Table(
        caption="What the paper says (not in its words), and what came out",
        columns=("the paper", "here", "verdict"),
        rows=tuple((claim.text, claim.found, claim.verdict) for claim in told),
        words=3,
    )
    note = (
        f"Differences are means over seeds, paired by seed, with their {CONFIDENCE:.0%} intervals; an interval that "
        "has zero in it does not tell apart. Where the paper finds two functions about as good, that is the most that "
        f"can be said: so few seeds ({order.seeds}) cannot show that they are equal."
    )
    return Section(title="What holds here", blocks=(table, Paragraph(text=note)))


def _variance(products: Sequence[Products]) -> Section:
    names = list(dict.fromkeys(one.distribution for one in products))
    by_key = {(one.distribution, one.d_k): one for one in products}
    widths = sorted({one.d_k for one in products})
    rows = tuple(
        (
            str(d_k),
            *(
                text
                for name in names
                for text in (by_key[name, d_k].mean.to_text(), by_key[name, d_k].variance.to_text())
            ),
            str(d_k),
        )
        for d_k in widths
    )
    inside = sum(_covers(one.variance, one.d_k) for one in products)
    table = Table(
        caption=f"q·k of independent q and k: mean over replicates and half of the {CONFIDENCE:.0%} interval",
        columns=("d_k", *(f"{what}, {name}" for name in names for what in ("mean", "variance")), "the footnote"),
        rows=rows,
        words=0,
    )
    text = (
        "The footnote: where the components of q and k are independent, with mean 0 and variance 1, q·k has mean 0 and "
        "variance d_k, whatever their distribution. "
        f"Of {len(products)} intervals of the variance {inside} cover d_k; {CONFIDENCE:.0%} of them should."
    )
    return Section(title="The footnote's variance", blocks=(Paragraph(text=text), table))


def _softmax(facts: StudyFacts) -> Section:
    rows = []
    for one in facts.softmax:
        pairs = [
            (getattr(one.scaled, name).mean, getattr(one.unscaled, name).mean)
            for name in ("entropy", "largest", "jacobian", "jacobian_median", "to_query")
        ]
        rows.append((str(one.d_k), *(f"{value:.3f}" for pair in pairs for value in pair)))
    names = ("entropy", "largest weight", "derivative", "its median", "by the query")
    table = Table(
        caption=f"A softmax over {NUM_KEYS} random keys, scaled (s) and unscaled (u); means over queries",
        columns=("d_k", *(f"{name}, {letter}" for name in names for letter in "su")),
        rows=tuple(rows),
        words=0,
    )
    first, last = facts.softmax[0], facts.softmax[-1]
    peak = max(facts.softmax, key=lambda one: one.unscaled.jacobian.mean)
    scaled = [one.scaled.jacobian.mean for one in facts.softmax]
    text = (
        "Entropy is a share of that of equal weights; the derivative is the Frobenius norm of the softmax's Jacobian. "
        f"From d_k {first.d_k} to {last.d_k} the largest unscaled weight rises from {first.unscaled.largest.mean:.2f} "
        f"to {last.unscaled.largest.mean:.2f}. The norm of the derivative by the logits is {_below(facts.softmax)}, "
        f"after a rise up to d_k {peak.d_k}: at {last.d_k} it is {last.unscaled.jacobian.mean:.3f}, and that of the "
        f"median query {last.unscaled.jacobian_median.mean:.4f}. Scaled, it stays between {min(scaled):.3f} and "
        f"{max(scaled):.3f}."
    )
    beyond = (
        "The last two columns are what the paper does not speak of, the derivative by the query itself: at d_k "
        f"{last.d_k} it is {last.unscaled.to_query.mean:.2f} unscaled and {last.scaled.to_query.mean:.2f} scaled, on "
        "average, since unscaled logits are so much steeper in the query. So the mean gradient does not vanish; it is "
        "the few queries that are near a tie between two keys that get it, and the median query gets next to none."
    )
    picture = Picture(
        name="variance.png",
        png=variance_png(facts.products, facts.softmax),
        alt="Variance of q·k, the softmax's largest weight and the norm of its derivative against d_k",
        caption=f"Random queries and keys. Bars on the left are {CONFIDENCE:.0%} intervals.",
    )
    return Section(
        title="What that does to the softmax", blocks=(Paragraph(text=text), table, Paragraph(text=beyond), picture)
    )


def _below(softmax: Sequence[Softmax]) -> str:
    """From which d_k on the unscaled derivative stays below the scaled one."""
    above = [number for number, one in enumerate(softmax) if one.unscaled.jacobian.mean >= one.scaled.jacobian.mean]
    from_here = softmax[above[-1] + 1 :] if above else softmax
    return f"below the scaled one's from d_k {from_here[0].d_k} on" if from_here else "nowhere below the scaled one's"


def _quality(summaries: Sequence[RowSummary], apart: Sequence[Difference]) -> Section:
    table = Table(
        caption=f"Mean over seeds and half of the {CONFIDENCE:.0%} interval",
        columns=("function", "d_k", "params", "seeds", "PPL", "BLEU"),
        rows=tuple(
            (
                SHORT[one.row.function],
                str(one.row.d_k),
                f"{one.runs[0].parameters:,}",
                str(len(one.runs)),
                one.perplexity.to_text(),
                one.bleu.to_text(),
            )
            for one in summaries
        ),
        words=1,
    )
    names = difference_names()
    paired = Table(
        caption=f"Differences, paired by seed, with their {CONFIDENCE:.0%} intervals",
        columns=("difference", "d_k", "PPL", "BLEU"),
        rows=tuple(
            (names[one.function, one.other], str(one.d_k), with_interval(one.perplexity), with_interval(one.bleu))
            for one in apart
        ),
        words=1,
    )
    picture = Picture(
        name="quality.png",
        png=quality_png(summaries),
        alt="Validation perplexity, and the variance of the heads' logits, of each function against d_k",
        caption=f"Means over seeds; bars are {CONFIDENCE:.0%} intervals. Right: new models and trained ones.",
    )
    return Section(title="Trained, by d_k", blocks=(table, paired, picture))


def _heads(summaries: Sequence[RowSummary]) -> Section:
    def mean(one: RowSummary, kind: str, name: str) -> float:
        return float(sum(getattr(getattr(heads, kind), name) for heads in one.heads)) / len(one.heads)

    table = Table(
        caption="All heads of all layers on 50 validation pairs at most: new weights, then trained; means over queries "
        "and runs",
        columns=(
            "function",
            "d_k",
            *(f"{n}, {k}" for n in ("variance", "entropy", "derivative") for k in ("new", "trained")),
        ),
        rows=tuple(
            (
                SHORT[one.row.function],
                str(one.row.d_k),
                *(
                    f"{mean(one, kind, name):.3f}"
                    for name in ("variance", "entropy", "jacobian")
                    for kind in ("new", "trained")
                ),
            )
            for one in summaries
        ),
        words=1,
    )
    text = (
        "The variance is that of a query's logits over the keys it sees. The footnote's argument is about new "
        "weights: there unscaled logits grow with d_k. Training is free to shrink or stretch the projections, so that "
        "what comes of it need not be d_k."
    )
    return Section(title="The logits of real heads", blocks=(Paragraph(text=text), table))


def _cost(facts: StudyFacts) -> Section:
    rows = tuple(
        (
            str(one.setting.n),
            str(one.setting.d_k),
            f"{one.scaled_s * 1e3:.2f}",
            _spread(one.ratios[UNSCALED]),
            _spread(one.ratios[ADDITIVE]),
            f"{one.bytes[SCALED] / 2**20:.2f}",
            *(f"{one.bytes[name] / one.bytes[SCALED]:.1f}" for name in (UNSCALED, ADDITIVE, WHOLE)),
        )
        for one in facts.costs
    )
    table = Table(
        caption="Forward and back: milliseconds and MiB of the scaled function, and the others as multiples of it "
        "(median, and quartiles in brackets)",
        columns=("n", "d_k", "ms", "unscaled", "additive", "MiB", "unscaled", "additive", WHOLE),
        rows=rows,
        words=0,
    )
    text = (
        "Each round measures all functions one after the other, so that whatever else the machine does meets them "
        "all; the ratio is taken within the round. Memory is the most that is held above the inputs. 'Additive, whole' "
        "keeps the hidden layer of n x n x d_k numbers, as additive attention is usually written; attendo computes it "
        "some queries at a time, and again on the way back. All of it is torch's work; attendo's own kernels, which "
        f"train dot products on a processor, are not in it. Machine: {facts.machine}."
    )
    picture = Picture(
        name="cost.png",
        png=cost_png(facts.costs),
        alt="Time and memory of unscaled and additive attention as multiples of the scaled one's, against d_k",
        caption="Multiples of the scaled function's; bars are quartiles of the rounds.",
    )
    return Section(title="Speed and memory", blocks=(Paragraph(text=text), table, picture))


def _runs(summaries: Sequence[RowSummary]) -> Section:
    results = [result for one in summaries for result in one.runs]
    table = Table(
        caption="Each run",
        columns=("row", "seed", "PPL", "BLEU", "minutes"),
        rows=tuple((one.row.name, *run_cells(run)) for one in summaries for run in one.runs),
        words=1,
    )
    text = (
        f"In all {len(results)} runs: {sum(run.seconds for run in results) / 60:.1f} minutes of wall time with "
        f"validation, {sum(run.target_tokens for run in results):,} target tokens; threads each: "
        f"{each(run.threads for run in results)}. Machine: {each(run.machine for run in results)}; it may have had "
        "other work. On a processor attendo's own kernels train scaled and unscaled attention and plain torch trains "
        "additive attention, so that minutes are no comparison of the functions; the section before is."
    )
    return Section(title="The runs and their cost", blocks=(Paragraph(text=text), table))


def _covers(found: Estimate, value: float) -> bool:
    return found.low is not None and found.high is not None and found.low <= value <= found.high


def _spread(found: Spread) -> str:
    return f"{found.median:.1f} ({found.low:.1f} to {found.high:.1f})"
