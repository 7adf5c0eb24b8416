"""The page of a label-smoothing study: ours beside the paper's, calibration, and what it took."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from attendo.paper.experiment import Order
from attendo.paper.label_smoothing.comparison import MEASURES, Measure, MeasuredRun, RowComparison, compare
from attendo.paper.label_smoothing.picture import differences_png, reliability_png
from attendo.paper.label_smoothing.rows import best_probability
from attendo.paper.page_parts import corpora_of, each, how_to_repeat, seeds_of, signatures_of, still_open
from attendo.paper.report import Paragraph, Picture, Report, Section, Table
from attendo.recipe import Recipe


@dataclass(frozen=True, kw_only=True)
class StudyFacts:
    """What a page says of a study beside its figures."""

    recipe: Recipe
    """Of a row; the others differ in eps_ls alone."""
    num_runs: int
    """That it has when all are done."""
    vocab_size: int
    """Of the target."""
    valid_pairs: int
    """Of the validation set."""
    failures: tuple[str, ...] = ()


def label_smoothing_report(order: Order, facts: StudyFacts, runs: Sequence[MeasuredRun]) -> Report:
    """Makes the page of what is done so far.

    Args:
        order: how the study is wanted.
        facts: of the study.
        runs: at least one.
    """
    rows, results = compare(runs), [run.result for run in runs]
    sections = [_outcome(rows), _table(rows)]
    if any(one.differences for one in rows):
        sections.append(_differences(rows))
    sections += [
        _calibration(rows, facts),
        _cost(runs),
        _runs(rows),
        how_to_repeat(order, results, f"BLEU is sacreBLEU's: {signatures_of(results)}"),
    ]
    return Report(
        title="Label smoothing: perplexity, accuracy and BLEU",
        introduction=_introduction(order, facts, runs),
        sections=tuple(sections),
        data={
            "result": "label-smoothing",
            "scale": order.scale,
            "command": order.command,
            "runs_done": len(runs),
            "runs": facts.num_runs,
            "failures": list(facts.failures),
            "rows": [one.to_json() for one in rows],
            "results": [{**asdict(run.result), "calibration": asdict(run.calibration)} for run in runs],
        },
    )


def _introduction(order: Order, facts: StudyFacts, runs: Sequence[MeasuredRun]) -> tuple[str, ...]:
    training, corpora = facts.recipe.training, corpora_of(facts.recipe)
    parts = [
        "Section 5.4 of the paper: the base models were trained with label smoothing of 0.1; this hurts perplexity, "
        "as the model learns to be more unsure, but improves accuracy and BLEU. Its Table 3 has perplexity and BLEU "
        "without smoothing, with 0.1 and with 0.2; accuracy it does not print.",
        f"Here the same model is trained on {corpora} at the scale '{order.scale}' with each eps_ls and "
        f"{seeds_of(order)}; nothing else differs: {training.max_steps:,} updates of up to "
        f"{training.max_tokens:,} tokens a side. All is measured on the {facts.valid_pairs:,} pairs of the validation "
        "set by the weights of the last update. Perplexity is plain cross-entropy's, never the smoothed loss', per "
        "word piece; accuracy is the share of word pieces that are the model's first choice when all before them are "
        "given; BLEU is of real translations with beam 4 and length penalty 0.6.",
    ]
    if order.scale == "tiny":
        parts.append("This scale shows that the study works. So little training says nothing about the paper.")
    return *parts, *still_open(len(runs), facts.num_runs, facts.failures)


def _outcome(rows: Sequence[RowComparison]) -> Section:
    told = []
    for measure in MEASURES:
        found = [(one.epsilon, one.differences[measure.key].verdict) for one in rows if one.differences]
        said = [f"eps_ls {epsilon} {verdict.value}" for epsilon, verdict in found if verdict is not None]
        if said:
            name = _title(measure).partition(",")[0].removesuffix(" %")
            told.append(Paragraph(text=f"{name}: {'; '.join(said)}."))
    if not told:
        told = [Paragraph(text="Nothing to compare yet.")]
    how = (
        "A row is told apart from the one without smoothing where the 95% interval of its difference, paired by seed, "
        "leaves out zero. 'Not told apart' means that so few seeds cannot say, not that there is no effect. The paper "
        "has one run a row and no intervals. It says nothing of eps_ls 0.3, which shows how things go on."
    )
    return Section(title="What holds here", blocks=(*told, Paragraph(text=how)))


def _table(rows: Sequence[RowComparison]) -> Section:
    cells = tuple(
        (
            f"{one.epsilon}",
            one.figures["perplexity"].to_text(),
            f"{one.printed.perplexity:.2f}" if one.printed else "",
            one.figures["accuracy"].to_text(),
            one.figures["bleu"].to_text(),
            f"{one.printed.bleu:.1f}" if one.printed else "",
        )
        for one in rows
    )
    table = Table(
        caption="Mean over seeds and half of the 95% interval; the paper's are those of newstest2013",
        columns=("eps_ls", "perplexity", "paper", "accuracy %", "BLEU", "paper"),
        rows=cells,
        words=1,
    )
    return Section(title="The table", blocks=(table,))


def _differences(rows: Sequence[RowComparison]) -> Section:
    tables = tuple(
        Table(
            caption=f"{_title(measure)}: difference to eps_ls 0, with its 95% interval",
            columns=("eps_ls", "verdict", "here", "from", "to", "paper"),
            rows=tuple(_difference_cells(one, measure) for one in rows if one.differences),
            words=2,
        )
        for measure in MEASURES
    )
    picture = Picture(
        name="differences.png",
        png=differences_png(rows),
        alt="Differences to the row without smoothing in perplexity, accuracy and BLEU, here and in the paper",
        caption="Differences to no smoothing, paired by seed. The data differ: look at the side of zero, not at the "
        "size. The paper prints no accuracy.",
    )
    return Section(title="Differences to no smoothing", blocks=(picture, *tables))


def _difference_cells(one: RowComparison, measure: Measure) -> tuple[str, ...]:
    found = one.differences[measure.key]
    ours = found.ours
    direction = {1: "up", -1: "down", 0: ""}[found.direction]
    return (
        f"{one.epsilon}",
        "" if found.verdict is None else found.verdict.value,
        f"{ours.mean:+.{measure.digits}f}",
        "" if ours.low is None else f"{ours.low:+.{measure.digits}f}",
        "" if ours.high is None else f"{ours.high:+.{measure.digits}f}",
        direction if found.printed is None else f"{found.printed:+.2f}",
    )


def _calibration(rows: Sequence[RowComparison], facts: StudyFacts) -> Section:
    table = Table(
        caption="Mean over seeds and half of the 95% interval",
        columns=("eps_ls", "best for the loss %", "confidence %", "accuracy %", "calibration error %", "entropy, nats"),
        rows=tuple(
            (
                f"{one.epsilon}",
                f"{100 * best_probability(one.epsilon, facts.vocab_size):.2f}",
                *(one.figures[key].to_text() for key in ("confidence", "accuracy", "calibration_error", "entropy")),
            )
            for one in rows
        ),
        words=1,
    )
    curve = Table(
        caption="Accuracy in % of the tokens by the model's confidence; in brackets their share of all tokens in %",
        columns=("confidence %", *(f"eps_ls {one.epsilon}" for one in rows)),
        rows=tuple(
            (f"{100 * bins[0].low:.0f} to {100 * bins[0].high:.0f}", *_bin_cells(rows, number))
            for number, bins in enumerate(zip(*(one.curve for one in rows), strict=True))
        ),
        words=1,
    )
    text = (
        "The smoothed loss is least where the right token has 1 - eps_ls + eps_ls / V of the probability, V the "
        f"vocabulary's {facts.vocab_size:,} pieces ('best for the loss'). A model that is certain is punished, and so "
        "what plain cross-entropy calls worse is what smoothing asks for. Confidence is the probability of the first "
        "choice; the calibration error is its mean distance from the share of right choices, in ten bins of equal "
        "width (Guo et al., 2017). All of it is with the right words before; of its own translations it says nothing."
    )
    picture = Picture(
        name="reliability.png",
        png=reliability_png(rows),
        alt="Left: accuracy by confidence, a curve for each eps_ls; right: the share of tokens at each confidence",
        caption="Reliability of the probabilities, all seeds together.",
    )
    return Section(title="How sure the models are", blocks=(Paragraph(text=text), table, picture, curve))


def _bin_cells(rows: Sequence[RowComparison], number: int) -> Iterable[str]:
    for one in rows:
        each, total = one.curve[number], sum(every.tokens for every in one.curve)
        yield f"{100 * each.accuracy:.1f} ({100 * each.tokens / total:.1f})" if each.tokens else "(0)"


def _cost(runs: Sequence[MeasuredRun]) -> Section:
    results = [run.result for run in runs]
    hours, tokens = sum(result.seconds for result in results) / 3600, sum(result.target_tokens for result in results)
    text = (
        f"Runs: {len(results)}; {hours:.2f} hours of wall time with validation, each with so many processor "
        f"threads: {each(result.threads for result in results)}, on a machine that may have had other work; "
        f"{tokens:,} target tokens; {sum(result.flops for result in results):.2e} FLOPs of matrix products; "
        f"{each(f'{result.parameters:,}' for result in results)} parameters. "
        f"Machine: {each(result.machine for result in results)}."
    )
    return Section(title="Cost", blocks=(Paragraph(text=text),))


def _runs(rows: Sequence[RowComparison]) -> Section:
    table = Table(
        caption="Each run",
        columns=("eps_ls", "seed", *(measure.name for measure in MEASURES), "minutes"),
        rows=tuple(
            (
                f"{one.epsilon}",
                str(run.result.seed),
                *(f"{measure.of(run):.{measure.digits}f}" for measure in MEASURES),
                f"{run.result.seconds / 60:.1f}",
            )
            for one in rows
            for run in one.runs
        ),
        words=1,
    )
    return Section(title="The runs", blocks=(table,))


def _title(measure: Measure) -> str:
    return measure.name[0].upper() + measure.name[1:]
