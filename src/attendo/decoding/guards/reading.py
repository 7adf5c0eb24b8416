"""Prepares the model's input for a line: its parts, with placeholders for text to copy."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from attendo.decoding.config import GuardConfig, GuardName
from attendo.decoding.constraints.words import Pieces
from attendo.decoding.guards.casing import in_capitals, in_small_letters, in_title_case, out_of_title_case
from attendo.decoding.guards.comparison import has_meridiem, is_version, target_form
from attendo.decoding.guards.numbers import localised
from attendo.decoding.guards.parts import SPACE_BEHIND, Part, PlaceholderText, Reading
from attendo.decoding.guards.people import people
from attendo.decoding.guards.protected import (
    PROGRAM_PLACEHOLDER,
    ProtectedSpan,
    emoji_at_ends,
    protected,
    with_more,
    with_verbatim,
    without_unit,
)
from attendo.decoding.guards.scripts import KnownLetters
from attendo.decoding.guards.sentences import sentence_starts, sentences
from attendo.decoding.guards.shorthand import laughs_at_ends, written_out
from attendo.decoding.guards.spaces import UNBREAKABLE, parted, squeezed, squeezed_around, without_unknown_spaces
from attendo.decoding.guards.values import MERIDIEM, Value, values, with_durations_in_words
from attendo.decoding.guards.verbatim import Stretch, has_words_besides, verbatim

# Stands for protected text while a text's case is changed; of the private use area, and so in no text.
_STAND_IN = "\ue000"
_MAX_INLINE, _LONGEST_INLINE = 4, 200
"""Maximum number of non-language stretches per line read as placeholders, and of characters in each; more are cut
out."""
_VARIABLE = re.compile(PROGRAM_PLACEHOLDER)
_READABLE_KINDS = frozenset(("variable", "identifier", "environment", "file", "option", "version"))
_LONGEST_READABLE = 40
"""Maximum number of characters of protected text that is read unchanged; longer text is mostly spelled letter by
letter."""
_TIME_WITH_MERIDIEM = re.compile(rf"\d{MERIDIEM}")
_WITHOUT_MERIDIEM = ("de", "fr")
_AT, _LONGEST_AT = re.compile(r"(?<!\w)(?:[uU]m|[àÀ])[ \u00a0]$"), 4
_CLOCK = re.compile(r"[ \u00a0]Uhr(?!\w)")
_QUOTATION_MARKS = "\"'`“”„‘’‚«»‹›"
_FIRST_KINDS = ("literal", "verbatim")
_OF_OTHER_GUARDS = ("verbatim", "foreign")


class Reader:
    """Prepares lines for the model.

    Args:
        config: the active guards.
        vocabulary: the source vocabulary.
        placeholders: the placeholders that both vocabularies have.
        languages: source and target, as ISO 639-1 codes; empty if not known.
        one_by_one: whether sentences may be translated separately.
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

    @cached_property
    def _unknown_spaces(self) -> dict[int, str]:
        return without_unknown_spaces(self._vocabulary.pieces(range(self._vocabulary.vocab_size)))

    def read(self, line: str) -> Reading:
        """A line as the model is to read it."""
        text = line.rstrip("\r\n")
        if self._letters is not None and self._letters.are_few_of(text):
            return Reading(parts=(Part(text=text, read="", instead=text),), guards=("scripts",))
        stretches = verbatim(text) if self._config.verbatim else []
        if stretches and not has_words_besides(text, stretches):
            return Reading(parts=(_copied(text),))
        plain = squeezed(text) if self._config.spaces else text
        copied = tuple(text[each.start : each.end] for each in stretches)
        if copied and not self._have_placeholders(copied, plain):
            return self._read_around(text, stretches)
        guards: tuple[GuardName, ...] = () if plain == text else ("spaces",)
        parts = [self._with_readable(part) for part in self._parts(plain, copied=copied)]
        return Reading(parts=tuple(parts), guards=guards if len(parts) == 1 else (*guards, "sentences"))

    def unprotected(self, part: Part) -> Part:
        """A part without placeholders, used when they are lost in translation.

        A part with text that is no language is copied, since the model must not read such text.
        """
        capitals = part.capitals
        return self._part(part.text, space=part.space, in_capitals_too=capitals, placeholders=(), copied=part.copied)

    def _with_readable(self, part: Part) -> Part:
        """A part with its text unchanged, if the model may read the text of all its placeholders.

        Models trained on interfaces and documentation know `%s` and `fopen()` and choose better words around them than
        around a placeholder, but leave the source language's quotation marks around them.
        """
        if not part.kept or not all(_is_readable(part, each) for each in part.kept):
            return part
        return replace(self.unprotected(part), masked=part)

    def with_values(self, part: Part, wanted: Collection[str]) -> Part:
        """Returns a part with placeholders for some of its numbers, dates, times and people too.

        Args:
            part: the part.
            wanted: the numbers and names to replace, as written in the part.
        """
        capitals = part.capitals
        return self._part(part.text, space=part.space, in_capitals_too=capitals, copied=part.copied, wanted=wanted)

    def _have_placeholders(self, copied: Sequence[str], plain: str) -> bool:
        """Whether a line's few stretches of non-language can be read as placeholders."""
        if not self._config.protected or len(copied) > min(_MAX_INLINE, len(self._placeholders)):
            return False
        return all(len(each) <= _LONGEST_INLINE and len(each.split()) == 1 and each in plain for each in copied)

    def _read_around(self, text: str, stretches: Sequence[Stretch]) -> Reading:
        """A line that is cut at its stretches that are no language, and read between them."""
        parts: list[Part] = []
        names: set[GuardName] = set()
        space, position = "", 0
        for stretch in (*stretches, None):
            before, words, behind = parted(text[position : stretch.start if stretch else len(text)])
            if words:
                plain = squeezed(words) if self._config.spaces else words
                own = self._parts(plain, space="" if self._config.spaces and not position else space + before)
                names |= {"sentences"} if len(own) > 1 else set()
                parts, space = parts + own, ""
            space += behind
            if stretch:
                parts.append(_copied(text[stretch.start : stretch.end], space=space))
                space, position = "", stretch.end
        if space and not self._config.spaces:
            parts.append(Part(text=space, read="", instead=space))
        if self._config.spaces and squeezed_around(text, [(each.start, each.end) for each in stretches]) != text:
            names.add("spaces")
        return Reading(parts=tuple(parts), guards=tuple(names))

    def _parts(self, text: str, *, space: str = "", copied: Sequence[str] = ()) -> list[Part]:
        """A line's sentences, or the line, as the model is to read them.

        Args:
            text: the line.
            space: white space before it.
            copied: stretches of it that are no language.
        """
        pieces = sentences(text) if self._config.sentences and self._one_by_one else [text]
        if len(pieces) == 1:
            return [self._part(text, space=space, copied=copied)]
        capitals = self._config.casing and in_capitals(_masked(text, protected(text)))
        parts = []
        for number, piece in enumerate(pieces):
            sentence = piece.lstrip() if number else piece
            before = piece[: len(piece) - len(sentence)] if number else space
            parts.append(self._part(sentence, space=before, in_capitals_too=capitals, copied=copied))
        return parts

    def _part(
        self,
        text: str,
        *,
        space: str = "",
        in_capitals_too: bool = False,
        placeholders: Sequence[str] | None = None,
        copied: Sequence[str] = (),
        wanted: Collection[str] = (),
    ) -> Part:
        """Prepares a sentence or a line for the model.

        Args:
            text: the sentence or line.
            space: the white space before it.
            in_capitals_too: whether the line is in capitals; a short sentence alone might not reveal that.
            placeholders: the placeholders to use; None for all.
            copied: the stretches of the line that are no language.
            wanted: numbers, dates, times and names, as written in the text, to read as placeholders.
        """
        before, inner, behind = emoji_at_ends(text) if self._config.protected else ("", text, "")
        has_emoji = bool(before or behind)
        laugh, inner, last_laugh = laughs_at_ends(inner) if self._config.shorthand else ("", inner, "")
        before, behind = before + laugh, last_laugh + behind
        spans = self._spans(inner, copied, wanted) if _STAND_IN not in inner else []
        if placeholders is None:
            placeholders = self._placeholders if self._config.protected else ()
        kept = self._kept(inner, spans, placeholders)
        copied = tuple(each for each in copied if each in inner)
        num_copied = sum(span.kind == "verbatim" for span in spans)
        num_others = sum(spans[place].kind in _OF_OTHER_GUARDS or spans[place].text in wanted for place in kept)
        if copied and (not num_copied or sum(spans[place].kind == "verbatim" for place in kept) < num_copied):
            return _copied(text, space=space)
        masked = _masked(inner, spans)
        small, capitals = self._small(masked, in_capitals_too)
        full = written_out(small, self._languages[0]) if self._config.shorthand else small
        read = _filled(full, spans, {place: each.symbol for place, each in kept.items()}) if spans else full
        if self._config.spaces and any(space in read for space in UNBREAKABLE):
            read = read.translate(self._unknown_spaces)
        worded = with_durations_in_words(read) if self._config.values and self._languages[0] == "fr" else read
        if any(read.count(each.symbol) != 1 for each in kept.values()):
            return self._part(text, space=space, in_capitals_too=in_capitals_too, placeholders=(), copied=copied)
        instead = None
        # A model without placeholders may have learned to handle such text.
        has_no_words = masked.strip() and not any(map(str.isalpha, masked))
        if self._config.protected and self._placeholders and has_no_words:
            instead = before + self._without_words(inner, spans) + behind
        return Part(
            text=text,
            read=worded if instead is None else "",
            instead=instead,
            space=space,
            before=before,
            behind=behind,
            kept=tuple(kept.values()) if instead is None else (),
            capitals=capitals,
            copied=copied,
            guards=self._acted(
                protected=bool(has_emoji or instead is not None or len(kept) > num_others),
                verbatim=bool(copied),
                scripts=any(spans[place].kind == "foreign" for place in kept),
                casing=instead is None and (capitals or small != masked),
                shorthand=bool(laugh or last_laugh) or (instead is None and full != small),
                durations=instead is None and worded != read,
            ),
        )

    def _without_words(self, text: str, spans: Sequence[ProtectedSpan]) -> str:
        """Translates a text without letters outside protected text, even if it needs too many placeholders."""
        targets = {place: self._in_target(text, span) for place, span in enumerate(spans)}
        return _filled(_masked(text, spans), spans, targets) if spans else text

    def _spans(self, text: str, copied: Sequence[str], wanted: Collection[str]) -> list[ProtectedSpan]:
        """Finds the text to be replaced by placeholders; for the arguments see `_part`."""
        spans = with_verbatim(protected(text), text, copied)
        source, _ = self._languages
        if self._letters is not None:
            foreign = self._letters.foreign(text, source)
            spans = with_more(spans, [ProtectedSpan(start, end, text[start:end], "foreign") for start, end in foreign])
        if wanted or _TIME_WITH_MERIDIEM.search(text):
            numeric = (value for value in values(text, source) if value.is_numeric)
            numbers = [self._number(value, text) for value in numeric if self._is_masked(value, wanted)]
            persons = people(text) if wanted else []
            names = [ProtectedSpan(it.start, it.end, it.text, "person", it.text) for it in persons if it.text in wanted]
            spans = with_more(sorted([*numbers, *names], key=lambda span: span.start), spans)
        return spans

    def _is_masked(self, value: Value, wanted: Collection[str]) -> bool:
        """Whether a number is read as a placeholder: a requested one, or a time with a.m. or p.m.

        German and French have no such marks, and models that have seen few such times copy them, or end the sentence
        there.
        """
        return value.text in wanted or (has_meridiem(value) and self._languages[1] in _WITHOUT_MERIDIEM)

    def _number(self, value: Value, text: str) -> ProtectedSpan:
        """A number as a placeholder; the point of "p.m." at the end of a text ends the sentence too.

        "Uhr" belongs to the time that English writes with "pm", and so does the preposition, which would otherwise be
        chosen without knowing that a time follows.
        """
        start, end = value.start, value.end
        target = target_form(value, text, self._languages)
        if has_meridiem(value) and value.text.endswith(".") and end == len(text):
            end -= 1
        if target.endswith("pm"):
            end = clock.end() if (clock := _CLOCK.match(text, end)) else end
            if at := _AT.search(text, max(0, start - _LONGEST_AT), start):
                start, target = at.start(), f"{'at' if at[0][0].islower() else 'At'} {target}"
        return ProtectedSpan(start, end, text[start:end], "number", target)

    def _acted(
        self, *, protected: bool, verbatim: bool, scripts: bool, casing: bool, shorthand: bool, durations: bool
    ) -> tuple[GuardName, ...]:
        """The names of the guards that have acted."""
        acted: dict[GuardName, bool] = {
            "scripts": scripts, "verbatim": verbatim, "protected": protected, "casing": casing,
            "shorthand": shorthand, "values": durations,
        }  # fmt: skip
        return tuple(name for name, it_has in acted.items() if it_has)

    def _small(self, masked: str, in_capitals_too: bool) -> tuple[str, bool]:
        """A text in the letters that the model reads best, and whether it was in capitals."""
        if not self._config.casing:
            return masked, False
        language, _ = self._languages
        if in_capitals_too or in_capitals(masked):
            small = in_small_letters(masked, self._vocabulary, language, sentence_starts(masked))
            # A single known name, such as NATO, needs no change.
            return small.text, in_capitals_too or small.changed > 0
        if in_title_case(masked, language):
            return out_of_title_case(masked, self._vocabulary, language, sentence_starts(masked)), False
        return masked, False

    def _kept(
        self, text: str, spans: Sequence[ProtectedSpan], placeholders: Sequence[str]
    ) -> dict[int, PlaceholderText]:
        """Returns the texts that placeholders stand for, by number."""
        if not spans or not placeholders:
            return {}
        # First text that looks like a placeholder, which would be read as one, and text not to be read.
        literals = [place for place, span in enumerate(spans) if span.kind in _FIRST_KINDS]
        if len(literals) > len(placeholders):
            return {}
        others = [place for place, span in enumerate(spans) if span.kind not in _FIRST_KINDS]
        others.sort(key=lambda place: spans[place].target is None)  # then the requested numbers
        chosen = sorted((literals + others)[: len(placeholders)])
        return {
            place: PlaceholderText(
                symbol=symbol,
                start=spans[place].start,
                source=spans[place].text,
                target=self._in_target(text, spans[place]),
                kind=spans[place].kind,
                apart=_is_apart(text, spans, place),
            )
            for place, symbol in zip(chosen, placeholders, strict=False)
        }

    def _in_target(self, text: str, span: ProtectedSpan) -> str:
        """Returns protected text as in the translation: itself, or a number in the form of the target language."""
        if span.target is not None:
            return span.target
        if span.kind != "number" or is_version(text, span.start, without_unit(span.text), self._languages[0]):
            return span.text
        number = without_unit(span.text)
        return span.text.replace(number, localised(number, *self._languages))


def _is_apart(text: str, spans: Sequence[ProtectedSpan], place: int) -> bool:
    """Whether protected text touches no word, no other protected text, and no comma or similar mark before it."""
    start, end = spans[place].start, spans[place].end
    if text[start - 1 : start] in SPACE_BEHIND:
        return False
    others = {span.end for span in spans[:place]} | {span.start for span in spans[place + 1 :]}
    return not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum() or {start, end} & others)


def _is_readable(part: Part, kept: PlaceholderText) -> bool:
    """Whether the model may read the text of a placeholder, because it translates the words around it better so."""
    if len(kept.source) > _LONGEST_READABLE or _is_quoted(part, kept):
        return False
    return kept.kind in _READABLE_KINDS or _VARIABLE.fullmatch(kept.source) is not None


def _is_quoted(part: Part, kept: PlaceholderText) -> bool:
    """Whether a quotation mark precedes or follows the text of a placeholder."""
    place = part.read.index(kept.symbol)
    around = part.read[max(0, place - 1) : place] + part.read[place + len(kept.symbol) :][:1]
    return any(mark in _QUOTATION_MARKS for mark in around)


def _copied(text: str, *, space: str = "") -> Part:
    """Makes a part of a stretch that is not natural language."""
    return Part(text=text, read="", instead=text, space=space, guards=("verbatim",))


def _masked(text: str, spans: Sequence[ProtectedSpan]) -> str:
    """Replaces each stretch of protected text by a single character."""
    if not spans:
        return text
    stretches, position = [], 0
    for span in spans:
        stretches += [text[position : span.start], _STAND_IN]
        position = span.end
    return "".join((*stretches, text[position:]))


def _filled(masked: str, spans: Sequence[ProtectedSpan], others: Mapping[int, str]) -> str:
    """Replaces the characters of a masked text by texts again."""
    places = iter(range(len(spans)))

    def text_of(_: re.Match[str]) -> str:
        place = next(places)
        return others.get(place, spans[place].text)

    return re.sub(_STAND_IN, text_of, masked)
