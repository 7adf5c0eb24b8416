"""The interface of the text pipeline: a text of some format in, its translation by segments out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from attendo.decoding.constraints.line_constraints import Constraints
from attendo.decoding.constraints.terminology import TermUse
from attendo.decoding.lines.alignment import Alignment
from attendo.decoding.lines.translation import Candidate, Translation
from attendo.markup.text_format import Format, LineEnds, Split
from attendo.terms.glossary import Glossary


@dataclass(frozen=True, kw_only=True)
class TextRequest:
    """A text to translate."""

    text: str
    """Unicode text without lone surrogates."""
    format: Format = "text"
    """Format of the text."""
    split: Split = "sentences"
    """Unit of translation."""
    line_ends: LineEnds = "auto"
    """Meaning of a line end."""
    ignore_tags: tuple[str, ...] = ()
    """Elements of HTML or XML whose content is not translated."""
    splitting_tags: tuple[str, ...] = ()
    """Elements of HTML or XML that sentences end at, besides those that are known for it."""
    non_splitting_tags: tuple[str, ...] = ()
    """Elements of HTML or XML that are part of a sentence, overriding any other rule."""
    outline_detection: bool = True
    """Whether elements of XML that are among others, and not among words, count as blocks."""
    n_best: int = 1
    """Number of translations per segment, if the function that translates supports it."""
    alignment: bool = False
    """Whether to link the words of each segment."""
    source_language: str = ""
    """ISO 639-1 code of the source language, for numbers; empty if unknown."""
    target_language: str = ""
    """ISO 639-1 code of the target language; empty if unknown."""
    glossary: Glossary | None = None
    """The glossary."""


@dataclass(frozen=True, kw_only=True)
class Span:
    """A stretch of a text."""

    start: int
    """Position of its first character, from 0."""
    end: int
    """Position after its last character."""
    text: str
    """The text, markup included."""


@dataclass(frozen=True, kw_only=True)
class Link:
    """An aligned pair of words."""

    source: tuple[int, int]
    """Start and end in the whole source."""
    target: tuple[int, int]
    """Start and end in the whole translation."""


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """Another translation of a segment."""

    text: str
    """The text, markup included."""
    score: float
    """Log-probability over the length penalty."""
    confidence: float | None
    """Confidence between 0 and 1; None for a model without calibration."""


@dataclass(frozen=True, kw_only=True)
class Segment:
    """A unit of translation, usually a sentence, with its translation."""

    source: Span
    """The segment's span in the request's text."""
    target: Span
    """The span of its translation in the translated text."""
    confidence: float | None
    """Confidence of the translation between 0 and 1; None for a model without calibration."""
    score: float
    """Log-probability over the length penalty; 0 if the model has translated nothing."""
    log_prob: float
    """Log-probability of the translation; 0 if the model has translated nothing."""
    alternatives: tuple[Alternative, ...] = ()
    """The next best translations, in order."""
    links: tuple[Link, ...] = ()
    """Links of words, if requested."""
    problems: tuple[str, ...] = ()
    """Descriptions of lost content, or content kept only by a worse translation; one sentence each, for display."""
    terms: tuple[TermUse, ...] = ()
    """Outcomes of the glossary's terms that occur in it."""
    is_corrected: bool = False
    """Whether the translation is a correction that the caller sent before."""


@dataclass(frozen=True, kw_only=True)
class TranslatedText:
    """A text's translation."""

    text: str
    """The translation."""
    alternatives: tuple[str, ...]
    """The text with each segment's second best, third best and so on, its last where it has fewer."""
    segments: tuple[Segment, ...]
    """The segments in order."""
    problems: tuple[str, ...]
    """Problems of all segments and of the text itself."""

    @property
    def is_corrected(self) -> bool:
        """Whether all of it is corrections that the caller sent before."""
        return bool(self.segments) and all(segment.is_corrected for segment in self.segments)

    @property
    def terms(self) -> tuple[TermUse, ...]:
        """Outcomes of the glossary's terms, segment by segment."""
        return tuple(use for segment in self.segments for use in segment.terms)


@dataclass(frozen=True, kw_only=True)
class TranslatedLine:
    """A line and its translation."""

    translation: Translation
    """The translation with its n best; `translation.source` is the line."""
    alignments: tuple[Alignment, ...] = ()
    """Alignments of each candidate; empty unless requested."""


class Confidence(Protocol):
    """A confidence function."""

    def __call__(self, translation: Translation, candidate: Candidate) -> float | None:
        """Returns the confidence of a candidate between 0 and 1; None if it is unknown."""


class TranslateLines(Protocol):
    """Translates lines, each a sentence; usually a `Translating.translate` with its model, options and caller."""

    async def __call__(
        self, lines: Sequence[str], constraints: Sequence[Constraints] | None = None, *, alignment: bool = False
    ) -> list[TranslatedLine]:
        """Translates lines, in order; with an alignment per candidate if requested."""
        ...


class FindCorrections(Protocol):
    """Finds corrections by people."""

    async def __call__(self, texts: Sequence[str]) -> Mapping[str, str]:
        """Returns the corrections of texts: translations by source."""
        ...


async def no_corrections(texts: Sequence[str]) -> Mapping[str, str]:
    """Returns no corrections."""
    del texts
    return {}


def no_confidence(translation: Translation, candidate: Candidate) -> float | None:
    """Returns None, for models without calibration."""
    del translation, candidate
    return None
