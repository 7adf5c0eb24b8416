"""What a translation has to bring back to the letter: where it is in a text, and what it is there.

Found by regular expressions that never look back further than a thing is long, so a line of a million characters takes
as long as a million characters. Where in doubt, text is left to the model: a slip costs a word either way, but a word
that is protected is a word that is not translated.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["literal", "markup", "variable", "address", "path", "name", "number", "emoji", "verbatim"]


@dataclass(frozen=True)
class Thing:
    """A stretch of a text that is to come back."""

    start: int
    """Its first character."""
    end: int
    """The character behind it."""
    text: str
    """It."""
    kind: Kind
    """What it is: a placeholder that somebody typed, a tag, a program's variable, a URL or e-mail address, a file's
    path, an @handle or #hashtag, a number, an emoji, text that is no language."""


_TONE = "\U0001f3fb-\U0001f3ff"
# What Unicode shows as a picture without being asked, by block; symbols of the older blocks count with their selector.
_PICTURE = (
    "[\u231a\u231b\u23e9-\u23ec\u23f0\u23f3\u25fd\u25fe\u2600-\u27bf\u2b1b\u2b1c\u2b50\u2b55"
    "\U0001f004\U0001f0cf\U0001f18e\U0001f191-\U0001f19a\U0001f201-\U0001f251\U0001f300-\U0001faff]"
)
_SIGN = "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f170-\U0001f189]\ufe0f"
_ONE = rf"(?:{_SIGN}|{_PICTURE}\ufe0f?)[{_TONE}]?[\U000e0020-\U000e007f]*"
# Flags are two letters each, a family is joined, a keycap is a digit under a cap.
EMOJI = rf"(?:[\U0001f1e6-\U0001f1ff]{{2}}|[0-9#*]\ufe0f?\u20e3|{_ONE}(?:\u200d{_ONE})*)"
"""An emoji as people see one; a regular expression."""

_TOP_LEVEL = "com|org|net|edu|gov|info|eu|de|at|ch|uk|fr|es|it|nl|pl|io|dev|app"
_ARGUMENT = r"[\w.+-]+(?:\[\w*\])*(?:![rsa])?(?::[^{}\s]{0,20})?"
_ICU = r"\s*\w+\s*,\s*(?:plural|select|selectordinal|number|date|time)\b(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*"

_THING = re.compile(
    "|".join(
        (
            r"(?P<literal>\u27e6\d+\u27e7)",
            # A tag whose attributes have values, a comment's ends, an entity.
            r"""(?P<markup></?[A-Za-z][\w:.-]*(?:\s+[\w:.-]+=(?:"[^"]*"|'[^']*'|[^\s"'<>]+))*\s*/?>"""
            r"|<!--|-->|&(?:\#\d+|\#x[0-9A-Fa-f]+|[A-Za-z]{2,8});)",
            rf"(?P<variable>\{{\{{\s*{_ARGUMENT}\s*\}}\}}|\$?\{{(?:{_ARGUMENT}|{_ICU})?\}}"
            r"|%\(\w+\)[#0+-]*\d*(?:\.\d+)?[a-zA-Z]"
            r"|(?<![\w%])%(?:\d+\$)?[#0+-]*\d*(?:\.\d+)?(?:hh?|ll?|[Lzjt])?[diouxXeEfFgGcsSpn@](?![A-Za-z]))",
            rf"(?P<address>(?i:https?|ftp|file)://[^\s<>\"“”«»]+|(?<![\w@.])(?i:www)\.[^\s<>\"“”«»]+"
            r"|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
            rf"|(?<![\w@.-])(?:[a-z0-9-]+\.)+(?:{_TOP_LEVEL})(?![\w-])(?:[/?#][^\s<>\"“”«»]*)?)",
            r"(?P<path>(?<![\w/.~])(?:~|\.\.?)?(?:/[\w.+-]+){2,}/?|(?<!\w)[A-Za-z]:\\[^\s<>|\"*?]+"
            r"|(?<![\w/.-])[\w-][\w.-]*(?:/[\w.-]+)+\.[a-z0-9]{1,5}(?!\w))",
            r"(?P<name>(?<![\w@.])@\w[\w.]*|(?<![\w&#])\#\w*[^\W\d_]\w*)",
            rf"(?P<emoji>{EMOJI})",
            r"(?P<number>(?:(?<![\w$€£¥])[$€£¥] ?)?(?<![\w.,:/])(?<!\w-)\d+(?:[.,:/'’\u00a0\u202f-]\d+)*(?!\d)"
            r"(?: ?[$€£¥%](?!\w))?)",
        )
    )
)
_HINT = re.compile("[@#%{<&0-9/\\\\\u2190-\U0010ffff\u00a9\u00ae\u2122]|\\.\\w")
"""What every thing holds."""
_EMOJI = re.compile(EMOJI)
_PICTURES_FROM = "\u2190"
_TRAILING = ".,;:!?…'’)]}*_"
_OPENING = {")": "(", "]": "[", "}": "{"}
_DIGITS_FROM = 5
_TIME_UNIT = " Uhr"


def protected(text: str) -> list[Thing]:
    """What of a text has to come back to the letter, in its order; no two overlap."""
    if not _HINT.search(text):
        return []
    found = []
    position = 0
    while match := _THING.search(text, position):
        kind: Kind = match.lastgroup  # type: ignore[assignment]  # the groups are the kinds
        thing = _without_what_follows(match[0], kind)
        position = match.start() + len(thing)
        if thing and (
            kind != "number" or (_is_special(without_unit(thing)) and not text.startswith(_TIME_UNIT, position))
        ):
            found.append(Thing(match.start(), position, thing, kind))
        position = max(position, match.start() + 1)
    return found


def with_verbatim(things: Sequence[Thing], text: str, copied: Sequence[str]) -> list[Thing]:
    """Things with stretches that are no language, each with the things that it is a part of, such as a path.

    Args:
        things: of the text, in their order.
        text: the text.
        copied: the stretches, in their order; one that is not in the text is left out.
    """
    found, position = list[Thing](), 0
    for each in copied:
        start = text.find(each, position)
        if start >= 0:
            touching = [thing for thing in things if thing.start < start + len(each) and thing.end > start]
            position = start + len(each)
            start = min((start, *(thing.start for thing in touching)))
            position = max((position, *(thing.end for thing in touching)))
            found.append(Thing(start, position, text[start:position], "verbatim"))
    others = (thing for thing in things if all(thing.end <= each.start or thing.start >= each.end for each in found))
    return sorted((*others, *found), key=lambda thing: thing.start)


def emoji_at_ends(text: str) -> tuple[str, str, str]:
    """A text between the emoji, with the white space about them, at its ends; if it is all emoji, they are the first.

    Returns:
        What is before, the text, what is behind; together they are what was given.
    """
    if text.isascii() or max(text) < _PICTURES_FROM:
        return "", text, ""
    spans = [match.span() for match in _EMOJI.finditer(text)]
    start, end = 0, len(text)
    for first, behind in spans:
        if text[start:first].strip():
            break
        start = behind
    for first, behind in reversed(spans):
        if first < start or text[behind:end].strip():
            break
        end = first
    if start:
        start = len(text) - len(text[start:].lstrip())
    if end < len(text):
        end = max(start, len(text[:end].rstrip()))
    return text[:start], text[start:end], text[end:]


def without_unit(number: str) -> str:
    """A number without the sign of a currency before it or behind, or of per cent."""
    return number.strip("$€£¥% ")


def _without_what_follows(thing: str, kind: Kind) -> str:
    """A thing without a sentence's punctuation behind it."""
    if kind not in ("address", "path", "name"):
        return thing
    while thing and thing[-1] in _TRAILING:
        opening = _OPENING.get(thing[-1])
        if opening is not None and thing.count(opening) >= thing.count(thing[-1]):
            break
        if thing[-1] == "_" and kind != "address":
            break
        thing = thing[:-1]
    return thing


def _is_special(number: str) -> bool:
    """Whether a number is long, or has thousands, decimals or a date's parts; years, times and ranges are the model's.

    These are words of their own in a sentence: "um 10:30 Uhr", "between 10 and 12".
    """
    if number.isdigit():
        return len(number) >= _DIGITS_FROM
    if any(sign in number for sign in ":/-"):
        return len(re.findall(r"\d+", number)) > 2 or max(map(len, re.findall(r"\d+", number))) >= _DIGITS_FROM
    return True
