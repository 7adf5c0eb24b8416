"""`attendo translate`: a line in, a line out, in order."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from attendo.cli.options import (
    BeamSizeOption,
    DtypeOption,
    EnsembleOption,
    LengthPenaltyOption,
    ModelArgument,
    SetSearchOption,
    ThreadsOption,
    search_changes,
)
from attendo.cli.progress import JobProgress, note
from attendo.files import atomic_path

if TYPE_CHECKING:
    from attendo.decoding.engine import Counts, Translation


def translate(
    model: ModelArgument,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Text, a sentence a line; standard input where left out.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write here, when all is translated.")
    ] = None,
    beam_size: BeamSizeOption = None,
    length_penalty: LengthPenaltyOption = None,
    dtype: DtypeOption = "float32",
    n_best: Annotated[
        int | None,
        typer.Option(
            "--n-best", min=1, help="So many translations a line, each written as number-of-the-line TAB translation."
        ),
    ] = None,
    scores: Annotated[
        bool,
        typer.Option(
            "--scores", help="Write score TAB log-probability TAB translation; behind the number, with --n-best."
        ),
    ] = False,
    ensemble: EnsembleOption = None,
    settings: SetSearchOption = None,
    threads: ThreadsOption = None,
) -> None:
    """Translates text, a line in, a line out, in order."""
    from attendo.workflow.lines import count_lines, lines_from
    from attendo.workflow.translate import load

    # Before the model is read, so that a missing file is told at once; but a pipe can be read only once.
    total = count_lines(file) if file and not file.is_fifo() else None
    search = search_changes(beam_size=beam_size, length_penalty=length_penalty, n_best=n_best)
    engine = load(model, ensemble=ensemble or (), search=search, overrides=settings or (), dtype=dtype, threads=threads)
    if file is None and sys.stdin.isatty():
        note("reading from the terminal, a sentence a line; end with Ctrl-D")
    quiet = output is None and sys.stdout.isatty()  # the translations themselves show how far it is
    with _destination(output) as stream, JobProgress("translating", "lines", total, quiet=quiet) as progress:
        for number, translation in enumerate(engine.stream(lines_from(file)), start=1):
            stream.write(format_translation(translation, number, n_best=engine.search.n_best, scores=scores))
            stream.flush()
            progress.update(number)
    for line in summary(engine.counts, progress.seconds):
        note(line)


def format_translation(translation: "Translation", number: int, *, n_best: int = 1, scores: bool = False) -> str:
    """One line's translations as they are printed, each with a line end.

    Args:
        translation: the line and what became of it.
        number: the line's, from 1.
        n_best: how many were asked for; for more than 1 each line begins with the number.
        scores: whether score and log-probability are printed too.
    """
    lines = []
    for candidate in translation.n_best[:n_best]:
        fields = [str(number)] if n_best > 1 else []
        if scores:
            fields += [f"{candidate.score:.6f}", f"{candidate.log_prob:.6f}"]
        # Bytes may spell a line end, and line n of the output must stay the translation of line n of the input.
        fields.append(candidate.text.replace("\r", " ").replace("\n", " "))
        lines.append("\t".join(fields) + "\n")
    return "".join(lines)


def summary(counts: "Counts", seconds: float) -> list[str]:
    """What was done, and what was cut."""
    rate = counts.lines / max(seconds, 1e-9)
    lines = [f"translated {counts.lines:,} lines in {seconds:.1f} s, {rate:,.1f} lines/s"]
    if counts.truncated:
        lines.append(
            f"{counts.truncated:,} lines were too long, and only their beginning was translated; to allow more: "
            "--set search.max_source_tokens=N"
        )
    if counts.unfinished:
        lines.append(
            f"{counts.unfinished:,} translations were ended by the length limit; to allow more: "
            "--set search.max_len_offset=N"
        )
    return lines


@contextmanager
def _destination(output: Path | None) -> Iterator[TextIO]:
    """Standard output, or a file that appears when it is whole."""
    if output is None:
        yield sys.stdout
        return
    with atomic_path(output) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        yield stream
