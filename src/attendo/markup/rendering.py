"""Writes a sentence's translation into the text, with protected text, tags and the source's spelling."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from attendo.decoding.lines.alignment import Alignment
from attendo.decoding.lines.translation import Candidate, Translation
from attendo.markup.content import STAND_IN, Mark
from attendo.markup.entities import SPECIAL, Spelling
from attendo.markup.placement import Placed, placed_marks
from attendo.markup.sentences import SYMBOL, Reading, Sentence, symbols_in
from attendo.markup.word_links import token_links, word_spans

_SYMBOL_OR_SPECIAL = re.compile(f"{SYMBOL.pattern}|{SPECIAL.pattern}")


@dataclass(frozen=True, slots=True)
class Rendered:
    """A translation of a sentence."""

    text: str
    """The translated text."""
    links: tuple[tuple[tuple[int, int], tuple[int, int]], ...]
    """Stretches of the source and of this text whose words belong together."""
    problems: tuple[str, ...]
    """Problems of the translation."""


def has_all_symbols(reading: Reading, written: str) -> bool:
    """Says whether a translation has each symbol of its line once, and no other."""
    return sorted(symbols_in(written)) == sorted(symbol for symbol, _ in reading.symbols)


def rendered(
    sentence: Sentence,
    reading: Reading,
    translation: Translation,
    candidate: Candidate,
    alignment: Alignment | None,
    spelling: Spelling,
) -> Rendered:
    """Makes a text of one of a line's translations.

    Args:
        sentence: what was translated.
        reading: the line that was.
        translation: of the line.
        candidate: one of its translations, with all symbols.
        alignment: of the two; None where there is none.
        spelling: how characters are written.
    """
    written = candidate.text
    placed: list[Placed] = []
    problems: list[str] = []
    if reading.marks:
        links = token_links(reading.text, written, alignment, translation, candidate)
        placed, problems = placed_marks(reading.text, written, links, reading.marks)
    things = {symbol: thing.target for symbol, thing in reading.symbols}
    made = _Made(written, things, spelling)
    for each in placed:
        made.add(each.at, each.mark)
    made.finish()
    return Rendered("".join(made.texts), _links(sentence, reading, candidate, alignment, made), tuple(problems))


class _Made:
    """A text as it grows, which knows where each character of what was written has gone."""

    def __init__(self, written: str, things: dict[str, str], spelling: Spelling) -> None:
        self._written, self._things, self._spelling = written, things, spelling
        self.texts: list[str] = []
        self._length = self._position = 0
        self._steps: list[tuple[int, int, int, int]] = []  # where it begins and how long it is: as written, in the text
        self._starts: list[int] = []
        self._after_number = False

    def add(self, at: int, mark: Mark) -> None:
        """Writes all before a place, and a mark."""
        self._write_until(at)
        self._append(mark.raw)
        if mark.kind == "space":
            self._position = max(self._position, at + 1)

    def finish(self) -> None:
        """Writes the rest."""
        self._write_until(len(self._written))

    def place_of(self, at: int, *, is_end: bool) -> int:
        """Where a character of what was written stands in the text, or where that before a place ends."""
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
                plain = match[0] not in self._things
                text = self._spelling.written(match[0], behind) if plain else self._things[match[0]]
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
    sentence: Sentence, reading: Reading, candidate: Candidate, alignment: Alignment | None, made: _Made
) -> tuple[tuple[tuple[int, int], tuple[int, int]], ...]:
    """Gives the stretches of source and text whose words belong together."""
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
        here = content.origins[places[first]], content.source_end(places[behind - 1] + 1)
        found.append((here, (made.place_of(start, is_end=False), made.place_of(end, is_end=True))))
    return tuple(found)


def _places_in_content(text: str, reading: Reading) -> Sequence[int]:
    """Gives the position in the content of each character of a line."""
    if not reading.symbols:
        return range(len(reading.text))
    places: list[int] = []
    symbols = iter(reading.symbols)
    for place, character in enumerate(text):
        places += [place] * (len(next(symbols)[0]) if character == STAND_IN else 1)
    return places
