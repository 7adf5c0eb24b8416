"""`attendo learn`: a new model from corrections, where it passes the gate."""

import json
import signal
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from attendo.cli.kernel_cache import bound_for_training
from attendo.cli.option_groups import with_groups
from attendo.cli.options import ForceOption, ModelArgument, QuietOption
from attendo.cli.output import check_folder
from attendo.cli.progress import note
from attendo.cli.signals import StopSignal

if TYPE_CHECKING:
    from attendo.learning.config import LearningConfig
    from attendo.learning.round import RoundPlan

_STATUS = {"accepted": 0, "refused": 3, "not enough to tell": 4}
"""The exit status of each outcome."""


@dataclass(frozen=True)
class CorrectionOptions:
    """The corrections from which the model learns."""

    corrections: Annotated[
        list[Path] | None,
        typer.Option(
            "--corrections",
            metavar="FILE",
            help="Corrected file: TMX, XLIFF, PO, CSV, TSV or JSON lines; may be repeated.",
        ),
    ] = None
    before: Annotated[
        list[Path] | None,
        typer.Option(
            "--before",
            metavar="FILE",
            help="The file before it was corrected, so that unchanged segments are left out; may be repeated.",
        ),
    ] = None
    from_server: Annotated[
        str | None,
        typer.Option(
            "--from-server", metavar="URL", help="Also learn from the corrections that a server keeps for the key."
        ),
    ] = None
    key: Annotated[
        str | None, typer.Option("--key", metavar="KEY", envvar="ATTENDO_KEY", help="API key for --from-server.")
    ] = None


@dataclass(frozen=True)
class LearningOptions:
    """How the model learns from the corrections, and which test sets guard against forgetting."""

    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="TOML file with a section `learning`.")
    ] = None
    replay: Annotated[
        list[str] | None,
        typer.Option(
            "--replay",
            metavar="FILE",
            help="Text to replay during training besides attendo's own, in one language or both.",
        ),
    ] = None
    general: Annotated[
        list[str] | None,
        typer.Option(
            "--general",
            metavar="FILE",
            help="Test set that must not get worse: a file of 1,100 or more pairs, or --general twice for source and "
            "target. Default: attendo's own text.",
        ),
    ] = None
    glossary: Annotated[
        list[str] | None,
        typer.Option("--glossary", metavar="FILE", help="Terms that must be used as often as before; may be repeated."),
    ] = None
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="learning.KEY=VALUE", help="Change another setting; may be repeated."),
    ] = None

    def load(self) -> "LearningConfig":
        """The settings."""
        from attendo.learning.config import load_config

        overrides = [
            f"learning.{key}={json.dumps(files)}"
            for key, files in (("replay", self.replay), ("general", self.general), ("glossary", self.glossary))
            if files
        ]
        return load_config(self.config, [*overrides, *(self.settings or [])])


@with_groups(given=CorrectionOptions, options=LearningOptions)
def learn(
    model: ModelArgument,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="NEW_MODEL",
            help="Folder of the new model; a folder of versions gets the next version.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be used for learning and how long it would take.")
    ] = False,
    force: ForceOption = False,
    quiet: QuietOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    *,
    given: CorrectionOptions,
    options: LearningOptions,
) -> None:
    """Learns from corrections; writes a new model only if it is better on them and no worse elsewhere.

    Exit status: 0 if a new model was written, 3 if it was refused, 4 if there are too few corrections to decide.
    """
    from attendo.workflow.extras import need_packages

    if not given.corrections and given.from_server is None:
        raise typer.BadParameter("name corrected files with --corrections FILE, or a server with --from-server URL")
    if output is None and not dry_run:
        raise typer.BadParameter("name the new model's folder with -o NEW_MODEL")
    _check_output(output, model, force=force)
    need_packages(["torch"], "train")
    plan = _plan(model, given, options)
    bound_for_training()
    if dry_run:
        _forecast(plan, as_json=as_json)
        return
    assert output is not None
    _run(plan, output, force=force, quiet=quiet, as_json=as_json)


def _check_output(output: Path | None, model: str, *, force: bool) -> None:
    """Refuses a folder that cannot be written, before anything is read."""
    from attendo.checkpoint.finding import find_model
    from attendo.checkpoint.versions import has_versions
    from attendo.output_folders import Origin, check_replaceable

    check_folder(output)
    if output is not None and not has_versions(output):
        check_replaceable(output, Origin(command="learn", source=find_model(model)), force=force)


def _plan(model: str, given: CorrectionOptions, options: LearningOptions) -> "RoundPlan":
    from attendo.checkpoint.finding import find_model
    from attendo.checkpoint.model_folder import read_description
    from attendo.learning.corrections import read_corrections
    from attendo.learning.round import plan_round
    from attendo.workflow.input_files import check_inputs

    check_inputs(models=(model,), of_units=(*(given.corrections or ()), *(given.before or ())))
    config = options.load()
    description = read_description(find_model(model))
    languages = (description.source_language, description.target_language)
    with TemporaryDirectory(prefix="attendo-") as folder:
        files = list(given.corrections or ())
        if given.from_server is not None:
            from attendo.cli.corrections_download import download_corrections

            files.append(download_corrections(given.from_server, given.key, Path(folder) / "corrections.tmx"))
        corrections = read_corrections(files, given.before or (), languages=languages)
    return plan_round(model, corrections, config)


def _run(plan: "RoundPlan", output: Path, *, force: bool, quiet: bool, as_json: bool) -> None:
    from attendo.checkpoint.versions import has_versions, next_version, use_version
    from attendo.cli.learning_reporter import LearningProgress
    from attendo.learning.round import run_round
    from attendo.learning.tuning import LearningInterruptedError

    stop = StopSignal()
    folder = next_version(output) if has_versions(output) else output
    try:
        with LearningProgress(quiet=quiet) as reporter, stop:
            report = run_round(plan, folder, reporter, lambda: stop.number is not None, force=force)
    except LearningInterruptedError as error:
        note(f"{error}; run the same command again to continue")
        raise typer.Exit(128 + (stop.number or signal.SIGINT)) from None
    print(json.dumps(report.to_json(), indent=2, ensure_ascii=False) if as_json else report.to_text())
    if status := _STATUS[report.verdict.outcome]:
        raise typer.Exit(status)
    if folder != output:
        use_version(output, int(folder.name))
    if not quiet and not as_json:
        note(f"the new model is {output}; translate with: attendo translate {output} < SOURCE > TARGET")


def _forecast(plan: "RoundPlan", *, as_json: bool) -> None:
    from attendo.learning.forecast import forecast

    found = forecast(plan)
    print(json.dumps(found.to_json(), indent=2, ensure_ascii=False) if as_json else found.to_text())
