"""A text in, its translation out, everything that is no language carried over: the way of every API and document.

plan_of        what of the text can be translated, cut into sentences
corrected      what a person has settled on, for all of it or for sentences
attempts       each sentence translated and looked at; what was lost is tried in another way
rendering      things restored, tags put in by word alignment
translate_text the sentences' translations between what is not translated
"""

import asyncio
from collections.abc import AsyncIterator, Sequence

from attendo.markup.attempts import Attempts, Made
from attendo.markup.corrected import corrected_text, corrections_of
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
_LONG = 5_000
"""Characters of a text that is cut up in another thread, so that others are answered meanwhile."""


async def translate_text(
    request: TextRequest,
    translate: TranslateLines,
    *,
    confidence: Confidence = no_confidence,
    corrections: FindCorrections = no_corrections,
) -> TranslatedText:
    """Translates a text.

    Args:
        request: the text, and how it is written.
        translate: what translates lines.
        confidence: how sure a translation is.
        corrections: finds what answers in the model's place.

    Raises:
        ServingError: whatever `translate` raises.
    """
    plan = await _planned(request)
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
        request: the text, and how it is written.
        plan: its sentences.
        translate: what translates lines.
        confidence: how sure a translation is.
        corrections: finds what answers in the model's place.

    Raises:
        ServingError: whatever `translate` raises.
    """
    known = await corrections_of(request, plan, corrections)
    if (corrected := corrected_text(request, plan.spelling, known)) is not None:
        return corrected
    made = await Attempts(request, plan.spelling, translate, confidence, known).made(plan.sentences)
    growing = _Growing(request, plan)
    for each in made:
        growing.add(each)
    return growing.whole()


async def stream_text(
    request: TextRequest,
    translate: TranslateLines,
    *,
    confidence: Confidence = no_confidence,
    corrections: FindCorrections = no_corrections,
) -> AsyncIterator[Segment | TranslatedText]:
    """Translates a text segment by segment: each as soon as it and those before it are there, then the whole.

    Args:
        request: the text, and how it is written.
        translate: what translates lines.
        confidence: how sure a translation is.
        corrections: finds what answers in the model's place.

    Raises:
        ServingError: whatever `translate` raises.
    """
    plan = await _planned(request)
    known = await corrections_of(request, plan, corrections)
    if (corrected := corrected_text(request, plan.spelling, known)) is not None:
        yield corrected.segments[0]
        yield corrected
        return
    attempts = Attempts(request, plan.spelling, translate, confidence, known)
    growing = _Growing(request, plan)
    groups = _groups(len(plan.sentences))
    tasks: list[asyncio.Task[list[Made]]] = []
    try:
        for number in range(len(groups)):
            while len(tasks) < min(len(groups), number + _GROUPS_AT_A_TIME):
                group = plan.sentences[groups[len(tasks)]]
                tasks.append(asyncio.create_task(attempts.made(group)))
            for each in await tasks[number]:
                yield growing.add(each)
        yield growing.whole()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _planned(request: TextRequest) -> Plan:
    if len(request.text) < _LONG:
        return plan_of(request)
    return await asyncio.to_thread(plan_of, request)


def _groups(count: int) -> list[slice]:
    """Sentences translated together: the first alone, so that it is there soon, then more and more."""
    groups, start, size = [], 0, _FIRST_GROUP
    while start < count:
        groups.append(slice(start, start + size))
        start += size
        size = min(2 * size, _LARGEST_GROUP)
    return groups


class _Growing:
    """A translation, sentence by sentence."""

    def __init__(self, request: TextRequest, plan: Plan) -> None:
        self._request, self._plan = request, plan
        self._best: list[str] = []
        self._length = self._position = 0
        self._segments: list[Segment] = []
        self._others: list[list[str]] = [[] for _ in range(request.n_best - 1)]

    def add(self, made: Made) -> Segment:
        """Takes the next sentence's translation in, and gives its segment."""
        sentence = self._plan.sentences[len(self._segments)]
        self._verbatim(sentence.start)
        start = self._length
        source = Span(start=sentence.start, end=sentence.end, text=self._request.text[sentence.start : sentence.end])
        segment = Segment(
            source=source,
            target=Span(start=start, end=start + len(made.text), text=made.text),
            confidence=made.confidence,
            score=made.score,
            log_prob=made.log_prob,
            alternatives=made.alternatives,
            links=tuple(Link(source=here, target=(there[0] + start, there[1] + start)) for here, there in made.links),
            problems=made.problems,
            terms=made.terms,
            is_corrected=made.is_corrected,
        )
        self._append(made.text, made.alternatives)
        self._position = sentence.end
        self._segments.append(segment)
        return segment

    def whole(self) -> TranslatedText:
        """All of it."""
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
