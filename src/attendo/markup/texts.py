"""Translation of whole texts, with everything that is not language carried over: for every API and document.

plan_of              cuts the translatable parts of the text into sentences
corrected            finds a person's corrections, of the whole text or of sentences
sentence_translation translates each sentence and checks it; what was lost is retried in another way
rendering            restores protected text and puts in tags by word alignment
translate_text       joins the sentences' translations with the text between them
"""

import asyncio
from collections.abc import AsyncIterator, Sequence

from attendo.markup.corrected import corrected_text, corrections_of
from attendo.markup.sentence_translation import SentenceTranslation, SentenceTranslator
from attendo.markup.sentences import Plan, plan_of
from attendo.markup.text_types import (
    Alternative,
    Confidence,
    FindCorrections,
    Link,
    Segment,
    Span,
    TextRequest,
    TranslatedText,
    TranslateLines,
    no_confidence,
    no_corrections,
)

_FIRST_GROUP, _LARGEST_GROUP = 1, 32
_GROUPS_AT_A_TIME = 3


async def translate_text(
    request: TextRequest,
    translate: TranslateLines,
    *,
    confidence: Confidence = no_confidence,
    corrections: FindCorrections = no_corrections,
) -> TranslatedText:
    """Translates a text.

    Args:
        request: the text and its format.
        translate: translates lines.
        confidence: computes the confidence of a translation.
        corrections: finds corrections by people, which replace the model's translations.

    Raises:
        ServingError: any error of `translate`.
    """
    plan = plan_of(request)
    return await translate_plan(request, plan, translate, confidence=confidence, corrections=corrections)


async def translate_plan(
    request: TextRequest,
    plan: Plan,
    translate: TranslateLines,
    *,
    confidence: Confidence = no_confidence,
    corrections: FindCorrections = no_corrections,
) -> TranslatedText:
    """Translates a text that is cut into sentences.

    Args:
        request: the text and its format.
        plan: its sentences.
        translate: translates lines.
        confidence: computes the confidence of a translation.
        corrections: finds corrections by people, which replace the model's translations.

    Raises:
        ServingError: any error of `translate`.
    """
    known = await corrections_of(request, plan, corrections)
    if (corrected := corrected_text(request, plan.spelling, known)) is not None:
        return corrected
    translator = SentenceTranslator(request, plan.spelling, translate, confidence, known)
    text = _JoinedText(request, plan)
    for translation in await translator.translate(plan.sentences):
        text.add(translation)
    return text.whole()


async def stream_text(
    request: TextRequest,
    plan: Plan,
    translate: TranslateLines,
    *,
    confidence: Confidence = no_confidence,
    corrections: FindCorrections = no_corrections,
) -> AsyncIterator[Segment | TranslatedText]:
    """Translates a text segment by segment: yields each when it and those before it are ready, then the whole.

    Args:
        request: the text and its format.
        plan: its sentences.
        translate: translates lines.
        confidence: computes the confidence of a translation.
        corrections: finds corrections by people, which replace the model's translations.

    Raises:
        ServingError: any error of `translate`.
    """
    known = await corrections_of(request, plan, corrections)
    if (corrected := corrected_text(request, plan.spelling, known)) is not None:
        yield corrected.segments[0]
        yield corrected
        return
    translator = SentenceTranslator(request, plan.spelling, translate, confidence, known)
    text = _JoinedText(request, plan)
    groups = _groups(len(plan.sentences))
    tasks: list[asyncio.Task[list[SentenceTranslation]]] = []
    try:
        for number in range(len(groups)):
            while len(tasks) < min(len(groups), number + _GROUPS_AT_A_TIME):
                group = plan.sentences[groups[len(tasks)]]
                tasks.append(asyncio.create_task(translator.translate(group)))
            for translation in await tasks[number]:
                yield text.add(translation)
        yield text.whole()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _groups(count: int) -> list[slice]:
    """Groups of sentences that are translated together: the first alone, for an early answer, then larger ones."""
    groups, start, size = [], 0, _FIRST_GROUP
    while start < count:
        groups.append(slice(start, start + size))
        start += size
        size = min(2 * size, _LARGEST_GROUP)
    return groups


class _JoinedText:
    """A text's translation, joined from those of its sentences one by one."""

    def __init__(self, request: TextRequest, plan: Plan) -> None:
        self._request, self._plan = request, plan
        self._best: list[str] = []
        self._length = self._position = 0
        self._segments: list[Segment] = []
        self._others: list[list[str]] = [[] for _ in range(request.n_best - 1)]

    def add(self, translation: SentenceTranslation) -> Segment:
        """Appends the next sentence's translation, and returns its segment."""
        sentence = self._plan.sentences[len(self._segments)]
        self._verbatim(sentence.start)
        start = self._length
        source = Span(start=sentence.start, end=sentence.end, text=self._request.text[sentence.start : sentence.end])
        segment = Segment(
            source=source,
            target=Span(start=start, end=start + len(translation.text), text=translation.text),
            confidence=translation.confidence,
            score=translation.score,
            log_prob=translation.log_prob,
            alternatives=translation.alternatives,
            links=tuple(
                Link(source=source_span, target=(target_span[0] + start, target_span[1] + start))
                for source_span, target_span in translation.links
            ),
            problems=translation.problems,
            terms=translation.terms,
            is_corrected=translation.is_corrected,
        )
        self._append(translation.text, translation.alternatives)
        self._position = sentence.end
        self._segments.append(segment)
        return segment

    def whole(self) -> TranslatedText:
        """The whole translation."""
        self._verbatim(len(self._request.text))
        best = "".join(self._best)
        alternatives = dict.fromkeys("".join(texts) for texts in self._others)
        alternatives.pop(best, None)
        return TranslatedText(
            text=best,
            alternatives=tuple(alternatives),
            segments=tuple(self._segments),
            problems=tuple(
                dict.fromkeys(
                    (*self._plan.problems, *(problem for each in self._segments for problem in each.problems))
                )
            ),
        )

    def _verbatim(self, end: int) -> None:
        self._append(self._request.text[self._position : end], ())

    def _append(self, text: str, alternatives: Sequence[Alternative]) -> None:
        self._best.append(text)
        self._length += len(text)
        for number, texts in enumerate(self._others):
            texts.append([text, *(each.text for each in alternatives)][min(number + 1, len(alternatives))])
