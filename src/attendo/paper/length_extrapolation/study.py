"""`attendo reproduce length-extrapolation`: sinusoidal and learned positions, trained on short texts and on all."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from attendo.paper import run_columns
from attendo.paper.experiment import Order, Reporter, Stopped
from attendo.paper.forecast import ROW, UPDATES, Forecast, forecast_of_rows, forecast_rows, prepared_so_far
from attendo.paper.length_extrapolation.comparison import (
    Contrast,
    Measures,
    Place,
    by_length,
    by_position,
    nats,
    outcome,
)
from attendo.paper.length_extrapolation.measures import MEASURES, RunMeasures, kept_measures, measure
from attendo.paper.length_extrapolation.picture import lengths_png, positions_png
from attendo.paper.length_extrapolation.rows import (
    ALL,
    BY_NAME,
    ROWS,
    SHORT,
    Pair,
    base_recipe,
    lengths_of,
    read_test,
    recipes,
    shifts_of,
    texts_folder,
    write_texts,
)
from attendo.paper.length_extrapolation.tables import (
    LAYOUTS,
    ClosedForm,
    Tables,
    Trained,
    closed_form,
    linear,
    tables,
    trained,
)
from attendo.paper.page_parts import budget_of, corpora_of, cost_section, seeds_of
from attendo.paper.phrasebook_texts import write_if_tiny
from attendo.paper.report import Paragraph, Picture, Section, Table, paragraphs, table_of
from attendo.paper.rows_study import Findings, Page, RowsStudy, Sitting
from attendo.paper.run_results import RunResult
from attendo.paper.statistics import Estimate
from attendo.paper.study import Run
from attendo.paper.study_folder import keep
from attendo.recipe import Recipe
from attendo.text.prepared import PreparedData

_CLOSED_FORMS = {"tiny": (32, 256), "small": (128, 2048), "paper": (512, 4096)}
"""d_model, and how many positions and offsets the closed form is checked for."""


@dataclass(frozen=True, kw_only=True)
class Texts:
    """What is trained on and tested with, and the closed form of sinusoids."""

    short: Trained
    """Of the short texts."""
    every: Trained
    """Of the texts of all lengths."""
    test: tuple[Pair, ...]
    prepared: PreparedData
    closed_forms: tuple[ClosedForm, ...]


@dataclass(frozen=True, kw_only=True)
class ReadModel:
    """A run's model, and how it reads the tests."""

    measures: RunMeasures
    folder: Path


LengthFindings = Findings[Texts, ReadModel]


def _write(order: Order) -> None:
    write_if_tiny(order)
    write_texts(base_recipe(order), lengths_of(order.scale), texts_folder(order))


def _texts(sitting: Sitting) -> Texts:
    order, prepared = sitting.order, sitting.opened.prepared
    d_model, positions = _CLOSED_FORMS[order.scale]
    return Texts(
        short=trained(prepared, SHORT),
        every=trained(prepared, ALL),
        test=tuple(read_test(base_recipe(order), texts_folder(order))),
        prepared=prepared,
        closed_forms=tuple(closed_form(layout, d_model, positions, positions) for layout in LAYOUTS),
    )


def _read(sitting: Sitting, texts: Texts, run: Run) -> ReadModel | Stopped:
    """Measures a run's model, once."""
    if sitting.should_stop():
        return Stopped()
    folder, scale = sitting.folder(run), sitting.order.scale
    lengths = lengths_of(scale).tested
    found = kept_measures(folder)
    if found is None or tuple(one.sentences for one in found.lengths) != lengths:
        sitting.reporter.message(f"{run.name}: reading texts of all lengths")
        found = measure(
            folder / "model",
            list(texts.test),
            lengths,
            shifts_of(scale),
            run.recipe.search,
            sitting.should_stop,
            threads=sitting.opened.threads,
        )
        if found is None:
            return Stopped()
        keep(folder / MEASURES, found)
    return ReadModel(measures=found, folder=folder / "model")


def _forecast(order: Order, reporter: Reporter) -> Forecast:
    rows, lengths = recipes(order), lengths_of(order.scale)
    plans = forecast_rows(rows, prepared_so_far(order, rows[ROWS[0].name]), reporter)
    most = {"short": lengths.trained_sentences, "all": lengths.all_sentences}
    return forecast_of_rows(
        order,
        plans,
        (
            ROW,
            ("positions", lambda plan: BY_NAME[plan.name].kind),
            ("texts", lambda plan: f"1 to {most[BY_NAME[plan.name].texts]} sentences"),
            UPDATES,
        ),
        f"; then each model reads and translates {lengths.test_sentences} sentences in texts of "
        f"{', '.join(map(str, lengths.tested))}, and reads them at {len(shifts_of(order.scale))} positions.",
        words=3,
    )


def _page(found: LengthFindings) -> Page | None:
    if not found.runs:
        return None
    models = {row.name: [run.measured.folder for run in found.runs if run.result.row == row.name] for row in ROWS}
    return page_of(found, tables(models, found.any_recipe.model.d_model, found.begun.prepared))


def page_of(found: LengthFindings, position_tables: Tables) -> Page:
    """Makes the page.

    Args:
        found: at least one run that was measured.
        position_tables: the positions of the runs' models.
    """
    measures: Measures = {
        row.name: {run.result.seed: run.measured.measures for run in found.runs if run.result.row == row.name}
        for row in ROWS
    }
    lengths, positions, texts = by_length(measures), by_position(measures), found.begun
    limit = texts.short.longest_target
    signature = next(run.bleu_signature for runs in measures.values() for run in runs.values())
    return Page(
        introduction=_introduction(found.order, found.any_recipe, limit),
        sections=(
            outcome(lengths, positions, limit),
            _by_length(lengths, texts.short),
            _by_position(positions, texts.short),
            linear(texts.closed_forms, position_tables, texts.short.longest_source),
            _about_texts(found.order, base_recipe(found.order), texts),
            _cost(found.results),
        ),
        bleu=f"BLEU is sacreBLEU's: {signature}",
        data={
            "longest_trained_target": limit,
            "lengths": [place.to_json() for place in lengths],
            "positions": [place.to_json() for place in positions],
            "closed_forms": [asdict(form) for form in texts.closed_forms],
            "fits": [fit.to_json() for fit in position_tables.fits],
            "results": [asdict(result) for result in found.results],
            "measures": {
                row: {str(seed): asdict(run) for seed, run in runs.items()} for row, runs in measures.items()
            },
        },
    )  # fmt: skip


def _introduction(order: Order, recipe: Recipe, limit: int) -> tuple[str, ...]:
    shape = recipe.model
    return (
        "The paper takes sinusoids for its positions, though learned ones do as well on the lengths it tests (Table 3, "
        "row E), for two reasons: they may let a model read texts longer than those it was trained on, and for every "
        "offset k the encoding of position pos + k is a linear function of that of pos. It measures neither. Both are "
        "measured here.",
        f"Models of d_model {shape.d_model}, {shape.num_layers} layers and {shape.num_heads} heads, trained on texts "
        f"of up to {limit} target tokens, are tested on held-out sentences, always the same ones, "
        "put together to texts of growing length. They are compared with the same models trained on the same "
        "sentences in "
        "texts of all lengths: what can be achieved when the positions are trained. "
        f"{budget_of(recipe)} each, {seeds_of(order)} a row.",
    )


# --- by length and by position ----------------------------------------------------------------------------------------


def _by_length(places: Sequence[Place], short: Trained) -> Section:
    limit = short.longest_target
    return Section(
        title="By length",
        blocks=(
            Picture(
                name="lengths.png",
                png=lengths_png(places, limit, short.usual_target),
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


def _by_position(places: Sequence[Place], short: Trained) -> Section:
    limit = short.longest_target
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
                png=positions_png(places, limit, short.usual_target, sentence),
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


def _about_texts(order: Order, base: Recipe, texts: Texts) -> Section:
    lengths, corpora = lengths_of(order.scale), corpora_of(base)
    short, every = texts.short, texts.every
    told = (
        f"Consecutive pairs of the corpus ({corpora}) are put behind each other. Short texts: 1 to "
        f"{lengths.trained_sentences} sentences, of at most {lengths.trained_words} words; "
        f"{short.texts:,} texts of {short.mean_target:.0f} target tokens on average, 19 of 20 of at most "
        f"{short.usual_target}, the longest of {short.longest_target}. Texts of all lengths: the same "
        f"sentences, 1 to {lengths.all_sentences} a text; {every.texts:,} texts of {every.mean_target:.0f} on "
        f"average, the longest of {every.longest_target}; who is trained on all lengths reads these and the "
        "short ones by turns. In both, as many sentences stand in texts of every "
        "number of sentences. One vocabulary, learned from both, for all rows.",
        f"Tests: the first {lengths.test_sentences} sentences of the validation set, in texts of "
        f"{', '.join(map(str, lengths.tested))} sentences. So every test has the same content, and models "
        "that were trained on short texts know texts of several sentences; what is new to them is length. "
        "The other sentences validate, as short texts; nothing is chosen by them.",
        "Sinusoids are the interleaved ones. Learned tables have "
        f"{base.model.max_positions:,} rows, enough for all tests; rows behind the longest training text "
        "are never trained and stay as they were drawn. That is what a learned table is beyond its training, "
        "and no fault of this study. Perplexity is per word piece, without label smoothing, with the reference "
        f"given; BLEU is that of translations by beam {base.search.beam_size}.",
    )
    return Section(title="How the texts are made", blocks=paragraphs(*told))


def _cost(results: Sequence[RunResult]) -> Section:
    table = table_of(
        "Each run; perplexity and BLEU of the validation set of short texts, parameters in millions",
        results,
        (
            run_columns.ROW,
            run_columns.SEED,
            run_columns.PERPLEXITY,
            run_columns.BLEU,
            ("params", lambda run: f"{run.parameters / 1e6:.2f}"),
            run_columns.TOKENS,
            run_columns.MINUTES,
        ),
        words=1,
    )
    rest = ". Minutes are wall time with validation, on a machine that may have had other work."
    return cost_section(results, rest, table)


def _perplexity(log_loss: Estimate) -> str:
    if log_loss.low is None or log_loss.high is None:
        return f"{math.exp(log_loss.mean):.2f}"
    low, high = (math.exp(min(value, 99.0)) for value in (log_loss.low, log_loss.high))
    return f"{math.exp(log_loss.mean):.2f} [{low:.2f}, {high:.2f}]"


LENGTH_EXTRAPOLATION = RowsStudy[Texts, ReadModel](
    name="length-extrapolation",
    title="Section 3.5: lengths beyond training, sinusoidal and learned positions",
    short_title="Lengths beyond training",
    subject="positions",
    recipes=recipes,
    expect=_forecast,
    begin=_texts,
    measure=_read,
    page=_page,
    write_texts=_write,
)
