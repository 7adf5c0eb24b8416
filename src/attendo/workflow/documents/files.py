"""Translates a file with a model: `attendo.translate_file`."""

from collections.abc import Sequence
from pathlib import Path

from attendo.decoding.lines.translation import MemoryMatch
from attendo.destinations import check_output_file, find_destination
from attendo.errors import ModelError
from attendo.formats.file import Mark
from attendo.markup.units.passages import Passages
from attendo.markup.units.translating import UnitTranslator
from attendo.workflow.documents.opening import Document, open_document
from attendo.workflow.documents.settings import Check, DocumentSettings, Only
from attendo.workflow.documents.suggestions import with_suggestions
from attendo.workflow.documents.translation import (
    DocumentParts,
    DocumentReporter,
    TranslatesUnits,
    conditions,
    document_translations,
    engine_candidates,
    engine_confidence,
    engine_lines,
)
from attendo.workflow.documents.writing import TranslatedDocument, written_document
from attendo.workflow.engines.aids import Aids
from attendo.workflow.engines.engine import Engine
from attendo.workflow.engines.translate import load
from attendo.workflow.translation.part_files import PartsFolder


def translate_file(
    model: str | Path | Engine,
    file: str | Path,
    output: str | Path | None = None,
    *,
    to: str | None = None,
    only: Only = "new",
    mark: Mark = "review",
    check: Check = "warn",
    template: str | Path | None = None,
    format: str | None = None,  # the name of the option
    aids: Aids | None = None,
) -> TranslatedDocument:
    """Translates a file that people translate: PO, XLIFF, Android strings, JSON, subtitles and more.

    Args:
        model: an engine, or what `load` takes.
        file: the file; its format follows from its name.
        output: where the translated file is written to; None leaves that to the caller. Texts that people translated
            there stay, where the format has one language a file. Finished units are kept beside it until it is whole.
        to: the target language with its region, such as `de-AT`; None for the one that the file names, or the model's.
        only: the units to translate: `new`, `fuzzy`, or `all` of these and finished ones; approved ones never are.
        mark: the translations that are marked for review: `review` marks all, `problems` those in which checks found
            something, `none` none.
        check: `off` leaves out what checks find.
        template: the file with the sources, where `file` is its translation, and its format has one language a file.
        format: the name of the format, where the file's name does not say it.
        aids: a glossary and translation memories; None for those of the engine.

    Returns:
        The content of the translated file, and a report on each of its units.

    Raises:
        DataError: the file is not of its format, or its languages are not the model's.
        ModelError: the model cannot be loaded, or names no languages.
        OSError: a file cannot be read or written.
    """
    settings = DocumentSettings(
        target=to,
        only=only,
        mark=mark,
        check=check,
        template=None if template is None else Path(template),
        format=format,
    )
    destination = None if output is None else Path(output)
    if destination is not None:
        check_output_file(destination)
    engine = model if isinstance(model, Engine) else load(model)
    engine = engine if aids is None else engine.with_aids(aids)
    document = open_document(
        Path(file),
        settings,
        source=engine.source_language,
        target=engine.target_language,
        existing=destination,
    )
    with with_suggestions(engine, document) as engine:
        translator = document_translator(engine, document)
        return translate_opened(document, settings, engine, translator, _Silent(), output=destination)


def document_translator(engine: Engine, document: Document) -> TranslatesUnits:
    """Returns a translator of a document's units with an engine.

    Args:
        engine: a model, or an ensemble.
        document: the document.

    Raises:
        ModelError: the model does not translate.
    """
    if engine.description.task != "translate":
        raise ModelError(f"{engine.folder}: this model does not translate; name one that does")
    matched: dict[str, MemoryMatch] = {}
    translator = UnitTranslator(
        Passages(
            engine_lines(engine, matched),
            source_language=engine.source_language,
            target_language=document.target,
            confidence=engine_confidence(engine),
            candidates=engine_candidates(engine),
            glossary=engine.aids.glossary,
        )
    )
    if engine.memory is None:
        return translator
    from attendo.memory.units import MemoryUnits

    return MemoryUnits(engine.memory, translator, document.file.units, document.target, matched)


def translate_opened(
    document: Document,
    settings: DocumentSettings,
    engine: Engine,
    translator: TranslatesUnits,
    reporter: DocumentReporter,
    *,
    output: Path | None,
    models: Sequence[Path] = (),
) -> TranslatedDocument:
    """Translates a document, continuing the results of an earlier start, and writes the file.

    Args:
        document: the document.
        settings: the settings for writing it.
        engine: the translator's engine.
        translator: translates units.
        reporter: receives messages and progress.
        output: where the file is written to; None leaves that to the caller.
        models: the folders of the engine's models, if there are several.

    Raises:
        DataError: the file's encoding lacks a character of a translation, or another process writes the output.
        OSError: a file cannot be written.
    """
    has_memory = engine.memory is not None
    if output is None or not document.units or not find_destination(output).is_file:
        found = document_translations(document, translator, reporter)
        return written_document(
            document, settings, found, source_language=engine.source_language, output=output, has_memory=has_memory
        )
    with PartsFolder.beside(output).opened() as folder:
        manifest = conditions(document, settings, engine, models or (engine.folder,))
        if others := folder.differences(manifest):
            reporter.message(
                f"{folder.path}: holds another translation, with another {', '.join(others)}; starting anew"
            )
            folder.remove_parts()
        folder.claim(manifest)
        parts = DocumentParts(folder=folder, engine=engine)
        found = document_translations(document, translator, reporter, parts)
        written = written_document(
            document, settings, found, source_language=engine.source_language, output=output, has_memory=has_memory
        )
        folder.clear()
    return written


class _Silent:
    """A reporter for callers that show no progress."""

    def message(self, text: str) -> None:
        """Shows nothing."""

    def started(self, done: int, total: int) -> None:
        """Shows nothing."""

    def translated(self, done: int) -> None:
        """Shows nothing."""
