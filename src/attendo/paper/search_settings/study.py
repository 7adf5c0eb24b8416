"""`attendo reproduce search-settings`: models of several seeds, averaged and decoded with every setting of a grid."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from attendo.paper.experiment import Outcome, OwnExperiment, Reporter, StudyRequest
from attendo.paper.forecast import forecast_of_runs, forecast_page
from attendo.paper.phrasebook_texts import corpora_folder, write_if_tiny
from attendo.paper.report import Report, write_report
from attendo.paper.rows_study import open_study
from attendo.paper.run_results import RunResult
from attendo.paper.search_settings.decoding import DecodedSet, Models, check_set, decode_once, reference_log_probs
from attendo.paper.search_settings.report import StudyFacts, search_settings_report
from attendo.paper.search_settings.results import Results, SeedResults, candidates, significances
from attendo.paper.search_settings.rows import (
    GRIDS,
    PAPER,
    SETS,
    TEST_NAMES,
    Sentences,
    SetName,
    Setting,
    by_set,
    read_test_set,
    recipe,
)
from attendo.recipe import Recipe
from attendo.text.prepared import PreparedData

_ROW = "model"
_TEST_PAIRS = 100
"""Number of test pairs at the scale `tiny`."""


def reproduce(request: StudyRequest, reporter: Reporter, should_stop: Callable[[], bool]) -> Outcome:
    """Trains, averages and decodes whatever the study in `request.folder` lacks; writes the page after each seed.

    Raises:
        AttendoError: the corpora or the test set are missing, or the folder holds another study.
        OSError: the folder cannot be written to.
    """
    trained = recipe(request.scale, corpora_folder(request))
    write_if_tiny(request, test=_TEST_PAIRS)
    test = read_test_set(trained, request.scale)  # before hours of training
    opened = open_study(request, {_ROW: trained}, reporter)
    trained_runs = opened.study.train(reporter, should_stop, lambda results: None)
    failures = tuple(trained_runs.failures.values())
    sets: dict[SetName, Sentences] = {"dev": _dev_set(trained, opened.prepared), "test": test}
    decoding = Decoding(request, sets, reporter, should_stop)
    seeds: list[SeedResults] = []
    report: Report | None = None
    for run in trained_runs.results:
        if trained_runs.interrupted or should_stop():
            break
        seeds.append(decoding.decode_all(run, opened.folders[_ROW, run.seed]))
        facts = StudyFacts(recipe=trained, grid=decoding.grid, sets=sets, failures=failures)
        report = _write_page(request, facts, Results(seeds=tuple(seeds)))
    is_whole = len(seeds) == len(trained_runs.results) and all(decoding.is_whole(seed) for seed in seeds)
    return Outcome(report=report, interrupted=trained_runs.interrupted or not is_whole, failures=failures)


def _write_page(request: StudyRequest, facts: StudyFacts, results: Results) -> Report | None:
    """Writes the page of the results so far; None if there are none."""
    results = Results(seeds=tuple(seed for seed in results.seeds if any(seed.sets.values())))
    if not results.seeds:
        return None
    choice = results.best("dev", candidates(facts.grid))
    tests = significances(results, choice, facts.sets["test"], facts.target_language, request.folder / "significance")
    report = search_settings_report(request, facts, results, choice, tests)
    write_report(request.folder, report)
    return report


class Decoding:
    """Decodes with a study's models; results that are kept are read.

    Args:
        request: the options of the study.
        sets: the sentences that are translated.
        reporter: receives the progress.
        should_stop: asked before every setting, and every few hundred sentences.

    Raises:
        ModelError: kept results are of other sentences.
    """

    def __init__(
        self,
        request: StudyRequest,
        sets: Mapping[SetName, Sentences],
        reporter: Reporter,
        should_stop: Callable[[], bool],
    ) -> None:
        self._request, self._sets, self.grid = request, sets, GRIDS[request.scale]
        self._reporter, self._should_stop = reporter, should_stop
        for which, sentences in sets.items():
            check_set(request.folder / "decoded" / f"{which}.json", sentences)

    def decode_all(self, run: RunResult, run_folder: Path) -> SeedResults:
        """Decodes both sets with every setting, or with as many as are done before it is stopped."""
        folder = self._request.folder / "decoded" / f"seed-{run.seed}"
        models = Models(run_folder, self._request.folder / "models", run.seed)
        sets: dict[SetName, dict[Setting, DecodedSet]] = {"dev": {}, "test": {}}
        # Ordered so that each average is loaded once, the paper's first.
        settings = sorted(by_set(self.grid), key=lambda entry: (entry[1].average != PAPER.average, entry[1].average))
        for number, (which, setting) in enumerate(settings):
            note = f"decoding, seed {run.seed}: {number} of {len(settings)} done; {which}, {setting.to_text()}"
            self._reporter.running(run.steps * self._request.seeds, run.steps * self._request.seeds, note)
            path = folder / which / f"{setting.name}.json"
            load = partial(models.load, setting.average)
            decoded = (
                None if self._should_stop() else decode_once(path, load, setting, self._sets[which], self._should_stop)
            )
            if decoded is None:
                return SeedResults(run=run, sets=sets, reference_log_probs=())
            sets[which][setting] = decoded
        load = partial(models.load, PAPER.average)
        references = reference_log_probs(folder / "references.json", load, self._sets["dev"])
        self._reporter.message(
            f"seed {run.seed}: BLEU {sets['test'][PAPER].bleu:.2f} on the test set, {PAPER.to_text()}"
        )
        return SeedResults(run=run, sets=sets, reference_log_probs=references)

    def is_whole(self, found: SeedResults) -> bool:
        """Whether both sets are decoded with every setting for a seed."""
        return all(len(found.sets[which]) == len(self.grid.settings(which)) for which in self._sets)


def forecast(request: StudyRequest, reporter: Reporter) -> Report:
    """Forecasts the study: models, settings, and the time, estimated from a few updates on this machine.

    Raises:
        RecipeError: the model does not fit into this machine's memory.
    """
    trained, grid = recipe(request.scale, corpora_folder(request)), GRIDS[request.scale]
    counts = {name: len(grid.settings(name)) for name in SETS}
    tried: tuple[tuple[str, Iterable[object]], ...] = (
        ("checkpoints averaged", grid.averages),
        ("beam", grid.beams),
        ("alpha", grid.alphas),
        ("longest output: input and", (setting.offset for setting in grid.lengths())),
    )
    runs_forecast = forecast_of_runs(
        request,
        trained,
        reporter,
        "search_settings/page.md",
        data={"settings": counts},
        **counts,
        test_name=TEST_NAMES[request.scale],
        tried=[(name, ", ".join(map(str, values))) for name, values in tried],
    )
    study_forecast = replace(runs_forecast, data={"recipe": trained.name, **runs_forecast.data}, heading="Grid")
    return forecast_page(request, "search-settings", "Search settings", study_forecast)


def _dev_set(trained: Recipe, prepared: PreparedData) -> Sentences:
    """Returns the validation set as prepared."""
    assert trained.data is not None, "it is prepared"
    valid = trained.data.valid
    name = Path(valid.source).stem if valid and isinstance(valid.source, str) else "the validation set"
    return Sentences(name=name, sources=prepared.valid_source, references=prepared.valid_target)


SEARCH_SETTINGS = OwnExperiment(unit="updates", reproduce=reproduce, forecast=forecast)
