"""Translates units with a translation memory if it has them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Protocol

from attendo.decoding.lines.translation import MemoryMatch
from attendo.formats.contents import Content, plain
from attendo.formats.file import Form, Unit
from attendo.markup.checks.units import BREAKING, unit_findings
from attendo.markup.units.translation import UnitTranslation
from attendo.memory.lookup import Memory, Surroundings
from attendo.memory.texts import content_of, marked_text

_ENDS = ".!?:…"
"""Characters that end sentences."""


class TranslatesUnits(Protocol):
    """A translator of the units that the memory does not have."""

    async def translated(self, unit: Unit) -> UnitTranslation:
        """Translates a unit."""


class MemoryUnits:
    """Translates units with a translation memory, and those that it lacks with a model.

    Args:
        memory: the translation memory.
        translator: translates the other units.
        units: all units of the file, in order.
        language: the target language.
        matched: the memory's matches for lines that the model has translated, by line; it grows.
    """

    def __init__(
        self,
        memory: Memory,
        translator: TranslatesUnits,
        units: Sequence[Unit],
        language: str,
        matched: Mapping[str, MemoryMatch],
    ) -> None:
        self._memory, self._translator, self._language, self._matched = memory, translator, language, matched
        self._before = {unit.id: marked_text(before.forms[-1].source) for before, unit in pairwise(units)}

    async def translated(self, unit: Unit) -> UnitTranslation:
        """Translates a unit."""
        found = self._remembered(unit)
        if found is not None:
            return found
        found = await self._translator.translated(unit)
        texts = [plain(form.source).strip() for form in unit.forms]
        lines = [
            match for line, match in self._matched.items() if any(_is_sentence_of(line.strip(), text) for text in texts)
        ]
        # The matches are of parts of the unit, which as a whole is the model's.
        return replace(found, matches=tuple(replace(match, text="") for match in lines)) if lines else found

    def _remembered(self, unit: Unit) -> UnitTranslation | None:
        """Returns the unit's translation from the memory; None if it has no usable one."""
        sources = [marked_text(form.source) for form in unit.forms]
        # Plural forms of one source have several translations, which cannot be told apart.
        if unit.label or len(set(sources)) < len(sources):
            return None
        surroundings = Surroundings({unit.context, unit.id}, self._before.get(unit.id))
        texts, matches = list[Content](), list[MemoryMatch]()
        for form, source in zip(unit.forms, sources, strict=True):
            match = self._memory.exact(source, surroundings)
            text = None if match is None else self._text(match, form)
            if match is None or text is None:
                return None
            texts.append(text)
            matches.append(match)
        findings = unit_findings(unit, texts, self._language)
        if any(finding.check in BREAKING for finding in findings):
            return None
        others = sum(match.num_others for match in matches)
        problems = (f"the translation memory has {others:,} more translations of this text",) if others else ()
        return UnitTranslation(texts=tuple(texts), findings=findings, problems=problems, matches=tuple(matches))

    def _text(self, match: MemoryMatch, form: Form) -> Content | None:
        if match.kind == "changed" and form.sample is not None:  # another number may want another form
            return None
        return content_of(match.text, form.source)


def _is_sentence_of(line: str, text: str) -> bool:
    """Whether a line is a text, or one of its sentences."""
    place = text.find(line)
    if place < 0 or not line:
        return False
    before, behind = text[:place].rstrip(), text[place + len(line) :]
    begins = not before or before[-1] in _ENDS
    return begins and (not behind or (line[-1] in _ENDS and behind[0].isspace()))
