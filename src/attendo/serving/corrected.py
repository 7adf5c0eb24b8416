"""Translated texts in which corrections stand: a whole text that was corrected, or some of its sentences."""

from collections.abc import Mapping
from dataclasses import replace

from attendo.markup.text_types import Segment, Span, TranslatedText


def corrected_text(text: str, translation: str) -> TranslatedText:
    """The answer to a text that was corrected as a whole; white space at its ends stays."""
    core = text.strip()
    start = text.index(core)
    whole = text[:start] + translation + text[start + len(core) :]
    segment = Segment(
        source=Span(start=start, end=start + len(core), text=core),
        target=Span(start=start, end=start + len(translation), text=translation),
        confidence=None,
        score=0.0,
        log_prob=0.0,
        is_corrected=True,
    )
    return TranslatedText(text=whole, alternatives=(), segments=(segment,), problems=())


def with_corrections(translated: TranslatedText, corrections: Mapping[str, str]) -> TranslatedText:
    """A text with the corrections of its sentences in the place of the model's translations.

    Args:
        translated: as the model has it.
        corrections: translations by source.
    """
    if not any(segment.source.text.strip() in corrections for segment in translated.segments):
        return translated
    text, moved, segments = translated.text, 0, []
    for segment in translated.segments:
        start, end = segment.target.start + moved, segment.target.end + moved
        wanted = corrections.get(segment.source.text.strip())
        if wanted is None:
            segments.append(_moved(segment, moved))
            continue
        text = text[:start] + wanted + text[end:]
        moved += len(wanted) - (end - start)
        target = Span(start=start, end=start + len(wanted), text=wanted)
        segments.append(
            Segment(source=segment.source, target=target, confidence=None, score=0.0, log_prob=0.0, is_corrected=True)
        )
    problems = tuple(problem for segment in segments for problem in segment.problems)
    kept = tuple(
        problem for problem in translated.problems if problem in problems or not _of_segment(translated, problem)
    )
    return replace(translated, text=text, alternatives=(), segments=tuple(segments), problems=kept)


def _moved(segment: Segment, by: int) -> Segment:
    """A segment whose translation stands further on."""
    target = replace(segment.target, start=segment.target.start + by, end=segment.target.end + by)
    links = tuple(replace(link, target=(link.target[0] + by, link.target[1] + by)) for link in segment.links)
    return replace(segment, target=target, links=links)


def _of_segment(translated: TranslatedText, problem: str) -> bool:
    return any(problem in segment.problems for segment in translated.segments)
