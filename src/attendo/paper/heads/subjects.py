"""The models whose heads are examined: those that ship, a user's own, or one trained in seconds on the phrasebook."""

from collections.abc import Callable
from dataclasses import dataclass

from attendo.checkpoint.finding import find_model
from attendo.checkpoint.model_folder import LoadedModel, load_model
from attendo.decoding.config import SearchConfig
from attendo.errors import ModelError, RecipeError
from attendo.paper.experiment import Reporter, StudyRequest
from attendo.paper.phrasebook_texts import phrasebook_folder, write_if_tiny
from attendo.recipe import load_recipe
from attendo.text.prepared import open_prepared
from attendo.training.hooks import Ending
from attendo.workflow.engines.engine import Engine
from attendo.workflow.machine.device import choose_device
from attendo.workflow.preparation.prepared_data import prepare_if_missing
from attendo.workflow.runs.reporting import Silence
from attendo.workflow.runs.run_folder import check_prepared, resume_run, run_lock, start_run
from attendo.workflow.runs.train import TrainingRun

SHIPPED = ("en-de", "de-en")
"""The shipped models, which are examined at the scale `small` if none is named."""

LANGUAGES = frozenset(("en", "de"))
"""The languages of the sentences."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A model whose heads are examined."""

    name: str
    """The name as the user gave it, the name of a shipped model, or `phrasebook`."""
    model: LoadedModel
    engine: Engine
    """An engine of the model, in float32."""

    @property
    def source_language(self) -> str:
        """The source language, `en` or `de`."""
        return self.model.description.source_language

    @property
    def slug(self) -> str:
        """The name as it is used in file names."""
        return "".join(character if character.isalnum() or character == "-" else "-" for character in self.name).strip(
            "-"
        )

    def to_text(self) -> str:
        """Name, languages and shape."""
        config = self.model.transformer.config
        return (
            f"{self.name} ({self.source_language} to {self.model.description.target_language}, "
            f"{config.encoder_layers} + {config.decoder_layers} layers of {config.num_heads} heads, "
            f"d_model {config.d_model})"
        )


def names_of(request: StudyRequest) -> tuple[str, ...]:
    """Returns the names of the models that will be examined.

    Raises:
        RecipeError: the scale is `paper`, and no model is named.
    """
    if request.runs:
        return request.runs
    if request.scale == "paper":
        raise RecipeError(
            "the scale paper looks at a model of full size, and none ships; train one with `attendo train base`, "
            "and name its run with --run"
        )
    return SHIPPED if request.scale == "small" else ("phrasebook",)


def open_subjects(
    request: StudyRequest, reporter: Reporter, should_stop: Callable[[], bool]
) -> tuple[Subject, ...] | None:
    """Loads the models; at the scale `tiny` trains one first, unless one is named.

    Args:
        request: the options.
        reporter: receives the progress.
        should_stop: asked between two updates.

    Returns:
        The models; None if the training was interrupted, which the same order continues.

    Raises:
        AttendoError: a model is missing or damaged, translates between other languages, or has no encoder heads.
        OSError: the folder cannot be written to.
    """
    names = names_of(request)
    if request.scale == "tiny" and not request.runs:
        if not _train(request, reporter, should_stop):
            return None
        return (_subject("phrasebook", str(request.folder / "run")),)
    subjects = tuple(_subject(name, name) for name in names)
    if len({subject.slug for subject in subjects}) < len(subjects):
        raise RecipeError(f"--run: {', '.join(names)} have names that do not differ; name each model once")
    return subjects


def _subject(name: str, where: str) -> Subject:
    model = load_model(find_model(where))
    description = model.description
    languages = {description.source_language, description.target_language}
    if languages != LANGUAGES:
        raise ModelError(
            f"{where}: is between {' and '.join(sorted(languages))}, and the sentences are English and German; "
            "take a model between these"
        )
    if description.model.encoder_layer not in ("self-attention", "restricted-self-attention"):
        raise ModelError(f"{where}: its encoder's layers are not attention, so they have no heads to look at")
    engine = Engine([model], SearchConfig(), dtype="float32", device=choose_device("auto"))
    return Subject(name=name, model=model, engine=engine)


def _train(request: StudyRequest, reporter: Reporter, should_stop: Callable[[], bool]) -> bool:
    """Trains the model on the phrasebook, unless that is done; returns False if interrupted."""
    run = request.folder / "run"
    if (run / "model" / "config.json").is_file():
        return True
    reporter.message("training a small model on the phrasebook")
    write_if_tiny(request)
    if not (run / "recipe.toml").exists():
        folder = f"data.folder={phrasebook_folder(request).resolve()}"
        recipe = load_recipe("search-settings/tiny", ["name=heads-tiny", folder])
        prepare_if_missing(recipe, request.folder / "prepared", Silence())
        start_run(recipe, run, request.folder / "prepared")
    with run_lock(run):
        recipe, prepared = resume_run(run, [])
        check_prepared(run)
        outcome = TrainingRun(recipe, run, open_prepared(prepared, verify=True), Silence()).train(should_stop)
    return outcome.ending is not Ending.INTERRUPTED
