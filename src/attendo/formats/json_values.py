"""JSON with the position of every key and value; comments, as Chrome's files have them, count as white space."""

import json
import re
from dataclasses import dataclass, field
from typing import Literal

from attendo.errors import DataError
from attendo.formats.encoded import EncodedText
from attendo.formats.file import Span

_MAX_DEPTH = 64
_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.S)
_SCALAR = re.compile(r'(?P<string>"(?:[^"\\\x00-\x1f]|\\.)*")|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null')
_UNICODE_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\u([0-9A-Fa-f]{4})")

Kind = Literal["object", "array", "string", "other"]


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object, or an item of an array, whose name is its number."""

    name: str
    start: int
    """The start of the key, or of the item."""
    value: "JsonValue"


@dataclass(frozen=True, kw_only=True, slots=True)
class JsonValue:
    """A value and its position."""

    kind: Kind
    span: Span
    members: tuple[Member, ...] = ()
    """The members of an object, including equal keys, or of an array."""
    text: str = ""
    """The text of a string."""

    def get(self, *path: str) -> "JsonValue | None":
        """Returns the value at a path of keys; the first of equal keys."""
        found: JsonValue | None = self
        for name in path:
            found = None if found is None else next((one.value for one in found.members if one.name == name), None)
        return found

    def text_of(self, *path: str) -> str:
        """Returns the string at a path of keys; empty if there is none."""
        found = self.get(*path)
        return "" if found is None else found.text


@dataclass(slots=True)
class _Open:
    kind: Literal["object", "array"]
    start: int
    members: list[Member] = field(default_factory=list)
    key: str = ""
    key_start: int = 0


def parse_json_values(text: EncodedText) -> JsonValue:
    """Reads JSON.

    Raises:
        DataError: the text is not JSON, or is nested more than 64 deep.
    """
    stack: list[_Open] = []
    position = _behind_space(text, 0)
    while True:
        value, position = _value_or_opened(text, position, stack)
        while value is not None:
            if not stack:
                if _behind_space(text, position) != len(text.text):
                    raise _error(text, _behind_space(text, position))
                return value
            container = stack[-1]
            name = container.key if container.kind == "object" else str(len(container.members))
            start = container.key_start if container.kind == "object" else value.span.start
            container.members.append(Member(name, start, value))
            value, position = _next(text, _behind_space(text, position), stack)


def _next(text: EncodedText, position: int, stack: list[_Open]) -> tuple[JsonValue | None, int]:
    """Continues after a member; returns the container if it closes, None before the next value."""
    container = stack[-1]
    closing = "}" if container.kind == "object" else "]"
    mark = text.text[position : position + 1]
    if mark == closing:
        stack.pop()
        span = Span(container.start, position + 1)
        return JsonValue(kind=container.kind, span=span, members=tuple(container.members)), position + 1
    if mark != ",":
        raise _error(text, position)
    position = _behind_space(text, position + 1)
    return None, _behind_key(text, position, container) if container.kind == "object" else position


def _value_or_opened(text: EncodedText, position: int, stack: list[_Open]) -> tuple[JsonValue | None, int]:
    """Reads a scalar or an empty container, or opens a container."""
    mark = text.text[position : position + 1]
    if mark in ("{", "[") and mark:
        if len(stack) >= _MAX_DEPTH:
            raise DataError(f"line {text.line_number(position)} is nested more than {_MAX_DEPTH} deep")
        container = _Open("object" if mark == "{" else "array", position)
        position = _behind_space(text, position + 1)
        if text.text[position : position + 1] == ("}" if mark == "{" else "]"):
            return JsonValue(kind=container.kind, span=Span(container.start, position + 1)), position + 1
        stack.append(container)
        return None, _behind_key(text, position, container) if mark == "{" else position
    found = _SCALAR.match(text.text, position)
    if found is None:
        raise _error(text, position)
    span = Span(found.start(), found.end())
    if found["string"] is None:
        return JsonValue(kind="other", span=span), found.end()
    return JsonValue(kind="string", span=span, text=_string(text, span)), found.end()


def _behind_key(text: EncodedText, position: int, container: _Open) -> int:
    found = _SCALAR.match(text.text, position)
    if found is None or found["string"] is None:
        raise _error(text, position)
    container.key, container.key_start = _string(text, Span(found.start(), found.end())), found.start()
    position = _behind_space(text, found.end())
    if text.text[position : position + 1] != ":":
        raise _error(text, position)
    return _behind_space(text, position + 1)


def _behind_space(text: EncodedText, position: int) -> int:
    found = _SPACE.match(text.text, position)
    assert found is not None
    return found.end()


def _string(text: EncodedText, span: Span) -> str:
    try:
        value: str = json.loads(text.text[span.start : span.stop])
    except ValueError:
        raise _error(text, span.start) from None
    return value


def _error(text: EncodedText, position: int) -> DataError:
    shown = text.text[position : position + 30].partition("\n")[0]
    return DataError(f"line {text.line_number(position)} is no JSON at {shown!r}")


@dataclass(frozen=True, kw_only=True, slots=True)
class JsonStyle:
    r"""A file's way of writing strings: characters beyond ASCII as `\uXXXX` or unchanged."""

    is_ascii: bool
    is_upper: bool

    def written(self, text: str, old: str = "") -> str:
        """Writes a string in quotes; characters that the replaced one escapes, such as `/` and `<`, are escaped too."""
        raw = json.dumps(text, ensure_ascii=self.is_ascii)
        if self.is_upper:
            raw = _UNICODE_ESCAPE.sub(lambda found: found[0][:-4] + found[1].upper(), raw)
        for digits in dict.fromkeys(_UNICODE_ESCAPE.findall(old)):
            if (character := chr(int(digits, 16))) not in '"\\' and not 0xD800 <= ord(character) < 0xE000:
                raw = raw.replace(character, f"\\u{digits}")
        if "\\/" in old:
            raw = raw.replace("/", "\\/")
        # Half of a surrogate pair, which UTF-8 cannot represent, stays an escape.
        return "".join(f"\\u{ord(one):04x}" if 0xD800 <= ord(one) < 0xE000 else one for one in raw)


def style_of_json(text: EncodedText) -> JsonStyle:
    """Determines how a file writes strings."""
    escapes = [digits for digits in _UNICODE_ESCAPE.findall(text.text) if int(digits, 16) > 0x7F]
    letters = "".join(escapes)
    is_upper = sum(map(str.isupper, letters)) > sum(map(str.islower, letters))
    return JsonStyle(is_ascii=text.text.isascii() and bool(escapes), is_upper=is_upper)
