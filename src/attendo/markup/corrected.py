"""Corrections: translations by people that replace those of the model.

A correction is used for exactly the same text: for a whole text, or for one of its sentences. In HTML and XML entities
are decoded first, and encoded again as in the source; for a stretch with tags the correction must have the same tags.
"""

import html
import re
from collections.abc import Mapping, Sequence

from attendo.markup.entities import SPECIAL, Spelling
from attendo.markup.sentences import Plan, Sentence
from attendo.markup.text_types import FindCorrections, Segment, Span, TextRequest, TranslatedText, no_corrections

_TAG = re.compile(r"<[^<>]*>")


async def corrections_of(request: TextRequest, plan: Plan, corrections: FindCorrections) -> Mapping[str, str]:
    """Returns the corrections of a text and of its sentences, by source; empty if several translations are requested.

    Args:
        request: the text.
        plan: its sentences.
        corrections: the function that finds the caller's corrections.
    """
    if corrections is no_corrections or request.n_best > 1:
        return {}
    stretches = [request.text.strip(), *(request.text[each.start : each.end] for each in plan.sentences)]
    return await corrections([_read(stretch, request) for stretch in stretches])


def corrected_sentence(
    sentence: Sentence, request: TextRequest, spelling: Spelling, known: Mapping[str, str]
) -> str | None:
    """Returns the correction of a sentence in the form for the translated text; None if there is none.

    Args:
        sentence: the sentence.
        request: the text that contains it.
        spelling: the spelling of its characters.
        known: the corrections from `corrections_of`.
    """
    return _written(request.text[sentence.start : sentence.end], request, spelling, known) if known else None


def corrected_text(request: TextRequest, spelling: Spelling, known: Mapping[str, str]) -> TranslatedText | None:
    """Returns the correction of a whole text; None if there is none. White space at its ends stays.

    Args:
        request: the text.
        spelling: the spelling of its characters.
        known: the corrections from `corrections_of`.
    """
    text, core = request.text, request.text.strip()
    translation = _written(core, request, spelling, known) if known and core else None
    if translation is None:
        return None
    start = text.index(core)
    segment = Segment(
        source=Span(start=start, end=start + len(core), text=core),
        target=Span(start=start, end=start + len(translation), text=translation),
        confidence=None,
        score=0.0,
        log_prob=0.0,
        is_corrected=True,
    )
    whole = text[:start] + translation + text[start + len(core) :]
    return TranslatedText(text=whole, alternatives=(), segments=(segment,), problems=())


def _read(stretch: str, request: TextRequest) -> str:
    """Returns a stretch of a text in the form that corrections have."""
    return stretch if request.format == "text" or "<" in stretch else html.unescape(stretch)


def _written(stretch: str, request: TextRequest, spelling: Spelling, known: Mapping[str, str]) -> str | None:
    translation = known.get(_read(stretch, request))
    if translation is None or request.format == "text":
        return translation
    if "<" in stretch:
        return translation if _tags(stretch) == _tags(translation) else None
    return SPECIAL.sub(
        lambda found: spelling.written(found[0], translation[found.end() : found.end() + 1]), translation
    )


def _tags(text: str) -> Sequence[str]:
    return sorted(_TAG.findall(text))
