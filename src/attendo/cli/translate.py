"""`attendo translate`: a line in, a line out, in order."""

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import typer

from attendo.cli.options import (
    BeamSizeOption,
    DeviceOption,
    DtypeOption,
    EnsembleOption,
    JsonLinesOption,
    LengthPenaltyOption,
    ModelArgument,
    NoGuardsOption,
    QuietOption,
    SetSearchOption,
    ThreadsOption,
    guard_changes,
    search_changes,
)
from attendo.cli.output import check_file, destination
from attendo.cli.progress import JobProgress, counted, done_in, note, notes
from attendo.cli.translation_lines import WrittenLines
from attendo.destinations import find_destination

if TYPE_CHECKING:
    from attendo.decoding.alignment import Alignment
    from attendo.decoding.line_constraints import Constraints
    from attendo.decoding.native_model import Dtype
    from attendo.decoding.translation import Counts, Translation
    from attendo.workflow.engine import Engine
    from attendo.workflow.file_translation import Finished
    from attendo.workflow.part_translation import Decoding


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
    dtype: DtypeOption = None,
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
    alignment: Annotated[
        bool,
        typer.Option(
            "--alignment", help="Write word links, as 0-0 1-2 (source-target), TAB translation; behind the scores."
        ),
    ] = False,
    target_prefix: Annotated[
        Path | None,
        typer.Option("--target-prefix", metavar="FILE", help="What each translation begins with, one a line."),
    ] = None,
    forced_words: Annotated[
        Path | None,
        typer.Option("--forced-words", metavar="FILE", help="What each translation holds, one line each, TAB between."),
    ] = None,
    no_guards: NoGuardsOption = False,
    as_json: JsonLinesOption = False,
    ensemble: EnsembleOption = None,
    settings: SetSearchOption = None,
    threads: ThreadsOption = None,
    device: DeviceOption = "auto",
    quiet: QuietOption = False,
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray",
            metavar="ADDRESS",
            help="Translate FILE on a Ray cluster (auto, HOST:PORT, or local for this machine); see docs/clusters.md.",
        ),
    ] = None,
) -> None:
    """Translates text, a line in, a line out, in order.

    What is done of a file is kept beside --output until all is done: after an interruption, the same command goes on.
    Sampling, diverse n best, forbidden words and more are settings of the search: see docs/translating.md.
    """
    check_file(output)
    started = time.monotonic()
    files = file is not None and output is not None and not file.is_fifo() and find_destination(output).is_file
    if ray is not None and not files:
        raise typer.BadParameter("on a cluster, FILE and --output are files", param_hint="--ray")
    if ray is not None and device != "auto":
        raise typer.BadParameter("the machines of a cluster choose theirs; leave it out", param_hint="--device")
    from attendo.workflow.input_files import check_inputs

    request = Request(
        models=(model, *(ensemble or ())),
        search={
            **search_changes(beam_size=beam_size, length_penalty=length_penalty, n_best=n_best),
            **guard_changes(no_guards),
        },
        overrides=tuple(settings or ()),
        dtype=dtype,
        device=device,
        threads=threads,
        texts=(file, target_prefix, forced_words),
        written=WrittenLines(as_json=as_json, scores=scores),
        alignment=alignment,
        started=started,
        quiet=quiet,
    )
    check_inputs(models=request.models, files=request.texts)
    if file is not None and output is not None and (ray is not None or can_go_on(request.texts, output)):
        _translate_file(request, file, output, ray)
    else:
        _translate_stream(request, output)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What the options ask for."""

    models: tuple[str, ...]
    """The model, and those it makes an ensemble with."""
    search: dict[str, Any]
    overrides: tuple[str, ...]
    dtype: "Dtype | None"
    device: Literal["auto", "cpu", "cuda"]
    threads: int | None
    texts: tuple[Path | None, Path | None, Path | None]
    """The text, target prefixes and forced words."""
    written: WrittenLines
    alignment: bool
    started: float
    """When the command began, by the monotonic clock."""
    quiet: bool

    def decoding(self) -> "Decoding":
        """What translates, and how."""
        from attendo.workflow.part_translation import Decoding

        model, *ensemble = self.models
        return Decoding(
            model=model, ensemble=tuple(ensemble), search=self.search, overrides=self.overrides, dtype=self.dtype
        )


def can_go_on(texts: tuple[Path | None, ...], output: Path) -> bool:
    """Whether a translation of files can go on after an interruption: they can be read again, and renamed to.

    Args:
        texts: the files that are read; None where one is left out.
        output: the file that is written.
    """
    return all(path.is_file() for path in texts if path is not None) and find_destination(output).is_file


def _translate_stream(request: Request, output: Path | None) -> None:
    """Translates what comes, window by window."""
    from attendo.workflow.input_files import count_lines
    from attendo.workflow.lines import ended_lines_from, with_constraints

    file, target_prefix, forced_words = request.texts
    total = count_lines(file) if file else None
    lines, constraints = with_constraints(ended_lines_from(file), target_prefix, forced_words)
    engine = request.decoding().load(request.device, threads=request.threads)
    say = notes(quiet=request.quiet)
    if file is None and sys.stdin.isatty():
        say("reading from the terminal, a sentence a line; end with Ctrl-D")
    on_terminal = output is None and sys.stdout.isatty()  # the translations themselves show how far it is
    text = ""
    with (
        destination(output) as stream,
        JobProgress("translating", "lines", total, quiet=on_terminal or request.quiet) as progress,
    ):
        n_best = engine.search.n_best
        translated = _translated(engine, lines, constraints, alignment=request.alignment)
        for number, (translation, alignments) in enumerate(translated, start=1):
            text = request.written(translation, number, alignments, n_best=n_best)
            stream.write(text)
            stream.flush()
            progress.update(number)
        if on_terminal and not text.endswith("\n"):  # the last line had no end, but the prompt begins a line
            stream.write("\n")
    _sum_up(request, engine.counts, progress.seconds)


def _translate_file(request: Request, file: Path, output: Path, ray: str | None) -> None:
    """Translates a file here or on a cluster, and goes on with what an earlier start has left."""
    from attendo.workflow.part_files import PartsFolder

    folder = PartsFolder.beside(output)
    try:
        with _FileReporter(quiet=request.quiet) as reporter:
            finished = _finished(request, file, output, ray, reporter)
    except (KeyboardInterrupt, SystemExit):  # SIGTERM arrives as SystemExit
        if folder.manifest.exists():
            note(f"what is translated is kept in {folder.path}; to go on, give the same command again")
        raise
    _sum_up(request, finished.counts, reporter.seconds, lines_now=finished.lines_now)
    if len(finished.kernels) > 1:
        shares = ", ".join(f"{kernel} {lines:,}" for kernel, lines in finished.kernels.most_common())
        note(f"the machines are of several kinds, whose scores may differ in the last digits; lines: {shares}")


def _finished(request: Request, file: Path, output: Path, ray: str | None, reporter: "_FileReporter") -> "Finished":
    from attendo.workflow.part_files import PartsFolder
    from attendo.workflow.text_parts import TextFiles, scan_texts

    _, target_prefixes, forced_words = request.texts
    files = TextFiles(source=file, target_prefixes=target_prefixes, forced_words=forced_words)
    if ray is not None:
        from attendo.cluster.translation import translate_on_cluster
        from attendo.workflow.part_translation import Output

        written = Output(format=request.written, settings=asdict(request.written), alignment=request.alignment)
        return translate_on_cluster(
            request.decoding(), files, output, written, address=ray, threads=request.threads, reporter=reporter
        )
    with PartsFolder.beside(output).opened() as folder:
        texts = scan_texts(files, folder.path)  # before torch is imported, which takes seconds
        from attendo.workflow.file_translation import translate_file
        from attendo.workflow.part_translation import Output

        return translate_file(
            request.decoding(),
            texts,
            folder,
            output,
            Output(format=request.written, settings=asdict(request.written), alignment=request.alignment),
            device=request.device,
            threads=request.threads,
            reporter=reporter,
        )


class _FileReporter:
    """Says on standard error how translating a file goes; a context manager."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._stack = ExitStack()
        self._progress: JobProgress | None = None
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        """Since the first line was translated, or since the start."""
        return time.monotonic() - self._started

    def message(self, text: str) -> None:
        """Prints a line."""
        if self._progress is None:
            note(text)
        else:
            self._progress.say(text)

    def started(self, done: int, total: int) -> None:
        """Begins to show how far it is."""
        if done:
            notes(quiet=self._quiet)(f"going on: {done:,} of {total:,} lines are there already")
        self._started = time.monotonic()
        self._progress = self._stack.enter_context(
            JobProgress("translating", "lines", total, first=done, quiet=self._quiet)
        )
        self._progress.update(done)

    def translated(self, done: int) -> None:
        """Shows how far it is."""
        if self._progress is not None:
            self._progress.update(done)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()


def _translated(
    engine: "Engine", lines: Iterator[str], constraints: "Iterator[Constraints] | None", *, alignment: bool
) -> "Iterator[tuple[Translation, tuple[Alignment, ...]]]":
    """Translations, each with the alignments of its n best where they are wanted."""
    if alignment:
        return engine.stream_aligned(lines, constraints)
    return ((translation, ()) for translation in engine.stream(lines, constraints))


def _sum_up(request: Request, counts: "Counts", translating_s: float, *, lines_now: int | None = None) -> None:
    """Says what was done, unless that is not wanted, and what was cut."""
    done = counts.lines if lines_now is None else lines_now
    say = notes(quiet=request.quiet)
    say(done_in("translated", done, "line", time.monotonic() - request.started, translating_s, "translating"))
    if done < counts.lines:
        say(f"{counted(counts.lines, 'line')} in all, with those of earlier starts")
    for line in warnings_of(counts):
        note(line)
    if counts.guards:
        acted = ", ".join(f"{name} {number:,}" for name, number in counts.guards.most_common())
        say(f"lines that guards had to do with: {acted}; to leave them out: --no-guards")


def warnings_of(counts: "Counts") -> list[str]:
    """What was cut, a line each.

    Args:
        counts: of all lines.
    """
    lines = []
    if counts.truncated:
        cut = "was too long, and only its" if counts.truncated == 1 else "were too long, and only their"
        lines.append(
            f"{counted(counts.truncated, 'line')} {cut} beginning was translated; to allow more: "
            "--set search.max_source_tokens=N"
        )
    if counts.unfinished:
        lines.append(
            f"{counted(counts.unfinished, 'translation')} {'was' if counts.unfinished == 1 else 'were'} ended by the "
            "length limit, or by rules that left nothing else; to allow more: --set search.max_len_offset=N, or a "
            "larger search.max_len where it is set"
        )
    return lines
