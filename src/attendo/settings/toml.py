"""Reads untrusted TOML within bounds of time and memory, and writes values as TOML.

Python's own reader recurses where tables are nested, and takes quadratic time over a key of many parts and a number of
many digits. Content that no settings file has is therefore rejected beforehand, by a scan in linear time.
"""

import json
import re
import tomllib
from typing import Any

from attendo.errors import RecipeError

MAX_BYTES = 1 << 20
"""Maximum size of a whole file."""
MAX_DEPTH = 8
"""Brackets within brackets, and parts of a dotted key."""
MAX_WORD_CHARACTERS = 200
"""Maximum length of a number, a date or a key without quotes."""

_SCAN = re.compile(
    r"#[^\n]*"
    r'|"""(?:[^\\]|\\.?)*?(?:"{3,5}|\Z)'  # up to two quotes may precede the three that end it
    r"|'''.*?(?:'{3,5}|\Z)"
    r'|"(?:[^"\\\n]|\\[^\n])*"?'
    r"|'[^'\n]*'?"
    r"|(?P<word>[^\s\"'#\[\]{}.,=]+)"
    r"|(?P<mark>[\[\]{}.,=\n])",
    re.DOTALL,
)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_KEY_CHARACTERS, _VALUE_CHARACTERS = 60, 120


def toml_text(content: bytes, origin: str) -> str:
    """The text of a file of settings, for `read_toml`.

    Args:
        content: the file.
        origin: its name in messages.

    Raises:
        RecipeError: it is not UTF-8.
    """
    try:
        # Editors on Windows write a byte order mark at the start, which TOML does not allow.
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise RecipeError(f"{origin}: not UTF-8 at byte {error.start}; save the file as UTF-8") from error


def read_toml(text: str, origin: str) -> dict[str, Any]:
    """Reads a document.

    Args:
        text: the document, with only line feeds as line ends.
        origin: its name in messages.

    Raises:
        RecipeError: it is not TOML, or larger or deeper than settings are.
    """
    if problem := _scanned(text):
        raise RecipeError(f"{origin}: {problem}")
    try:
        return tomllib.loads(text)
    except ValueError as error:  # a TOMLDecodeError, or a date that does not exist
        hint = "; write paths in 'single quotes'" if str(error).startswith("Unescaped '\\'") else ""
        raise RecipeError(f"{origin}: not TOML: {one_line(str(error), 2 * _VALUE_CHARACTERS)}{hint}") from error


def _scanned(text: str) -> str | None:
    """Describes content that no settings have and that would be slow to read; None if there is none."""
    if len(text) > MAX_BYTES:
        return f"has {len(text):,} characters, and settings at most {MAX_BYTES:,}; name another file"
    brackets = dots = 0
    for found in _SCAN.finditer(text):
        mark, word = found["mark"], found["word"]
        if mark == ".":
            dots += 1
        elif mark:
            dots = 0
            brackets += {"[": 1, "{": 1, "]": -1, "}": -1}.get(mark, 0)
        if word and len(word) > MAX_WORD_CHARACTERS:
            return f"{_line(text, found)}: {excerpt(word)} is no key and no number; put text in quotes"
        if brackets > MAX_DEPTH or dots >= MAX_DEPTH:
            return (
                f"{_line(text, found)}: tables or lists more than {MAX_DEPTH} deep, which no key takes; leave them out"
            )
    return None


def _line(text: str, found: re.Match[str]) -> str:
    return f"line {text.count(chr(10), 0, found.start()) + 1}"


def toml_value(value: Any) -> str:
    """A value as TOML writes it, on one line; None, which TOML lacks, as `"none"`."""
    if value is None:
        return '"none"'
    if isinstance(value, str):
        # JSON's escapes are TOML's. Characters without a visible form, such as the right-to-left mark, are written as
        # numbers.
        return "".join(char if char.isprintable() else _escaped(char) for char in json.dumps(value, ensure_ascii=False))
    if isinstance(value, bool | int):
        return json.dumps(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml_key(key)} = {toml_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return repr(value) if isinstance(value, float) else str(value)


def _escaped(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


def toml_key(part: str) -> str:
    """A part of a key as TOML writes it."""
    return part if _BARE_KEY.fullmatch(part) else toml_value(part)


def dotted(*parts: str) -> str:
    """A dotted key as TOML writes it, with a part that is very long shortened: for messages."""
    return ".".join(_shortened(toml_key(part), _KEY_CHARACTERS) for part in parts)


def excerpt(value: Any) -> str:
    """A value in the form of `toml_value`, shortened if long: for messages."""
    return _shortened(toml_value(value), _VALUE_CHARACTERS)


def one_line(text: str, most: int = _VALUE_CHARACTERS) -> str:
    """Text of unknown origin for a message: unprintable characters escaped, the middle of a long text omitted."""
    shown = _shortened(text, most)
    return shown if shown.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in shown)


def _shortened(text: str, most: int) -> str:
    """The beginning and end of a text, which have its subject and the remedy."""
    return text if len(text) <= most else f"{text[: most // 2]}…{text[-(most // 2) :]} ({len(text):,} characters)"
