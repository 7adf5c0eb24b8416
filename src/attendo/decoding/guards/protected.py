"""Finds the text that a translation has to keep exactly, and its kind.

The regular expressions never look back further than a match is long, so the time grows with the length of the line.
Where in doubt, text is left to the model: either mistake costs a word, but a protected word is certainly not
translated.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

Kind = Literal[
    "literal", "code", "markup", "variable", "address", "path", "handle", "emoji", "environment", "option", "file",
    "version", "hash", "identifier", "phone", "number", "verbatim", "foreign", "person",
]  # fmt: skip


@dataclass(frozen=True)
class ProtectedSpan:
    """A stretch of a text that its translation must contain."""

    start: int
    """Position of its first character."""
    end: int
    """Position of the character after it."""
    text: str
    """The text."""
    kind: Kind
    """The kind: a placeholder typed by the user (literal), one of the kinds of `values.GRAMMAR`, an emoji, text that is
    no language (verbatim), words in another script or language than the line's (foreign), or a person."""
    target: str | None = None
    """The text in the translation, if it is known to differ."""


_TONE = "\U0001f3fb-\U0001f3ff"
# Characters that are shown as pictures by default, by block; symbols of the older blocks need a variation selector.
_PICTURE = (
    "[\u231a\u231b\u23e9-\u23ec\u23f0\u23f3\u25fd\u25fe\u2600-\u27bf\u2b1b\u2b1c\u2b50\u2b55"
    "\U0001f004\U0001f0cf\U0001f18e\U0001f191-\U0001f19a\U0001f201-\U0001f251\U0001f300-\U0001faff]"
)
_SIGN = "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f170-\U0001f189]\ufe0f"
_ONE = rf"(?:{_SIGN}|{_PICTURE}\ufe0f?)[{_TONE}]?[\U000e0020-\U000e007f]*"
# A flag is two letters, a family is joined characters, a keycap is a digit under a cap.
EMOJI = rf"(?:[\U0001f1e6-\U0001f1ff]{{2}}|[0-9#*]\ufe0f?\u20e3|{_ONE}(?:\u200d{_ONE})*)"
"""An emoji as displayed; a regular expression."""

_TOP_LEVEL = "com|org|net|edu|gov|info|eu|de|at|ch|uk|fr|es|it|nl|pl|io|dev|app"
_ARGUMENT = r"[\w.+-]+(?:\[\w*\])*(?:![rsa])?(?::[^{}\s]{0,20})?"
_ICU = r"\s*\w+\s*,\s*(?:plural|select|selectordinal|number|date|time)\b(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*"

_FILE_ENDINGS = (
    "txt|md|rst|py|ipynb|js|ts|jsx|tsx|json|toml|ya?ml|xml|html?|css|csv|tsv|log|conf|cfg|ini|sh|bat|ps1|exe|dll|so|zip|"
    "gz|xz|tar|pdf|png|jpe?g|svg|gif|cs|vb|fs|cpp|cc|c|h|hpp|java|rb|go|rs|sql|resx|csproj|sln|config|docx?|xlsx?|pptx?"
)
PRE_RELEASE = r"-(?:alpha|beta|rc|preview|pre|dev)\w*(?:\.\w+)*"
"""The suffix of a pre-release version; a regular expression."""
# Names of a program joined by points, colons or arrows; which of them are no words of a sentence is decided afterwards.
_CHAIN = r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)*(?:\(\))?"
_IN_CHAIN = r"(?=[\w.:>-]{0,80}?(?:_|[a-z][A-Z]|[A-Za-z]\d|\(\)|::|->|\.\w+\.\w))"

_WIDTH = r"(?:\d+|\*(?:\d+\$)?)?(?:\.(?:\d+|\*(?:\d+\$)?)?)?"
_LENGTH = r"(?:hh?|ll?|I64|I32|[Lqjzt])?"
_DOUBLE_BRACE = r"\{\{[^{}\n]{0,200}\}\}"
PROGRAM_PLACEHOLDER = (
    rf"(?<![\w%])%(?:\d+\$)?[-+#0']*{_WIDTH}{_LENGTH}[diouxXeEfFgGcCsSpn@](?![A-Za-z])"
    r"|%\([\w. -]{1,80}\)[-+#0]*\d*(?:\.\d+)?[diouxXeEfFgGcrsa](?![A-Za-z])"
    r"|%(?:\d+\$)?#@\w+@|%<\w{1,60}>[-+ 0-9.]*[a-zA-Z]|(?<![\w%])%L?\d{1,2}(?![\d%])|(?<![\w%])%L?n(?![A-Za-z])"
    r"|(?<!\w)%[A-Za-z_]\w{0,60}%|(?<!\w)\$[A-Za-z_]\w{0,60}\$|\$t\([^()\n]{0,200}\)|(?<!\w)@:[\w.]{1,80}"
    rf"|{_DOUBLE_BRACE}|\$?\{{\s*[-$]?[\w.]+\s*\}}|(?<!\w)@\w{{1,40}}/[\w.]{{1,80}}|\\u[0-9A-Fa-f]{{4}}"
)
"""A regular expression for text that is almost certainly a program's placeholder, in any language."""

CODE_BEGINS = r"`(?![^`'\n]{1,80}(?<=\S)'(?![\w`]))"
"""A regular expression for a grave accent that can begin code and no quotation in GNU's old style, `like this'."""

_SCHEMES = "about|data|doi|geo|javascript|magnet|mailto|ms-[a-z-]{1,30}|sms|tel|urn|xmpp"
"""Schemes of addresses without slashes."""
_SECOND_PART = "[A-ZÄÖÜ][a-zäöüß]"
"""The beginning of the second part of a German compound: nuget.org-Paketdetails, --enable-debug-Flag."""
_PATTERNS = {
    "literal": r"\u27e6\d+\u27e7",
    "code": rf"{CODE_BEGINS}[^`\n]+`",
    # A tag whose attributes have values, a comment's ends, an entity.
    "markup": (
        r"""</?[A-Za-z][\w:.-]*(?:\s+[\w:.-]+=(?:"[^"]*"|'[^']*'|[^\s"'<>]+))*\s*/?>"""
        r"|<!--|-->|&(?:\#\d+|\#x[0-9A-Fa-f]+|[A-Za-z]{2,8});"
    ),
    "environment": r"\$[A-Z][A-Z0-9_]*(?![\w$])|%[A-Z][A-Z0-9_]*%|(?<!\w)[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?!\w)",
    "variable": (rf"\$?\{{(?:{_ARGUMENT}|{_ICU})?\}}|%\(\w+\)[#0+-]*\d*(?:\.\d+)?[a-zA-Z]|{PROGRAM_PLACEHOLDER}"),
    "address": (
        r"(?<![\w+.-])(?:[A-Za-z][\w+.-]{1,30}:){1,2}//[^\s<>\"“”«»]*"
        rf"|(?<![\w+.-])(?i:{_SCHEMES}):[^\s<>\"“”«»]+"
        rf"|(?<![\w@.])(?i:www)\.(?:[\w-]+(?:\.[\w-]+)*?\.[a-z]{{2,}}(?=-{_SECOND_PART})|[^\s<>\"“”«»]+)"
        r"|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
        rf"|(?<![\w@.-])(?:[a-z0-9-]+\.)+(?:{_TOP_LEVEL})(?!\w|-(?!{_SECOND_PART}))(?:[/?#][^\s<>\"“”«»]*)?"
    ),
    "path": (
        r"(?<![\w/.~])(?:(?:~|\.\.?)?(?:/[\w.+-]+){2,}|(?:~|\.\.?)/[\w.+-]+)/?|(?<!\w)[A-Za-z]:\\[^\s<>|\"*?]+"
        r"|(?<![\w/.-])[\w-][\w.-]*(?:/[\w.-]+)+\.[a-z0-9]{1,5}(?!\w)"
    ),
    "handle": r"(?<![\w@.])@\w[\w.]*|(?<![\w&#])\#\w*[^\W\d_]\w*",
    "emoji": EMOJI,
    "option": (
        rf"(?<![\w-])--[a-z](?:[a-z0-9-]*[a-z0-9])?(?=-{_SECOND_PART})"
        r"|(?<![\w-])--[A-Za-z][\w-]*(?:=[\w./-]*\w)?|(?<![\w-])-[A-Za-z](?![\w-])"
        r"|(?<![\w-])-[A-Z][a-z]+[A-Z][A-Za-z]*(?![\w-])"
        r"|(?<![\w.$@&?-])[A-Za-z_][\w.-]+=[\w./:@%+-]*\w(?!\w)"
        r"|(?<!\S)\w[\w.]*(?: (?:[=!]==?|&&|\|\||[<>]=) [\w.]*\w)+|(?<!\S)(?:&&|\|\|)(?!\S)"
    ),
    "file": rf"(?<![\w.-])(?![a-z]\.[ch](?!\w))[\w-]+(?:\.[\w-]+)*\.(?:{_FILE_ENDINGS})(?![\w(])",
    "version": (rf"(?<![\w.])(?:v\d+(?:\.\d+)+(?:{PRE_RELEASE})?|\d+(?:\.\d+)*{PRE_RELEASE})(?!\w|,\d)"),
    "hash": (
        r"(?<!\w)(?:[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|0x[0-9A-Fa-f]+"
        r"|(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40})(?!\w)"
    ),
    "identifier": (
        rf"(?<![\w.])(?:{_IN_CHAIN}{_CHAIN}"
        r"|\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"
        r"|C\+\+(?:/CLI)?|[CF]\#|[A-Z]{1,5}-\d+[A-Z]?(?:-[A-Z0-9]+)*|\d[A-Za-z0-9]*_[A-Za-z0-9_]*)(?!\w)"
    ),
    # In groups, where amounts have theirs in threes, or dictated digit by digit.
    "phone": (
        r"(?<![\w.])\d{2,4}(?: \d{2,4}){3,}(?<!\d{3} \d{3} \d{3})(?!\w)"
        r"|(?<![\w.])\d{3} \d{3} \d{4}(?!\w| \d)"
        r"|(?<![\w.,])\(?\d(?:[,.)]{0,2} \(?\d(?!\d)){6,}(?!\w)"
    ),
    "number": (
        r"(?:(?<![\w$€£¥])[$€£¥] ?)?(?<![\w.,:/])(?<!\w-)\d+(?:[.,:/'’\u00a0\u202f-]\d+)*(?!\d)"
        r"(?: ?[$€£¥%](?!\w))?"
    ),
}
"""Patterns of each kind. If several match at the same position, the first one counts."""
# A single set of characters to search for, followed by conditions on letters and signs: much faster than alternatives.
_HINT = re.compile(
    "[@#%{<&=|0-9/\\\\`_$\u2190-\U0010ffff\u00a9\u00ae\u2122A-Z.:(+-]"
    r"(?:(?<![A-Z.:(+-])|(?<=[a-z][A-Z])|(?<=\.)(?=\w)|(?<!\w-)(?<=-)(?=[A-Za-z-])|(?<=-)(?=>)"
    r"|(?<=:)(?=:)|(?<=\()(?=\))|(?<=\+)(?=\+))"
)
"""A pattern that matches within all protected text."""
# Names with underscores, a capital within a word, or digits after letters; _word_ is emphasis.
_PROGRAM_NAME = re.compile(
    r"[A-Za-z0-9]+(?:_+[A-Za-z0-9]+)+_*|__\w+__|_+[A-Za-z0-9]+(?:_+[A-Za-z0-9]+)*"
    r"|[A-Za-z0-9]*[a-z][A-Z][A-Za-z0-9]*|[A-Za-z]+\d[A-Za-z0-9]*"
)
_NO_PROGRAM_NAME = re.compile(r"[A-Z]?[a-z]+In(?:nen)?|[Gg]?mbH|MwSt|eMails?|PhD")
"""German's LehrerInnen, and abbreviations that differ between languages."""
_PICTURES_FROM = "\u2190"
_TRAILING = ".,;:!?…'’)]}*_"
_OPENING = {")": "(", "]": "[", "}": "{"}
_DIGITS_FROM = 5
_TIME_UNIT = " Uhr"


def protected(text: str) -> list[ProtectedSpan]:
    """Finds text that must stay unchanged, in order and without overlaps."""
    if not _HINT.search(text):
        return []
    found = []
    position = 0
    pattern = _any_kind()
    while match := pattern.search(text, position):
        kind: Kind = match.lastgroup  # type: ignore[assignment]  # the groups are the kinds
        stretch = _without_punctuation(match[0], kind)
        position = match.start() + len(stretch)
        if stretch and _is_protected(stretch, kind, text, position):
            found.append(ProtectedSpan(match.start(), position, stretch, kind))
        position = max(position, match.start() + 1)
    return found


@cache
def _any_kind() -> re.Pattern[str]:
    """Combines all patterns; compiled for the first text that may have a match."""
    return re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _PATTERNS.items()))


def _is_protected(stretch: str, kind: Kind, text: str, end: int) -> bool:
    """Whether a match really is of its kind, for kinds that a pattern alone cannot decide.

    Args:
        stretch: the match.
        kind: its kind.
        text: the text that contains it.
        end: position of the character after it.
    """
    if kind == "identifier":
        return _is_identifier(stretch)
    if kind == "number":
        return _is_special(without_unit(stretch)) and not text.startswith(_TIME_UNIT, end)
    return True


def _is_identifier(chain: str) -> bool:
    """Whether names joined by points, colons or arrows, or a single name, are a program identifier and no sentence."""
    if "-" in chain or "::" in chain or chain.endswith(("()", "#", "++", "/CLI")):
        return True
    names = chain.split(".")
    if len(names) > 2 and min(map(len, names)) > 1:  # u.a.m. has single letters
        return True
    return any(_PROGRAM_NAME.fullmatch(name) and not _NO_PROGRAM_NAME.fullmatch(name) for name in names)


def with_verbatim(spans: Sequence[ProtectedSpan], text: str, copied: Sequence[str]) -> list[ProtectedSpan]:
    """Adds stretches that are not natural language, merged with adjacent protected text, such as a path.

    Args:
        spans: the protected text, in order.
        text: the text.
        copied: the stretches, in order; those not in the text are skipped.
    """
    found, position = list[ProtectedSpan](), 0
    for stretch in copied:
        start = text.find(stretch, position)
        if start >= 0:
            touching = [span for span in spans if span.start < start + len(stretch) and span.end > start]
            position = start + len(stretch)
            start = min((start, *(span.start for span in touching)))
            position = max((position, *(span.end for span in touching)))
            found.append(ProtectedSpan(start, position, text[start:position], "verbatim"))
    return with_more(found, spans)


def with_more(spans: Sequence[ProtectedSpan], others: Sequence[ProtectedSpan]) -> list[ProtectedSpan]:
    """Returns the spans and those others that overlap none of them, in order.

    Args:
        spans: the given spans of a text, which should be few.
        others: further spans of the same text.
    """
    if not spans:
        return list(others)
    free = (other for other in others if all(other.end <= span.start or other.start >= span.end for span in spans))
    return sorted((*spans, *free), key=lambda span: span.start)


def emoji_at_ends(text: str) -> tuple[str, str, str]:
    """Splits off the emoji at the ends of a text, with the white space around them; an all-emoji text comes first.

    Returns:
        The emoji before, the text, the emoji after; joined they are the given text.
    """
    if text.isascii() or max(text) < _PICTURES_FROM:
        return "", text, ""
    spans = [match.span() for match in _emoji().finditer(text)]
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


@cache
def _emoji() -> re.Pattern[str]:
    """`EMOJI`, compiled for the first text that may have one."""
    return re.compile(EMOJI)


def without_unit(number: str) -> str:
    """A number without a currency sign before or after it, or a per cent sign."""
    return number.strip("$€£¥% ")


def _without_punctuation(stretch: str, kind: Kind) -> str:
    """Removes a sentence's punctuation at the end of a match."""
    if kind not in ("address", "path", "handle"):
        return stretch
    while stretch and stretch[-1] in _TRAILING:
        opening = _OPENING.get(stretch[-1])
        if opening is not None and stretch.count(opening) >= stretch.count(stretch[-1]):
            break
        if stretch[-1] == "_" and kind != "address":
            break
        stretch = stretch[:-1]
    return stretch


def _is_special(number: str) -> bool:
    """Whether a number is long, or has thousands, decimals or parts of a date; years, times and ranges do not count.

    These are ordinary words in a sentence: "um 10:30 Uhr", "between 10 and 12".
    """
    if number.isdigit():
        return len(number) >= _DIGITS_FROM
    if any(sign in number for sign in ":/-"):
        return len(re.findall(r"\d+", number)) > 2 or max(map(len, re.findall(r"\d+", number))) >= _DIGITS_FROM
    return True
