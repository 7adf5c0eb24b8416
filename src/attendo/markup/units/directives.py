"""Placeholders of programs in a text: found by the flags of their unit.

The names of the flags are those of gettext and Weblate. Whether `% o` is a placeholder depends on them: it is one of
`c-format`, and a sign followed by a word in plain text.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from attendo.decoding.guards.protected import CODE_BEGINS, PROGRAM_PLACEHOLDER

_WIDTH = r"(?:\d+|\*(?:\d+\$)?)?(?:\.(?:\d+|\*(?:\d+\$)?)?)?"
_LENGTH = r"(?:hh?|ll?|I64|I32|[Lqjzt])?"
_C = rf"%(?:\d+\$)?[-+ #0'I]*{_WIDTH}{_LENGTH}[diouxXeEfFgGaAcCsSpnm]|%<[A-Za-z]+\d*>|%%"
_PYTHON = rf"%(?:\([^()\n]{{1,80}}\))?[-+ #0]*{_WIDTH}[hlL]?[diouxXeEfFgGcrsa]|%%"
_BRACE = r"\{\{|\}\}|\{[^{}\n]{0,120}(?:\{[^{}\n]{0,40}\}[^{}\n]{0,40})*\}"
_OBJC = rf"%(?:\d+\$)?#@\w+@|%(?:\d+\$)?[-+ #0']*{_WIDTH}{_LENGTH}[diouxXeEfFgGaAcCsSpn@]|%%"
_JAVA = r"%(?:\d+\$|<)?[-#+ 0,(]*\d*(?:\.\d+)?(?:[tT][A-Za-z]|[bBhHsScCdoxXeEfgGaAn])|%%"
_DOUBLE_BRACE = r"\{\{[^{}\n]{0,200}\}\}"

_FAMILIES: Mapping[str, str] = {
    "c-format": _C,
    "gcc-internal-format": _C,
    "lua-format": _C,
    "javascript-format": _C,
    "object-pascal-format": _C,
    "perl-format": _C,
    "php-format": r"%(?:\d+\$)?[-+ 0]*(?:'.)?\d*(?:\.\d+)?[bcdeEfFgGosuxX]|%%",
    "python-format": _PYTHON,
    "python-brace-format": _BRACE,
    "perl-brace-format": r"\{\w+\}",
    "ruby-format": rf"%\{{\w+\}}|%<\w+>[-+ #0]*{_WIDTH}[a-zA-Z]|{_C}",
    "objc-format": _OBJC,
    "java-printf-format": _JAVA,
    "java-format": _BRACE,
    "auto-java-messageformat": r"\{\d+(?:,[^{}\n]{0,80}(?:\{[^{}\n]{0,80}\}[^{}\n]{0,40})*)?\}",
    "c-sharp-format": r"\{\{|\}\}|\{\d+(?:,[^{}:\n]{0,20})?(?::[^{}\n]{0,40})?\}",
    "qt-format": r"%L?\d{1,2}",
    "qt-plural-format": r"%L?n",
    "kde-format": r"%\d{1,2}",
    "i18next-interpolation": rf"{_DOUBLE_BRACE}|\$t\([^()\n]{{0,200}}\)",
    "vue-format": r"@(?:\.\w+)?:(?:\([^()\n]+\)|[\w.]+)|\{[^{}\n]{0,80}\}",
    "laravel-format": r"(?<!\w):[A-Za-z]\w*",
    "percent-placeholders": r"%\w+%",
    "placeholders": r"\$\w+\$",
    "es-format": r"\$\{[^{}\n]{0,120}\}",
    "angularjs-format": _DOUBLE_BRACE,
    "automattic-components-format": _DOUBLE_BRACE,
    "scheme-format": r"~[a-zA-Z%]",
}
# In any text: patterns that can hardly be anything but a placeholder, for any program.
_ANYWHERE = (
    rf"{CODE_BEGINS}[^`\n]{{1,200}}`|{PROGRAM_PLACEHOLDER}"
    r"|(?<![\w-])--[a-z][\w-]*--(?!-)|(?<![\w-])--[a-z][a-z0-9_]*(?:-[a-z0-9_]+)*"  # German says "--force-Option"
    r"|(?<![\w$])\$[A-Za-z]\w{0,60}\([^()\s]{0,120}\)"  # a function of a script
    # An argument, as in MediaWiki's messages; an amount of money has more digits, or a word for more.
    r"|(?<![\w$])\$[1-9](?![\w$%]|[.,/–-]\d| (?:hundred|thousand|million|billion|trillion|per|an?)\b)"
)
_NAMED = re.compile(r"\{\{|%\d+\$|%\(|%<|%\{|#@|\{\s*[^\s{}:!]|\$|`|--|@|%L?\d|:[A-Za-z]|%\w+%$")
_MAY_HAVE = re.compile(r"[%{$`@\\]|--")
"""Characters of which every placeholder of `_ANYWHERE` has one."""
_SIGNS = re.compile(r"[%{}$`@\\~:]|--")
"""Characters of which every placeholder has one, for any family."""
_LITERAL = frozenset(("%%", "{{", "}}"))
_NUMBERED_BY = frozenset(("c-format", "php-format", "objc-format", "java-printf-format", "perl-format"))
"""Families in which a placeholder may have the number of its argument."""


@dataclass(frozen=True, slots=True)
class Directive:
    """A placeholder in a text."""

    start: int
    stop: int
    raw: str

    @property
    def is_literal(self) -> bool:
        """Whether it represents the sign itself, as `%%` does."""
        return self.raw in _LITERAL

    @property
    def is_positional(self) -> bool:
        """Whether its position among the others determines its argument."""
        return not self.is_literal and self.raw[0] in "%{" and not _NAMED.match(self.raw)


def directives(text: str, flags: Collection[str]) -> list[Directive]:
    """Returns the placeholders of a text, in order and without overlaps.

    Args:
        text: a text without inline codes.
        flags: the flags of its unit, which determine its placeholders.
    """
    if not _SIGNS.search(text) and not any(flag.startswith("placeholders:") for flag in flags):
        return []
    patterns = _patterns(text, flags)
    found = [
        Directive(match.start(), match.end(), match[0]) for pattern in patterns for match in re.finditer(pattern, text)
    ]
    if len(patterns) <= 1:
        return found
    kept: list[Directive] = []
    for directive in sorted(found, key=lambda item: (item.start, -item.stop)):
        if not kept or directive.start >= kept[-1].stop:
            kept.append(directive)
    return kept


def can_be_numbered(flags: Collection[str]) -> bool:
    """Whether `%s` may be written as `%1$s`, so that a translation may change the order."""
    return not _NUMBERED_BY.isdisjoint(flags)


def numbered(directive: str, number: int) -> str:
    """Returns a positional placeholder with the number of its argument: `%2$s`."""
    return f"%{number}${directive[1:]}"


def _patterns(text: str, flags: Collection[str]) -> list[str]:
    """Patterns of a text's possible placeholders; matches of one pattern do not overlap, those of several may."""
    patterns = [_FAMILIES[flag] for flag in sorted(flags) if flag in _FAMILIES]
    patterns += [_ANYWHERE] if _MAY_HAVE.search(text) else []
    for flag in flags:
        name, mark, values = flag.partition(":")
        if name == "placeholders" and mark:
            patterns += [re.escape(value.strip('"')) for value in values.split(":") if value.strip('"')]
    return patterns
