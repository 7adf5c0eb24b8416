"""What a server answers, as dataclasses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from attendo.errors import AttendoError


class ServerError(AttendoError):
    """A server that has refused a request, or could not be reached.

    Args:
        message: for people.
        code: for programs, as `too-large`; `unreachable` where no server answered.
        status: of HTTP; None where no server answered.
        retry_after_s: when the server wants to be asked again; None where it does not say.
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
    """Its first character's place, from 0."""
    end: int
    """The place behind its last character."""
    text: str
    """It."""


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """Another translation of a segment."""

    text: str
    """It."""
    score: float | None
    """Log-probability over the length penalty."""
    confidence: float | None
    """Between 0 and 1; None where the model was not calibrated."""


@dataclass(frozen=True, kw_only=True)
class WordLink:
    """A word of the source and one of the translation that belong together."""

    source: tuple[int, int]
    """Where it begins and ends in the whole source."""
    target: tuple[int, int]
    """Where it begins and ends in the whole translation."""


@dataclass(frozen=True, kw_only=True)
class TranslatedSegment:
    """What was translated at a time, usually a sentence."""

    source: TextSpan
    """In the source."""
    target: TextSpan
    """In the translation."""
    confidence: float | None
    """Between 0 and 1; None where the model was not calibrated."""
    score: float | None
    """Log-probability over the length penalty."""
    log_prob: float | None
    """Of the translation."""
    alternatives: tuple[Alternative, ...]
    """The next best."""
    links: tuple[WordLink, ...]
    """Word by word, where `alignment` was asked for."""
    problems: tuple[str, ...]
    """What of the source could not be kept."""


@dataclass(frozen=True, kw_only=True)
class ServedTranslation:
    """A text's translation."""

    text: str
    """It."""
    source: str
    """The code of the language it was in."""
    target: str
    """The code of the language it is in now."""
    model: str
    """The name of the model that did it."""
    detected: float | None
    """How sure the source's language is, between 0 and 1, where it was detected; None where it was given."""
    confidence: float | None
    """Between 0 and 1; None where the model was not calibrated."""
    alternatives: tuple[str, ...]
    """The next best."""
    segments: tuple[TranslatedSegment, ...]
    """Sentence by sentence."""
    problems: tuple[str, ...]
    """What of the source could not be kept."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, kw_only=True)
class DetectedLanguage:
    """A language that a text may be in."""

    language: str
    """Its code."""
    confidence: float
    """Between 0 and 1."""


@dataclass(frozen=True, kw_only=True)
class ServedModel:
    """A model that is served."""

    name: str
    """What requests call it."""
    task: str
    """`translate` or `parse`."""
    source: str
    """The code of the source's language."""
    target: str
    """The code of the target's language; of a parser its own word."""


@dataclass(frozen=True, kw_only=True)
class ServedTree:
    """A parsed sentence."""

    words: tuple[str, ...]
    """Its words."""
    tree: str | None
    """In brackets; None where it could not be parsed."""
    score: float | None
    """Log-probability over the length penalty."""
    problem: str | None
    """Why it could not be parsed, or what had to be mended."""


@dataclass(frozen=True, kw_only=True)
class DocumentState:
    """How far a document is."""

    id: str
    """What it is asked for by."""
    name: str
    """Of the translated file."""
    status: Literal["queued", "translating", "done", "error"]
    """Where it is."""
    progress: float
    """0 to 1."""
    message: str
    """What went wrong."""
    problems: tuple[str, ...]
    """What could not be kept."""


def translations_of(answer: Mapping[str, Any]) -> list[ServedTranslation]:
    """The translations of an answer of `/api/translate`."""
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
    """A segment of an answer of `/api/translate`."""
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
    )


def detected_of(answer: Mapping[str, Any]) -> list[DetectedLanguage]:
    """The languages of an answer of `/api/detect`."""
    return [DetectedLanguage(language=each["language"], confidence=each["confidence"]) for each in answer["detected"]]


def models_of(answer: Mapping[str, Any]) -> list[ServedModel]:
    """The models of an answer of `/api/models`."""
    return [
        ServedModel(name=each["name"], task=each["task"], source=each["source"], target=each["target"])
        for each in answer["models"]
    ]


def trees_of(answer: Mapping[str, Any]) -> list[ServedTree]:
    """The trees of an answer of `/api/parse`."""
    return [
        ServedTree(words=tuple(each["words"]), tree=each["tree"], score=each.get("score"), problem=each.get("problem"))
        for each in answer["trees"]
    ]


def document_of(answer: Mapping[str, Any]) -> DocumentState:
    """The state of an answer of `/api/documents`."""
    return DocumentState(
        id=answer["id"],
        name=answer["name"],
        status=answer["status"],
        progress=answer["progress"],
        message=answer.get("message") or "",
        problems=tuple(answer.get("problems", ())),
    )


def _pair(values: Sequence[int]) -> tuple[int, int]:
    first, second = values
    return first, second
