"""Responses of a server as dataclasses, and functions that read them from JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from attendo.decoding.constraints.terminology import Outcome, TermUse
from attendo.errors import AttendoError


class ServerError(AttendoError):
    """A server refused a request, or could not be reached.

    Args:
        message: the error for people.
        code: the error for programs, such as `too-large`; `unreachable` if no server answered.
        status: the HTTP status; None if no server answered.
        retry_after_s: seconds until the request may be repeated; None if the server does not say.
    """

    def __init__(
        self, message: str, *, code: str, status: int | None = None, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.code, self.status, self.retry_after_s = code, status, retry_after_s


@dataclass(frozen=True, kw_only=True)
class TextSpan:
    """A stretch of a text."""

    start: int
    """Position of its first character, from 0."""
    end: int
    """Position after its last character."""
    text: str
    """The characters of the span."""


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """Another translation of a segment."""

    text: str
    """The translation of the segment."""
    score: float | None
    """Log-probability divided by the length penalty."""
    confidence: float | None
    """Probability, between 0 and 1, that the translation is close to a human one; None if the model is not
    calibrated."""


@dataclass(frozen=True, kw_only=True)
class WordLink:
    """A word of the source and one of the translation that belong together."""

    source: tuple[int, int]
    """Start and end of the word in the whole source, in characters."""
    target: tuple[int, int]
    """Start and end of the word in the whole translation, in characters."""


@dataclass(frozen=True, kw_only=True)
class TranslatedSegment:
    """A separately translated part of a text, usually a sentence."""

    source: TextSpan
    """The segment in the source."""
    target: TextSpan
    """The span of the segment's translation in the translated text."""
    confidence: float | None
    """Probability, between 0 and 1, that the translation is close to a human one; None if the model is not
    calibrated."""
    score: float | None
    """Log-probability divided by the length penalty."""
    log_prob: float | None
    """Natural logarithm of the translation's probability."""
    alternatives: tuple[Alternative, ...]
    """The next best translations."""
    links: tuple[WordLink, ...]
    """Links between words, if the request asked for `alignment`."""
    problems: tuple[str, ...]
    """Sentences that report content of the source that could not be kept."""
    terms: tuple[TermUse, ...]
    """The use of each term of the glossary that occurs in the segment."""


@dataclass(frozen=True, kw_only=True)
class ServedTranslation:
    """The translation of a text."""

    text: str
    """The translated text."""
    source: str
    """Code of the source language."""
    target: str
    """Code of the target language."""
    model: str
    """Name of the model that translated the text."""
    detected: float | None
    """Confidence of the detected source language, between 0 and 1; None if the request named the language."""
    confidence: float | None
    """Probability, between 0 and 1, that the translation is close to a human one; None if the model is not
    calibrated."""
    alternatives: tuple[str, ...]
    """The next best translations of the whole text."""
    segments: tuple[TranslatedSegment, ...]
    """The translated segments, in order."""
    problems: tuple[str, ...]
    """Sentences that report content of the source that could not be kept."""

    @property
    def terms(self) -> tuple[TermUse, ...]:
        """The use of each term of the glossary that occurs in the text, segment by segment."""
        return tuple(use for segment in self.segments for use in segment.terms)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, kw_only=True)
class DetectedLanguage:
    """A language that a text may be in."""

    language: str
    """Code of the language."""
    confidence: float
    """Probability of the language, between 0 and 1."""


@dataclass(frozen=True, kw_only=True)
class ServedModel:
    """A model that is served."""

    name: str
    """Name of the model in requests."""
    task: str
    """`translate` or `parse`."""
    source: str
    """Code of the source language."""
    target: str
    """Code of the target language; for a parser, a name for its trees."""


@dataclass(frozen=True, kw_only=True)
class ServedTree:
    """A parsed sentence."""

    words: tuple[str, ...]
    """The words of the sentence."""
    tree: str | None
    """The tree in brackets; None if the sentence could not be parsed."""
    score: float | None
    """Log-probability divided by the length penalty."""
    problem: str | None
    """Why the sentence could not be parsed, or what had to be repaired in its tree."""


@dataclass(frozen=True, kw_only=True)
class DocumentState:
    """The state of a document that the server translates."""

    id: str
    """The document's id in requests."""
    name: str
    """File name of the translated document."""
    status: Literal["queued", "translating", "done", "error"]
    """The stage of the translation."""
    progress: float
    """Translated part of the document, from 0 to 1."""
    message: str
    """The error, if the translation failed."""
    problems: tuple[str, ...]
    """Sentences that report content of the document that could not be kept."""
    terms: Mapping[Outcome, int]
    """Number of terms of the glossary by their outcome; empty until the document is done."""


def translations_of(answer: Mapping[str, Any]) -> list[ServedTranslation]:
    """Reads the translations from a response of `/api/translate`."""
    detected = answer.get("detected")
    return [
        ServedTranslation(
            text=each["text"],
            source=answer["source"],
            target=answer["target"],
            model=answer["model"],
            detected=detected["confidence"] if detected else None,
            confidence=each.get("confidence"),
            alternatives=tuple(each.get("alternatives", ())),
            segments=tuple(segment_of(segment) for segment in each.get("segments", ())),
            problems=tuple(each.get("problems", ())),
        )
        for each in answer["translations"]
    ]


def segment_of(segment: Mapping[str, Any]) -> TranslatedSegment:
    """Reads a segment from a response of `/api/translate`."""
    return TranslatedSegment(
        source=TextSpan(**segment["source"]),
        target=TextSpan(**segment["target"]),
        confidence=segment.get("confidence"),
        score=segment.get("score"),
        log_prob=segment.get("log_prob"),
        alternatives=tuple(
            Alternative(text=each["text"], score=each.get("score"), confidence=each.get("confidence"))
            for each in segment.get("alternatives", ())
        ),
        links=tuple(
            WordLink(source=_pair(each["source"]), target=_pair(each["target"]))
            for each in segment.get("alignment", ())
        ),
        problems=tuple(segment.get("problems", ())),
        terms=tuple(
            TermUse(source=use["source"], target=use["target"], outcome=use["outcome"], form=use.get("form", ""))
            for use in segment.get("terms", ())
        ),
    )


def detected_of(answer: Mapping[str, Any]) -> list[DetectedLanguage]:
    """Reads the languages from a response of `/api/detect`."""
    return [DetectedLanguage(language=each["language"], confidence=each["confidence"]) for each in answer["detected"]]


def models_of(answer: Mapping[str, Any]) -> list[ServedModel]:
    """Reads the models from a response of `/api/models`."""
    return [
        ServedModel(name=each["name"], task=each["task"], source=each["source"], target=each["target"])
        for each in answer["models"]
    ]


def trees_of(answer: Mapping[str, Any]) -> list[ServedTree]:
    """Reads the trees from a response of `/api/parse`."""
    return [
        ServedTree(words=tuple(each["words"]), tree=each["tree"], score=each.get("score"), problem=each.get("problem"))
        for each in answer["trees"]
    ]


def document_of(answer: Mapping[str, Any]) -> DocumentState:
    """Reads the state of a document from a response of `/api/documents`."""
    return DocumentState(
        id=answer["id"],
        name=answer["name"],
        status=answer["status"],
        progress=answer["progress"],
        message=answer.get("message") or "",
        problems=tuple(answer.get("problems", ())),
        terms=dict((answer.get("summary") or {}).get("terms", {})),
    )


def _pair(values: Sequence[int]) -> tuple[int, int]:
    first, second = values
    return first, second
