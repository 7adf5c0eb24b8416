"""Passages: contents translated as running text, each once, with every code and placeholder in it exactly once."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from attendo.errors import DataError
from attendo.formats.contents import Code, Content, joined, plain, with_codes_of
from attendo.markup.checks.placeholders import arguments
from attendo.markup.entities import Plain
from attendo.markup.sentences import planned
from attendo.markup.text_types import Confidence, TextRequest, TranslateLines, no_confidence
from attendo.markup.texts import translate_plan
from attendo.markup.units.code_text import KEY_SIGN, code_text, tag_spans
from attendo.markup.units.directives import can_be_numbered, directives, numbered
from attendo.markup.units.repairs import repaired

_MASK = f"{KEY_SIGN} "


@dataclass(frozen=True, slots=True)
class Passage:
    """A content to translate, without accelerators."""

    source: Content
    flags: frozenset[str]
    """Of its unit, which decide on what is a placeholder."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """A passage's translation."""

    text: Content
    problems: tuple[str, ...] = ()
    """What could not be kept, or only by translating worse."""
    confidence: float | None = None
    """How sure its least sure sentence is, between 0 and 1; None where the model has no calibration."""


class Passages:
    """Translates passages; those that are equal once.

    Args:
        translate: what translates lines.
        source_language: its ISO 639-1 code.
        target_language: the code of the target, with its region if it has one.
        confidence: how sure a translation is.
    """

    def __init__(
        self,
        translate: TranslateLines,
        *,
        source_language: str,
        target_language: str,
        confidence: Confidence = no_confidence,
    ) -> None:
        self._translate, self._confidence = translate, confidence
        self._source_language, self.target_language = source_language, target_language
        self._drafts: dict[Passage, asyncio.Task[Draft]] = {}

    async def draft(self, passage: Passage) -> Draft:
        """The translation of a passage.

        Raises:
            DataError: its placeholders cannot be kept.
        """
        task = self._drafts.get(passage)
        if task is None:
            task = self._drafts[passage] = asyncio.ensure_future(self._translated(passage))
        return await asyncio.shield(task)  # others may wait for it too

    async def _translated(self, passage: Passage) -> Draft:
        masked = _masked(passage)
        found = await self._as_text(masked)
        if found is None:
            return Draft(text=passage.source)
        text = _unmasked(masked, found.text, passage.flags)
        if text is None or not _has_the_same_arguments(passage, text):
            found = await self._in_pieces(passage, masked)
            text = _unmasked(masked, found.text, passage.flags)
            assert text is not None, "pieces keep the order"
        return replace(found, text=repaired(passage.source, text, self.target_language))

    async def _as_text(self, masked: Content) -> Draft | None:
        """The translation of a content whose placeholders are codes; None where there is nothing to translate."""
        layout = code_text(masked)
        request = TextRequest(
            text=layout.text,
            source_language=self._source_language,
            target_language=self.target_language.replace("_", "-").partition("-")[0],
        )
        plan = planned(request, layout.contents(), Plain())
        if not any(sentence.has_words for sentence in plan.sentences):
            return None
        translated = await translate_plan(request, plan, self._translate, confidence=self._confidence)
        text, problems = with_codes_of(masked, layout.content_of(translated.text))
        sure = [segment.confidence for segment in translated.segments if segment.confidence is not None]
        return Draft(
            text=text,
            problems=(*(layout.message(problem) for problem in translated.problems), *problems),
            confidence=min(sure, default=None),
        )

    async def _in_pieces(self, passage: Passage, masked: Content) -> Draft:
        """The translation of what is between codes and placeholders, each stretch by itself, in the source's order."""
        parts: list[str | Code] = []
        drafts: list[Draft] = []
        for part in masked:
            core = part.strip() if isinstance(part, str) else ""
            if isinstance(part, Code) or not any(map(str.isalpha, core)):
                parts.append(part)
                continue
            draft = await self._as_text((core,)) or Draft(text=(core,))
            drafts.append(draft)
            at = part.index(core)
            if arguments(plain(draft.text), passage.flags) != arguments(core, passage.flags):
                raise DataError(f"the model writes placeholders into {core[:60]!r}; the text is left as it was")
            parts += [part[:at], *draft.text, part[at + len(core) :]]
        sure = [draft.confidence for draft in drafts if draft.confidence is not None]
        problems = [problem for draft in drafts for problem in draft.problems]
        return Draft(
            text=joined(parts),
            problems=("translated in pieces, so that placeholders keep their order", *problems),
            confidence=min(sure, default=None),
        )


def _masked(passage: Passage) -> Content:
    """A passage's content, each placeholder a code."""
    parts: list[str | Code] = []
    count = 0
    for part in passage.source:
        if isinstance(part, Code):
            parts.append(part)
            continue
        position, tags = 0, tag_spans(part)
        for one in directives(part, passage.flags):
            if any(start <= one.start and one.stop <= stop for start, stop in tags):
                continue
            count += 1
            # Whether its place counts is part of its name, since all that is left of it later is the code.
            kind = "positional" if one.is_positional else "named"
            parts += [part[position : one.start], Code(id=f"{_MASK}{kind} {count}", raw=one.raw)]
            position = one.stop
        parts.append(part[position:])
    return joined(parts)


def _unmasked(masked: Content, translation: Content, flags: frozenset[str]) -> Content | None:
    """A translation with its placeholders as text; numbered where their order has changed, None where it must not."""
    wanted = _positional(masked)
    order = _positional(translation)
    numbers = {} if order == wanted else {code.id: number for number, code in enumerate(wanted, start=1)}
    # A placeholder in a tag counts too, and stays as it is.
    others = any(one.is_positional for part in masked if isinstance(part, str) for one in directives(part, flags))
    if numbers and (not can_be_numbered(flags) or others or any("*" in code.raw for code in wanted)):
        return None
    parts: list[str | Code] = []
    for part in translation:
        if isinstance(part, Code) and part.id.startswith(_MASK):
            parts.append(numbered(part.raw, numbers[part.id]) if part.id in numbers else part.raw)
        else:
            parts.append(part)
    return joined(parts)


def _positional(parts: Content) -> Sequence[Code]:
    return [part for part in parts if isinstance(part, Code) and part.id.startswith(f"{_MASK}positional")]


def _has_the_same_arguments(passage: Passage, text: Content) -> bool:
    """Says whether a translation's placeholders, read anew, are those of the source."""
    return arguments(plain(passage.source), passage.flags) == arguments(plain(text), passage.flags)
