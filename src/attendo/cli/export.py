"""`attendo export`: a model for another program, or in int8, verified to give the same results."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from attendo import __version__
from attendo.cli.options import ForceOption, ModelArgument, ReferencesOption, SentencesOption, ThreadsOption
from attendo.cli.output import check_folder, held_before, note_replaced
from attendo.cli.progress import note

if TYPE_CHECKING:
    from attendo.workflow.exchange.parity_report import ParityReport, SampleSource


def export(
    model: ModelArgument,
    kind: Annotated[
        Literal["attendo", "ctranslate2", "huggingface", "onnx", "argos"],
        typer.Option("--format", help="Target program; attendo writes a model folder, for instance in int8."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder to write.")],
    quantization: Annotated[
        Literal["float32", "int8"],
        typer.Option(
            "--quantization", help="Numeric type of the matrices; int8 is possible for attendo, ctranslate2 and argos."
        ),
    ] = "float32",
    sentences: SentencesOption = None,
    reference: ReferencesOption = None,
    threads: ThreadsOption = None,
    force: ForceOption = False,
) -> None:
    """Writes a model for another program, and verifies on real sentences that both give the same results.

    If they do not, or if the format cannot represent the model, nothing is written and the exit status is 1.
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
    note_replaced(output, held)
    note(f"wrote {output}")


def sample_source(sentences: Path | None, reference: Path | None) -> "SampleSource":
    """Chooses the sentences for the verification: the user's files, or the phrasebook.

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
    """Prints a verification report on standard output, whether it passed or not."""
    print(report.to_text(), flush=True)
