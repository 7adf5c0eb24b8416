"""Opening files of known formats for translating or checking: their languages, and existing translations."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from attendo.checkpoint.checksums import CONFIG, read_json
from attendo.errors import DataError, ModelError
from attendo.formats.contents import Content, plain
from attendo.formats.file import File, Form, Languages, Result, Span, State, Unit, is_same_language
from attendo.formats.known import format_named
from attendo.formats.table import read_file
from attendo.reading import read_bounded
from attendo.workflow.documents.settings import STATES, DocumentSettings

_MAX_BYTES = 1 << 30


@dataclass(frozen=True, kw_only=True)
class Document:
    """A file that is to be translated."""

    path: Path
    file: File
    units: tuple[Unit, ...]
    """The units to translate."""
    target: str
    """The language of the translation, with its region if known."""
    kept: Mapping[str, Result] = field(default_factory=dict)
    """Translations by people in another file, by unit id, which are written as well."""
    content: bytes = b""
    """The bytes of all files that were read, which determine the outcome."""


def is_keyed(file: File) -> bool:
    """Whether a file has one language, and keys that connect it with its translation."""
    return format_named(file.format).layout == "keyed"


def model_languages(folder: Path) -> tuple[str, str]:
    """Returns the languages that a model reads and writes, without loading it; empty if its folder does not name them.

    Raises:
        ModelError: the folder's `config.json` is invalid.
    """
    path = folder / CONFIG
    content = read_json(path, ModelError(f"{path}: not found, so {folder} is no model folder"))
    description = content if isinstance(content, dict) else {}
    source, target = (description.get(f"{side}_language", "") for side in ("source", "target"))
    return (source if isinstance(source, str) else "", target if isinstance(target, str) else "")


def open_document(
    path: Path, settings: DocumentSettings, *, source: str, target: str, existing: Path | None = None
) -> Document:
    """Reads a file that is to be translated.

    Args:
        path: the file.
        settings: the settings for reading it.
        source: the language that the model reads; empty if unknown.
        target: the language that it writes.
        existing: the file to write the translation to. Translations by people in it are kept if the format has keys and
            it is another file.

    Raises:
        DataError: the file is not of its format, names other languages, or a template does not fit it.
    """
    wanted = settings.target or target
    if target and not is_same_language(wanted, target):
        raise DataError(f"--to {wanted}: the model translates into {target}; take a model for {wanted}")
    settings = replace(settings, target=wanted or None)
    document = document_of(_content_of(path), settings, source=source)
    if settings.template is not None:
        _check_keyed(document)
        return with_template(document, _content_of(settings.template), settings, source=source)
    if existing is None or not is_keyed(document.file) or not _is_other_file(path, existing):
        return document
    other, languages = _content_of(existing), Languages(source=source or None, target=settings.target)
    translation = read_file(other.data, other.name, languages, wanted=settings.format)
    file, kept = _with_existing(document.file, translation)
    return _changed(document, file, kept, settings=settings, content=document.content + other.data)


@dataclass(frozen=True, kw_only=True)
class NamedContent:
    """A file's name and bytes."""

    name: str
    """The name, for the format and for messages."""
    data: bytes
    """The bytes."""


def document_of(content: NamedContent, settings: DocumentSettings, *, source: str) -> Document:
    """Makes a document of a file's bytes, without any other file.

    Args:
        content: the file.
        settings: the settings for reading it, with the target language.
        source: the language that the model reads; empty if unknown.

    Raises:
        DataError: the file is not of its format, or names other languages.
    """
    file = _read(content, Languages(source=source or None, target=settings.target), settings.format)
    return Document(
        path=Path(content.name),
        file=file,
        units=file.to_translate(STATES[settings.only]),
        target=file.declared.target or settings.target or "",
        content=content.data,
    )


def with_template(document: Document, template: NamedContent, settings: DocumentSettings, *, source: str) -> Document:
    """Makes a document of a file that is the translation of another one, which has the sources.

    Args:
        document: the translation, read by itself.
        template: the file with the sources.
        settings: the settings for reading both.
        source: the language that the model reads; empty if unknown.

    Raises:
        DataError: the document's format includes the source, or has no keys; or the template is of another format.
    """
    _check_keyed(document)
    languages = Languages(source=source or None, target=settings.target)
    sources = read_file(template.data, template.name, languages, wanted=settings.format)
    file, kept = _with_existing(sources, document.file)
    return _changed(document, file, kept, settings=settings, content=document.content + template.data)


def _check_keyed(document: Document) -> None:
    """Refuses a template for a file that cannot have one.

    Raises:
        DataError: its format includes the source, or has no keys.
    """
    if not is_keyed(document.file):
        raise DataError(
            f"{document.path}: a {document.file.format} file has its source in itself, or no keys; leave out the "
            "template"
        )


def _changed(
    document: Document, file: File, kept: Mapping[str, Result], *, settings: DocumentSettings, content: bytes
) -> Document:
    """Returns a document with the units of another file."""
    return replace(
        document,
        file=file,
        units=file.to_translate(STATES[settings.only]),
        target=file.declared.target or settings.target or "",
        kept=kept,
        content=content,
    )


def _content_of(path: Path) -> NamedContent:
    return NamedContent(name=str(path), data=read_bounded(path, _MAX_BYTES))


def _read(content: NamedContent, languages: Languages, wanted: str | None) -> File:
    """Reads a file in the language of the model."""
    file = read_file(content.data, content.name, languages, wanted=wanted)
    declared = file.declared.source
    if declared and languages.source and not is_same_language(declared, languages.source):
        raise DataError(f"{content.name}: the file's source language is {declared}, the model reads {languages.source}")
    return file


def _is_other_file(path: Path, other: Path) -> bool:
    return other.is_file() and not other.samefile(path) and other.stat().st_size > 0


def _with_existing(source: File, translation: File) -> tuple[File, dict[str, Result]]:
    """Returns the file to write, whose units have the sources of one file and the translations of another.

    If the translation has every text of the source, it is the file to write, so that all its bytes are kept; otherwise
    it is the source, and the translations are written into it.

    Returns:
        The file, and the human translations that are not in it.
    """
    target_units = {unit.id: unit for unit in translation.units}
    wanted = {unit.id: unit for unit in source.units if unit.is_translatable}
    if all(
        name in target_units and target_units[name].spans and _same_forms(unit, target_units[name])
        for name, unit in wanted.items()
    ):
        units = tuple(
            _joined(wanted[unit.id], unit, unit.spans) if unit.id in wanted else replace(unit, is_translatable=False)
            for unit in translation.units
        )
        return replace(translation, units=units), {}
    units = tuple(
        _joined(unit, target_units[unit.id], unit.spans)
        if unit.id in target_units and unit.is_translatable and _same_forms(unit, target_units[unit.id])
        else unit
        for unit in source.units
    )
    kept = {
        unit.id: Result(texts=tuple(form.target or () for form in unit.forms), origin="tm")
        for unit in units
        if unit.state == "translated"
    }
    return replace(source, units=units), kept


def _same_forms(one: Unit, other: Unit) -> bool:
    return [form.name for form in one.forms] == [form.name for form in other.forms]


def _joined(source: Unit, translation: Unit, spans: tuple[Span, ...]) -> Unit:
    """Returns a unit with the sources of one unit and, as targets, the texts of another that differ from them."""
    forms = tuple(
        replace(form, target=_target(form, other.source))
        for form, other in zip(source.forms, translation.forms, strict=True)
    )
    state: State = "translated" if all(form.target is not None for form in forms) else "new"
    return replace(source, forms=forms, state=state, spans=spans)


def _target(form: Form, text: Content) -> Content | None:
    written = plain(text)
    return None if not written.strip() or written == plain(form.source) else text


def line_numbers(file: File) -> dict[str, int]:
    """Returns the line of each unit's text, by unit id; units without a text of their own are left out."""
    starts = sorted((unit.spans[0].start, unit.id) for unit in file.units if unit.spans)
    numbers, line, position = dict[str, int](), 1, 0
    for start, name in starts:
        line += file.text.text.count("\n", position, start)
        position = start
        numbers[name] = line
    return numbers


def state_counts(file: File) -> Counter[str]:
    """Counts units by state; those that are not to be translated are counted separately."""
    return Counter(unit.state if unit.is_translatable else "untranslatable" for unit in file.units)
