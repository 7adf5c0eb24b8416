"""Documents as passages: texts between markup, whose inline codes may hold passages, such as a picture's title."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from attendo.formats.contents import Code, CodeKind, Content, joined
from attendo.formats.encoded import EncodedText
from attendo.formats.file import Edit, File, Form, Languages, Result, Span, Unit, WriteOptions

WHITE = " \t\n\r\f"
"""White space that counts as one space in markup."""
CodeSpans = Mapping[tuple[str, CodeKind], Span]
"""The spans of a passage's codes, by their ids and kinds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    """A text of a document, with its position and the way it is written."""

    span: Span
    source: Content
    written: Callable[[Content], str]
    codes: CodeSpans = field(default_factory=dict)
    """The spans of the codes that may hold passages."""
    context: str = ""
    """The kind of text, such as `h1` or `alt`."""
    is_translatable: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A stretch of a passage: characters, or a code."""

    span: Span
    text: str = ""
    """The characters; empty for a code."""
    code: Code | None = None
    is_word: bool = False
    """Whether a code represents a word, so that it stays within a sentence that begins or ends with it."""


def edges(raw: str, start: int) -> list[Span]:
    """Splits a text into the white space at its beginning, the rest, and that at its end; empty parts are left out.

    Args:
        raw: the text.
        start: its position.
    """
    behind = len(raw.rstrip(WHITE))
    before = min(len(raw) - len(raw.lstrip(WHITE)), behind)
    bounds = ((0, before), (before, behind), (behind, len(raw)))
    return [Span(start + low, start + high) for low, high in bounds if low < high]


def trimmed(pieces: Sequence[Piece]) -> Sequence[Piece]:
    """Removes white space and codes around a text; pairs are removed only as a whole, and codes for words stay.

    Returns:
        The pieces of the text; empty if there is no text.
    """
    low, high = 0, len(pieces)
    while low < high:
        first, last = pieces[low], pieces[high - 1]
        if _is_droppable(first):
            low += 1
        elif _is_droppable(last):
            high -= 1
        elif _is_pair(first, pieces[low + 1] if low + 1 < high else first):
            low += 2
        elif _is_pair(pieces[high - 2], last):
            high -= 2
        elif _is_pair(first, last):
            low, high = low + 1, high - 1
        else:
            break
    kept = list(pieces[low:high])
    if not any(piece.text.strip() for piece in kept):
        return ()
    kept[0] = _without_space(kept[0], kept[0].text.lstrip(), 0)
    kept[-1] = _without_space(kept[-1], kept[-1].text.rstrip(), 1)
    return kept


def _without_space(piece: Piece, text: str, side: int) -> Piece:
    """Removes white space at the beginning (0) or end (1) of a piece whose characters are written as they are."""
    size = piece.span.stop - piece.span.start
    if piece.code is not None or len(piece.text) != size:
        return piece
    start = piece.span.start if side else piece.span.stop - len(text)
    return replace(piece, text=text, span=Span(start, start + len(text)))


def _is_droppable(piece: Piece) -> bool:
    if piece.code is None:
        return not piece.text.strip()
    return piece.code.kind == "single" and not piece.is_word


def _is_pair(first: Piece, last: Piece) -> bool:
    """Whether two pieces are the halves of one pair."""
    if first.code is None or last.code is None:
        return False
    return first.code.kind == "open" and last.code.kind == "close" and first.code.id == last.code.id


def passage_of(
    pieces: Sequence[Piece], written: Callable[[Content], str], *, context: str = "", is_trimmed: bool = True
) -> Passage | None:
    """Makes a passage of pieces; None if they have no text."""
    kept = trimmed(pieces) if is_trimmed else pieces
    if not kept:
        return None
    return Passage(
        span=Span(kept[0].span.start, kept[-1].span.stop),
        source=joined([piece.text if piece.code is None else piece.code for piece in kept]),
        written=written,
        codes={(piece.code.id, piece.code.kind): piece.span for piece in kept if piece.code is not None},
        context=context,
    )


def paired_codes(found: Sequence[tuple[Code, int | None]]) -> list[Code]:
    """Determines the kinds of codes.

    Args:
        found: the codes in order, each with the number of its pair; None for a single code.

    Returns:
        The same codes; halves of crossing pairs become single, since a translation could not keep them nested.
    """
    open_pairs: list[int] = []
    crossed: set[int] = set()
    halves: dict[int, list[int]] = {}
    for number, (_, pair) in enumerate(found):
        if pair is None:
            continue
        while open_pairs and open_pairs[-1] in crossed:
            open_pairs.pop()
        if pair not in halves:
            halves[pair] = [number]
            open_pairs.append(pair)
        elif open_pairs and open_pairs[-1] == pair:
            halves[pair].append(number)
            open_pairs.pop()
        else:
            crossed.add(pair)
    codes = [replace(code, kind="single") for code, _ in found]
    for numbers in halves.values():
        if len(numbers) == 2:
            first, last = numbers
            codes[first] = replace(codes[first], kind="open")
            codes[last] = replace(codes[last], kind="close", id=codes[first].id)
    return codes


def document_file(
    name: str,
    text: EncodedText,
    passages: Iterable[Passage],
    *,
    always: Sequence[Edit] = (),
    declared: Languages | None = None,
) -> File:
    """Makes a file of passages, numbered in order of their starts.

    Args:
        name: the name of the format.
        text: the document.
        passages: its texts.
        always: edits that are made as soon as there is any result: declarations of the language.
        declared: the languages that it names.
    """
    ordered = sorted(passages, key=lambda passage: (passage.span.start, -passage.span.stop))
    named = {str(number): passage for number, passage in enumerate(ordered, 1)}
    units = tuple(
        Unit(
            id=number,
            forms=(Form(source=passage.source),),
            is_translatable=passage.is_translatable,
            context=passage.context,
            spans=(passage.span,) if passage.is_translatable else (),
        )
        for number, passage in named.items()
    )
    return File(
        format=name,
        text=text,
        units=units,
        editor=PassageEditor(text, named, tuple(always)),
        declared=declared or Languages(),
        spans=tuple(edit.span for edit in always),
    )


@dataclass(frozen=True, slots=True)
class PassageEditor:
    """An editor for documents: edits within a code are made in the code, wherever a translation moves it."""

    text: EncodedText
    passages: Mapping[str, Passage]
    always: tuple[Edit, ...] = ()

    def edits(self, results: Mapping[str, Result], options: WriteOptions) -> Iterable[Edit]:
        """Returns the edits that put results into the document."""
        del options
        edits = _Edits(self.always)
        # From the end, inner passages before those around them, so that codes have the translations that are in them.
        for name in sorted(results, key=lambda name: _from_the_end(self.passages[name].span)):
            passage = self.passages[name]
            edits.advance(passage.span.start)
            parts = [
                self._with_inner(part, passage, edits) if isinstance(part, Code) else part
                for part in results[name].texts[0]
            ]
            edits.replace(Edit(passage.span, passage.written(tuple(parts))))
        return edits.ordered()

    def _with_inner(self, code: Code, passage: Passage, edits: "_Edits") -> Code:
        """Returns a code with the edits that lie within it."""
        span = passage.codes.get((code.id, code.kind))
        inner = edits.within(span) if span else ()
        if span is None or not inner:
            return code
        pieces, last = [], span.start
        for edit in inner:
            pieces += [self.text.text[last : edit.span.start], edit.text]
            last = edit.span.stop
        changed = "".join([*pieces, self.text.text[last : span.stop]])
        return replace(code, raw=code.raw.replace(self.text.text[span.start : span.stop], changed, 1))


def _from_the_end(span: Span) -> tuple[int, int]:
    return -span.start, span.stop


class _Edits:
    """Edits without overlaps, collected from the end of the document to its beginning.

    Args:
        others: further edits, which are merged in by position.
    """

    def __init__(self, others: Iterable[Edit]) -> None:
        self._others = sorted(others, key=lambda edit: edit.span)
        self._edits: list[Edit] = []

    def ordered(self) -> Sequence[Edit]:
        """Returns all edits, from the beginning of the document to its end."""
        self.advance(0)
        return self._edits[::-1]

    def advance(self, start: int) -> None:
        """Adds the other edits from a position on."""
        while self._others and self._others[-1].span.start >= start:
            self._edits.append(self._others.pop())

    def within(self, span: Span) -> Sequence[Edit]:
        """Returns the edits within a span, in order."""
        last, first = (bisect_right(self._edits, -at, key=_reversed_start) for at in (span.stop, span.start))
        return self._edits[last:first][::-1]

    def replace(self, edit: Edit) -> None:
        """Replaces the edits within an edit's span by that edit; none of the others begins before it."""
        while self._edits and self._edits[-1].span.start < edit.span.stop:
            self._edits.pop()
        self._edits.append(edit)


def _reversed_start(edit: Edit) -> int:
    return -edit.span.start
