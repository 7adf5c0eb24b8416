"""Translated texts as the JSON of our own API."""

import math
from dataclasses import asdict
from typing import Any

from attendo.markup.text_types import Segment, Span, TranslatedText

_DIGITS = 6


def number(value: float | None) -> float | None:
    """A number rounded to 6 decimals, or None for infinities and NaN, which JSON lacks."""
    return round(value, _DIGITS) if value is not None and math.isfinite(value) else None


def segment_json(segment: Segment) -> dict[str, Any]:
    """A segment."""
    return {
        "source": _span(segment.source),
        "target": _span(segment.target),
        "confidence": number(segment.confidence),
        "score": number(segment.score),
        "log_prob": number(segment.log_prob),
        "alternatives": [
            {"text": each.text, "score": number(each.score), "confidence": number(each.confidence)}
            for each in segment.alternatives
        ],
        "alignment": [{"source": list(each.source), "target": list(each.target)} for each in segment.links],
        "problems": list(segment.problems),
        "terms": [asdict(use) for use in segment.terms],
        "corrected": segment.is_corrected,
    }


def translation_json(translated: TranslatedText) -> dict[str, Any]:
    """A text."""
    return {
        "text": translated.text,
        "alternatives": list(translated.alternatives),
        "confidence": number(_confidence(translated)),
        "segments": [segment_json(each) for each in translated.segments],
        "problems": list(translated.problems),
    }


def _confidence(translated: TranslatedText) -> float | None:
    """Returns the mean confidence of the segments, weighted by length; None if none has one."""
    sure = [(each.confidence, max(1, len(each.source.text))) for each in translated.segments]
    known = [(confidence, length) for confidence, length in sure if confidence is not None]
    total = sum(length for _, length in known)
    return sum(confidence * length for confidence, length in known) / total if total else None


def _span(span: Span) -> dict[str, Any]:
    return {"start": span.start, "end": span.end, "text": span.text}
