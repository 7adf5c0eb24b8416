"""`attendo import`: converts a Marian checkpoint of Hugging Face, verified to give the same results."""

from pathlib import Path
from typing import Annotated

import typer

from attendo import __version__
from attendo.cli.export import print_report, sample_source
from attendo.cli.options import ForceOption, ReferencesOption, SentencesOption, ThreadsOption
from attendo.cli.output import check_folder, held_before, note_replaced
from attendo.cli.progress import note
from attendo.errors import ModelError


def import_(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="A folder with a Marian checkpoint, such as an OPUS-MT model.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="The model folder to write.")],
    sentences: SentencesOption = None,
    reference: ReferencesOption = None,
    threads: ThreadsOption = None,
    force: ForceOption = False,
) -> None:
    """Converts a Marian checkpoint, such as an OPUS-MT model, and verifies that both give the same results.

    If they do not, or if the checkpoint has features that attendo's models lack, nothing is written and the exit status
    is 1.
    """
    from attendo.workflow.extras import need_packages
    from attendo.workflow.input_files import check_inputs

    need_packages(["torch"], "train")
    check_folder(output)
    if not path.is_dir():
        raise ModelError(f"{path / 'config.json'}: cannot be read (no such folder); a Marian checkpoint has this file")
    check_inputs(files=(sentences, reference) if sentences else ())
    from attendo.workflow.exchange.import_model import import_model

    held = held_before(output, force=force)
    sample = sample_source(sentences, reference)
    import_model(path, output, sample=sample, threads=threads, version=__version__, force=force, say=print_report)
    note_replaced(output, held)
    note(f"wrote {output}")
