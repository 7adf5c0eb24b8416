"""Shared parts of the compatible APIs: callers, models, languages, several texts per request."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from starlette.requests import Request

from attendo.decoding.constraints.line_constraints import Constraints
from attendo.markup.text_types import TextRequest, TranslatedLine, TranslatedText, TranslateLines
from attendo.markup.texts import translate_text
from attendo.markup.together import gathered
from attendo.serving.core.text_loop import FromHere
from attendo.serving.languages.detection import Detector, LanguageGuess
from attendo.serving.service import Service
from attendo.serving.translating import Caller, Options, Pair

_FEW_WORDS = 4


def pair_of(pairs: Sequence[Pair], source: str, target: str) -> Pair | None:
    """Returns the first model for a pair of languages."""
    return next((pair for pair in pairs if pair.source == source and pair.target == target), None)


def line_translator(
    service: Service, pair: Pair, caller: Caller, *, options: Options | None = None, deadline: float | None = None
) -> TranslateLines:
    """Returns a function that translates lines for a caller.

    Args:
        service: the services of the server.
        pair: a served pair of languages.
        caller: the caller.
        options: the search options.
        deadline: a time of `time.monotonic()`; None for no deadline.
    """

    async def translate(
        lines: Sequence[str], constraints: Sequence[Constraints] | None = None, *, alignment: bool = False
    ) -> list[TranslatedLine]:
        return await service.translating.translate(
            pair, lines, options or Options(), caller, deadline=deadline, constraints=constraints, alignment=alignment
        )

    return translate


async def translated(
    service: Service, request: Request, caller: Caller, work: Sequence[tuple[Pair | None, TextRequest]]
) -> list[TranslatedText]:
    """Translates texts, all at once.

    Args:
        service: the services of the server.
        request: the HTTP request.
        caller: the caller, already admitted.
        work: texts, each with its model; None leaves a text unchanged. A text clearly in a language that is not served
            gets a problem.

    Raises:
        ServingError: any error of translating; all other work is then cancelled.
    """
    deadline = service.deadline()
    for pair, wanted in work:
        if pair is not None:
            request.state.model = pair.model
            service.metrics.characters.labels(pair.model).inc(len(wanted.text))

    async def one(pair: Pair | None, wanted: TextRequest, note: tuple[str, ...], from_here: FromHere) -> TranslatedText:
        if pair is None:
            return TranslatedText(text=wanted.text, alternatives=(), segments=(), problems=note)
        options = Options(n_best=wanted.n_best)
        lines = from_here(line_translator(service, pair, caller, options=options, deadline=deadline))
        found = await translate_text(wanted, lines, corrections=service.corrections.answering(caller, pair))
        return replace(found, problems=(*note, *found.problems))

    async def all_of_them(from_here: FromHere) -> list[TranslatedText]:
        notes = unserved_notes(service, [wanted for _, wanted in work])
        return await gathered([one(*each, note, from_here) for each, note in zip(work, notes, strict=True)])

    return await service.texts.work_on(sum(len(wanted.text) for _, wanted in work), all_of_them)


async def detected(service: Service, texts: Sequence[str]) -> list[LanguageGuess]:
    """Returns the likeliest language of each text."""
    return await service.in_thread(detected_of, service.detector, list(texts))


def detected_of(detector: Detector, texts: Sequence[str]) -> list[LanguageGuess]:
    """Returns the likeliest language of each text; a text of few words is taken to be in the others' language."""
    found = [detector.detect(text)[0] for text in texts]
    if len(texts) == 1:
        return found
    together = detector.detect("\n".join(texts))[0]
    return [
        together
        if each.confidence > 0 and len(text.split()) < _FEW_WORDS and together.confidence > each.confidence
        else each
        for each, text in zip(found, texts, strict=True)
    ]


def unserved_notes(service: Service, wanted: Sequence[TextRequest]) -> list[tuple[str, ...]]:
    """Returns the notes of `Detector.notes` for each text; for a short one that is faster than a thread switch."""
    return [service.detector.notes(each.text, each.target_language, each.source_language) for each in wanted]


def no_words(text: str) -> bool:
    """Whether a text has no letters, only spaces, digits, emoji and the like."""
    return not any(map(str.isalpha, text))


def problem_fields(found: Sequence[TranslatedText]) -> dict[str, Any]:
    """Returns the fields `problems` and `corrected` of an answer; empty if there is nothing to report.

    `problems` lists the content that each translation lost; `corrected` shows whether each consists of the caller's
    earlier corrections.
    """
    notes: dict[str, Any] = {}
    if any(each.problems for each in found):
        notes["problems"] = [list(each.problems) for each in found]
    if any(each.is_corrected for each in found):
        notes["corrected"] = [each.is_corrected for each in found]
    return notes
