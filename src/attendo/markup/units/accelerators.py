"""Accelerators: the sign before a letter that a menu entry is chosen by, taken out and put back."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from attendo.formats.contents import Code, Content, joined
from attendo.markup.units.code_text import tag_spans
from attendo.markup.units.directives import directives

_LONGEST = 80
"""Maximum length of a text with an accelerator; a sentence is not a menu entry."""
# A sign within a word counts before a small letter alone: E&xit has one, R&D has none.
_AMPERSAND = re.compile(r"(?<![&\w])&(?=[^\W_])(?!#?\w+;)|(?<=[^\W\d_])&(?=[a-z])(?!\w+;)")
_UNDERSCORE = re.compile(r"(?<![\w/.])_(?=[^\W_])(?!\w*[_(])")
_UNDERSCORE_WITHIN = re.compile(r"(?<=[^\W\d_])_(?=[a-z])")
_TILDE = re.compile(r"(?<![\w~/])~(?=[^\W\d_]{2})(?![\w.-]*/)|(?<=[^\W\d_])~(?=[a-z])")
_CAPITALIZED_WORDS = re.compile(r"[A-Z][^\W\d_]*_?[^\W\d_]*(?: [^\W\d_]+)*(?:\.{3}|…|:)?")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_END = re.compile(r"(?:\s*(?:\.{3}|…|[:：]))*\s*$")


@dataclass(frozen=True, slots=True)
class Accelerator:
    """A sign and the letter after it."""

    sign: str
    letter: str


def accelerator_sign(flags: Collection[str]) -> str | None:
    """Returns the sign that a unit's flags name: `&` for `accelerator:&`; None if there is none."""
    return next((flag.partition(":")[2].strip('"') for flag in flags if flag.startswith("accelerator:")), None)


def without_accelerator(parts: Content, flags: Collection[str]) -> tuple[Content, Accelerator | None]:
    """Removes the accelerator of a content; returns both, with None if it has no accelerator or several signs."""
    text = "".join(part if isinstance(part, str) else "\n" for part in parts)
    place = _place(text, accelerator_sign(flags))
    if place is None:
        return parts, None
    found = Accelerator(text[place], text[place + 1])
    result: list[str | Code] = []
    position = 0
    for part in parts:
        if isinstance(part, str) and position <= place < position + len(part):
            at = place - position
            result.append(part[:at] + part[at + 1 :])
        else:
            result.append(part)
        position += len(part) if isinstance(part, str) else 1
    return joined(result), found


def count_of(text: str, sign: str) -> int:
    """Counts the signs of a text, without doubled ones, which are characters, and entities."""
    text = text.replace(sign * 2, "")
    return len(re.findall(r"&(?!#?\w+;)" if sign == "&" else re.escape(sign), text))


def with_accelerator(
    parts: Content, accelerator: Accelerator, flags: Collection[str], *, can_append: bool = True
) -> Content:
    """Adds an accelerator to a translation: before the same letter if it has it, otherwise before its first letter.

    A text in a script without spaces between words gets the letter in brackets after it, as `(&F)`.

    Args:
        parts: the translation, without an accelerator.
        accelerator: the accelerator of the source.
        flags: the flags of the unit, which determine its placeholders: these have no accelerator.
        can_append: whether brackets may be added.
    """
    texts = [(number, part) for number, part in enumerate(parts) if isinstance(part, str)]
    whole = "".join(part for _, part in texts)
    if can_append and _UNSPACED.search(whole):
        number, last = texts[-1]
        end = _END.search(last)
        assert end is not None
        marked = f"{last[: end.start()]}({accelerator.sign}{accelerator.letter.upper()}){last[end.start() :]}"
        return joined([*parts[:number], marked, *parts[number + 1 :]])
    letter = re.escape(accelerator.letter)
    words = [(number, part, _words_alone(part, flags)) for number, part in texts]
    for pattern in (rf"(?<!\w){letter}", letter, r"(?<!\w)[^\W\d_]", r"[^\W_]"):
        for number, part, alone in words:
            if found := re.search(pattern, alone, re.IGNORECASE):
                marked = part[: found.start()] + accelerator.sign + part[found.start() :]
                return joined([*parts[:number], marked, *parts[number + 1 :]])
    return parts


def _words_alone(text: str, flags: Collection[str]) -> str:
    """Returns a text with spaces in place of its placeholders and tags."""
    for start, stop in [*((one.start, one.stop) for one in directives(text, flags)), *tag_spans(text)]:
        text = f"{text[:start]}{' ' * (stop - start)}{text[stop:]}"
    return text


def _place(text: str, sign: str | None) -> int | None:
    """Finds the only accelerator of a text."""
    if len(text) > _LONGEST or "://" in text or not any(known in text for known in "&_~"):
        return None
    patterns = {"&": _AMPERSAND, "_": _UNDERSCORE, "~": _TILDE}
    for known, pattern in patterns.items():
        if (sign is not None and known != sign) or count_of(text, known) != 1:
            continue
        found = pattern.search(text)
        if found is None and known == "_" and (_CAPITALIZED_WORDS.fullmatch(text) or sign == "_"):
            found = _UNDERSCORE_WITHIN.search(text)
        if found is not None:
            return found.start()
    return None
