"""The page of a study of lengths beyond training: by length, by position alone, and the linear-offset property."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from attendo.paper.experiment import Order
from attendo.paper.length_extrapolation.comparison import Contrast, Measures, Place, by_length, by_position
from attendo.paper.length_extrapolation.findings import nats, outcome
from attendo.paper.length_extrapolation.linear import linear
from attendo.paper.length_extrapolation.offsets import ClosedForm
from attendo.paper.length_extrapolation.picture import lengths_png, positions_png
from attendo.paper.length_extrapolation.rows import ROWS, lengths_of
from attendo.paper.length_extrapolation.tables import Tables, Trained
from attendo.paper.page_parts import corpora_of, each, how_to_repeat, seeds_of, still_open
from attendo.paper.report import Paragraph, Picture, Report, Section, Table
from attendo.paper.run_results import RunResult
from attendo.paper.statistics import Estimate
from attendo.recipe import Recipe


@dataclass(frozen=True, kw_only=True)
class StudyFacts:
    """What a page says of a study beside its figures."""

    base: Recipe
    """The recipe that the rows are made of."""
    num_runs: int
    """That it has when all are done."""
    short: Trained
    """Of the short texts."""
    every: Trained
    """Of the texts of all lengths."""
    closed_forms: tuple[ClosedForm, ...]
    failures: tuple[str, ...] = ()


def length_extrapolation_report(
    order: Order, facts: StudyFacts, results: Sequence[RunResult], measures: Measures, tables: Tables
) -> Report:
    """Makes the page of what is done so far.

    Args:
        order: how the study is wanted.
        facts: of the study.
        results: of the runs that were measured, at least one.
        measures: of the same.
        tables: the positions of the same.
    """
    lengths, positions = by_length(measures), by_position(measures)
    limit = facts.short.longest_target
    signature = next(run.bleu_signature for runs in measures.values() for run in runs.values())
    return Report(
        title="Section 3.5: lengths beyond training, sinusoidal and learned positions",
        introduction=_introduction(order, facts, results),
        sections=(
            outcome(lengths, positions, limit),
            _by_length(lengths, facts),
            _by_position(positions, facts),
            linear(facts.closed_forms, tables, facts.short.longest_source),
            _texts(order, facts),
            _cost(results),
            how_to_repeat(order, results, f"BLEU is sacreBLEU's: {signature}"),
        ),
        data={
            "result": "length-extrapolation",
            "scale": order.scale,
            "command": order.command,
            "runs_done": len(results),
            "runs": facts.num_runs,
            "failures": list(facts.failures),
            "longest_trained_target": limit,
            "lengths": [place.to_json() for place in lengths],
            "positions": [place.to_json() for place in positions],
            "closed_forms": [asdict(found) for found in facts.closed_forms],
            "fits": [found.to_json() for found in tables.fits],
            "results": [asdict(result) for result in results],
            "measures": {
                row: {str(seed): asdict(run) for seed, run in runs.items()} for row, runs in measures.items()
            },
        },
    )  # fmt: skip


def _introduction(order: Order, facts: StudyFacts, results: Sequence[RunResult]) -> tuple[str, ...]:
    shape, training = facts.base.model, facts.base.training
    parts = [
        "The paper takes sinusoids for its positions, though learned ones do as well on the lengths it tests (Table 3, "
        "row E), for two reasons: they may let a model read texts longer than those it was trained on, and for every "
        "offset k the encoding of position pos + k is a linear function of that of pos. It measures neither. Both are "
        "measured here.",
        f"Models of d_model {shape.d_model}, {shape.num_layers} layers and {shape.num_heads} heads, trained on texts "
        f"of up to {facts.short.longest_target} target tokens, are tested on held-out sentences, always the same ones, "
        "put together to texts of growing length. Beside them stand the same models trained on the same sentences in "
        "texts of all lengths: what can be reached where the positions were trained. "
        f"{training.max_steps:,} updates of up to {training.max_tokens:,} tokens a side each, {seeds_of(order)} "
        "a row.",
    ]
    if order.scale == "tiny":
        parts.append("This scale shows that the study works. So little training says nothing about positions.")
    return *parts, *still_open(len(results), facts.num_runs, facts.failures)


# --- by length and by position ----------------------------------------------------------------------------------------


def _by_length(places: Sequence[Place], facts: StudyFacts) -> Section:
    limit = facts.short.longest_target
    return Section(
        title="By length",
        blocks=(
            Picture(
                name="lengths.png",
                png=lengths_png(places, limit, facts.short.usual_target),
                alt="Perplexity and BLEU by the length of the texts, with the trained limit marked, for four models",
                caption="The same sentences in texts of growing length. Bars are 95% intervals over seeds.",
            ),
            _perplexities(
                places, limit, "sentences", "Perplexity per word piece, of the mean log-loss, and its 95% interval"
            ),
            _bleus(places, limit),
            _contrasts(places, "sentences"),
        ),
    )


def _by_position(places: Sequence[Place], facts: StudyFacts) -> Section:
    limit = facts.short.longest_target
    sentence = places[0].target_tokens
    text = (
        "Single sentences are read as if other tokens stood before them: their first token is at another position than "
        "0, in source and target alike. Neither content nor length changes, and all distances between their tokens "
        "stay as they are, so that what changes is due to the positions alone."
    )
    return Section(
        title="Position alone",
        blocks=(
            Paragraph(text=text),
            Picture(
                name="positions.png",
                png=positions_png(places, limit, facts.short.usual_target, sentence),
                alt="Perplexity of single sentences by the position of their first token; the trained limit is marked",
                caption="Where a sentence begins within the grey band, an average one runs past the trained positions.",
            ),
            _perplexities(
                places, limit, "position", "Perplexity by the position of the first token, and its 95% interval"
            ),
            _contrasts(places, "position"),
        ),
    )


def _perplexities(places: Sequence[Place], limit: int, at: str, caption: str) -> Table:
    rows = [
        (
            f"{place.at}",
            _where(place, limit),
            *(_perplexity(cell.log_loss) if (cell := place.cell(row)) else "" for row in ROWS),
        )
        for place in places
    ]
    return Table(caption=caption, columns=(at, "is", *(row.name for row in ROWS)), rows=tuple(rows), words=2)


def _bleus(places: Sequence[Place], limit: int) -> Table:
    rows = [
        (
            f"{place.at}",
            _where(place, limit),
            f"{place.target_tokens:.0f}",
            *(
                f"{cell.bleu.to_text('.1f')} ({cell.words.mean:.2f})"
                if (cell := place.cell(row)) and cell.bleu and cell.words
                else ""
                for row in ROWS
            ),
        )
        for place in places
    ]
    return Table(
        caption="BLEU, half of its 95% interval and, in brackets, words written by those of the references",
        columns=("sentences", "is", "tokens", *(row.name for row in ROWS)),
        rows=tuple(rows),
        words=2,
    )


def _contrasts(places: Sequence[Place], at: str) -> Table:
    kinds = [row.kind for row in ROWS[:2]]
    rows = []
    for place in places:
        found: list[Contrast | None] = [
            place.learned_against_sinusoidal,
            *(place.untrained.get(kind) for kind in kinds),
        ]
        rows.append((f"{place.at}", *(cell for one in found for cell in _contrast_cells(one))))
    columns = ("learned - sinusoidal", *(f"{kind}: short - all" for kind in kinds))
    return Table(
        caption="Differences in nats a token, paired by seed, and half of the 95% interval; above 0 the first is worse",
        columns=(at, *(cell for column in columns for cell in (column, "is"))),
        rows=tuple(rows),
        words=1,
    )


def _contrast_cells(contrast: Contrast | None) -> tuple[str, str]:
    return ("", "") if contrast is None else (nats(contrast.log_loss), contrast.verdict)


def _where(place: Place, limit: int) -> str:
    """How a test lies to the trained limit."""
    if place.longest <= limit:
        return "within"
    return "beyond" if place.is_beyond(limit) else "in part beyond"


# --- how it was done --------------------------------------------------------------------------------------------------


def _texts(order: Order, facts: StudyFacts) -> Section:
    lengths, corpora = lengths_of(order.scale), corpora_of(facts.base)
    short, every = facts.short, facts.every
    return Section(
        title="How the texts are made",
        blocks=(
            Paragraph(
                text=f"Consecutive pairs of the corpus ({corpora}) are put behind each other. Short texts: 1 to "
                f"{lengths.trained_sentences} sentences, of at most {lengths.trained_words} words; "
                f"{short.texts:,} texts of {short.mean_target:.0f} target tokens on average, 19 of 20 of at most "
                f"{short.usual_target}, the longest of {short.longest_target}. Texts of all lengths: the same "
                f"sentences, 1 to {lengths.all_sentences} a text; {every.texts:,} texts of {every.mean_target:.0f} on "
                f"average, the longest of {every.longest_target}; who is trained on all lengths reads these and the "
                "short ones by turns. In both, as many sentences stand in texts of every "
                "number of sentences. One vocabulary, learned from both, for all rows."
            ),
            Paragraph(
                text=f"Tests: the first {lengths.test_sentences} sentences of the validation set, in texts of "
                f"{', '.join(map(str, lengths.tested))} sentences. So every test has the same content, and models "
                "that were trained on short texts know texts of several sentences; what is new to them is length. "
                "The other sentences validate, as short texts; nothing is chosen by them."
            ),
            Paragraph(
                text="Sinusoids are the interleaved ones. Learned tables have "
                f"{facts.base.model.max_positions:,} rows, enough for all tests; rows behind the longest training text "
                "are never trained and stay as they were drawn. That is what a learned table is beyond its training, "
                "and no fault of this study. Perplexity is per word piece, without label smoothing, with the reference "
                f"given; BLEU is that of translations by beam {facts.base.search.beam_size}."
            ),
        ),
    )


def _cost(results: Sequence[RunResult]) -> Section:
    rows = tuple(
        (
            result.row,
            str(result.seed),
            f"{result.perplexity:.3f}",
            f"{result.bleu:.2f}",
            f"{result.parameters / 1e6:.2f}",
            f"{result.target_tokens:,}",
            f"{result.seconds / 60:.1f}",
        )
        for result in results
    )
    table = Table(
        caption="Each run; perplexity and BLEU of the validation set of short texts, parameters in millions",
        columns=("row", "seed", "PPL", "BLEU", "params", "target tokens", "minutes"),
        rows=rows,
        words=1,
    )
    text = (
        f"In all {len(results)} runs: {sum(result.seconds for result in results) / 3600:.2f} hours, each with so many "
        f"processor threads: {each(result.threads for result in results)}. Minutes are wall time with validation, on "
        f"a machine that may have had other work. Machine: {each(result.machine for result in results)}."
    )
    return Section(title="Cost", blocks=(Paragraph(text=text), table))


def _perplexity(log_loss: Estimate) -> str:
    if log_loss.low is None or log_loss.high is None:
        return f"{math.exp(log_loss.mean):.2f}"
    low, high = (math.exp(min(value, 99.0)) for value in (log_loss.low, log_loss.high))
    return f"{math.exp(log_loss.mean):.2f} [{low:.2f}, {high:.2f}]"
