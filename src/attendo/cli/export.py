"""`attendo export`: a model for another program, or in int8, with a proof that it says the same there."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from attendo import __version__
from attendo.cli.options import ForceOption, ModelArgument, ReferencesOption, SentencesOption, ThreadsOption
from attendo.cli.output import check_folder, held_before, tell_replaced
from attendo.cli.progress import note

if TYPE_CHECKING:
    from attendo.workflow.exchange.parity_report import ParityReport, SampleSource


def export(
    model: ModelArgument,
    kind: Annotated[
        Literal["attendo", "ctranslate2", "huggingface", "onnx", "argos"],
        typer.Option("--format", help="For which program; attendo is this one, for a model in int8."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder to write.")],
    quantization: Annotated[
        Literal["float32", "int8"],
        typer.Option("--quantization", help="What the matrices are held in; int8 for attendo, ctranslate2 and argos."),
    ] = "float32",
    sentences: SentencesOption = None,
    reference: ReferencesOption = None,
    threads: ThreadsOption = None,
    force: ForceOption = False,
) -> None:
    """Writes a model for another program, and proves on real sentences that it says the same there.

    Where it does not, or where the format cannot carry the model, nothing is written and the exit status is 1.
    """
    from attendo.workflow.extras import need_packages
    from attendo.workflow.input_files import check_inputs

    need_packages(["torch"], "train")
    check_folder(output)
    check_inputs(models=[model], files=(sentences, reference) if sentences else ())
    from attendo.workflow.exchange.export import export as export_model

    held = held_before(output, force=force)
    export_model(
        model,
        kind,
        output,
        sample=sample_source(sentences, reference),
        quantization=quantization,
        threads=threads,
        version=__version__,
        force=force,
        say=print_report,
    )
    tell_replaced(output, held)
    note(f"wrote {output}")


def sample_source(sentences: Path | None, reference: Path | None) -> "SampleSource":
    """Where the sentences of a proof are from: the user's files, else the phrasebook.

    Raises:
        DataError: a file is missing or broken, or there is no sentence in it.
    """
    from attendo.demo.samples import phrasebook_sample
    from attendo.workflow.exchange.parity_report import read_sample

    if sentences is None:
        if reference is not None:
            raise typer.BadParameter("needs --sentences", param_hint="--reference")
        return phrasebook_sample
    sample = read_sample(sentences, reference)
    return lambda source_language, target_language: sample


def print_report(report: "ParityReport") -> None:
    """Prints a proof on standard output, whatever its result."""
    print(report.to_text(), flush=True)
