"""Access keys that are separate texts, such as Fluent's `.accesskey`: each is a letter of its label."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from attendo.formats.contents import content, plain
from attendo.formats.file import Unit
from attendo.markup.units.translation import UnitTranslation


def with_access_keys(
    units: Sequence[Unit], translations: Mapping[str, UnitTranslation], others: Sequence[Unit]
) -> dict[str, UnitTranslation]:
    """Returns translations in which each access key is a letter of its label's translation.

    Args:
        units: the translated units.
        translations: the translations by unit id; for access keys, these are their sources.
        others: all units of the file, for the labels that people translated.
    """
    labels = {unit.id: plain(unit.target) for unit in others if unit.target is not None}
    labels |= {name: plain(found.texts[0]) for name, found in translations.items() if not found.is_kept}
    result = dict(translations)
    for unit in units:
        found = translations.get(unit.id)
        label = labels.get(unit.label, "") if unit.label else ""
        if found is None or found.is_kept or not label:
            continue
        key = access_key(plain(unit.source), label)
        result[unit.id] = replace(found, texts=(content(key),))
    return result


def access_key(source: str, label: str) -> str:
    """Returns the access key of a label.

    Args:
        source: the key in the source language.
        label: the label in the target language.

    Returns:
        The source's letter as the label has it; else the first letter of one of its words, in its case; else, in
        scripts that keyboards do not type directly, the source's letter.
    """
    if source in label:
        return source
    if (place := label.casefold().find(source.casefold())) >= 0 and len(label.casefold()) == len(label):
        return label[place : place + len(source)]
    letters = (word[0] for word in label.split() if word[0].isalpha() and word[0] < "\u0e00")
    return next(letters, source)
