"""YAML scalars with their paths and positions: block mappings and sequences, flow collections, all five styles.

Anchors, aliases, tags, comments and several documents are skipped; other YAML, such as keys with `?`,
is refused.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from attendo.errors import DataError
from attendo.formats.encoded import EncodedText
from attendo.formats.file import Span
from attendo.formats.yaml_text import FLOW_PLAIN, PLAIN, PLAIN_REST, block_text, double_text, folded_lines

ScalarStyle = Literal["plain", "single", "double", "literal", "folded"]

_MAX_DEPTH = 64
_KEY_END = re.compile(r"[ \t]*:(?=[ \t\r\n]|\Z)", re.ASCII)
_PROPERTY = re.compile(r"(?:&[^\s,\[\]{}]+|!(?:<[^>\s]*>|[^\s,\[\]{}]*))(?:[ \t]+|(?=[\r\n])|\Z)", re.ASCII)
_BLOCK_HEADER = re.compile(r"([|>])([+-]?)([1-9]?)([+-]?)[ \t]*(?:(?<=[ \t])#[^\r\n]*)?(?=[\r\n]|\Z)", re.ASCII)
_REST = re.compile(r"[ \t]*(?:(?<![^\s\]}\"'])#[^\r\n]*)?(?=[\r\n]|\Z)", re.ASCII)
_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
_QUOTED = re.compile(r"'(?:[^']|'')*+'|\"(?:[^\"\\]|\\.)*+\"", re.S)
_ALIAS = re.compile(r"\*[^\s,\[\]{}]+", re.ASCII)
_PLAIN_LINE = re.compile(r"[^\s#]" + PLAIN_REST, re.ASCII)
_INDENTATION = re.compile(r"(?:[ \t]*(?:\r\n|\r|\n))*([ \t]*)", re.ASCII)
_FLOW_SPACE = re.compile(r"(?:\s+|(?<=[\s,\[{])#[^\r\n]*)*", re.ASCII)
_FLOW_KEY_END = re.compile(r"\s*:(?=[\s,\[\]{}]|\Z)", re.ASCII)
_QUOTED_KEY_END = re.compile(r"\s*:", re.ASCII)


@dataclass(frozen=True, kw_only=True, slots=True)
class YamlScalar:
    """A scalar that is a value."""

    path: tuple[str, ...]
    """The path of keys and numbers to it."""
    span: Span
    """The whole span: with quotation marks, or with the header of a block."""
    style: ScalarStyle
    text: str
    indent: int
    """The column of its mapping or sequence."""
    key: Span
    """The span of its key; empty for an item of a sequence."""
    header: str = ""
    """The first line of a block, without a comment."""
    has_tag: bool = False
    """Whether a tag declares its type."""
    is_flow: bool = False
    """Whether it is within brackets or braces."""


@dataclass(slots=True)
class _Level:
    """A mapping's key or a sequence's item that is being read."""

    column: int
    is_item: bool
    name: str
    number: int
    key: Span


def yaml_scalars(text: EncodedText, span: Span) -> list[YamlScalar]:
    """Reads YAML.

    Args:
        text: the text that contains it.
        span: the part; it begins at the start of a line.

    Raises:
        DataError: the text is not supported YAML; the message names the line.
    """
    return list(_Scanner(text, span).scalars())


class _Scanner:
    """Reads YAML from top to bottom, with a stack of open levels.

    Args:
        text: the text that contains it.
        span: the part.
    """

    def __init__(self, text: EncodedText, span: Span) -> None:
        self._file, self._text, self._span = text, text.text, span
        self._levels: list[_Level] = []
        self._at = span.start
        self._line_start = span.start

    def scalars(self) -> Iterator[YamlScalar]:
        """Yields the values in order."""
        while self._at < self._span.stop:
            line = self._line()
            stripped = line.strip()
            if not stripped or stripped.startswith("#"):
                self._next_line()
                continue
            if line.startswith(("---", "...", "%")) and (line[0] == "%" or len(line) == 3 or line[3].isspace()):
                self._levels.clear()
                self._at += len(line) if line.startswith(("...", "%")) else 3
                self._skip_spaces()
                if self._at == self._line_end() or self._text[self._at] == "#":
                    self._next_line()
                    continue
            yield from self._entry()
            self._end_line()

    def _error(self, reason: str, at: int | None = None) -> DataError:
        return DataError(f"line {self._file.line_number(self._at if at is None else at)}: {reason}")

    def _line_end(self) -> int:
        found = _LINE.match(self._text, self._at, self._span.stop)
        assert found is not None
        return found.end(1)

    def _line(self) -> str:
        return self._text[self._at : self._line_end()]

    def _next_line(self) -> None:
        found = _LINE.match(self._text, self._at, self._span.stop)
        assert found is not None
        self._at = self._line_start = found.end()

    def _skip_spaces(self) -> None:
        while self._at < self._span.stop and self._text[self._at] in " \t":
            self._at += 1

    def _end_line(self) -> None:
        """Moves to the next line; only a comment may precede it."""
        found = _REST.match(self._text, self._at, self._span.stop)
        if found is None:
            shown = self._text[self._at : self._at + 30].partition("\n")[0]
            raise self._error(f"cannot read {shown!r} here; a value that holds ': ' or begins with a sign needs quotes")
        self._at = found.end()
        self._next_line()

    def _entry(self) -> Iterator[YamlScalar]:
        """Reads a line: items and a key, each within the one before, and a value."""
        while self._at < self._span.stop and self._text[self._at] == " ":
            self._at += 1
        while True:
            column = self._at - self._line_start
            mark = self._text[self._at : self._at + 2]
            if mark in ("- ", "-\t", "-\n", "-\r", "-"):
                self._open(column, is_item=True, name="", key=Span(self._at, self._at))
                self._at += 1
                self._skip_spaces()
            elif mark in ("? ", "?\n", "?\r"):
                raise self._error("keys written with '?' are not read; write 'key: value'")
            elif (key := self._key()) is not None:
                self._open(column, is_item=False, name=key[0], key=key[1])
                self._skip_spaces()
                yield from self._value()
                return
            elif self._at >= self._line_end() or self._text[self._at] == "#":
                return
            else:
                if self._levels and column <= self._levels[-1].column:
                    raise self._error("neither a key nor an item; is its indentation right?")
                yield from self._value()
                return

    def _open(self, column: int, *, is_item: bool, name: str, key: Span) -> None:
        """Pushes a key or an item, which replaces the one before it on its level."""
        number = 0
        while self._levels and (
            self._levels[-1].column > column
            or (self._levels[-1].column == column and (not is_item or self._levels[-1].is_item))
        ):
            last = self._levels.pop()
            if last.column == column and is_item:
                number = last.number + 1
        if len(self._levels) >= _MAX_DEPTH:
            raise self._error(f"nested more than {_MAX_DEPTH} deep")
        self._levels.append(_Level(column, is_item, str(number) if is_item else name, number, key))

    def _key(self) -> tuple[str, Span] | None:
        """Reads a key and the colon after it; None if there is none."""
        start = self._at
        found = _QUOTED.match(self._text, start, self._span.stop) or PLAIN.match(self._text, start, self._span.stop)
        if found is None or "\n" in found[0]:
            return None
        end = _KEY_END.match(self._text, found.end(), self._span.stop)
        if end is None:
            return None
        self._at = end.end()
        return _scalar_text(found[0])[1], Span(start, found.end())

    def _path(self) -> tuple[str, ...]:
        return tuple(level.name for level in self._levels)

    def _value(self) -> Iterator[YamlScalar]:
        """Reads a value, or nothing if it is on other lines."""
        has_tag = False
        while (found := _PROPERTY.match(self._text, self._at, self._span.stop)) is not None:
            has_tag = has_tag or found[0].startswith("!")
            self._at = found.end()
        if self._at >= self._line_end() or _REST.match(self._text, self._at, self._line_end()):
            return
        first = self._text[self._at]
        if first in "[{":
            yield from self._flow(self._path(), 0)
        elif first == "*":
            alias = _ALIAS.match(self._text, self._at)
            self._at = self._at + 1 if alias is None else alias.end()
        elif first in "|>":
            yield self._block(has_tag=has_tag)
        else:
            yield self._flat(has_tag=has_tag)

    def _owner(self) -> _Level:
        return self._levels[-1] if self._levels else _Level(-1, False, "", 0, Span(self._at, self._at))

    def _scalar(self, span: Span, style: ScalarStyle, text: str, header: str, *, has_tag: bool) -> YamlScalar:
        owner = self._owner()
        return YamlScalar(
            path=self._path(),
            span=span,
            style=style,
            text=text,
            indent=max(owner.column, 0),
            key=owner.key,
            header=header,
            has_tag=has_tag,
        )

    def _flat(self, *, has_tag: bool) -> YamlScalar:
        """Reads a plain or quoted scalar of one or several lines."""
        start = self._at
        if self._text[start] in "'\"":
            found = _QUOTED.match(self._text, start, self._span.stop)
            if found is None:
                raise self._error("a quotation mark is not closed")
            stop = found.end()
        else:
            stop = self._plain_end()
        style, text = _scalar_text(self._text[start:stop])
        self._at = stop
        self._line_start = max(self._text.rfind("\n", 0, stop), self._text.rfind("\r", 0, stop)) + 1
        return self._scalar(Span(start, stop), style, text, "", has_tag=has_tag)

    def _plain_end(self) -> int:
        """Finds the end of a plain scalar, which includes lines that are indented further."""
        found = PLAIN.match(self._text, self._at, self._span.stop)
        if found is None:
            shown = self._text[self._at : self._at + 30].partition("\n")[0]
            raise self._error(f"cannot read {shown!r} here; a value that begins with a sign needs quotes")
        stop = found.end()
        column = self._owner().column
        while _REST.match(self._text, stop, self._span.stop):
            # A comment ends a plain scalar.
            line_end = _LINE.match(self._text, stop, self._span.stop)
            assert line_end is not None
            if line_end[1].strip() or line_end.end() >= self._span.stop:
                break
            following = _INDENTATION.match(self._text, line_end.end(), self._span.stop)
            assert following is not None
            begin = following.end()
            more = _PLAIN_LINE.match(self._text, begin, self._span.stop)
            if len(following[1]) <= column or more is None or self._text.startswith("#", begin):
                break
            if _KEY_END.match(self._text, more.end(), self._span.stop):
                raise self._error("a value goes on and has a key in it; quote it, or mend its indentation", begin)
            stop = more.end()
        return stop

    def _block(self, *, has_tag: bool) -> YamlScalar:
        """Reads a literal or folded block."""
        found = _BLOCK_HEADER.match(self._text, self._at, self._span.stop)
        if found is None:
            raise self._error("the header of a block, such as '|' or '>-', cannot be read")
        start, owner = self._at, self._owner()
        keep, explicit = found[2] or found[4], int(found[3] or 0)
        self._at = found.end()
        self._next_line()
        lines: list[str] = []
        stop = last_content = min(found.end(), self._span.stop)
        minimum = max(owner.column, -1) + 1
        while self._at < self._span.stop:
            line = self._line()
            width = len(line) - len(line.lstrip(" "))
            if line.strip() and width < (explicit + max(owner.column, 0) if explicit else minimum):
                break
            lines.append(line)
            stop = self._line_end()
            last_content = stop if line.strip() else last_content
            self._next_line()
        header = f"{found[1]}{found[2]}{found[3]}{found[4]}"
        text = block_text(lines, header, explicit + max(owner.column, 0) if explicit else 0)
        if keep != "+":
            stop = last_content
        # The rest of the file is read from the end of the line that the block ends on.
        self._at = stop
        style: ScalarStyle = "literal" if found[1] == "|" else "folded"
        return self._scalar(Span(start, stop), style, text, header, has_tag=has_tag)

    def _flow(self, path: tuple[str, ...], depth: int) -> Iterator[YamlScalar]:
        """Reads a collection in brackets or braces."""
        if depth > _MAX_DEPTH:
            raise self._error(f"nested more than {_MAX_DEPTH} deep")
        start = self._at
        is_mapping = self._text[start] == "{"
        closing = "}" if is_mapping else "]"
        self._at += 1
        number = 0
        while True:
            self._skip_flow_space()
            mark = self._text[self._at : min(self._at + 1, self._span.stop)]
            if not mark:
                raise self._error(f"{self._text[start]!r} is not closed", start)
            if mark == closing:
                self._at += 1
                return
            if mark in "]}":
                raise self._error(f"{self._text[start]!r} is closed by {mark!r}")
            if mark == ",":
                self._at += 1
                continue
            yield from self._flow_member(path, number, depth)
            number += 1

    def _flow_member(self, path: tuple[str, ...], number: int, depth: int) -> Iterator[YamlScalar]:
        """Reads a value of a flow collection, with its key if it has one."""
        name, key = str(number), Span(self._at, self._at)
        has_tag = False
        for is_value in (False, True):
            while (found := _PROPERTY.match(self._text, self._at, self._span.stop)) is not None:
                has_tag = has_tag or found[0].startswith("!")
                self._at = found.end()
            mark = self._text[self._at : min(self._at + 1, self._span.stop)]
            if mark in ("[", "{"):
                yield from self._flow((*path, name), depth + 1)
                return
            if mark in ("", ",", "]", "}"):
                return
            raw = self._flow_raw()
            behind = (_QUOTED_KEY_END if raw[0] in "'\"" else _FLOW_KEY_END).match(
                self._text, self._at, self._span.stop
            )
            if not is_value and behind is not None:
                key = Span(self._at - len(raw), self._at)
                name = _scalar_text(raw)[1]
                self._at = behind.end()
                self._skip_flow_space()
                continue
            if raw.startswith("*"):
                return
            style, text = _scalar_text(raw)
            yield YamlScalar(
                path=(*path, name),
                span=Span(self._at - len(raw), self._at),
                style=style,
                text=text,
                indent=0,
                key=key,
                has_tag=has_tag,
                is_flow=True,
            )
            return

    def _flow_raw(self) -> str:
        """Reads a scalar or an alias within a flow collection, and moves past it."""
        for pattern in (_QUOTED, _ALIAS, FLOW_PLAIN):
            if (found := pattern.match(self._text, self._at, self._span.stop)) is not None:
                self._at = found.end()
                return found[0]
        shown = self._text[self._at : self._at + 30].partition("\n")[0]
        raise self._error(f"cannot read {shown!r} here; a value that begins with a sign needs quotes")

    def _skip_flow_space(self) -> None:
        found = _FLOW_SPACE.match(self._text, self._at, self._span.stop)
        assert found is not None
        self._at = found.end()


def _scalar_text(raw: str) -> tuple[ScalarStyle, str]:
    """Returns the style of a scalar other than a block, and its text."""
    if raw.startswith("'"):
        return "single", folded_lines(raw[1:-1]).replace("''", "'")
    if raw.startswith('"'):
        return "double", double_text(raw[1:-1])
    return "plain", folded_lines(raw)
