"""Texts with inline codes, and the repair of translations that lost, doubled or crossed some of them."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

CodeKind = Literal["single", "open", "close"]
# Only from the beginning of white space, or a long run would be searched from each of its characters.
_LINE_END = re.compile(r"(?<!\s)\s*[\r\n]\s*")
ALONE: CodeKind = "single"
"""The kind of a code that is not half of a pair."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Code:
    """An inline code: markup within a text, which a translation may move and never changes."""

    id: str
    """Identifier, unique in the text except that the two halves of a pair share it."""
    raw: str
    """The code as it is written in the file."""
    kind: CodeKind = "single"
    """Whether the code is single or half of a pair."""
    nests: bool = True
    """Whether pairs of this kind must be nested, as XML elements must; `bx` and `ex` of XLIFF may overlap."""


Content = tuple[str | Code, ...]
"""A text as strings and the codes between them."""


def content(text: str) -> Content:
    """Returns the content of a string without codes."""
    return (text,) if text else ()


def plain(parts: Content) -> str:
    """The strings of a content, without its codes."""
    return "".join([part for part in parts if isinstance(part, str)])


def codes(parts: Content) -> list[Code]:
    """The codes of a content, in order."""
    return [part for part in parts if isinstance(part, Code)]


def in_one_line(text: str) -> str:
    """A text with a space in place of each line end and the white space around it."""
    return _LINE_END.sub(" ", text)


def joined(parts: Sequence[str | Code]) -> Content:
    """The same content with neighbouring strings joined and empty ones left out."""
    merged: list[str | Code] = []
    strings: list[str] = []
    for part in parts:
        if isinstance(part, str):
            strings.append(part)
            continue
        if text := "".join(strings):
            merged.append(text)
        strings.clear()
        merged.append(part)
    if text := "".join(strings):
        merged.append(text)
    return tuple(merged)


def paired(tags: Sequence[tuple[str, bool]]) -> dict[int, tuple[int, CodeKind]]:
    """Pairs opening and closing tags; tags without a counterpart are left out.

    Args:
        tags: the name of each tag, and whether it closes; a tag without a name is single.

    Returns:
        For each paired tag, the number of its pair, which is that of the opening tag, and its half.
    """
    halves: dict[int, tuple[int, CodeKind]] = {}
    waiting: list[tuple[str, int]] = []
    names: Counter[str] = Counter()
    for number, (name, is_closing) in enumerate(tags):
        if not name:
            continue
        if not is_closing:
            waiting.append((name, number))
            names[name] += 1
        elif names[name]:
            opened, first = waiting.pop()
            names[opened] -= 1
            while opened != name:  # tags between the two that are never closed are single
                opened, first = waiting.pop()
                names[opened] -= 1
            halves[first], halves[number] = (first, "open"), (first, "close")
    return halves


def with_codes_of(source: Content, translation: Content) -> tuple[Content, tuple[str, ...]]:
    """Returns a translation that has each code of its source exactly once.

    Doubled and unknown codes are left out. Lost codes are appended in the order of the source. Where the halves of
    pairs cross, all codes go after the text, in the order of the source.

    Returns:
        The translation, and a problem for each repair.
    """
    wanted = {(code.id, code.kind): code for code in codes(source)}
    if not wanted and not codes(translation):
        return joined(translation), ()
    kept: list[str | Code] = []
    problems = []
    for part in translation:
        if isinstance(part, str):
            kept.append(part)
        elif (found := wanted.pop((part.id, part.kind), None)) is not None:
            kept.append(found)
        else:
            problems.append(f"the code {part.raw} was there twice or is not in the source")
    problems += [f"the code {code.raw} was lost and stands at the end" for code in wanted.values()]
    kept.extend(wanted.values())
    if not _is_nested(kept):
        problems.append("pairs of codes crossed; all codes stand at the end")
        kept = [part for part in kept if isinstance(part, str)] + list(codes(source))
    return joined(kept), tuple(problems)


def _is_nested(parts: Sequence[str | Code]) -> bool:
    """Whether each opening code precedes its closing one, and those that must be nested are."""
    paired = {part.id for part in parts if isinstance(part, Code) and part.kind == "open"}
    open_ids: set[str] = set()
    nested: list[str] = []
    for part in parts:
        if isinstance(part, str) or part.kind == "single":
            continue
        if part.kind == "open":
            open_ids.add(part.id)
            nested += [part.id] if part.nests else []
        elif part.id in open_ids:
            open_ids.remove(part.id)
            if part.nests and nested.pop() != part.id:
                return False
        elif part.id in paired:
            return False
        # Otherwise it is a closing half alone, as XLIFF has it where a pair spans units.
    return True
