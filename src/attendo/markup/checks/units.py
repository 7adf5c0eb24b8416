"""All checks of a unit's translation."""

from collections.abc import Sequence

from attendo.formats.contents import ALONE, Content, plain
from attendo.formats.file import Form, Unit, base_language, source_with_codes
from attendo.markup.checks.findings import Finding
from attendo.markup.checks.placeholders import (
    accelerator_findings,
    code_findings,
    icu_findings,
    placeholder_findings,
    xml_findings,
)
from attendo.markup.checks.texts import edge_findings, ending_findings, length_findings, number_findings
from attendo.markup.units.icu import looks_branched

BREAKING = frozenset(("placeholders", "codes", "icu_message_format", "xml-invalid", "control-characters"))
"""Checks whose failure may break a program, so that a translation that fails one is not written."""

_OBJECT = "\ufffc"
"""Stands for a code: Unicode's object replacement character."""


def unit_findings(unit: Unit, texts: Sequence[Content], language: str) -> tuple[Finding, ...]:
    """Finds the problems of a unit's translation, each once.

    Args:
        unit: the unit.
        texts: one translation for each of its forms.
        language: the target language.
    """
    found: list[Finding] = []
    for form, text in zip(unit.forms, texts, strict=True):
        if not plain(text).strip() and plain(form.source).strip():
            found.append(Finding("plurals" if len(texts) > 1 else "empty", "the translation is empty"))
            continue
        found += _form_findings(unit, form, text, base_language(language))
    return tuple(dict.fromkeys(found))


def _form_findings(unit: Unit, form: Form, text: Content, language: str) -> list[Finding]:
    source, target = plain(form.source), plain(text)
    is_icu = "icu-message-format" in unit.flags or looks_branched(source)
    found = code_findings(source_with_codes(unit, form, text), text)
    if is_icu:
        found += icu_findings(source, target, unit.flags)
    else:
        sources = list(dict.fromkeys([source, *(plain(other.source) for other in unit.forms)]))
        found += placeholder_findings(sources, target, unit.flags, may_lack_number=form.is_of_one_number)
        found += accelerator_findings(form.source, text, unit.flags)
        found += number_findings(source, target, unit, language) if form.sample is None else []
        found += ending_findings(source, target, language)
    found += xml_findings(source, target)
    found += edge_findings(_with_objects(form.source), _with_objects(text))
    found += length_findings(target, unit)
    return found


def _with_objects(parts: Content) -> str:
    """The strings of a content with a sign for each standalone code, so that the spaces around it are not joined."""
    return "".join(part if isinstance(part, str) else _OBJECT if part.kind == ALONE else "" for part in parts)
