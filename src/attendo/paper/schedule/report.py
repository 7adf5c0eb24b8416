"""The page of a schedule study: Equation 3 checked, and what warm-up does."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from attendo.paper.experiment import Order
from attendo.paper.page_parts import corpora_of, each, how_to_repeat, seeds_of, signatures_of, still_open
from attendo.paper.report import Block, Paragraph, Picture, Report, Section, Table
from attendo.paper.run_results import RunResult
from attendo.paper.schedule.equation import CURVES, CheckedCurve
from attendo.paper.schedule.picture import equation_png, losses_png
from attendo.paper.schedule.results import Fate, RowOutcome, RunCurve
from attendo.paper.schedule.rows import Row, rows_of
from attendo.paper.statistics import Estimate
from attendo.recipe import Recipe


@dataclass(frozen=True, kw_only=True)
class StudyFacts:
    """What a page says of a study beside its figures."""

    base: Recipe
    """The recipe that the rows are made of."""
    num_runs: int
    """That it has when all are done."""
    equation: tuple[CheckedCurve, ...]
    frequencies: float
    """Nats a target token of the validation set that word frequencies alone come to."""
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Found:
    """What the runs so far have come to."""

    results: tuple[RunResult, ...]
    """Of those that came to a number."""
    outcomes: tuple[RowOutcome, ...]
    curves: tuple[RunCurve, ...]
    """Of all that have ended."""
    rate_difference: float
    """How far the learning rates in their logs are from Equation 3, relative."""

    @property
    def num_ended(self) -> int:
        """Runs that have ended, one way or another."""
        return sum(len(outcome.fates) for outcome in self.outcomes)


def schedule_report(order: Order, facts: StudyFacts, found: Found) -> Report:
    """Makes the page of what is done so far.

    Args:
        order: how the study is wanted.
        facts: of the study.
        found: at least one run that has ended.
    """
    rows, search = rows_of(order.scale), facts.base.search
    bleu = f"BLEU is sacreBLEU's, of translations by beam {search.beam_size}: {signatures_of(found.results)}"
    return Report(
        title="Section 5.3: the learning rate and its warm-up",
        introduction=_introduction(order, facts, found),
        sections=(
            _outcome(found.outcomes),
            _equation(facts, rows, found),
            _warmup(rows, facts, found),
            _cost(found),
            how_to_repeat(order, found.results, bleu),
        ),
        data={
            "result": "schedule",
            "scale": order.scale,
            "command": order.command,
            "runs_done": found.num_ended,
            "runs": facts.num_runs,
            "failures": list(facts.failures),
            "equation": [asdict(one) for one in facts.equation],
            "logged_rate_difference": found.rate_difference,
            "frequency_log_loss": facts.frequencies,
            "rows": [outcome.to_json() for outcome in found.outcomes],
            "results": [asdict(result) for result in found.results],
        },
    )


def _introduction(order: Order, facts: StudyFacts, found: Found) -> tuple[str, ...]:
    shape, training, corpora = facts.base.model, facts.base.training, corpora_of(facts.base)
    parts = [
        "The paper's learning rate is d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5), Equation 3, with 4,000 "
        "steps of warm-up. It rises in a straight line and then falls with the square root of the step, and is highest "
        "at step warmup_steps, with d_model^-0.5 * warmup_steps^-0.5. The paper does not say what happens otherwise.",
        f"So the same model (d_model {shape.d_model}, {shape.num_layers} layers) is trained on {corpora} with several "
        f"warm-ups and the rate of Equation 3 times several factors, {seeds_of(order)} each: "
        f"{training.max_steps:,} updates of up to {training.max_tokens:,} tokens a side. With one "
        "factor all schedules are the same from the end of the longest warm-up on, so that what differs between them "
        "is the beginning alone.",
    ]
    if order.scale == "tiny":
        parts.append("This scale shows that the study works. So little training says nothing about warm-up.")
    return *parts, *still_open(found.num_ended, facts.num_runs, facts.failures)


# --- what comes out ---------------------------------------------------------------------------------------------------


def _outcome(outcomes: Sequence[RowOutcome]) -> Section:
    factors = sorted({outcome.row.factor for outcome in outcomes})
    told = [_of_factor(factor, [one for one in outcomes if one.row.factor == factor]) for factor in factors]
    if sound := [(one.log_loss.mean, one.row) for one in outcomes if one.log_loss and not one.count(Fate.DIVERGED)]:
        _, best = min(sound, key=lambda pair: pair[0])
        told.append(f"The lowest mean of all has {best.title} with factor {best.factor:g}.")
    told.append(
        "A schedule is told apart from the longest warm-up with its factor where the 95% interval of their difference "
        "in log-loss, paired by seed, leaves out zero. A run counts as stuck where it foretells the validation set no "
        "better than word frequencies do, and as diverged where its loss is no number any more."
    )
    told.append(
        "What this does not show: long runs, where a rate that is bearable for some hundred updates may not stay so, "
        "and models of the paper's size. The last matrices of the sub-layers also begin smaller here than by Glorot's "
        "rule alone, which makes the first updates less dangerous; the paper does not say how its weights begin."
    )
    return Section(title="What comes out", blocks=tuple(Paragraph(text=text) for text in told))


def _of_factor(factor: float, outcomes: Sequence[RowOutcome]) -> str:
    parts = []
    for one in outcomes:
        ended = [f"{one.count(fate)} {fate.value}" for fate in (Fate.STUCK, Fate.DIVERGED) if one.count(fate)]
        text = one.row.title
        if one.log_loss is not None:
            text += f": perplexity {_perplexity(one.log_loss)}"
        if ended:
            text += f" (of {len(one.fates)} runs {', '.join(ended)})"
        if _verdict(one):
            text += f", {_verdict(one)}"
        parts.append(text)
    return f"Equation 3 times {factor:g}. {'; '.join(parts)}."


def _verdict(one: RowOutcome) -> str:
    """Against the longest warm-up; a mean over the runs that did not diverge would be too kind."""
    if one.count(Fate.DIVERGED):
        return "diverged"
    if one.difference is None:
        return ""
    low, high = one.difference.low, one.difference.high
    if low is None or high is None or low <= 0 <= high:
        return "not told apart"
    return "worse" if low > 0 else "better"


# --- the equation -----------------------------------------------------------------------------------------------------


def _equation(facts: StudyFacts, rows: Sequence[Row], found: Found) -> Section:
    table = Table(
        caption="Learning rates as training takes them; the highest is looked for among all updates",
        columns=(
            "schedule",
            "d_model",
            "warm-up",
            "first",
            "highest at",
            "highest",
            "worked out",
            "last",
            "at",
            "off by",
        ),
        rows=tuple(
            (
                one.curve.title,
                str(one.curve.d_model),
                f"{one.curve.warmup_steps:,}",
                f"{one.first:.4e}",
                f"{one.peak_step:,}",
                f"{one.peak:.6e}",
                f"{one.worked_peak:.6e}",
                f"{one.last:.4e}",
                f"{one.curve.max_steps:,}",
                f"{one.largest_difference:.0e}",
            )
            for one in facts.equation
        ),
        words=1,
    )
    text = (
        "'Worked out' is d_model^-0.5 * warmup_steps^-0.5 in decimals of 40 digits; 'off by' is the largest relative "
        "difference to Equation 3 in such decimals, at steps before, at and behind the highest rate: that of 64-bit "
        f"numbers. The rates in the logs of the runs below are off by {found.rate_difference:.0e} at most."
    )
    shape, training = facts.base.model, facts.base.training
    picture = Picture(
        name="equation.png",
        png=equation_png(CURVES, rows, shape.d_model, training.max_steps),
        alt="Learning rate by update for the base and the big model and other warm-ups, and for those tried here",
        caption="Left: the first 100,000 updates at full size. Right: schedules tried here, on a logarithmic scale.",
    )
    return Section(title="Equation 3", blocks=(table, Paragraph(text=text), picture))


# --- what warm-up does ------------------------------------------------------------------------------------------------


def _warmup(rows: Sequence[Row], facts: StudyFacts, found: Found) -> Section:
    d_model = facts.base.model.d_model
    table = Table(
        caption="Of the validation set by the last weights; perplexity of the mean log-loss, with 95% intervals",
        columns=("warm-up", "factor", "highest rate", "PPL", "BLEU", "learnt", "nats to the longest", "is"),
        rows=tuple(_cells(one, d_model) for one in found.outcomes),
        words=0,
    )
    blocks: list[Block] = [
        Picture(
            name="losses.png",
            png=losses_png(rows, found.curves, facts.frequencies),
            alt="Training loss by update, a panel for each factor and a line for each warm-up",
            caption="Means over seeds and their 95% intervals as bands. Losses above the panel are cut off.",
        ),
        table,
        Paragraph(
            text=f"Word frequencies alone come to perplexity {math.exp(facts.frequencies):.1f} on the validation set. "
            "'Nats to the longest' is the difference in log-loss to the longest warm-up with the same factor, paired "
            "by seed; above 0 is worse. Runs that diverged have no perplexity, and are left out of the means. The logs "
            "have no norms of gradients, so that nothing is said of them."
        ),
    ]
    return Section(title="What warm-up does", blocks=tuple(blocks))


def _cells(one: RowOutcome, d_model: int) -> tuple[str, ...]:
    return (
        "none" if one.row.warmup_steps == 1 else f"{one.row.warmup_steps:,}",
        f"{one.row.factor:g}",
        f"{one.row.peak(d_model):.2e}",
        "" if one.log_loss is None else _perplexity(one.log_loss),
        "" if one.bleu is None else one.bleu.to_text(".1f"),
        f"{one.count(Fate.LEARNT)} of {len(one.fates)}",
        "" if one.difference is None else one.difference.to_text("+.3f"),
        _verdict(one),
    )


# --- how it was done --------------------------------------------------------------------------------------------------


def _cost(found: Found) -> Section:
    table = Table(
        caption="Each run that came to a number; perplexity and BLEU of the validation set",
        columns=("row", "seed", "PPL", "BLEU", "target tokens", "minutes"),
        rows=tuple(
            (
                result.row,
                str(result.seed),
                f"{result.perplexity:.2f}" if result.perplexity < 1e6 else f"{result.perplexity:.1e}",
                f"{result.bleu:.2f}",
                f"{result.target_tokens:,}",
                f"{result.seconds / 60:.1f}",
            )
            for result in found.results
        ),
        words=1,
    )
    text = (
        f"In all {len(found.results)} runs: {sum(result.seconds for result in found.results) / 3600:.2f} hours, each "
        f"with so many processor threads: {each(result.threads for result in found.results)}; wall time with "
        "validation, on a machine that may have had other work. "
        f"Machine: {each(result.machine for result in found.results)}."
    )
    return Section(title="Cost", blocks=(Paragraph(text=text), table))


def _perplexity(log_loss: Estimate) -> str:
    mean = _number(log_loss.mean)
    if log_loss.low is None or log_loss.high is None:
        return mean
    return f"{mean} [{_number(log_loss.low)}, {_number(log_loss.high)}]"


def _number(log_loss: float) -> str:
    """The perplexity, which may be very large."""
    value = math.exp(min(log_loss, 700.0))
    return f"{value:.2f}" if value < 1e5 else f"{value:.1e}"
