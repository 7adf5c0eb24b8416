"""A line in parts as the model reads them, and how the translations of these become the line's."""

import re
from dataclasses import dataclass, replace

from attendo.decoding.config import GuardName
from attendo.decoding.guards.protected import Kind, protected
from attendo.decoding.guards.spaces import UNBREAKABLE
from attendo.decoding.guards.words import Segment

_MAX_FRAGMENT_WORDS = 3
SPACE_BEHIND = (".", ",", ";", ":", "!", "?")
"""Punctuation marks that are followed by a space before a word."""
_MARK_LEFT_OUT = re.compile(rf"(?<=\w)[ {UNBREAKABLE}]?[.!]+$")  # French has a space before `!`


@dataclass(frozen=True, kw_only=True)
class PlaceholderText:
    """The text that a placeholder stands for."""

    symbol: str
    """The placeholder."""
    start: int
    """Position of the first character in the part's text between `Part.before` and `Part.behind`."""
    source: str
    """The text in the line."""
    target: str
    """The text in the translation."""
    kind: Kind
    """The kind of the text."""
    apart: bool = True
    """Whether it is separate from words and other protected text in the line, and has to be so in the translation."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """A stretch of a line that is translated by itself: a sentence, or the whole line."""

    text: str
    """The text in the line."""
    read: str
    """The model's input."""
    instead: str | None = None
    """The translation, if no model is needed."""
    space: str = ""
    """White space before it in the line; empty for the first part."""
    before: str = ""
    """Text cut from its beginning and put before the translation."""
    behind: str = ""
    """Text cut from its end and put after the translation."""
    kept: tuple[PlaceholderText, ...] = ()
    """The texts that placeholders stand for."""
    capitals: bool = False
    """Whether to put the translation in capitals."""
    marked: bool = False
    """Whether the model reads a final mark that the line does not have, and that the translation drops."""
    copied: tuple[str, ...] = ()
    """Stretches that are not natural language."""
    guards: tuple[GuardName, ...] = ()
    """Names of the guards that changed it."""
    masked: "Part | None" = None
    """For a part whose protected text is read unchanged: the same part with placeholders for it, used if any of it is
    lost in translation."""

    @property
    def is_searched(self) -> bool:
        """Whether there is anything to translate."""
        return self.instead is None and bool(self.read.strip())

    def source_segments(self) -> list[Segment]:
        """Stretches as the model reads and as the line has them."""
        if self.instead is not None:
            return [(self.space, self.space), ("", self.text)]
        inner = self.text[len(self.before) : len(self.text) - len(self.behind)]
        found: list[Segment] = [(self.space, self.space), ("", self.before)]
        read_at = inner_at = 0
        for each in self.kept:
            read_to, inner_to = self.read.index(each.symbol, read_at), each.start
            found += [(self.read[read_at:read_to], inner[inner_at:inner_to]), (each.symbol, each.source)]
            read_at, inner_at = read_to + len(each.symbol), inner_to + len(each.source)
        return [*found, (self.read[read_at:], inner[inner_at:]), ("", self.behind)]

    def target_segments(self, written: str) -> list[Segment]:
        """Stretches of a translation as the model has written them and as the line's translation has them."""
        if self.instead is not None:
            return [(self.space, self.space), ("", self.instead)]
        found: list[Segment] = [(self.space, self.space), ("", self.before)]
        mark = _MARK_LEFT_OUT.search(written) if self.marked else None
        if mark:
            written = written[: mark.start()]
        kept = {each.symbol: each for each in self.kept}
        pattern = "|".join(map(re.escape, kept))
        before: str | PlaceholderText = ""
        for stretch in filter(None, re.split(f"({pattern})", written) if kept else [written]):
            now = kept.get(stretch, stretch)
            if _would_touch(before, now):
                found.append(("", " "))
            if isinstance(now, PlaceholderText):
                found.append((stretch, now.target))
            else:
                found.append((stretch, _in_capitals(stretch) if self.capitals else stretch))
            before = now
        return [*found, (mark[0] if mark else "", ""), ("", self.behind)]

    @property
    def is_fragment(self) -> bool:
        """Whether the part is a few words without a final mark, such as a heading or a word to look up."""
        return self.read[-1:].isalnum() and len(self.read.split()) <= _MAX_FRAGMENT_WORDS and not self.marked

    def as_sentence(self, mark: str) -> "Part":
        """A fragment with a final mark, as most sentences end that a model has read."""
        return replace(self, read=self.read + mark, marked=True)

    def as_masked(self) -> "Part":
        """Returns the part with placeholders for its protected text; the part itself if it has none."""
        return self.masked or self

    def has_unmasked(self, written: str) -> bool:
        """Whether a translation has each protected text that was read unchanged as often as the part does."""
        texts = {each.source for each in self.masked.kept} if self.masked else ()
        return all(_occurrences(text, written) == _occurrences(text, self.read) for text in texts)

    def is_whole(self, written: str) -> bool:
        """Whether a translation has each placeholder of the part once, and its tags in their order."""
        if any(written.count(each.symbol) != 1 for each in self.kept):
            return False
        places = [written.index(symbol) for symbol in self.tags]
        return places == sorted(places)

    @property
    def tags(self) -> tuple[str, ...]:
        """The placeholders that stand for markup, in their order: an opening tag precedes its closing tag."""
        return tuple(each.symbol for each in self.kept if each.source.startswith("<"))


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A line as the model reads it."""

    parts: tuple[Part, ...]
    """The parts in the order of the line."""
    guards: tuple[GuardName, ...] = ()
    """Names of the guards that changed the line as a whole."""

    @property
    def is_plain(self) -> bool:
        """Whether the line is passed to the model unchanged."""
        return not self.guards and len(self.parts) == 1 and not self.parts[0].guards

    @property
    def read(self) -> str:
        """The whole input of the model, with the white space between sentences."""
        return "".join(part.space + part.read for part in self.parts)


def as_it_is(line: str) -> Reading:
    """Returns the reading of a line without guards."""
    text = line.rstrip("\r\n")
    return Reading(parts=(Part(text=text, read=text),))


def _occurrences(words: str, text: str) -> int:
    """Counts the places where a text has some words; parts of longer words do not count."""
    begins, ends = (r"(?<!\w)" if words[0].isalnum() else ""), (r"(?!\w)" if words[-1].isalnum() else "")
    return len(re.findall(f"{begins}{re.escape(words)}{ends}", text))


def _would_touch(before: str | PlaceholderText, now: str | PlaceholderText) -> bool:
    """Whether two adjacent stretches of a translation would touch although one must be separate."""
    if isinstance(before, PlaceholderText):
        return before.apart and (isinstance(now, PlaceholderText) or now[:1].isalnum())
    return isinstance(now, PlaceholderText) and now.apart and (before[-1:].isalnum() or before[-1:] in SPACE_BEHIND)


def _in_capitals(text: str) -> str:
    """A text in capitals, except for text that has to stay unchanged."""
    stretches, position = [], 0
    for span in protected(text):
        stretches += [text[position : span.start].upper(), span.text]
        position = span.end
    return "".join((*stretches, text[position:].upper()))
