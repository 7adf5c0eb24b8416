"""PO files: writing translations, their fuzzy flags, and missing fields of the header."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from attendo.formats.contents import plain
from attendo.formats.encoded import EncodedText
from attendo.formats.file import Edit, Result, Span, WriteOptions
from attendo.formats.plural_rules import PluralForm

_ESCAPES = {
    "\\": "\\\\",
    '"': '\\"',
    "\n": "\\n",
    "\t": "\\t",
    "\r": "\\r",
    "\b": "\\b",
    "\f": "\\f",
    "\v": "\\v",
    "\a": "\\a",
}
_TO_ESCAPE = re.compile(r'[\\"\n\t\r\x07\x08\x0b\x0c]')
_WORD = re.compile(r"(?:\\.|[^\\ ])* *|\\")


@dataclass(frozen=True, slots=True)
class Field:
    """A keyword's string: its literals on one or several lines."""

    span: Span
    """The span from the first opening quotation mark to the last closing one."""
    lines: tuple[str, ...]
    """The literals' content as written."""
    line: Span
    """The span of all its lines, with the keyword and the last line end."""


def joined_field(literals: Sequence[Field]) -> Field:
    """Makes a field of literals on successive lines."""
    first, last = literals[0], literals[-1]
    return Field(
        span=Span(first.span.start, last.span.stop),
        lines=tuple(line for literal in literals for line in literal.lines),
        line=Span(first.line.start, last.line.stop),
    )


@dataclass(frozen=True, kw_only=True)
class PoEntry:
    """An entry, with the positions of its parts."""

    fields: Mapping[str, Field]
    """The fields by `msgctxt`, `msgid`, `msgid_plural`, `msgstr`, `msgstr[0]` and so on."""
    flag_lines: tuple[Span, ...]
    previous_lines: tuple[Span, ...]
    notes: tuple[str, ...]
    flags: tuple[str, ...]
    keyword: int
    """The start of its first keyword's line."""
    source: str

    @property
    def is_fuzzy(self) -> bool:
        """Whether the entry is flagged fuzzy."""
        return "fuzzy" in self.flags

    def names(self, count: int) -> list[str]:
        """Returns the names of its `msgstr` fields for a number of forms, present or not."""
        return [f"msgstr[{index}]" for index in range(count)] if "msgid_plural" in self.fields else ["msgstr"]

    def last(self) -> Field:
        """The last `msgstr` field."""
        return max(
            (found for name, found in self.fields.items() if name.startswith("msgstr")), key=lambda one: one.span
        )

    def surplus(self, count: int) -> list[Span]:
        """Returns the lines of empty plural forms beyond those of the file's formula."""
        names = self.names(count)
        return [
            found.line
            for name, found in self.fields.items()
            if name.startswith("msgstr[") and name not in names and not any(found.lines)
        ]

    def spans(self, count: int) -> tuple[Span, ...]:
        """Returns every span that writing the entry may replace."""
        names = self.names(count)
        values = [self.fields[name].span for name in names if name in self.fields]
        behind = [Span(self.last().span.stop, self.last().span.stop)] if len(values) < len(names) else []
        return (
            *values,
            *behind,
            *self.surplus(count),
            *self.flag_lines,
            *self.previous_lines,
            Span(self._place, self._place),
        )

    @property
    def _place(self) -> int:
        """The insertion point of a line of flags: before previous messages, or before the first keyword."""
        return min((span.start for span in self.previous_lines), default=self.keyword)

    def state_edits(self, *, fuzzy: bool, text: EncodedText) -> Iterator[Edit]:
        """Yields the edits that set or remove the fuzzy flag; previous messages are removed with it."""
        if fuzzy == self.is_fuzzy:
            return
        if fuzzy and self.flag_lines:
            line = self.flag_lines[0]
            yield Edit(line, text.text[line.start : line.stop].replace("#,", "#, fuzzy,", 1))
        elif fuzzy:
            yield Edit(Span(self._place, self._place), f"#, fuzzy{text.line_end}")
        else:
            for line in self.flag_lines:
                yield Edit(line, _without_fuzzy(text.text[line.start : line.stop]))
            yield from (Edit(line, "") for line in self.previous_lines)


def _without_fuzzy(line: str) -> str:
    """Returns a line of flags without fuzzy; empty if that was the only one."""
    kept = re.sub(r"(#,|,)[ \t]*fuzzy[ \t]*(?=,|\r|\n|$)", lambda found: found[1] if found[1] == "#," else "", line)
    kept = re.sub(r"^([ \t]*#,),", r"\1", kept)
    return "" if kept.strip() == "#," else kept


@dataclass(frozen=True, kw_only=True)
class PoHeader:
    """A file's header, with the edits that are made as soon as there is any translation."""

    forms: tuple[PluralForm, ...]
    edits: Mapping[Span, str] = field(default_factory=dict)
    language: str = ""

    def spans(self) -> tuple[Span, ...]:
        """The spans that may be set."""
        return tuple(self.edits)


@dataclass(frozen=True, kw_only=True)
class PoEditor:
    """Puts translations into a PO file."""

    text: EncodedText
    entries: Mapping[str, PoEntry]
    """The entries by unit id."""
    header: PoHeader
    wrap: int | None
    """The width at which the file's lines are wrapped; None if they are not."""

    def edits(self, results: Mapping[str, Result], options: WriteOptions) -> Iterable[Edit]:
        """Yields the edits of the header and of each entry."""
        yield from (Edit(span, text) for span, text in self.header.edits.items())
        for name, found in results.items():
            entry = self.entries[name]
            yield from self._values(entry, found)
            yield from entry.state_edits(fuzzy=options.is_marked(found), text=self.text)

    def _values(self, entry: PoEntry, found: Result) -> Iterator[Edit]:
        names = entry.names(len(found.texts))
        is_unfinished = not all(name in entry.fields and any(entry.fields[name].lines) for name in names)
        missing = []
        for name, text in zip(names, found.texts, strict=True):
            written = self._literals(name, plain(text), entry)
            if name not in entry.fields:
                missing.append(f"{self.text.line_end}{name} {written}")
            elif not (is_unfinished and any(entry.fields[name].lines) and not entry.is_fuzzy):
                yield Edit(entry.fields[name].span, written)
        end = entry.last().span.stop
        if missing:
            yield Edit(Span(end, end), "".join(missing))
        yield from (Edit(line, "") for line in entry.surplus(len(found.texts)))

    def _literals(self, name: str, text: str, entry: PoEntry) -> str:
        """Writes a text as string literals, on lines by its source's style and the file's width."""
        escaped = _escaped(text)
        source = entry.fields["msgid_plural" if "msgid_plural" in entry.fields and name != "msgstr[0]" else "msgid"]
        lines = [_escaped(part) for part in re.split(r"(?<=\n)", text) if part] or [""]
        breaks_lines = len(source.lines) > 1 or "\\n" not in "".join(source.lines)[:-2]
        if len(lines) > 1 and not breaks_lines:
            lines = [escaped]
        fits = self.wrap is None or len(name) + len(escaped) + 3 <= self.wrap
        if len(lines) == 1 and fits:
            return f'"{escaped}"'
        wrapped = [piece for line in lines for piece in _wrapped(line, self.wrap)]
        return self.text.line_end.join(f'"{line}"' for line in ["", *wrapped])


def _escaped(text: str) -> str:
    return _TO_ESCAPE.sub(lambda found: _ESCAPES[found[0]], text)


def _wrapped(line: str, width: int | None) -> list[str]:
    """Breaks a literal after spaces, so that no piece with its quotation marks exceeds the width."""
    if width is None:
        return [line]
    pieces = [""]
    for word in _WORD.findall(line):
        if pieces[-1] and len(pieces[-1]) + len(word) + 2 > width:
            pieces.append("")
        pieces[-1] += word
    return pieces
