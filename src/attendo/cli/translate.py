"""`attendo translate`: lines of text; files of known formats are in `translate_documents`."""

import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from attendo.cli.file_reporter import FileReporter
from attendo.cli.memory_use import memory_line, prepare_memory
from attendo.cli.option_groups import with_groups
from attendo.cli.options import EngineOptions, ModelArgument, QuietOption, guard_changes
from attendo.cli.output import check_file, destination
from attendo.cli.progress import JobProgress, counted, done_in, note, notes
from attendo.cli.term_lines import missed_lines, term_line
from attendo.cli.translate_documents import DocumentRequest, are_documents, translate_documents
from attendo.cli.translate_options import AidOptions, DocumentOptions, LineOptions
from attendo.cli.translation_lines import WrittenLines
from attendo.destinations import find_destination

if TYPE_CHECKING:
    from attendo.decoding.backends.native_model import Dtype
    from attendo.decoding.constraints.line_constraints import Constraints
    from attendo.decoding.lines.alignment import Alignment
    from attendo.decoding.lines.translation import Counts, Translation
    from attendo.workflow.engines.aids import Aids
    from attendo.workflow.engines.engine import Engine
    from attendo.workflow.engines.translate import Decoding
    from attendo.workflow.translation.file_translation import FileProgress


@with_groups(
    {"no_guards": "settings"},
    decoding=EngineOptions,
    aids=AidOptions,
    lines=LineOptions,
    documents=DocumentOptions,
)
def translate(
    model: ModelArgument,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE...",
            help="A text file, one sentence per line (default: standard input); or files in known formats (PO, XLIFF, "
            "Android, JSON, subtitles and more) and folders of them, see docs/documents.md.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the translation here once it is complete. Default: standard output.",
        ),
    ] = None,
    *,
    decoding: EngineOptions,
    aids: AidOptions,
    lines: LineOptions,
    documents: DocumentOptions,
    quiet: QuietOption = False,
) -> None:
    """Translates text line by line, or files in the formats of translators, whose structure is kept.

    Finished parts are kept beside --output: after an interruption, run the same command again to continue. Sampling,
    diverse n-best lists, forbidden words and more are search settings, see docs/translating.md.
    """
    started = time.monotonic()
    are_files = are_documents(files or (), documents.format)
    if given := (lines.given() if are_files else documents.given()):
        kind = "lines of text" if are_files else "files of known formats, such as PO and XLIFF"
        raise typer.BadParameter(f"is for {kind}", param_hint=given[0])
    request = Request(
        models=decoding.models(model),
        reverse=aids.reverse,
        search={**decoding.search(n_best=lines.n_best), **guard_changes(aids.no_guards)},
        overrides=tuple(decoding.settings or ()),
        dtype=decoding.dtype,
        device=decoding.device,
        threads=decoding.threads,
        texts=(files[0] if files else None, lines.target_prefix, lines.forced_words),
        written=WrittenLines(as_json=lines.as_json, scores=lines.scores),
        alignment=lines.alignment,
        started=started,
        quiet=quiet,
        aids=aids.aids(model),
    )
    if request.aids.memory_files:
        if lines.ray is not None:
            raise typer.BadParameter("does not work on a cluster; leave out --ray", param_hint="--memory")
        prepare_memory(request.aids, request.models[0], quiet=quiet)
    if are_files:
        translate_documents(
            DocumentRequest(
                files=tuple(files or ()),
                output=output,
                models=request.models,
                decoding=request.decoding,
                device=decoding.device,
                threads=decoding.threads,
                options=documents,
                started=started,
                quiet=quiet,
            )
        )
    else:
        _translate_lines(request, output, lines.ray)


def _translate_lines(request: "Request", output: Path | None, ray: str | None) -> None:
    """Translates lines of text, in parts that outlive an interruption where that can be."""
    check_file(output)
    file = request.texts[0]
    files = file is not None and output is not None and not file.is_fifo() and find_destination(output).is_file
    if ray is not None and not files:
        raise typer.BadParameter("FILE and --output must both be regular files", param_hint="--ray")
    if ray is not None and request.device != "auto":
        raise typer.BadParameter("each machine of a cluster chooses its own; leave it out", param_hint="--device")
    from attendo.workflow.input_files import check_inputs

    check_inputs(models=(*request.models, *filter(None, [request.reverse])), files=request.texts)
    if file is not None and output is not None and (ray is not None or can_go_on(request.texts, output)):
        _translate_file(request, file, output, ray)
    else:
        _translate_stream(request, output)


@dataclass(frozen=True, kw_only=True)
class Request:
    """The translation that the options request."""

    models: tuple[str, ...]
    """The model, and those it makes an ensemble with."""
    reverse: str | None
    """The model of the opposite direction, if one was given."""
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
    aids: "Aids"

    def decoding(self) -> "Decoding":
        """The models, search settings and aids of the translation."""
        from attendo.workflow.engines.translate import Decoding

        model, *ensemble = self.models
        return Decoding(
            model=model,
            ensemble=tuple(ensemble),
            search=self.search,
            overrides=self.overrides,
            dtype=self.dtype,
            aids=self.aids,
            reverse=self.reverse,
        )


def can_go_on(texts: tuple[Path | None, ...], output: Path) -> bool:
    """Whether a translation of files can be resumed after an interruption: the files are regular ones.

    Args:
        texts: the files that are read; None for a missing one.
        output: the file that is written.
    """
    return all(path.is_file() for path in texts if path is not None) and find_destination(output).is_file


def _translate_stream(request: Request, output: Path | None) -> None:
    """Translates a stream of lines, window by window."""
    from attendo.workflow.input_files import count_lines
    from attendo.workflow.lines import ended_lines_from, with_constraints

    file, target_prefix, forced_words = request.texts
    total = count_lines(file) if file else None
    lines, constraints = with_constraints(ended_lines_from(file), target_prefix, forced_words)
    engine = request.decoding().load(request.device, threads=request.threads)
    say = notes(quiet=request.quiet)
    if file is None and sys.stdin.isatty():
        say("reading from the terminal, one sentence per line; end with Ctrl-D")
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
    """Translates a file on this machine or on a cluster, and resumes an interrupted translation."""
    from attendo.workflow.translation.part_files import PartsFolder

    folder = PartsFolder.beside(output)
    try:
        with FileReporter(quiet=request.quiet) as reporter:
            finished = _finished(request, file, output, ray, reporter)
    except (KeyboardInterrupt, SystemExit):  # SIGTERM arrives as SystemExit
        if folder.manifest.exists():
            note(f"what is translated so far is kept in {folder.path}; run the same command again to continue")
        raise
    _sum_up(request, finished.counts, reporter.seconds, lines_now=finished.lines_now)
    if len(finished.kernels) > 1:
        shares = ", ".join(f"{kernel} {lines:,}" for kernel, lines in finished.kernels.most_common())
        note(f"the machines use different kernels, so scores may differ in the last digits; lines by kernel: {shares}")


def _finished(request: Request, file: Path, output: Path, ray: str | None, reporter: FileReporter) -> "FileProgress":
    from attendo.workflow.translation.part_files import PartsFolder
    from attendo.workflow.translation.text_parts import TextFiles, scan_texts

    _, target_prefixes, forced_words = request.texts
    files = TextFiles(source=file, target_prefixes=target_prefixes, forced_words=forced_words)
    if ray is not None:
        from attendo.cluster.translation import translate_on_cluster
        from attendo.workflow.translation.part_translation import Output

        written = Output(format=request.written, settings=asdict(request.written), alignment=request.alignment)
        return translate_on_cluster(
            request.decoding(), files, output, written, address=ray, threads=request.threads, reporter=reporter
        )
    with PartsFolder.beside(output).opened() as folder:
        texts = scan_texts(files, folder.path)  # before importing torch, which takes seconds
        from attendo.workflow.translation.file_translation import translate_file
        from attendo.workflow.translation.part_translation import Output

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


def _translated(
    engine: "Engine", lines: Iterator[str], constraints: "Iterator[Constraints] | None", *, alignment: bool
) -> "Iterator[tuple[Translation, tuple[Alignment, ...]]]":
    """Translations, each with the alignments of its n best if requested."""
    if alignment:
        return engine.stream_aligned(lines, constraints)
    return ((translation, ()) for translation in engine.stream(lines, constraints))


def _sum_up(request: Request, counts: "Counts", translating_s: float, *, lines_now: int | None = None) -> None:
    """Prints a summary unless quiet, and warnings about truncated lines."""
    done = counts.lines if lines_now is None else lines_now
    say = notes(quiet=request.quiet)
    say(done_in("translated", done, "line", time.monotonic() - request.started, translating_s, "translating"))
    if request.aids.memory_files:
        say(memory_line(counts.matches))
    if done < counts.lines:
        say(f"{counted(counts.lines, 'line')} in all, including those of earlier starts")
    if request.aids.glossary is not None:
        say(term_line(counts.terms))
    for line in (*warnings_of(counts), *missed_lines(counts)):
        note(line)
    if counts.guards:
        acted = ", ".join(f"{name} {number:,}" for name, number in counts.guards.most_common())
        say(f"lines on which guards acted: {acted}; to turn them off: --no-guards")


def warnings_of(counts: "Counts") -> list[str]:
    """Warnings about truncated lines and translations.

    Args:
        counts: totals over all lines.
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
            f"{counted(counts.unfinished, 'translation')} {'was' if counts.unfinished == 1 else 'were'} cut off by the "
            "length limit, or by constraints that allowed no other token; "
            "to allow more: --set search.max_len_offset=N, or a "
            "larger search.max_len where it is set"
        )
    if counts.problems:
        lacks = "lacks a number, a name or words of the source, or has another"
        lack = "lack a number, a name or words of the source, or have another"
        lines.append(
            f"{counted(counts.problems, 'translation')} {lacks if counts.problems == 1 else lack}; --json says which"
        )
    return lines
