"""`attendo reproduce schedule`: Equation 3, and one model trained with several warm-ups and factors, with seeds."""

from collections.abc import Callable, Sequence

from attendo.paper.experiment import Order, Outcome, Reporter
from attendo.paper.forecast import forecast_report, hours_text, prepared_so_far
from attendo.paper.phrasebook_texts import write_if_tiny
from attendo.paper.report import Report, Table, write_report
from attendo.paper.rows_study import open_study
from attendo.paper.run_results import RunResult
from attendo.paper.schedule.equation import CURVES, checked
from attendo.paper.schedule.report import Found, StudyFacts, schedule_report
from attendo.paper.schedule.results import frequency_loss, has_diverged, largest_rate_difference, outcomes, run_curve
from attendo.paper.schedule.rows import base_recipe, recipes, rows_of
from attendo.paper.study import Run, Study
from attendo.workflow.estimate import estimate

UNIT = "updates"
"""Of its progress."""


def reproduce(order: Order, reporter: Reporter, should_stop: Callable[[], bool]) -> Outcome:
    """Trains what is not done yet of the study in `order.folder`, and writes the page, anew whenever a run is done.

    A run that diverges is a result here, and no failure; the same command tries it again all the same.

    Args:
        order: how it is wanted.
        reporter: who is told.
        should_stop: asked twice a second; what runs is saved then.

    Raises:
        AttendoError: the corpora are missing, or the folder holds another study.
        OSError: the folder cannot be written to.
    """
    rows, base = recipes(order), base_recipe(order)
    write_if_tiny(order)
    opened = open_study(order, rows, reporter)
    study, runs = opened.study, opened.runs
    equation = tuple(checked(curve) for curve in CURVES)
    frequencies = frequency_loss(opened.prepared)

    def written(results: Sequence[RunResult], diverged: Sequence[Run], failures: tuple[str, ...]) -> Report:
        facts = StudyFacts(base=base, num_runs=len(runs), equation=equation, frequencies=frequencies, failures=failures)
        page = schedule_report(order, facts, _found(order, study, runs, results, diverged, facts))
        write_report(order.folder, page)
        return page

    def write(results: Sequence[RunResult]) -> None:
        written(results, (), ())

    found = study.train(reporter, should_stop, write)
    failed = {failure.run: failure.what for failure in found.failures}
    diverged = [run for run in runs if run.name in failed and has_diverged(study.run_folder(run))]
    for run in diverged:
        del failed[run.name]
    failures = tuple(f"{name}: {what}" for name, what in failed.items())
    page = written(found.results, diverged, failures) if found.results or diverged else None
    return Outcome(report=page, interrupted=found.interrupted, failures=failures)


def forecast(order: Order, reporter: Reporter) -> Report:
    """What the study comes to: rows, learning rates, and the time that a few updates on this machine let expect.

    Raises:
        RecipeError: a model is more than this machine's memory holds.
    """
    base, rows = base_recipe(order), rows_of(order.scale)
    reporter.running(0, 1, base.name)
    found = estimate(base, prepared_so_far(order, base))  # of all rows: a learning rate takes no time
    runs = order.seeds * len(rows)
    total = (
        f"{len(rows)} schedules, {order.seeds} of each: {runs} runs of {base.training.max_steps:,} updates, "
        f"{hours_text(runs * found.hours)} hours on this machine ({found.device}, threads: {found.threads}), without "
        f"validation, one by one. The model has {found.parameters / 1e6:.2f} million parameters."
    )
    table = Table(
        caption="The schedules; the highest rate is that of the last step of the warm-up",
        columns=("row", "warm-up", "factor", "highest rate"),
        rows=tuple(
            (row.name, f"{row.warmup_steps:,}", f"{row.factor:g}", f"{row.peak(base.model.d_model):.2e}")
            for row in rows
        ),
        words=1,
    )
    return forecast_report(
        order,
        "The learning rate's warm-up",
        total,
        (table,),
        {
            "result": "schedule",
            "hours": runs * found.hours,
            "parameters": found.parameters,
            "max_steps": base.training.max_steps,
            "rows": [
                {
                    "row": row.name,
                    "warmup_steps": row.warmup_steps,
                    "factor": row.factor,
                    "peak": row.peak(base.model.d_model),
                }
                for row in rows
            ],
        },
    )


def _found(
    order: Order,
    study: Study[RunResult],
    runs: Sequence[Run],
    results: Sequence[RunResult],
    diverged: Sequence[Run],
    facts: StudyFacts,
) -> Found:
    rows = rows_of(order.scale)
    done = {(result.row, result.seed) for result in results} | {(run.row, run.seed) for run in diverged}
    curves = [run_curve(study.run_folder(run), run.row, run.seed) for run in runs if (run.row, run.seed) in done]
    by_row = {row.name: [run.seed for run in diverged if run.row == row.name] for row in rows}
    return Found(
        results=tuple(results),
        outcomes=outcomes(rows, results, by_row, facts.frequencies),
        curves=tuple(curves),
        rate_difference=largest_rate_difference(curves, rows, facts.base.model.d_model),
    )
