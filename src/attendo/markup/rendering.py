"""Writes a sentence's translation into the text, with protected text, tags and the source's spelling."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from attendo.decoding.lines.alignment import Alignment
from attendo.decoding.lines.translation import Candidate, Translation
from attendo.markup.content import STAND_IN, Mark
from attendo.markup.entities import SPECIAL, Spelling
from attendo.markup.placement import PlacedMark, placed_marks
from attendo.markup.sentences import SYMBOL, Reading, Sentence, symbols_in
from attendo.markup.word_links import token_links, word_spans

_SYMBOL_OR_SPECIAL = re.compile(f"{SYMBOL.pattern}|{SPECIAL.pattern}")


@dataclass(frozen=True, slots=True)
class RenderedSentence:
    """A translation of a sentence."""

    text: str
    """The translated text."""
    links: tuple[tuple[tuple[int, int], tuple[int, int]], ...]
    """Pairs of stretches of the source and of this text whose words correspond."""
    problems: tuple[str, ...]
    """Problems of the translation."""


def has_all_symbols(reading: Reading, written: str) -> bool:
    """Whether a translation has each symbol of its line exactly once, and no other."""
    return sorted(symbols_in(written)) == sorted(symbol for symbol, _ in reading.symbols)


def rendered(
    sentence: Sentence,
    reading: Reading,
    translation: Translation,
    candidate: Candidate,
    alignment: Alignment | None,
    spelling: Spelling,
) -> RenderedSentence:
    """Renders one of a line's translations as text with markup.

    Args:
        sentence: the sentence that was translated.
        reading: the line made from it.
        translation: the result for the line.
        candidate: one of its translations, with all symbols.
        alignment: alignment of line and candidate; None if there is none.
        spelling: the spelling of characters in the source.
    """
    written = candidate.text
    placed: list[PlacedMark] = []
    problems: list[str] = []
    if reading.marks:
        links = token_links(reading.text, written, alignment, translation, candidate)
        placed, problems = placed_marks(reading.text, written, links, reading.marks)
    protected = {symbol: text.target for symbol, text in reading.symbols}
    text = _Text(written, protected, spelling)
    for mark in placed:
        text.add(mark.at, mark.mark)
    text.finish()
    return RenderedSentence("".join(text.texts), _links(sentence, reading, candidate, alignment, text), tuple(problems))


class _Text:
    """A text under construction, which records where each character of the model's output has gone."""

    def __init__(self, written: str, protected: dict[str, str], spelling: Spelling) -> None:
        self._written, self._protected, self._spelling = written, protected, spelling
        self.texts: list[str] = []
        self._length = self._position = 0
        self._steps: list[tuple[int, int, int, int]] = []  # start and length in the output, then in the text
        self._starts: list[int] = []
        self._after_number = False

    def add(self, at: int, mark: Mark) -> None:
        """Appends the output before a position, and a mark."""
        self._write_until(at)
        self._append(mark.raw)
        if mark.kind == "space":
            self._position = max(self._position, at + 1)

    def finish(self) -> None:
        """Appends the rest of the output."""
        self._write_until(len(self._written))

    def place_of(self, at: int, *, is_end: bool) -> int:
        """The position in the text of a character of the output, or the end of the character before a position."""
        number = bisect_right(self._starts, at - 1 if is_end else at) - 1
        if number < 0:
            return 0
        start, length, text_start, text_length = self._steps[number]
        if length == text_length:
            return text_start + min(at - start, length)
        return text_start + text_length if is_end else text_start

    def _write_until(self, at: int) -> None:
        while self._position < at:
            match = _SYMBOL_OR_SPECIAL.search(self._written, self._position, at)
            if (start := match.start() if match else at) > self._position:
                text = self._written[self._position : start]
                if self._after_number and text[0].isdigit():
                    self._append(" ")
                self._step(text, text)
                self._after_number = False
            if match is not None:
                behind = self._written[match.end() : match.end() + 1]
                plain = match[0] not in self._protected
                text = self._spelling.written(match[0], behind) if plain else self._protected[match[0]]
                if not plain and self._ends_with_digit and text[:1].isdigit():
                    self._append(" ")  # or two numbers would be one
                self._step(match[0], text)
                self._after_number = not plain and text[-1:].isdigit()

    @property
    def _ends_with_digit(self) -> bool:
        return bool(self.texts) and self.texts[-1][-1:].isdigit()

    def _step(self, written: str, text: str) -> None:
        self._steps.append((self._position, len(written), self._length, len(text)))
        self._starts.append(self._position)
        self._append(text)
        self._position += len(written)

    def _append(self, text: str) -> None:
        self.texts.append(text)
        self._length += len(text)


def _links(
    sentence: Sentence, reading: Reading, candidate: Candidate, alignment: Alignment | None, made: _Text
) -> tuple[tuple[tuple[int, int], tuple[int, int]], ...]:
    """Returns the stretches of source and text whose words correspond."""
    if alignment is None:
        return ()
    source, target = word_spans(reading.text), word_spans(candidate.text)
    if len(source) != len(alignment.source_words) or len(target) != len(alignment.target_words):
        return ()
    content = sentence.content
    places = _places_in_content(content.text, reading)
    found = []
    for source_word, target_word in alignment.links:
        (first, behind), (start, end) = source[source_word], target[target_word]
        source_span = content.origins[places[first]], content.source_end(places[behind - 1] + 1)
        found.append((source_span, (made.place_of(start, is_end=False), made.place_of(end, is_end=True))))
    return tuple(found)


def _places_in_content(text: str, reading: Reading) -> Sequence[int]:
    """Returns the position in the content of each character of a line."""
    if not reading.symbols:
        return range(len(reading.text))
    places: list[int] = []
    symbols = iter(reading.symbols)
    for place, character in enumerate(text):
        places += [place] * (len(next(symbols)[0]) if character == STAND_IN else 1)
    return places
