"""`attendo reproduce label-smoothing`: values of eps_ls with several seeds each, and how sure the models are."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from attendo.checkpoint.model_folder import load_model
from attendo.checkpoint.run_checkpoints import Checkpoints
from attendo.checkpoint.weights import load_weights, mean_weights
from attendo.errors import ModelError
from attendo.files import write_json
from attendo.paper.calibration import Calibration, calibration, teacher_forced
from attendo.paper.experiment import Order, Outcome, Reporter
from attendo.paper.forecast import forecast_report, hours_text, prepared_so_far
from attendo.paper.label_smoothing.comparison import MeasuredRun
from attendo.paper.label_smoothing.report import StudyFacts, label_smoothing_report
from attendo.paper.label_smoothing.rows import EPSILONS, recipes, row_name
from attendo.paper.phrasebook_texts import corpora_folder, write_if_tiny
from attendo.paper.report import Report, Table, write_report
from attendo.paper.rows_study import open_study
from attendo.paper.run_results import RunResult
from attendo.recipe import load_recipe
from attendo.text.prepared import PreparedData
from attendo.workflow.device import choose_device
from attendo.workflow.estimate import estimate

UNIT = "updates"
"""Of its progress."""

MEASURED = "calibration.json"
"""In a run's folder, beside its result."""

_KEPT = TypeAdapter(Calibration)


def reproduce(order: Order, reporter: Reporter, should_stop: Callable[[], bool]) -> Outcome:
    """Trains and measures what is not done yet of the study in `order.folder`; writes the page whenever a run is done.

    Args:
        order: how it is wanted.
        reporter: who is told.
        should_stop: asked twice a second; what runs is saved then.

    Raises:
        AttendoError: the corpora are missing, or the folder holds another study.
        OSError: the folder cannot be written to.
    """
    rows = recipes(order.scale, corpora_folder(order))
    write_if_tiny(order)
    opened = open_study(order, {row_name(epsilon): recipe for epsilon, recipe in rows.items()}, reporter)
    prepared = opened.prepared

    def report(results: Sequence[RunResult], failures: tuple[str, ...] = ()) -> Report:
        facts = StudyFacts(
            recipe=rows[EPSILONS[0]],
            num_runs=len(opened.runs),
            vocab_size=prepared.target_tokenizer.vocab_size,
            valid_pairs=len(prepared.valid_source),
            failures=failures,
        )
        measured = [
            MeasuredRun(result=result, calibration=measured_run(opened.folders[result.row, result.seed], prepared))
            for result in results
        ]
        made = label_smoothing_report(order, facts, measured)
        write_report(order.folder, made)
        return made

    def finished(results: Sequence[RunResult]) -> None:
        report(results)

    found = opened.study.train(reporter, should_stop, finished)
    failures = found.told_failures
    made = report(found.results, failures) if found.results else None
    return Outcome(report=made, interrupted=found.interrupted, failures=failures)


def forecast(order: Order, reporter: Reporter) -> Report:
    """What the study comes to: rows, parameters, and the time that a few updates on this machine let expect.

    Raises:
        RecipeError: the model is more than this machine's memory holds.
    """
    rows = recipes(order.scale, corpora_folder(order))
    recipe = rows[EPSILONS[0]]
    reporter.running(0, 1, recipe.name)
    # One model and one budget: what a row takes, all take.
    found = estimate(recipe, prepared_so_far(order, recipe))
    hours = found.hours * len(rows) * order.seeds
    total = (
        f"{len(rows)} rows, {order.seeds} of each: {len(rows) * order.seeds} runs of {recipe.training.max_steps:,} "
        f"updates, {found.parameters / 1e6:.2f} million parameters each; {hours_text(hours)} hours on this machine "
        f"({found.device}, threads: {found.threads}), without validation, one by one."
    )
    table = Table(
        caption="The rows, which differ in eps_ls alone",
        columns=("row", "recipe", "eps_ls", "updates"),
        rows=tuple(
            (row_name(epsilon), each.name, str(each.training.label_smoothing), f"{each.training.max_steps:,}")
            for epsilon, each in rows.items()
        ),
        words=2,
    )
    return forecast_report(
        order,
        "Label smoothing",
        total,
        (table,),
        {
            "result": "label-smoothing",
            "hours": hours,
            "parameters": found.parameters,
            "rows": [
                {"row": row_name(epsilon), "epsilon": epsilon, "recipe": each.name, "updates": each.training.max_steps}
                for epsilon, each in rows.items()
            ],
        },
    )


def measured_run(run: Path, prepared: PreparedData) -> Calibration:
    """What the weights that a run ended with say of the validation set; measured once, kept in the run's folder.

    Args:
        run: a run folder whose run has ended.
        prepared: its data.

    Raises:
        ModelError: the model or its checkpoints cannot be read.
        OSError: the folder cannot be written to.
    """
    try:
        return _KEPT.validate_json((run / MEASURED).read_bytes())
    except (OSError, ValidationError):  # not measured yet, or by another version
        pass
    if prepared.valid is None:
        raise ModelError(f"{prepared.folder}: has no validation set to measure on")
    model = load_model(run / "model").transformer
    # The model that is kept is that of the best validation; a run's result is that of the last.
    last = load_recipe(str(run)).training.average_last
    weights = mean_weights(Checkpoints(run / "checkpoints", last).last_weights(last))
    load_weights(model, weights, run)
    found = calibration(teacher_forced(model.to(choose_device("auto")), prepared.valid))
    write_json(run / MEASURED, asdict(found))
    return found
