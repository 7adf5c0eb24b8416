"""Controls of the writing direction, as right-to-left languages have them around placeholders and numbers.

Isolates and embeddings come in pairs that must stay pairs; marks are single.
"""

import re

from attendo.formats.contents import ALONE, Code, Content, joined

_MARKS = "\u061c\u200e\u200f"
_OPENING = dict.fromkeys("\u2066\u2067\u2068", "\u2069") | dict.fromkeys("\u202a\u202b\u202d\u202e", "\u202c")
"""Opening controls with their closing ones."""
_CLOSING = frozenset(_OPENING.values())
_CONTROL = re.compile(
    # A pair around signs and digits alone is one unit with them.
    r"[\u2066-\u2068](?:(?![\u2066-\u2069\n])[\W\d_]){0,40}\u2069"
    r"|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


def with_controls(text: str, start: int, stop: int) -> tuple[int, int]:
    """Returns the span of a placeholder together with the controls directly around it.

    Args:
        text: the text around the placeholder.
        start: the position of the placeholder.
        stop: after it.
    """
    while True:
        before, behind = text[start - 1 : start] if start else "", text[stop : stop + 1]
        if before and _OPENING.get(before) == behind:
            start, stop = start - 1, stop + 1
        elif before and before in _MARKS:
            start -= 1
        elif behind and behind in _MARKS:
            stop += 1
        else:
            return start, stop


def with_control_codes(parts: Content, prefix: str) -> Content:
    """Turns each control in a content's strings into a code; a pair around no letters is one code with its text.

    Args:
        parts: the content.
        prefix: the prefix of the codes' ids.
    """
    if not any(isinstance(part, str) and _CONTROL.search(part) for part in parts):
        return parts
    found: list[str | Code] = []
    waiting: list[tuple[str, int]] = []
    for part in parts:
        if isinstance(part, Code):
            found.append(part)
            continue
        last = 0
        for control in _CONTROL.finditer(part):
            found.append(part[last : control.start()])
            last = control.end()
            name, kind = f"{prefix}direction {len(found)}", ALONE
            if control[0] in _CLOSING and waiting and waiting[-1][0] == control[0]:
                opened = waiting.pop()[1]
                opening = found[opened]
                assert isinstance(opening, Code)
                found[opened] = Code(id=opening.id, raw=opening.raw, kind="open")
                name, kind = opening.id, "close"
            elif control[0] in _OPENING:
                waiting.append((_OPENING[control[0]], len(found)))
            found.append(Code(id=name, raw=control[0], kind=kind))
        found.append(part[last:])
    return joined(found)
