"""`attendo calibrate`: calibrates confidence scores on a test set."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attendo.cli.option_groups import with_groups
from attendo.cli.options import (
    DeviceOption,
    JsonOption,
    ModelArgument,
    QuietOption,
    ThreadsOption,
)
from attendo.cli.output import check_file
from attendo.cli.progress import JobProgress, notes
from attendo.errors import DataError

if TYPE_CHECKING:
    from attendo.workflow.confidence import Calibration

DEFAULT_CLOSE = 50.0
DEFAULT_NAME = "held-out set"


@dataclass(frozen=True)
class LearningOptions:
    """The texts from which the calibration is learned, and the definition of a close translation."""

    name: Annotated[
        list[str] | None,
        typer.Option(
            "--name", metavar="NAME", help="Name of the test set in the page and the curve; repeat with --source."
        ),
    ] = None
    weight: Annotated[
        list[float] | None,
        typer.Option(
            "--weight",
            metavar="NUMBER",
            min=0.001,
            help="Weight of the test set in learning, whatever its size; repeat with --source. Default: 1 for each.",
        ),
    ] = None
    familiar: Annotated[
        Path | None,
        typer.Option(
            "--familiar",
            metavar="FILE",
            help="Training text, in the source language, of the kind that the model translates best: confidence then "
            "counts how much a sentence resembles it. Needs --unfamiliar.",
        ),
    ] = None
    unfamiliar: Annotated[
        list[Path] | None,
        typer.Option("--unfamiliar", metavar="FILE", help="Training text of another kind; repeat for further kinds."),
    ] = None
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Keep the current calibration; measure it on this other test set and record the result."
        ),
    ] = False
    close: Annotated[
        float,
        typer.Option(
            "--close", metavar="CHRF", help="chrF2 score from which a translation counts as close to a human one."
        ),
    ] = DEFAULT_CLOSE


@dataclass(frozen=True)
class ProcessorOptions:
    """The device and its threads."""

    threads: ThreadsOption = None
    device: DeviceOption = "auto"


@with_groups(learning=LearningOptions, processor=ProcessorOptions)
def calibrate(
    model: ModelArgument,
    source: Annotated[
        list[Path],
        typer.Option(
            "--source",
            metavar="FILE",
            help="Source sentences, one per line; repeat for further test sets, such as one per domain.",
        ),
    ],
    reference: Annotated[
        list[Path],
        typer.Option("--reference", metavar="FILE", help="Reference translations, one per line; repeat with --source."),
    ],
    *,
    learning: LearningOptions,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the reliability curve here (.svg, .png)."),
    ] = None,
    processor: ProcessorOptions,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Calibrates the confidence of translations on a test set, and stores the result in the model folder.

    A confidence of 80 % then means that of 100 such translations about 80 are close to a human translation. The
    sentences must not be from the training data and should be like those the model is used for. Each of several
    test sets is also measured separately.
    """
    from attendo.checkpoint.finding import find_model
    from attendo.workflow.extras import need_packages
    from attendo.workflow.input_files import check_inputs

    _check_fixed(learning)
    check_file(output)
    if output is not None:
        need_packages(["matplotlib"], "plot")
    names, weights = _names(learning, source, reference), _weights(learning, source)
    others = _unfamiliar(learning)
    check_inputs(models=[model], files=(*source, *reference, *filter(None, [learning.familiar]), *others))
    from attendo.evaluation.familiarity import familiar_words
    from attendo.workflow.confidence import TestSet
    from attendo.workflow.confidence import calibrate as learn
    from attendo.workflow.confidence import check as measure
    from attendo.workflow.confidence_report import report
    from attendo.workflow.engines.translate import load
    from attendo.workflow.lines import lines_from, read_pairs

    if output is not None:
        from attendo.plots.figure_files import check_name

        check_name(output)
    sets = [
        TestSet(name, *read_pairs(*files), weight=weight)
        for name, weight, *files in zip(names, weights, source, reference, strict=True)
    ]
    words = familiar_words(lines_from(learning.familiar), [lines_from(path) for path in others]) if others else {}
    folder = find_model(model)
    engine = load(model, device=processor.device, threads=processor.threads)
    if engine.description.task != "translate":
        raise DataError(f"{folder}: is a parser; only models that translate can be calibrated")
    num_lines = len({sentence for test_set in sets for sentence in test_set.sources})
    with JobProgress("translating", "lines", num_lines, quiet=quiet) as progress:
        if learning.check:
            calibration = measure(engine, folder, sets, progress=progress.update)
        else:
            calibration = learn(
                engine, folder, sets, close=learning.close, familiar_words=words, progress=progress.update
            )
    say = notes(quiet=quiet)
    if as_json:
        print(json.dumps(asdict(calibration), indent=2, ensure_ascii=False))
    else:
        print("\n\n".join(report(measured, calibration.close) for measured in calibration.measured[-len(sets) :]))
    if output is not None:
        _draw_curve(calibration, folder, output)
        say(f"wrote {output}")
    say(f"wrote {folder / 'confidence.json'}")


def _names(learning: LearningOptions, source: list[Path], reference: list[Path]) -> list[str]:
    """Returns the names of the test sets, one for each source and reference."""
    names = learning.name or [DEFAULT_NAME] * (len(source) == 1)
    if not len(source) == len(reference) == len(names):
        raise typer.BadParameter(
            f"{len(source)} times --source, {len(reference)} times --reference and {len(names)} times --name do not go "
            "together; give one of each for each test set",
            param_hint="--source",
        )
    return names


def _check_fixed(learning: LearningOptions) -> None:
    """Refuses options of a calibration where there is one already."""
    of_calibration = {
        "--close": learning.close != DEFAULT_CLOSE,
        "--weight": learning.weight,
        "--familiar": learning.familiar,
        "--unfamiliar": learning.unfamiliar,
    }
    for option, given in of_calibration.items():
        if learning.check and given:
            raise typer.BadParameter("is fixed by the calibration; leave it out with --check", param_hint=option)


def _weights(learning: LearningOptions, source: list[Path]) -> list[float]:
    """Returns the weights of the test sets."""
    weights = learning.weight or [1.0] * len(source)
    if len(weights) != len(source):
        raise typer.BadParameter(
            f"{len(weights)} weights and {len(source)} test sets; give one for each, or none", param_hint="--weight"
        )
    return weights


def _unfamiliar(learning: LearningOptions) -> list[Path]:
    """Returns the files of text that is not the one the model knows best."""
    others = learning.unfamiliar or []
    if bool(learning.familiar) != bool(others):
        raise typer.BadParameter(
            "needs the other one too: what is familiar is so beside other text",
            param_hint="--familiar and --unfamiliar",
        )
    return others


def _draw_curve(calibration: "Calibration", folder: Path, output: Path) -> None:
    """Draws the reliability curve of a model's calibration."""
    from attendo.plots.figure_files import write_figure
    from attendo.plots.reliability import description, draw_reliability

    figure = draw_reliability(calibration.measured, folder.name)
    write_figure(figure, output, f"How sure {folder.name} is", description(calibration.measured))
