"""Divides a source into sentences to translate; the text between them is kept unchanged."""

import re
from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from attendo.decoding.guards.comparison import target_form
from attendo.markup.content import STAND_IN, Content, Mark, ProtectedText
from attendo.markup.entities import Spelling
from attendo.markup.protection import copied_problems, numbers_of, things_of
from attendo.markup.splitting import sentence_spans, shorter_spans
from attendo.markup.text_types import TextRequest
from attendo.markup.translatable import contents_of
from attendo.terms.glossary import Glossary
from attendo.text.subwords.placeholders import placeholder

MAX_MARKS = 120
"""Maximum number of tags in a sentence; with more, the text between two is read by itself."""

# Spaces that no line breaks at are odd between words; French has them before its marks.
_ODD_SPACE = re.compile(r"[^\S \u00a0\u202f]\s*| \s+|(?<=\w)[\u00a0\u202f](?=[\w%‰°€$£¥])|[\u00a0\u202f]\s+")
_OPTION = re.compile(r"(?<![\w-])-[A-Za-z](?![\w-])")
WHITE_OR_PAIRED = " \t\n\r\f\v\u00a0\u202f\"'“”„‘’‚«»()[]{}"
"""Characters at the ends of a stretch of a sentence that are no text of its own: white space, and marks that may be
half of a pair, such as quotation marks around a placeholder."""
SYMBOL = re.compile("\u27e6[0-9]+\u27e7")
"""Pattern of the symbols that stand for protected text in a line."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A stretch that is translated by itself."""

    content: Content
    """The characters, protected text and marks."""
    start: int
    """Start in the source."""
    end: int
    """End in the source."""

    @property
    def has_words(self) -> bool:
        """Whether there is anything for a model to translate; the letter of an option is not."""
        text = self.content.text
        return any(map(str.isalpha, _OPTION.sub("", text) if "-" in text else text))


@dataclass(frozen=True, slots=True)
class Reading:
    """A sentence as the model is to read it."""

    text: str
    """The line."""
    marks: tuple[Mark, ...]
    """Marks of the sentence by the characters of the line."""
    symbols: tuple[tuple[str, ProtectedText], ...]
    """Symbols in the line, with the protected text of each."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A source cut into sentences."""

    source: str
    """The whole."""
    sentences: tuple[Sentence, ...]
    """The sentences in order, including those without words that have digits."""
    spelling: Spelling
    """The spelling of characters in the source."""
    problems: tuple[str, ...] = ()
    """Reports of text that is copied, because it is not natural language."""


def plan_of(request: TextRequest) -> Plan:
    """Cuts a request's text into sentences."""
    contents, spelling = contents_of(request)
    return planned(request, contents, spelling)


def planned(request: TextRequest, contents: Sequence[Content], spelling: Spelling) -> Plan:
    """Cuts contents into sentences.

    Args:
        request: the text that they are of.
        contents: the contents in order.
        spelling: the spelling of their characters.
    """
    sentences: list[Sentence] = []
    copied: list[str] = []
    line_ends = request.line_ends
    for content in contents:
        content = _protected(content, request.text, copied)
        position = num_protected = 0
        for start, end in sentence_spans(content.text, request.split, line_ends):
            num_protected += content.text.count(STAND_IN, position, start)
            position = start
            sentences += _sentences_of(content, start, end, spelling, num_protected)
    return Plan(request.text, tuple(sentences), spelling, copied_problems(copied))


def _sentences_of(content: Content, start: int, end: int, spelling: Spelling, num_before: int) -> list[Sentence]:
    piece = content.piece(start, end, num_before)
    whole = _with_single_spaces(piece.content, spelling)
    if sum(mark.kind != "space" for mark in whole.marks) > MAX_MARKS:
        cuts = sorted({start, end} | {start + mark.at for mark in piece.content.marks})
        return _between(content, cuts, spelling, num_before)
    sentence = Sentence(whole, piece.start, piece.end)
    return [sentence] if sentence.has_words or any(map(str.isdigit, whole.text)) else []


def _between(content: Content, cuts: Sequence[int], spelling: Spelling, num_before: int) -> list[Sentence]:
    """Returns the stretches between positions of a content; `num_before` counts protected texts before the first."""
    found: list[Sentence] = []
    for first, behind in pairwise(cuts):
        found += _stretch(content, first, behind, spelling, num_before)
        num_before += content.text.count(STAND_IN, first, behind)
    return found


def _stretch(content: Content, start: int, end: int, spelling: Spelling, num_before: int) -> list[Sentence]:
    """Returns the content between two marks without white space and halves of pairs at its ends."""
    text = content.text[start:end]
    start += len(text) - len(text.lstrip(WHITE_OR_PAIRED))
    end -= len(text) - len(text.rstrip(WHITE_OR_PAIRED))
    return _sentences_of(content, start, end, spelling, num_before) if start < end else []


def stretches_between_protected(sentence: Sentence, spelling: Spelling) -> list[Sentence]:
    """Returns the stretches between a sentence's protected texts, in order."""
    content, found, position = sentence.content, [], 0
    places = [place for place, character in enumerate(content.text) if character == STAND_IN]
    for number, place in enumerate([*places, len(content.text)]):
        found += _stretch(content, position, place, spelling, number)
        position = place + 1
    return [each for each in found if each.has_words]


def shorter_sentences(sentence: Sentence, max_characters: int, spelling: Spelling) -> list[Sentence]:
    """Divides a sentence into pieces of limited length."""
    content, found, position, num_protected = sentence.content, list[Sentence](), 0, 0
    for start, end in shorter_spans(content.text, max_characters):
        num_protected += content.text.count(STAND_IN, position, start)
        position = start
        found += _sentences_of(content, start, end, spelling, num_protected)
    return found


def reading_of(sentence: Sentence) -> Reading:
    """Reads a sentence with a symbol for each protected text."""
    protected = sentence.content.protected
    symbols = [placeholder(number) for number in range(1, len(protected) + 1)]
    return _filled(sentence.content, symbols, tuple(zip(symbols, protected, strict=True)))


def reading_as_it_is(sentence: Sentence) -> Reading:
    """Reads a sentence with protected text unchanged."""
    return _filled(sentence.content, [protected.source for protected in sentence.content.protected], ())


def _filled(content: Content, texts: Sequence[str], symbols: tuple[tuple[str, ProtectedText], ...]) -> Reading:
    stretches = content.text.split(STAND_IN)
    line = [stretches[0]]
    shifts = [(0, 0)]  # from which character of the content on a mark is moved by how much
    position = len(stretches[0])
    for text, stretch in zip(texts, stretches[1:], strict=True):
        line += [text, stretch]
        shifts.append((position + 1, shifts[-1][1] + len(text) - 1))
        position += 1 + len(stretch)
    marks = []
    for mark in content.marks:
        shift = next(by for start, by in reversed(shifts) if mark.at >= start)
        marks.append(Mark(mark.at + shift, mark.raw, mark.kind, mark.element))
    return Reading("".join(line), tuple(marks), symbols)


def symbols_in(text: str) -> list[str]:
    """Lists the symbols of a text in order."""
    return SYMBOL.findall(text)


def with_numbers(sentence: Sentence, numbers: Sequence[str] | None, languages: tuple[str, str]) -> Sentence:
    """Protects some or all numbers of a sentence, in the form that the translation is to have."""
    text = sentence.content.text
    spans = [
        (found.start, found.end, ProtectedText(found.text, target_form(found, text, languages), found.text))
        for found in numbers_of(text, languages[0])
        if numbers is None or found.text in numbers
    ]
    return _with_protected(sentence, spans)


def with_terms(sentence: Sentence, glossary: Glossary, sources: Collection[str]) -> Sentence:
    """Protects some terms of a sentence, with the glossary's translations as their targets.

    Args:
        sentence: the sentence.
        glossary: the terms.
        sources: the terms to protect, as in the glossary; those without a translation are skipped.

    Returns:
        Another sentence; the same one if none of the terms can be protected.
    """
    text = sentence.content.text
    spans = [
        (each.start, each.end, ProtectedText(text[each.start : each.end], each.term.target, each.term.source))
        for each in glossary.occurrences(text)
        if each.term.source in sources and each.term.target
    ]
    return _with_protected(sentence, spans) if spans else sentence


def _with_protected(sentence: Sentence, spans: Sequence[tuple[int, int, ProtectedText]]) -> Sentence:
    free = [span for span in spans if not sentence.content.has_mark_within(span[0], span[1])]
    return Sentence(sentence.content.with_protected(free), sentence.start, sentence.end)


def _protected(content: Content, source: str, copied: list[str]) -> Content:
    """Protects placeholders, addresses and the like of a content, and reports copied text in `copied`."""
    spans = []
    for found in things_of(content.text):
        whole = STAND_IN not in content.text[found.start : found.end]
        if whole and not content.has_mark_within(found.start, found.end):
            raw = source[content.origins[found.start] : content.source_end(found.end)]
            spans.append((found.start, found.end, ProtectedText(raw, raw, raw)))
            if found.is_verbatim:
                copied.append(raw)
    return content.with_protected(spans)


def _with_single_spaces(content: Content, spelling: Spelling) -> Content:
    """Replaces white space other than single spaces by one space and a mark."""
    runs = [run.span() for run in _ODD_SPACE.finditer(content.text)]
    if not runs:
        return content
    text, marks, origins = list[str](), list[Mark](), list[int]()
    remaining, position, removed = deque(content.marks), 0, 0
    for start, end in runs:
        while remaining and (remaining[0].at < start or (remaining[0].at == start and remaining[0].kind != "space")):
            marks.append(_moved(remaining.popleft(), removed))
        inside: list[Mark] = []
        while remaining and remaining[0].at < end:
            inside.append(remaining.popleft())
        marks += _marks_of_run(_Run(content.text, start, end), inside, start - removed, spelling)
        text.append(content.text[position:start] + " ")
        origins += [*content.origins[position:start], content.origins[start]]
        position, removed = end, removed + end - start - 1
    text.append(content.text[position:])
    origins += content.origins[position:]
    marks += [_moved(mark, removed) for mark in remaining]
    return Content("".join(text), origins, content.protected, tuple(marks))


@dataclass(frozen=True, slots=True)
class _Run:
    """A stretch of white space."""

    text: str
    """The text of the content."""
    start: int
    """Start of the run."""
    end: int
    """End of the run."""


def _moved(mark: Mark, by: int) -> Mark:
    return Mark(mark.at - by, mark.raw, mark.kind, mark.element)


def _marks_of_run(run: _Run, marks: Sequence[Mark], at: int, spelling: Spelling) -> list[Mark]:
    """Returns the marks of white space that has become one space, and of the tags within it.

    White space before closing tags and after others belongs to them, so that only the space between tags remains; a
    single tag with white space on both sides replaces the space together with it.

    Args:
        run: the white space.
        marks: the marks within it; some of its characters may be marks already.
        at: the position of its single space.
        spelling: the spelling of characters in the source.
    """
    known = {mark.at: mark.raw for mark in marks if mark.kind == "space"}
    inside = [mark for mark in marks if mark.kind != "space"]
    written = [known.get(place) or spelling.written(run.text[place], "") for place in range(run.start, run.end)]
    places = [0, *(mark.at - run.start for mark in inside), len(written)]
    white = ["".join(written[first:behind]) for first, behind in pairwise(places)]
    if all(mark.kind == "single" for mark in inside):
        raw = white[0] + "".join(mark.raw + behind for mark, behind in zip(inside, white[1:], strict=True))
        return [Mark(at, raw, "space", -1)]
    num_closing = next((number for number, mark in enumerate(inside) if mark.kind != "close"), len(inside))
    found = [
        Mark(at, before + mark.raw, mark.kind, mark.element)
        for before, mark in zip(white, inside[:num_closing], strict=False)
    ]
    if white[num_closing] != " ":
        found.append(Mark(at, white[num_closing], "space", -1))
    return found + [
        Mark(at + 1, mark.raw + behind, mark.kind, mark.element)
        for mark, behind in zip(inside[num_closing:], white[num_closing + 1 :], strict=True)
    ]
