"""Passages: contents translated as running text, with every code and placeholder exactly once."""

import asyncio
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from sys import maxsize

from attendo.decoding.constraints.terminology import TermUse
from attendo.decoding.lines.translation import MemoryMatch
from attendo.errors import DataError
from attendo.formats.contents import Code, Content, content, joined, plain, with_codes_of
from attendo.markup.checks.placeholders import arguments
from attendo.markup.entities import Plain
from attendo.markup.sentences import WHITE_OR_PAIRED, planned
from attendo.markup.text_types import (
    Confidence,
    FindCorrections,
    TextRequest,
    TranslatedText,
    TranslateLines,
    no_confidence,
    no_corrections,
)
from attendo.markup.texts import translate_plan
from attendo.markup.units.bidi import with_control_codes, with_controls
from attendo.markup.units.code_text import KEY_SIGN, CodeText, code_text, tag_spans
from attendo.markup.units.directives import Directive, can_be_numbered, directives, numbered
from attendo.markup.units.quotation import with_quotation_marks
from attendo.markup.units.repairs import repaired
from attendo.terms.glossary import Glossary

_MASK = f"{KEY_SIGN} "
_MAX_CANDIDATES = 8


@dataclass(frozen=True, slots=True)
class Passage:
    """A content to translate, without accelerators."""

    source: Content
    flags: frozenset[str]
    """The flags of the unit, which determine its placeholders."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """A passage's translation."""

    text: Content
    problems: tuple[str, ...] = ()
    """Descriptions of lost content, or content kept only by a worse translation."""
    confidence: float | None = None
    """Confidence of the least certain sentence, between 0 and 1; None for a model without calibration."""
    terms: tuple[TermUse, ...] = ()
    """Outcomes of the glossary's terms."""
    matches: tuple[MemoryMatch, ...] = ()
    """The corrections used: one of the whole text, or those of some of its sentences, without a text to insert."""


class Passages:
    """Translates passages, equal ones only once.

    Args:
        translate: translates lines.
        source_language: its ISO 639-1 code.
        target_language: the code of the target, with its region if it has one.
        confidence: computes the confidence of a translation.
        candidates: translates lines into several candidates each, for units that limit the length; None if there is no
            choice.
        glossary: the glossary to use.
        corrections: finds corrections by people, which replace the model's translations.
    """

    def __init__(
        self,
        translate: TranslateLines,
        *,
        source_language: str,
        target_language: str,
        confidence: Confidence = no_confidence,
        candidates: TranslateLines | None = None,
        glossary: Glossary | None = None,
        corrections: FindCorrections = no_corrections,
    ) -> None:
        self._translate, self._confidence, self._candidates = translate, confidence, candidates
        self._glossary, self._corrections = glossary, corrections
        self.source_language, self.target_language = source_language, target_language
        self._drafts: dict[Passage, asyncio.Task[Draft]] = {}

    async def draft(self, passage: Passage) -> Draft:
        """Returns the translation of a passage.

        Raises:
            DataError: its placeholders cannot be kept.
        """
        task = self._drafts.get(passage)
        if task is None:
            task = self._drafts[passage] = asyncio.ensure_future(self._translated(passage))
        return await asyncio.shield(task)  # others may wait for it too

    async def stop(self) -> None:
        """Cancels the translations that are under way, and waits for their ends."""
        under_way = [task for task in self._drafts.values() if not task.done()]
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)

    async def others(self, passage: Passage) -> Sequence[Draft]:
        """Returns other translations of a passage, likelier ones first and the shortest last; none without candidates.

        Translations that do not keep its codes and placeholders are skipped.
        """
        if self._candidates is None:
            return ()
        masked = _masked(passage)
        found = await self._text_of(masked, self._candidates)
        if found is None:
            return ()
        layout, translated = found
        texts = dict.fromkeys((translated.text, *translated.alternatives, _shortest(translated)))
        drafts = (self._other(passage, masked, layout.content_of(text)) for text in texts)
        return [draft for draft in drafts if draft is not None]

    def _other(self, passage: Passage, masked: Content, written: Content) -> Draft | None:
        """Returns a translation as a draft; None if it does not keep its codes and placeholders."""
        kept, problems = with_codes_of(masked, written)
        text = None if problems else _unmasked(masked, with_quotation_marks(masked, kept), passage.flags)
        if text is None or not _has_the_same_arguments(passage, text):
            return None
        return Draft(text=repaired(passage.source, text, self.target_language))

    async def _translated(self, passage: Passage) -> Draft:
        corrected = await self._corrected(passage)
        if corrected is not None:
            return corrected
        masked = _masked(passage)
        found = await self._as_text(masked)
        if found is None:
            return Draft(text=passage.source)
        text = _unmasked(masked, with_quotation_marks(masked, found.text), passage.flags)
        problem = ""
        if text is None or not _has_the_same_arguments(passage, text):
            problem = "translated in pieces, so that placeholders keep their order"
        elif not _has_words(found.text):
            problem = "translated in pieces, because no words were left"
        if text is None or problem:
            found = await self._in_pieces(passage, masked, problem)
            text = _unmasked(masked, found.text, passage.flags)
            assert text is not None, "pieces keep the order"
        return replace(found, text=repaired(passage.source, text, self.target_language))

    async def _corrected(self, passage: Passage) -> Draft | None:
        """A passage's correction; None without one, if the passage has codes, or if its placeholders differ."""
        if self._corrections is no_corrections or any(isinstance(part, Code) for part in passage.source):
            return None
        text = plain(passage.source)
        core = text.strip()
        translation = (await self._corrections([core])).get(core)
        if translation is None:
            return None
        start = text.index(core)
        draft = content(text[:start] + translation + text[start + len(core) :])
        if not _has_the_same_arguments(passage, draft):
            return None
        return Draft(text=draft, matches=(_match(core, translation, translation),))

    async def _as_text(self, masked: Content) -> Draft | None:
        """Translates a content whose placeholders are codes; returns None if there is nothing to translate."""
        found = await self._text_of(masked, self._translate)
        if found is None:
            return None
        layout, translated = found
        text, problems = with_codes_of(masked, layout.content_of(translated.text))
        sure = [segment.confidence for segment in translated.segments if segment.confidence is not None]
        return Draft(
            text=text,
            problems=(*(layout.message(problem) for problem in translated.problems), *problems),
            confidence=min(sure, default=None),
            terms=translated.terms,
            matches=tuple(
                _match(segment.source.text, segment.target.text)
                for segment in translated.segments
                if segment.is_corrected
            ),
        )

    async def _text_of(self, masked: Content, translate: TranslateLines) -> tuple[CodeText, TranslatedText] | None:
        """A content laid out as a source, and its translation; None if there is nothing to translate."""
        layout = code_text(masked)
        request = TextRequest(
            text=layout.text,
            n_best=1 if translate is self._translate else _MAX_CANDIDATES,
            source_language=self.source_language,
            target_language=self.target_language.replace("_", "-").partition("-")[0],
            glossary=self._glossary,
        )
        plan = planned(request, layout.contents(), Plain())
        if not any(sentence.has_words for sentence in plan.sentences):
            return None
        return layout, await translate_plan(
            request, plan, translate, confidence=self._confidence, corrections=self._corrections
        )

    async def _in_pieces(self, passage: Passage, masked: Content, problem: str) -> Draft:
        """Translates the text between codes and placeholders, each stretch separately, in the source's order.

        A stretch whose translation has no words stays unchanged.
        """
        parts: list[str | Code] = []
        drafts: list[Draft] = []
        for part in masked:
            # Half of a pair of quotation marks or brackets is no text of its own.
            core = part.strip(WHITE_OR_PAIRED) if isinstance(part, str) else ""
            if isinstance(part, Code) or not any(map(str.isalpha, core)):
                parts.append(part)
                continue
            draft = await self._as_text((core,))
            if draft is None or not _has_words(draft.text):
                draft = Draft(text=(core,))
            drafts.append(draft)
            at = part.index(core)
            if arguments(plain(draft.text), passage.flags) != arguments(core, passage.flags):
                raise DataError(f"the model writes placeholders into {core[:60]!r}; the text is left unchanged")
            parts += [part[:at], *draft.text, part[at + len(core) :]]
        sure = [draft.confidence for draft in drafts if draft.confidence is not None]
        return Draft(
            text=joined(parts),
            problems=(problem, *(one for draft in drafts for one in draft.problems)),
            confidence=min(sure, default=None),
            terms=tuple(use for draft in drafts for use in draft.terms),
            matches=tuple(match for draft in drafts for match in draft.matches),
        )


class _Stretches:
    """Stretches of a text; overlapping stretches are joined.

    Args:
        stretches: start and end of each.
    """

    def __init__(self, stretches: Iterable[tuple[int, int]]) -> None:
        self._merged: list[tuple[int, int]] = []
        for start, stop in sorted(stretches):
            if self._merged and start < self._merged[-1][1]:
                first, last = self._merged.pop()
                start, stop = first, max(last, stop)
            self._merged.append((start, stop))

    def hold(self, start: int, stop: int) -> bool:
        """Whether another stretch is within one of them."""
        place = bisect_right(self._merged, (start, maxsize)) - 1
        return place >= 0 and stop <= self._merged[place][1]


def _has_words(text: Content) -> bool:
    return any(map(str.isalpha, plain(text)))


def _match(source: str, target: str, text: str = "") -> MemoryMatch:
    """A correction as a match of a translation memory; without a text to insert if it is for only a part."""
    return MemoryMatch(kind="exact", score=100, source=source, target=target, text=text)


def _masked(passage: Passage) -> Content:
    """Returns a passage's content with placeholders and controls of the writing direction as codes."""
    parts: list[str | Code] = []
    count = 0
    for part in passage.source:
        if isinstance(part, Code):
            parts.append(part)
            continue
        position, tags = 0, _Stretches(tag_spans(part))
        for directive in _with_per_cent(directives(part, passage.flags)):
            if tags.hold(directive.start, directive.stop):
                continue
            count += 1
            # Whether its position matters is part of its name, since later only the code is left of it.
            kind = "positional" if directive.is_positional else "named"
            start, stop = with_controls(part, directive.start, directive.stop)
            start = max(start, position)
            parts += [part[position:start], Code(id=f"{_MASK}{kind} {count}", raw=part[start:stop])]
            position = stop
        parts.append(part[position:])
    return with_control_codes(joined(parts), _MASK)


def _with_per_cent(found: Iterable[Directive]) -> list[Directive]:
    """Returns placeholders, each including a per cent sign directly after it."""
    whole: list[Directive] = []
    for directive in found:
        last = whole[-1] if whole else None
        if directive.raw == "%%" and last is not None and last.stop == directive.start:
            whole[-1] = Directive(last.start, directive.stop, last.raw + directive.raw)
        else:
            whole.append(directive)
    return whole


def _unmasked(masked: Content, translation: Content, flags: frozenset[str]) -> Content | None:
    """A translation with its placeholders as text; numbered if their order has changed, None if it must not."""
    wanted = _positional(masked)
    order = _positional(translation)
    numbers = {} if order == wanted else {code.id: number for number, code in enumerate(wanted, start=1)}
    # A placeholder in a tag counts too, and stays unchanged.
    others = any(one.is_positional for part in masked if isinstance(part, str) for one in directives(part, flags))
    if numbers and (not can_be_numbered(flags) or others or any("*" in code.raw for code in wanted)):
        return None
    parts: list[str | Code] = []
    for part in translation:
        if isinstance(part, Code) and part.id.startswith(_MASK):
            number = numbers.get(part.id)
            place = part.raw.find("%")  # after controls of the writing direction
            parts.append(part.raw if number is None else part.raw[:place] + numbered(part.raw[place:], number))
        else:
            parts.append(part)
    return joined(parts)


def _shortest(translated: TranslatedText) -> str:
    """Returns a translation with the shortest candidate of each sentence."""
    pieces, last = [], 0
    for segment in translated.segments:
        texts = (segment.target.text, *(other.text for other in segment.alternatives))
        pieces += [translated.text[last : segment.target.start], min(texts, key=len)]
        last = segment.target.end
    return "".join([*pieces, translated.text[last:]])


def _positional(parts: Content) -> Sequence[Code]:
    return [part for part in parts if isinstance(part, Code) and part.id.startswith(f"{_MASK}positional")]


def _has_the_same_arguments(passage: Passage, text: Content) -> bool:
    """Whether a translation's placeholders, read again, are those of the source."""
    return arguments(plain(passage.source), passage.flags) == arguments(plain(text), passage.flags)
