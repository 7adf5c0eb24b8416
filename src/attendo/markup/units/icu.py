"""ICU messages: parsed into texts, arguments and branches, and written again."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from attendo.errors import DataError

BranchingKind = Literal["plural", "selectordinal", "select"]
_MAX_DEPTH = 8
_ARGUMENT_NAME = re.compile(r"\s*([^\s{},'#]+)\s*")
_BRANCHING = re.compile(r",\s*(plural|selectordinal|select)\s*,\s*(offset:\s*\d+\s*)?")
_KEY = re.compile(r"\s*(=\d+|[^\s{}=,'#]+)\s*\{")
_LOOKS_BRANCHED = re.compile(r"\{\s*[^\s{},]+\s*,\s*(?:plural|selectordinal|select)\s*,")


@dataclass(frozen=True, slots=True)
class Argument:
    """An untranslated placeholder, as written: `{name}`, `{n, number}`, or `#`."""

    raw: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Branching:
    """A choice between messages by the value of an argument."""

    argument: str
    kind: BranchingKind
    offset: str
    """The offset as written: `offset:1`; empty if there is none."""
    branches: tuple[tuple[str, "Message"], ...]
    """The messages by key: a category, `=0`, or a value."""


Message = tuple[str | Argument | Branching, ...]
"""Texts as a reader sees them, with quotes resolved, and the arguments and branches between them."""


def looks_branched(text: str) -> bool:
    """Whether a text has branches of an ICU message, regardless of its flags."""
    return _LOOKS_BRANCHED.search(text) is not None


def parse_icu(text: str) -> Message:
    """Parses a message.

    Raises:
        DataError: the text is not an ICU message.
    """
    parser = _Parser(text)
    message = parser.message(depth=0, in_plural=False)
    if parser.position < len(text):
        raise parser.error("a closing brace without an opening one")
    return message


class _Parser:
    """A parser of ICU's message syntax.

    Args:
        text: the message.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self.position = 0

    def error(self, what: str) -> DataError:
        """Returns the error for a message that is not well formed."""
        return DataError(f"the ICU message has {what} at character {self.position + 1}")

    def message(self, *, depth: int, in_plural: bool) -> Message:
        """Parses up to a closing brace or the end."""
        if depth > _MAX_DEPTH:
            raise self.error("too many branches within branches")
        parts: list[str | Argument | Branching] = []
        text: list[str] = []
        while self.position < len(self._text) and self._text[self.position] != "}":
            character = self._text[self.position]
            if character == "'":
                text.append(self._quoted(in_plural=in_plural))
            elif character == "{" or (character == "#" and in_plural):
                parts += ["".join(text)] if text else []
                text = []
                parts.append(self._argument(depth=depth, in_plural=in_plural))
            else:
                text.append(character)
                self.position += 1
        return (*parts, "".join(text)) if text else tuple(parts)

    def _quoted(self, *, in_plural: bool) -> str:
        """Reads the text after an apostrophe: an apostrophe, or quoted characters."""
        text, start = self._text, self.position
        if text.startswith("''", start):
            self.position += 2
            return "'"
        if text[start + 1 : start + 2] not in ("{", "}", *(("#", "|") if in_plural else ())):
            self.position += 1
            return "'"
        self.position += 1
        quoted: list[str] = []
        while self.position < len(text):
            if text.startswith("''", self.position):
                quoted.append("'")
                self.position += 2
            elif text[self.position] == "'":
                self.position += 1
                break
            else:
                quoted.append(text[self.position])
                self.position += 1
        return "".join(quoted)

    def _argument(self, *, depth: int, in_plural: bool) -> Argument | Branching:
        start = self.position
        self.position += 1
        if self._text[start] == "#":
            return Argument("#")
        name = _ARGUMENT_NAME.match(self._text, self.position)
        if not name:
            raise self.error("an argument without a name")
        self.position = name.end()
        if branching := _BRANCHING.match(self._text, self.position):
            self.position = branching.end()
            return self._branching(name[1], branching, depth=depth, in_plural=in_plural)
        level = 1
        while self.position < len(self._text):
            level += {"{": 1, "}": -1}.get(self._text[self.position], 0)
            self.position += 1
            if level == 0:
                return Argument(self._text[start : self.position])
        raise self.error("an argument that does not end")

    def _branching(self, name: str, found: re.Match[str], *, depth: int, in_plural: bool) -> Branching:
        kind: BranchingKind = (
            "select" if found[1] == "select" else "plural" if found[1] == "plural" else "selectordinal"
        )
        branches = []
        while key := _KEY.match(self._text, self.position):
            self.position = key.end()
            branches.append((key[1], self.message(depth=depth + 1, in_plural=in_plural or kind != "select")))
            if not self._text.startswith("}", self.position):
                raise self.error(f"a branch {key[1]} that does not end")
            self.position += 1
        rest = self._text[self.position :]
        self.position += len(rest) - len(rest.lstrip())
        if not self._text.startswith("}", self.position):
            raise self.error(f"branches of {name} that do not end")
        self.position += 1
        if "other" not in dict(branches):
            raise self.error(f"no branch 'other' of {name}")
        return Branching(argument=name, kind=kind, offset=(found[2] or "").strip(), branches=tuple(branches))


def written_icu(message: Message, *, doubles_apostrophes: bool) -> str:
    """Writes a message.

    Args:
        message: its texts, arguments and branches.
        doubles_apostrophes: whether every apostrophe is written twice; otherwise only those that would quote something.
    """
    return "".join(_written(message, doubles_apostrophes=doubles_apostrophes, in_plural=False))


def _written(message: Message, *, doubles_apostrophes: bool, in_plural: bool) -> list[str]:
    pieces = []
    for number, part in enumerate(message):
        if isinstance(part, str):
            ends_before_syntax = number + 1 < len(message)
            pieces.append(_escaped(part, doubles_apostrophes, ends_before_syntax, in_plural))
        elif isinstance(part, Argument):
            pieces.append(part.raw)
        else:
            inner = in_plural or part.kind != "select"
            branches = " ".join(
                f"{key} {{{''.join(_written(branch, doubles_apostrophes=doubles_apostrophes, in_plural=inner))}}}"
                for key, branch in part.branches
            )
            offset = f"{part.offset} " if part.offset else ""
            pieces.append(f"{{{part.argument}, {part.kind}, {offset}{branches}}}")
    return pieces


def _escaped(text: str, doubles_apostrophes: bool, ends_before_syntax: bool, in_plural: bool) -> str:
    syntax = "{}#" if in_plural else "{}"
    result = []
    for number, character in enumerate(text):
        behind = text[number + 1 : number + 2]
        if character in syntax:
            result.append(f"'{character}'")
        elif character == "'":
            would_quote = (behind and behind in f"{syntax}'|") or (not behind and ends_before_syntax)
            result.append("''" if doubles_apostrophes or would_quote else "'")
        else:
            result.append(character)
    return "".join(result).replace("'{''}'", "'{}'")


def shape(message: Message) -> Sequence[tuple[str, ...]]:
    """Returns the parts that a translation must share with a message, in any order: arguments and selecting values."""
    found: set[tuple[str, ...]] = set()
    for part in message:
        if isinstance(part, Argument):
            found.add(("argument", part.raw))
        elif isinstance(part, Branching):
            if part.kind == "select":
                found.add(("select", part.argument, *sorted(key for key, _ in part.branches)))
            else:
                exact = sorted(key for key, _ in part.branches if key.startswith("="))
                found.add((part.kind, part.argument, *exact))
            for _, branch in part.branches:
                found.update(shape(branch))
    return sorted(found)
