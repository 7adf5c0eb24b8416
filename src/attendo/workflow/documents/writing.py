"""Writing a document: translations put into the file, its report, and the stored form of translations as JSON."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attendo.decoding.constraints.terminology import TermUse
from attendo.decoding.lines.translation import MemoryMatch
from attendo.files import write_bytes
from attendo.formats.contents import Code, Content, codes, joined
from attendo.formats.file import Result, Unit, WriteOptions
from attendo.formats.known import format_named
from attendo.markup.checks.findings import Finding
from attendo.markup.units.access_keys import with_access_keys
from attendo.markup.units.translation import UnitTranslation
from attendo.workflow.documents.opening import Document
from attendo.workflow.documents.report import DocumentReport, document_report
from attendo.workflow.documents.settings import DocumentSettings


@dataclass(frozen=True, kw_only=True)
class TranslatedDocument:
    """A translated document."""

    content: bytes
    """The translated file."""
    report: DocumentReport


def written_document(
    document: Document,
    settings: DocumentSettings,
    translations: Mapping[str, UnitTranslation],
    *,
    source_language: str,
    output: Path | None,
    has_memory: bool = False,
) -> TranslatedDocument:
    """Puts translations into a document.

    Args:
        document: the file as read.
        settings: the settings for writing it.
        translations: the translations by unit id.
        source_language: the language of the source, for the report.
        output: the file to write; None leaves that to the caller.
        has_memory: whether there was a translation memory, for the report.

    Raises:
        DataError: the file's encoding lacks a character of a translation.
        OSError: the file cannot be written.
    """
    translations = with_access_keys(document.units, translations, document.file.units)
    if settings.check == "off":
        translations = {name: replace(found, findings=()) for name, found in translations.items()}
    results = {
        name: Result(texts=found.texts, origin=found.origin, problems=(*map(str, found.findings), *found.problems))
        for name, found in translations.items()
        if not found.is_kept
    }
    options = WriteOptions(mark=settings.mark, time=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    content = document.file.write({**document.kept, **results}, options)
    has_states = format_named(document.file.format).has_states
    if output is not None:
        write_bytes(output, content)
    report = document_report(
        document,
        translations,
        source_language=source_language,
        output=output,
        marked=frozenset(name for name, found in results.items() if has_states and options.is_marked(found)),
        has_memory=has_memory,
    )
    return TranslatedDocument(content=content, report=report)


def translation_json(name: str, found: UnitTranslation) -> dict[str, Any]:
    """Returns a unit's translation for JSON.

    Args:
        name: the id of the unit.
        found: the translation, in which each code is its id and kind.
    """
    texts = [[part if isinstance(part, str) else [part.id, part.kind] for part in text] for text in found.texts]
    findings = [asdict(finding) for finding in found.findings]
    return {
        "id": name, "texts": texts, "findings": findings, "problems": found.problems, "confidence": found.confidence,
        "terms": [asdict(use) for use in found.terms],
        "matches": [asdict(match) for match in found.matches],
    }  # fmt: skip


def translations_of(said: Iterable[Mapping[str, Any]], units: Iterable[Unit]) -> dict[str, UnitTranslation]:
    """Returns translations by unit id.

    Args:
        said: results of `translation_json`.
        units: the document's units, which have the codes of the texts.
    """
    by_id = {unit.id: unit for unit in units}
    return {
        each["id"]: UnitTranslation(
            texts=tuple(_content(text, by_id[each["id"]]) for text in each["texts"]),
            findings=tuple(Finding(**finding) for finding in each["findings"]),
            problems=tuple(each["problems"]),
            confidence=each["confidence"],
            terms=tuple(TermUse(**use) for use in each["terms"]),
            matches=tuple(MemoryMatch(**match) for match in each.get("matches", ())),
        )
        for each in said
    }


def _content(parts: Sequence[Any], unit: Unit) -> Content:
    known: dict[tuple[str, str], Code] = {}
    for form in unit.forms:
        known |= {(code.id, code.kind): code for code in codes(form.source)}
    return joined([part if isinstance(part, str) else known[part[0], part[1]] for part in parts])
