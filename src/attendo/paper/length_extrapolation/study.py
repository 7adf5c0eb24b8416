"""`attendo reproduce length-extrapolation`: sinusoidal and learned positions, trained on short texts or all lengths."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from attendo.evaluation.estimates import Estimate
from attendo.paper.experiment import Reporter, Stopped, StudyRequest
from attendo.paper.forecast import Forecast, forecast_of_rows, forecast_rows, prepared_so_far
from attendo.paper.length_extrapolation.comparison import (
    Measures,
    Place,
    by_length,
    by_position,
    outcomes,
)
from attendo.paper.length_extrapolation.measures import MEASURES, RunMeasures, kept_measures, measure
from attendo.paper.length_extrapolation.picture import lengths_png, positions_png, similarity_png
from attendo.paper.length_extrapolation.rows import (
    ALL,
    BY_NAME,
    LENGTHS,
    ROWS,
    SHORT,
    Pair,
    base_recipe,
    read_test,
    recipes,
    texts_folder,
    write_texts,
)
from attendo.paper.length_extrapolation.tables import (
    LAYOUTS,
    ROUNDING,
    ClosedForm,
    LengthStatistics,
    Tables,
    closed_form,
    tables,
    trained,
)
from attendo.paper.page_parts import corpora_of
from attendo.paper.phrasebook_texts import write_if_tiny
from attendo.paper.rows_study import Findings, Page, RowsStudy, StudySession
from attendo.paper.study import Run
from attendo.paper.study_folder import keep
from attendo.text.prepared import PreparedData

_TEXT = "length_extrapolation/page.md"
_CLOSED_FORMS = {"tiny": (32, 256), "small": (128, 2048), "paper": (512, 4096)}
"""d_model and the number of positions and of offsets for which the closed form is checked, by scale."""


@dataclass(frozen=True, kw_only=True)
class Texts:
    """The training and test texts, and the check of the closed form of sinusoids."""

    short: LengthStatistics
    """Token counts of the short training texts."""
    every: LengthStatistics
    """Token counts of the training texts of all lengths."""
    test: tuple[Pair, ...]
    """Test sentences."""
    prepared: PreparedData
    closed_forms: tuple[ClosedForm, ...]


@dataclass(frozen=True, kw_only=True)
class ReadModel:
    """A run's model and its measurements."""

    measures: RunMeasures
    folder: Path
    """Folder of the model."""


LengthFindings = Findings[Texts, ReadModel]


def _write(request: StudyRequest) -> None:
    write_if_tiny(request)
    write_texts(base_recipe(request), LENGTHS[request.scale], texts_folder(request))


def _texts(session: StudySession) -> Texts:
    request, prepared = session.request, session.opened.prepared
    d_model, positions = _CLOSED_FORMS[request.scale]
    return Texts(
        short=trained(prepared, SHORT),
        every=trained(prepared, ALL),
        test=tuple(read_test(base_recipe(request), texts_folder(request))),
        prepared=prepared,
        closed_forms=tuple(closed_form(layout, d_model, positions, positions) for layout in LAYOUTS),
    )


def _read(session: StudySession, texts: Texts, run: Run) -> ReadModel | Stopped:
    """Measures a run's model, unless its measurements are kept already."""
    if session.should_stop():
        return Stopped()
    folder = session.folder(run)
    lengths = LENGTHS[session.request.scale]
    measures = kept_measures(folder)
    if measures is None or tuple(length.sentences for length in measures.lengths) != lengths.tested:
        session.reporter.message(f"{run.name}: reading texts of all lengths")
        measures = measure(
            folder / "model",
            list(texts.test),
            lengths.tested,
            lengths.shifts,
            run.recipe.search,
            session.should_stop,
            threads=session.opened.threads,
        )
        if measures is None:
            return Stopped()
        keep(folder / MEASURES, measures)
    return ReadModel(measures=measures, folder=folder / "model")


def _forecast(request: StudyRequest, reporter: Reporter) -> Forecast:
    rows, lengths = recipes(request), LENGTHS[request.scale]
    plans = forecast_rows(rows, prepared_so_far(request, rows[ROWS[0].name]), reporter)
    most = {"short": lengths.trained_sentences, "all": lengths.all_sentences}
    rows_of = [(plan, BY_NAME[plan.name]) for plan in plans]
    return forecast_of_rows(
        request,
        plans,
        _TEXT,
        rows=[(plan, row.kind, most[row.texts]) for plan, row in rows_of],
        test_sentences=lengths.test_sentences,
        tested=", ".join(map(str, lengths.tested)),
        num_positions=len(lengths.shifts),
    )


def _page(findings: LengthFindings) -> Page | None:
    if not findings.runs:
        return None
    models = {row.name: [run.measured.folder for run in findings.runs if run.result.row == row.name] for row in ROWS}
    return page_of(findings, tables(models, findings.any_recipe.model.d_model, findings.begun.prepared))


def page_of(found: LengthFindings, position_tables: Tables) -> Page:
    """Makes the page.

    Args:
        found: findings with at least one measured run.
        position_tables: fits and similarities of the models' position tables.
    """
    measures: Measures = {
        row.name: {run.result.seed: run.measured.measures for run in found.runs if run.result.row == row.name}
        for row in ROWS
    }
    lengths, positions, texts = by_length(measures), by_position(measures), found.begun
    short, shape = texts.short, found.any_recipe.model
    limit, usual, sentence = short.longest_target, short.usual_target, positions[0].target_tokens
    signature = next(run.bleu_signature for runs in measures.values() for run in runs.values())
    return Page(
        values={
            "d_model": shape.d_model,
            "num_layers": shape.num_layers,
            "num_heads": shape.num_heads,
            "outcomes": outcomes(lengths, positions, limit),
            "lengths": lengths_png(lengths, limit, usual),
            "perplexities_by_length": _perplexities(lengths, limit),
            "bleus": _bleus(lengths, limit),
            "contrasts_by_length": _contrasts(lengths),
            "positions": positions_png(positions, limit, usual, sentence),
            "perplexities_by_position": _perplexities(positions, limit),
            "contrasts_by_position": _contrasts(positions),
            "closed_forms": [(form, form.positions - 1) for form in texts.closed_forms],
            "rounding": f"{ROUNDING:.2e}",
            "fits": position_tables.fits,
            "similarity": similarity_png(
                position_tables.similarity, position_tables.curves, short.longest_source, position_tables.shown
            ),
            **_about_texts(found.request, texts),
            "runs": found.results,
        },
        bleu=f"BLEU is sacreBLEU's: {signature}",
        data={
            "longest_trained_target": limit,
            "lengths": [place.to_json() for place in lengths],
            "positions": [place.to_json() for place in positions],
            "closed_forms": [asdict(form) for form in texts.closed_forms],
            "fits": [fit.to_json() for fit in position_tables.fits],
            "results": [asdict(result) for result in found.results],
            "measures": {row: {str(seed): asdict(run) for seed, run in runs.items()} for row, runs in measures.items()},
        },
    )


def _about_texts(request: StudyRequest, texts: Texts) -> dict[str, object]:
    """The values for what the page says about the texts."""
    base, lengths, short, every = base_recipe(request), LENGTHS[request.scale], texts.short, texts.every
    return {
        "own_corpora": corpora_of(base),
        "short_sentences": lengths.trained_sentences,
        "short_words": lengths.trained_words,
        "num_short": f"{short.texts:,}",
        "short_mean": f"{short.mean_target:.0f}",
        "short_usual": short.usual_target,
        "longest_target": short.longest_target,
        "all_sentences": lengths.all_sentences,
        "num_all": f"{every.texts:,}",
        "all_mean": f"{every.mean_target:.0f}",
        "all_longest": every.longest_target,
        "test_sentences": lengths.test_sentences,
        "tested": ", ".join(map(str, lengths.tested)),
        "max_positions": f"{base.model.max_positions:,}",
        "beam": base.search.beam_size,
    }


# --- tables -----------------------------------------------------------------------------------------------------------


Cells = list[tuple[object, ...]]


def _perplexities(places: Sequence[Place], limit: int) -> Cells:
    """Table rows: the place, its relation to the trained limit, and each row's perplexity."""
    places_with_cells = [(place, [place.cell(row) for row in ROWS]) for place in places]
    return [
        (place, _relation_to_limit(place, limit), *(cell and _perplexity(cell.log_loss) for cell in cells))
        for place, cells in places_with_cells
    ]


def _bleus(places: Sequence[Place], limit: int) -> Cells:
    """Table rows: the place, its relation to the trained limit, and each row's BLEU and ratio of words written."""
    places_with_cells = [(place, [place.cell(row) for row in ROWS]) for place in places]
    return [
        (
            place,
            _relation_to_limit(place, limit),
            *(
                f"{cell.bleu:.1f} ({cell.words.mean:.2f})" if cell and cell.bleu and cell.words else ""
                for cell in cells
            ),
        )
        for place, cells in places_with_cells
    ]


def _contrasts(places: Sequence[Place]) -> Cells:
    """Table rows: the place, learned against sinusoidal positions, and for each kind, short texts against all."""
    kinds = [row.kind for row in ROWS[:2]]
    return [
        (place, place.learned_against_sinusoidal, *(place.untrained.get(kind) for kind in kinds)) for place in places
    ]


def _relation_to_limit(place: Place, limit: int) -> str:
    """Whether a test is within the trained limit, beyond it, or in part beyond it."""
    if place.longest <= limit:
        return "within"
    return "beyond" if place.is_beyond(limit) else "in part beyond"


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
    text=_TEXT,
    recipes=recipes,
    expect=_forecast,
    begin=_texts,
    measure=_read,
    page=_page,
    write_texts=_write,
)
