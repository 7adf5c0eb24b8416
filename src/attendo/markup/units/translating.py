"""Translation of localisation units: each form of a unit by its kind of text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from attendo.decoding.constraints.terminology import TermUse
from attendo.decoding.lines.translation import MemoryMatch
from attendo.errors import DataError
from attendo.formats.contents import Content, content, plain
from attendo.formats.file import Form, Languages, Unit, base_language
from attendo.markup.checks.units import BREAKING, unit_findings
from attendo.markup.content import STAND_IN
from attendo.markup.together import gathered
from attendo.markup.units.accelerators import Accelerator, with_accelerator, without_accelerator
from attendo.markup.units.code_text import KEY_SIGN
from attendo.markup.units.counts import Count, num_counts, with_count_of, with_number, with_placeholder
from attendo.markup.units.icu import looks_branched
from attendo.markup.units.icu_sentences import translated_icu
from attendo.markup.units.lengths import LengthLimit, length_limit
from attendo.markup.units.passages import Draft, Passage, Passages
from attendo.markup.units.translation import UnitTranslation

_MAX_CHARACTERS = 1 << 20
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass
class _Notes:
    """Notes that are collected while the forms of a unit are translated."""

    problems: list[str] = field(default_factory=list)
    confidences: list[float] = field(default_factory=list)
    terms: list[TermUse] = field(default_factory=list)
    matches: list[MemoryMatch] = field(default_factory=list)

    def add(self, draft: Draft) -> None:
        """Adds the notes of a draft."""
        self.problems += draft.problems
        self.terms += draft.terms
        self.matches += draft.matches
        if draft.confidence is not None:
            self.confidences.append(draft.confidence)


class UnitTranslator:
    """Translates units, equal texts once.

    Args:
        passages: translates the texts of units.
    """

    def __init__(self, passages: Passages) -> None:
        self._passages, self._language = passages, passages.target_language

    async def translated(self, unit: Unit) -> UnitTranslation:
        """Translates a unit; a unit whose placeholders or codes cannot be kept is left unchanged, with the findings."""
        if problem := _unreadable(unit):
            return UnitTranslation(problems=(problem,))
        if unit.label:  # `access_keys` takes a letter of the label once that is translated
            return UnitTranslation(texts=tuple(form.source for form in unit.forms))
        notes = _Notes()
        try:
            texts = tuple(await gathered([self._form(unit, form, notes) for form in unit.forms]))
        except DataError as error:  # the source is no message of its format, or a placeholder cannot be kept
            return UnitTranslation(problems=(str(error),))
        findings = unit_findings(unit, texts, self._language)
        is_broken = any(finding.check in BREAKING for finding in findings)
        return UnitTranslation(
            texts=() if is_broken else texts,
            findings=findings,
            problems=tuple(dict.fromkeys(notes.problems)),
            confidence=min(notes.confidences, default=None),
            terms=() if is_broken else tuple(notes.terms),
            matches=() if is_broken else _matches(notes.matches, len(unit.forms)),
        )

    async def _form(self, unit: Unit, form: Form, notes: _Notes) -> Content:
        text = plain(form.source)
        is_text = all(isinstance(part, str) for part in form.source)
        if is_text and ("icu-message-format" in unit.flags or looks_branched(text)):
            languages = Languages(source=self._passages.source_language, target=self._language)
            return content(await translated_icu(text, languages, _Sentences(self, unit, notes, self._language)))
        source, accelerator = without_accelerator(form.source, unit.flags)
        if form.sample is not None and not form.is_of_one_number and num_counts(source, unit.flags) == 0:
            # "One file" means exactly 1; where the form is for 21 too, "%d file" or else "%d files" is translated.
            sources = [without_accelerator(other.source, unit.flags)[0] for other in unit.forms]
            plural = next((other for other in sources if num_counts(other, unit.flags) == 1), source)
            language = self._passages.source_language
            source = with_count_of(source, plural, unit.flags, language) or plural
        finish = _Finish(base_language(self._language), accelerator, unit.flags, length_limit(unit))
        return await self.with_count(source, form.sample, unit.flags, notes, finish)

    async def with_count(
        self, source: Content, sample: int | None, flags: frozenset[str], notes: _Notes, finish: "_Finish"
    ) -> Content:
        """The translation of a text with a number in place of its count, if the number occurs in the translation."""
        with_it, count = (source, None) if sample is None else with_number(source, flags, sample)
        passage = Passage(with_it, flags)
        draft = await self._passages.draft(passage)
        found = finish.text(draft, count)
        if found is None:
            notes.problems.append(f"the form of the number {sample} was translated without its number")
            passage, count = Passage(source, flags), None
            draft = await self._passages.draft(passage)
            found = finish.text(draft, None)
        assert found is not None, "a text without a count has nothing to lose"
        if not finish.fits(found):
            for other in await self._passages.others(passage):
                text = finish.text(other, count)
                if text is not None and finish.fits(text):
                    draft, found = other, text
                    break
        notes.add(draft)
        return found


@dataclass(frozen=True, slots=True)
class _Finish:
    """The final steps from a draft to a unit's text: its count and its accelerator are put back."""

    language: str
    accelerator: Accelerator | None = None
    flags: frozenset[str] = frozenset()
    """The flags of the unit, by which the accelerator is not put into a placeholder."""
    limit: LengthLimit | None = None

    def text(self, draft: Draft, count: Count | None) -> Content | None:
        """The text of a draft; None if the number for its count does not occur exactly once."""
        found: Content | None = draft.text
        if count is not None:
            found = with_placeholder(draft.text, count, self.language)
        if found is None or self.accelerator is None:
            return found
        return with_accelerator(found, self.accelerator, self.flags)

    def fits(self, text: Content) -> bool:
        """Whether a text is within the unit's length limit."""
        return self.limit is None or self.limit.holds(plain(text))


@dataclass(frozen=True, slots=True)
class _Sentences:
    """Translates the sentences of a unit's ICU message."""

    translator: UnitTranslator
    unit: Unit
    notes: _Notes
    language: str

    async def __call__(self, sentence: Content, sample: int | None) -> Content:
        """Translates one; see `icu_sentences.TranslateSentence`."""
        finish = _Finish(base_language(self.language))
        return await self.translator.with_count(sentence, sample, self.unit.flags, self.notes, finish)


def _matches(matches: Sequence[MemoryMatch], num_forms: int) -> tuple[MemoryMatch, ...]:
    """The corrections used in a unit; with a text to insert if each of its forms is a correction."""
    if len(matches) == num_forms and all(match.text for match in matches):
        return tuple(matches)
    return tuple(replace(match, text="") for match in matches)


def _unreadable(unit: Unit) -> str:
    """Returns why a unit cannot be translated; empty if it can."""
    for form in unit.forms:
        text = plain(form.source)
        if KEY_SIGN in text or STAND_IN in text:
            return "the text has a noncharacter of Unicode, U+FDD0 or U+FDD1; it is left as it was"
        if _SURROGATE.search(text):
            return "the text has half of a surrogate pair, which is no character; it is left as it was"
        if len(text) > _MAX_CHARACTERS:
            return f"the text has {len(text):,} characters, more than {_MAX_CHARACTERS:,}; it is left as it was"
    return ""
