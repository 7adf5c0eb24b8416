"""What the model reads of a line, and how its translations of that become the line's translation."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from attendo.decoding.config import GuardConfig, GuardName
from attendo.decoding.guards.casing import in_capitals, in_small_letters, in_title_case, out_of_title_case
from attendo.decoding.guards.numbers import localised
from attendo.decoding.guards.protected import Thing, emoji_at_ends, protected, without_unit
from attendo.decoding.guards.scripts import KnownLetters
from attendo.decoding.guards.sentences import sentence_starts, sentences
from attendo.decoding.guards.spaces import squeezed
from attendo.decoding.guards.words import Segment
from attendo.decoding.words import Pieces

# Stands for a thing while a text's case is changed; of the private use area, and so in no text.
_STAND_IN = "\ue000"
_MAX_FRAGMENT_WORDS = 3
_MARK_LEFT_OUT = re.compile(r"(?<=\w)[.!]+$")


@dataclass(frozen=True)
class Kept:
    """What a placeholder stands for."""

    symbol: str
    """The placeholder."""
    source: str
    """What the line has there."""
    target: str
    """What the translation gets there."""
    apart: bool = True
    """Whether it stands apart from words and other things in the line, and so has to in the translation."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """A stretch of a line that the model reads by itself: a sentence, or all of it."""

    text: str
    """As the line has it."""
    read: str
    """As the model reads it."""
    instead: str | None = None
    """Its translation, where no model is needed."""
    space: str = ""
    """White space before it in the line, where it is not the first."""
    before: str = ""
    """What is cut off its beginning and put before the translation."""
    behind: str = ""
    """What is cut off its end and put behind the translation."""
    kept: tuple[Kept, ...] = ()
    """What placeholders stand for."""
    capitals: bool = False
    """Whether the translation is put in capitals."""
    marked: bool = False
    """Whether a final mark is read that the line does not have, and left out of the translation."""
    guards: tuple[GuardName, ...] = ()
    """What has changed it."""

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
            read_to, inner_to = self.read.index(each.symbol, read_at), inner.index(each.source, inner_at)
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
        before: str | Kept = ""
        for stretch in filter(None, re.split(f"({pattern})", written) if kept else [written]):
            now = kept.get(stretch, stretch)
            if _would_touch(before, now):
                found.append(("", " "))
            if isinstance(now, Kept):
                found.append((stretch, now.target))
            else:
                found.append((stretch, _in_capitals(stretch) if self.capitals else stretch))
            before = now
        return [*found, (mark[0] if mark else "", ""), ("", self.behind)]

    @property
    def is_fragment(self) -> bool:
        """Whether it is a few words without a final mark, as a heading or a word that is looked up."""
        return self.read[-1:].isalnum() and len(self.read.split()) <= _MAX_FRAGMENT_WORDS and not self.marked

    def as_sentence(self, mark: str) -> "Part":
        """A fragment with a final mark, as most sentences end that a model has read."""
        return replace(self, read=self.read + mark, marked=True)

    def is_whole(self, written: str) -> bool:
        """Whether a translation has each placeholder of the part once, and its tags in their order."""
        if any(written.count(each.symbol) != 1 for each in self.kept):
            return False
        places = [written.index(symbol) for symbol in self.tags]
        return places == sorted(places)

    @property
    def tags(self) -> tuple[str, ...]:
        """The placeholders that stand for markup, in their order: what is opened first is closed behind."""
        return tuple(each.symbol for each in self.kept if each.source.startswith("<"))


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A line as the model reads it."""

    parts: tuple[Part, ...]
    """In the line's order."""
    guards: tuple[GuardName, ...] = ()
    """What has been done to the line as a whole."""

    @property
    def is_plain(self) -> bool:
        """Whether the model reads the line as it is."""
        return not self.guards and len(self.parts) == 1 and not self.parts[0].guards

    @property
    def read(self) -> str:
        """All that the model reads, with the white space between sentences."""
        return "".join(part.space + part.read for part in self.parts)


def as_it_is(line: str) -> Reading:
    """A line that no guard looks at."""
    text = line.rstrip("\r\n")
    return Reading(parts=(Part(text=text, read=text),))


class Reader:
    """Looks at lines before the model does.

    Args:
        config: what to look for.
        vocabulary: the source's.
        placeholders: those that both vocabularies have.
        languages: source and target, as ISO 639-1 codes; empty where not known.
        one_by_one: whether sentences may be translated by themselves.
    """

    def __init__(
        self,
        config: GuardConfig,
        vocabulary: Pieces,
        *,
        placeholders: Sequence[str],
        languages: tuple[str, str],
        one_by_one: bool,
    ) -> None:
        self._config, self._vocabulary, self._placeholders = config, vocabulary, tuple(placeholders)
        self._languages, self._one_by_one = languages, one_by_one
        self._letters = KnownLetters(vocabulary) if config.scripts else None

    def read(self, line: str) -> Reading:
        """A line as the model is to read it."""
        text = line.rstrip("\r\n")
        if self._letters is not None and self._letters.are_few_of(text):
            return Reading(parts=(Part(text=text, read="", instead=text),), guards=("scripts",))
        plain = squeezed(text) if self._config.spaces else text
        guards: tuple[GuardName, ...] = () if plain == text else ("spaces",)
        text = plain
        pieces = sentences(text) if self._config.sentences and self._one_by_one else [text]
        if len(pieces) == 1:
            return Reading(parts=(self._part(text),), guards=guards)
        capitals = self._config.casing and in_capitals(_masked(text, protected(text)))
        parts = []
        for number, piece in enumerate(pieces):
            sentence = piece.lstrip() if number else piece
            space = piece[: len(piece) - len(sentence)]
            parts.append(self._part(sentence, space=space, in_capitals_too=capitals))
        return Reading(parts=tuple(parts), guards=(*guards, "sentences"))

    def unprotected(self, part: Part) -> Part:
        """A part without placeholders, for where they do not come through."""
        capitals = part.capitals
        return self._part(part.text, space=part.space, in_capitals_too=capitals, placeholders=())

    def _part(
        self,
        text: str,
        *,
        space: str = "",
        in_capitals_too: bool = False,
        placeholders: Sequence[str] | None = None,
    ) -> Part:
        """A sentence, or a line, as the model is to read it.

        Args:
            text: it.
            space: white space before it.
            in_capitals_too: whether the line is in capitals, which a short sentence of it alone might not be.
            placeholders: to use; None for all.
        """
        before, inner, behind = emoji_at_ends(text) if self._config.protected else ("", text, "")
        things = protected(inner) if _STAND_IN not in inner else []
        if placeholders is None:
            placeholders = self._placeholders if self._config.protected else ()
        kept = self._kept(inner, things, placeholders)
        masked = _masked(inner, things)
        small, capitals = self._small(masked, in_capitals_too)
        read = _filled(small, things, {place: each.symbol for place, each in kept.items()}) if things else small
        if any(read.count(each.symbol) != 1 for each in kept.values()):
            return self._part(text, space=space, in_capitals_too=in_capitals_too, placeholders=())
        guards: list[GuardName] = ["protected"] if before or behind or kept else []
        instead = None
        if kept and len(kept) == len(things) and not any(map(str.isalpha, masked)):
            instead = before + _filled(masked, things, {place: each.target for place, each in kept.items()}) + behind
        elif capitals or small != masked:
            guards.append("casing")
        return Part(
            text=text,
            read=read if instead is None else "",
            instead=instead,
            space=space,
            before=before,
            behind=behind,
            kept=tuple(kept.values()) if instead is None else (),
            capitals=capitals,
            guards=tuple(guards),
        )

    def _small(self, masked: str, in_capitals_too: bool) -> tuple[str, bool]:
        """A text in the letters that the model reads best, and whether it was in capitals."""
        if not self._config.casing:
            return masked, False
        language, _ = self._languages
        if in_capitals_too or in_capitals(masked):
            small = in_small_letters(masked, self._vocabulary, language, sentence_starts(masked))
            # What is one known name, such as NATO, is as it should be.
            return small.text, in_capitals_too or small.changed > 0
        if in_title_case(masked, language):
            return out_of_title_case(masked, self._vocabulary, language, sentence_starts(masked)), False
        return masked, False

    def _kept(self, text: str, things: Sequence[Thing], placeholders: Sequence[str]) -> dict[int, Kept]:
        """What placeholders stand for, by its number among the things."""
        if not things or not placeholders:
            return {}
        # What looks like a placeholder would be read as one, and so comes first.
        literals = [place for place, thing in enumerate(things) if thing.kind == "literal"]
        if len(literals) > len(placeholders):
            return {}
        others = [place for place, thing in enumerate(things) if thing.kind != "literal"]
        chosen = sorted((literals + others)[: len(placeholders)])
        return {
            place: Kept(
                symbol, things[place].text, self._in_target(text, things[place]), _is_apart(text, things, place)
            )
            for place, symbol in zip(chosen, placeholders, strict=False)
        }

    def _in_target(self, text: str, thing: Thing) -> str:
        """What a thing is in the translation: itself, or a number as the target language writes it."""
        if thing.kind != "number" or _is_version(text, thing):
            return thing.text
        number = without_unit(thing.text)
        return thing.text.replace(number, localised(number, *self._languages))


def _is_apart(text: str, things: Sequence[Thing], place: int) -> bool:
    """Whether a thing touches no word and no other thing."""
    start, end = things[place].start, things[place].end
    others = {thing.end for thing in things[:place]} | {thing.start for thing in things[place + 1 :]}
    return not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum() or {start, end} & others)


def _would_touch(before: str | Kept, now: str | Kept) -> bool:
    """Whether two stretches of a translation, next to each other, would run into one though one stands apart."""
    if isinstance(before, Kept):
        return before.apart and (isinstance(now, Kept) or now[:1].isalnum())
    return isinstance(now, Kept) and now.apart and before[-1:].isalnum()


_VERSION_OF = re.compile(r"[^\W\d_](?:[^\W_]|-)*\s$")
_LONGEST_NAME = 40


def _is_version(text: str, thing: Thing) -> bool:
    """Whether a number such as the one of "with Python 3.11" is a name's: a capitalised word of the sentence is before.

    Of German that would be any noun; but German has commas in its numbers, and a point only in versions and dates.
    """
    found = _VERSION_OF.search(text[max(0, thing.start - _LONGEST_NAME) : thing.start])
    if not found or not found[0][0].isupper() or "," in thing.text or text.isupper():
        return False
    return bool(text[: thing.start - len(found[0])].strip())


def _masked(text: str, things: Sequence[Thing]) -> str:
    """A text with a character in place of each thing."""
    if not things:
        return text
    stretches, position = [], 0
    for thing in things:
        stretches += [text[position : thing.start], _STAND_IN]
        position = thing.end
    return "".join((*stretches, text[position:]))


def _filled(masked: str, things: Sequence[Thing], others: Mapping[int, str]) -> str:
    """A masked text with its things again, or with others in their places."""
    places = iter(range(len(things)))

    def thing(_: re.Match[str]) -> str:
        place = next(places)
        return others.get(place, things[place].text)

    return re.sub(_STAND_IN, thing, masked)


def _in_capitals(text: str) -> str:
    """A text in capitals, but for what has to stay to the letter."""
    stretches, position = [], 0
    for thing in protected(text):
        stretches += [text[position : thing.start].upper(), thing.text]
        position = thing.end
    return "".join((*stretches, text[position:].upper()))
