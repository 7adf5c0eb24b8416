"""What the text pipeline takes and gives: a text of some format in, its translation by segments out."""

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
    """In Unicode, without lone surrogates."""
    format: Format = "text"
    """How it is written."""
    split: Split = "sentences"
    """What is read at a time."""
    line_ends: LineEnds = "auto"
    """What a line end in it is."""
    ignore_tags: tuple[str, ...] = ()
    """Elements of HTML or XML whose content is not translated."""
    splitting_tags: tuple[str, ...] = ()
    """Elements of HTML or XML that sentences end at, besides those that are known for it."""
    non_splitting_tags: tuple[str, ...] = ()
    """Elements of HTML or XML that are part of a sentence, whatever else is known of them."""
    outline_detection: bool = True
    """Whether elements of XML that stand among others, and not among words, are taken for blocks."""
    n_best: int = 1
    """Translations of each segment, where the function that translates gives so many."""
    alignment: bool = False
    """Whether the words of each segment are to be linked."""
    source_language: str = ""
    """Its ISO 639-1 code, for numbers; empty where not known."""
    target_language: str = ""
    """The translation's."""
    glossary: Glossary | None = None
    """How certain words are to be translated."""


@dataclass(frozen=True, kw_only=True)
class Span:
    """A stretch of a text."""

    start: int
    """Its first character's place, from 0."""
    end: int
    """The place behind its last character."""
    text: str
    """It, markup included."""


@dataclass(frozen=True, kw_only=True)
class Link:
    """A word of a source and a word of its translation that belong together."""

    source: tuple[int, int]
    """Where it begins and ends in the whole source."""
    target: tuple[int, int]
    """Where it begins and ends in the whole translation."""


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """Another translation of a segment."""

    text: str
    """It, markup included."""
    score: float
    """Log-probability over the length penalty."""
    confidence: float | None
    """Between 0 and 1; None where the model has no calibration."""


@dataclass(frozen=True, kw_only=True)
class Segment:
    """What was read at a time, usually a sentence, and its translation."""

    source: Span
    """In the text of the request."""
    target: Span
    """In the translated text."""
    confidence: float | None
    """How sure the translation is, between 0 and 1; None where the model has no calibration."""
    score: float
    """Log-probability over the length penalty; 0 where the model has translated nothing."""
    log_prob: float
    """Of the translation; 0 where the model has translated nothing."""
    alternatives: tuple[Alternative, ...] = ()
    """The next best, in their order."""
    links: tuple[Link, ...] = ()
    """Word by word, where asked for."""
    problems: tuple[str, ...] = ()
    """What could not be kept, or only by translating worse; a sentence each, for people."""
    terms: tuple[TermUse, ...] = ()
    """What became of the terms of the glossary that occur in it."""
    is_corrected: bool = False
    """Whether the translation is a correction that the caller sent before."""


@dataclass(frozen=True, kw_only=True)
class TranslatedText:
    """A text's translation."""

    text: str
    """It."""
    alternatives: tuple[str, ...]
    """The text with each segment's second best, third best and so on, its last where it has fewer."""
    segments: tuple[Segment, ...]
    """In their order."""
    problems: tuple[str, ...]
    """Those of all segments and of the text itself."""

    @property
    def is_corrected(self) -> bool:
        """Whether all of it is corrections that the caller sent before."""
        return bool(self.segments) and all(segment.is_corrected for segment in self.segments)

    @property
    def terms(self) -> tuple[TermUse, ...]:
        """What became of the terms of the glossary, segment by segment."""
        return tuple(use for segment in self.segments for use in segment.terms)


@dataclass(frozen=True, kw_only=True)
class TranslatedLine:
    """A line and what became of it."""

    translation: Translation
    """With its n best; `translation.source` is the line."""
    alignments: tuple[Alignment, ...] = ()
    """One a candidate; none unless asked for."""


class Confidence(Protocol):
    """How sure a translation is."""

    def __call__(self, translation: Translation, candidate: Candidate) -> float | None:
        """Between 0 and 1, of one of the translation's candidates; None where that is not known."""


class TranslateLines(Protocol):
    """Translates lines, each a sentence; usually a `Translating.translate` with its model, options and caller."""

    async def __call__(
        self, lines: Sequence[str], constraints: Sequence[Constraints] | None = None, *, alignment: bool = False
    ) -> list[TranslatedLine]:
        """One a line, in their order; with an alignment a candidate, where asked for."""
        ...


class FindCorrections(Protocol):
    """Finds translations that a person has settled on."""

    async def __call__(self, texts: Sequence[str]) -> Mapping[str, str]:
        """The corrections of those of the texts that have one: translations by source."""
        ...


async def no_corrections(texts: Sequence[str]) -> Mapping[str, str]:
    """Nobody has corrected anything."""
    del texts
    return {}


def no_confidence(translation: Translation, candidate: Candidate) -> float | None:
    """Nothing is known of any."""
    del translation, candidate
    return None
