"""`attendo translate` of files in known formats: one, several, or all of a folder."""

import gc
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from attendo.checkpoint.finding import find_model
from attendo.cli.file_reporter import FileReporter
from attendo.cli.memory_use import memory_line
from attendo.cli.output import check_file
from attendo.cli.progress import counted, done_in, note, notes
from attendo.cli.term_lines import missed_units, term_line
from attendo.cli.translate_options import DocumentOptions
from attendo.errors import DataError

if TYPE_CHECKING:
    from attendo.workflow.documents.names import Names
    from attendo.workflow.documents.opening import Document
    from attendo.workflow.documents.report import DocumentReport
    from attendo.workflow.documents.settings import DocumentSettings
    from attendo.workflow.documents.writing import TranslatedDocument
    from attendo.workflow.engines.engine import Engine
    from attendo.workflow.engines.translate import Decoding

_GARBAGE = 50_000
"""New objects after which the collector looks for cycles."""


@dataclass(frozen=True, kw_only=True)
class DocumentRequest:
    """The files to translate and how."""

    files: Sequence[Path]
    """Files and folders."""
    output: Path | None
    """The output file for a single input; for several a folder, or None to write beside them."""
    models: tuple[str, ...]
    """The model, and those it makes an ensemble with."""
    decoding: "Callable[[], Decoding]"
    """Makes the engine's settings; called once a file has messages to translate."""
    device: Literal["auto", "cpu", "cuda"]
    threads: int | None
    options: DocumentOptions
    started: float
    """When the command, or its work on a file, began, by the monotonic clock."""
    quiet: bool


def are_documents(files: Sequence[Path], format_name: str | None) -> bool:
    """Whether files are translated as documents; False for lines of text.

    Raises:
        DataError: a file's format does not match its name, or plain text is among several files.
    """
    if not files:
        if format_name not in (None, "text"):
            raise typer.BadParameter("standard input is text; name a file", param_hint="--format")
        return False
    from attendo.workflow.documents.recognizing import document_format

    lines = [path for path in files if not path.is_dir() and document_format(path, format_name) is None]
    if lines and len(files) > 1:
        raise DataError(
            f"{lines[0]}: plain text is translated one file at a time; several files must all have known formats"
        )
    return not lines


def translate_documents(request: DocumentRequest) -> None:
    """Translates files and reports the results."""
    from attendo.workflow.documents.names import Names
    from attendo.workflow.documents.opening import model_languages, open_document

    settings = request.options.document_settings()
    if request.output is not None and not request.output.is_dir():
        check_file(request.output)
    source, target = model_languages(find_model(request.models[0]))
    jobs = _jobs(request, Names(source=source or "en", target=settings.target or target or "xx"))
    for path in dict.fromkeys([*(output for _, output in jobs if output), *filter(None, [request.options.report])]):
        check_file(path)
    say = notes(quiet=request.quiet)
    opened = []
    for path, output in jobs:
        document = open_document(path, settings, source=source, target=target, existing=output)
        say(_read_line(document, source))
        opened.append((document, output))
    engine = None
    if any(document.units for document, _ in opened):
        engine = request.decoding().load(request.device, threads=request.threads)
        # What is loaded by now stays to the end, and the units of a part are many objects with hardly any cycles: the
        # collector would look through them again and again. The process is the command's own and ends with it;
        # `attendo.translate_file` and the server leave their collector alone.
        gc.freeze()
        gc.set_threshold(_GARBAGE)
    reports = []
    for document, output in opened:
        reports.append(_translate_one(request, settings, engine, document, output, source))
        request = replace(request, started=time.monotonic())  # only the first includes the time to load the model
    if request.options.report is not None:
        from attendo.files import write_json

        found = [report.as_json() for report in reports]
        write_json(request.options.report, found[0] if len(found) == 1 else found)
    if settings.check == "error" and any(report.num_failed for report in reports):
        raise typer.Exit(1)


def _jobs(request: DocumentRequest, names: "Names") -> list[tuple[Path, Path | None]]:
    """Each input file with its output file; None for standard output."""
    from attendo.workflow.documents.names import found_files

    [*files] = request.files
    output = request.output
    if len(files) == 1 and not files[0].is_dir():
        inside = output is not None and output.is_dir()
        return [(files[0], output / names.translated(Path(files[0].name)) if output and inside else output)]
    if output is not None and output.is_file():
        raise DataError(f"{output}: is a file; several files are written into a folder")
    jobs: list[tuple[Path, Path | None]] = []
    for path in files:
        root = path if path.is_dir() else path.parent
        for file in found_files(path, names) if path.is_dir() else [path]:
            inner = file.relative_to(root)
            # The name of the folder itself may be the language: en/app.json beside de/app.json.
            written = names.translated(root / inner) if output is None else output / names.translated(inner)
            jobs.append((file, written))
    _check_distinct(jobs)
    return jobs


def _check_distinct(jobs: Sequence[tuple[Path, Path | None]]) -> None:
    """Rejects writing one file twice.

    Raises:
        DataError: two files have the same output.
    """
    seen: dict[Path | None, Path] = {}
    for path, output in jobs:
        if output in seen:
            raise DataError(
                f"{path}: would be written to {output}, as {seen[output]} would be; translate one of them separately"
            )
        seen[output] = path


def _translate_one(
    request: DocumentRequest,
    settings: "DocumentSettings",
    engine: "Engine | None",
    document: "Document",
    output: Path | None,
    source: str,
) -> "DocumentReport":
    """Translates a file and reports the result."""
    from attendo.workflow.documents.writing import written_document

    say = notes(quiet=request.quiet)
    if engine is None or not document.units:
        done = written_document(document, settings, {}, source_language=source, output=output)
    else:
        done = _translated(request, settings, engine, document, output)
    if output is None:
        sys.stdout.buffer.write(done.content)
        sys.stdout.buffer.flush()
    report = done.report
    for line in _summary(report, settings.check, request.options.report):
        say(line)
    return report


def _translated(
    request: DocumentRequest, settings: "DocumentSettings", engine: "Engine", document: "Document", output: Path | None
) -> "TranslatedDocument":
    from attendo.workflow.documents.files import document_translator, translate_opened
    from attendo.workflow.documents.suggestions import with_suggestions
    from attendo.workflow.translation.part_files import PartsFolder

    try:
        with (
            FileReporter(quiet=request.quiet, unit="messages") as reporter,
            with_suggestions(engine, document) as extended,
        ):
            done = translate_opened(
                document,
                settings,
                extended,
                document_translator(extended, document),
                reporter,
                output=output,
                models=request.decoding().folders,
            )
    except (KeyboardInterrupt, SystemExit):
        if output is not None and (folder := PartsFolder.beside(output)).manifest.exists():
            note(f"what is translated so far is kept in {folder.path}; run the same command again to continue")
        raise
    waited = time.monotonic() - request.started
    count = len(document.units)
    notes(quiet=request.quiet)(done_in("translated", count, "message", waited, reporter.seconds, "translating"))
    return done


def _read_line(document: "Document", source: str) -> str:
    """The summary: `read app.po: gettext, en to de-AT, 1,204 messages: 310 translated before, 878 to translate`."""
    from attendo.formats.known import format_named
    from attendo.workflow.documents.opening import state_counts

    file = document.file
    title = format_named(file.format).title
    counts = state_counts(file)
    names = {
        "translated": "translated before",
        "fuzzy": "to be reviewed",
        "final": "approved",
        "untranslatable": "not to be translated",
    }
    parts = [f"{counts[state]:,} {name}" for state, name in names.items() if counts[state]]
    parts.append(f"{len(document.units):,} to translate")
    languages = f"{file.declared.source or source} to {document.target}"
    return f"read {document.path}: {title}, {languages}, {counted(len(file.units), 'message')}: {', '.join(parts)}"


def _summary(report: "DocumentReport", check: str, report_file: Path | None) -> list[str]:
    """Lines that summarise the outcome of the messages."""
    from attendo.formats.known import format_named

    lines = []
    total = report.num_translated + report.num_left
    if total and check != "off":
        listed = ", ".join(f"{name} {number:,}" for name, number in report.checks.most_common())
        where = f"; see {report_file}" if report_file else "; --report FILE lists them"
        clean = sum(not unit.problems for unit in report.units if unit.origin == "mt")
        lines.append(f"checks: {clean:,} of {total:,} without a finding" + (f"; {listed}{where}" if listed else ""))
    if any(report.terms.values()):
        lines += [term_line(report.terms), *missed_units(report)]
    if report.has_memory:
        lines.append(memory_line(report.matches))
    if report.num_left:
        left = [unit for unit in report.units if unit.is_failed and unit.origin == "file"][:3]
        examples = ", ".join(f"line {unit.line}" if unit.line else repr(unit.id[:40]) for unit in left)
        lines.append(
            f"left as they were, since no translation kept their placeholders: {report.num_left:,} ({examples})"
        )
    if report.output is not None:
        can_mark = format_named(report.format).has_states
        marks = f"{report.num_marked:,} marked for review" if can_mark else "this format has no marks for review"
        lines.append(f"wrote {report.output}: {marks}")
    return lines
