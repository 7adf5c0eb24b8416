r"""YAML scalars as text and back: plain, in quotation marks with escapes, and literal or folded blocks."""

import re
from collections.abc import Sequence

PLAIN_REST = r"(?:[^\s:#]|:(?=\S)|(?<=\S)#|[ \t]+(?![\s#:]|\Z)|[ \t]+(?=:\S))*+"
"""Pattern of the characters after the first one of a plain scalar on its line."""
PLAIN = re.compile(r"(?:[^\s\-?:,\[\]{}#&*!|>'\"%@`]|[\-?:](?=\S))" + PLAIN_REST, re.ASCII)
"""A plain scalar of a line."""
FLOW_PLAIN = re.compile(
    r"(?:[^\s\-?:,\[\]{}#&*!|>'\"%@`]|[\-?:](?=[^\s,\[\]{}]))"
    r"(?:[^\s:#,\[\]{}]|:(?=[^\s,\[\]{}])|(?<=\S)#|\s+(?![\s#:,\[\]{}]|\Z)|\s+(?=:[^\s,\[\]{}]))*+",
    re.ASCII,
)
"""A plain scalar within brackets or braces."""
_LINE_END = re.compile(r"\r\n|\r|\n")
_DOUBLE = re.compile(
    r"\\(?:\r\n|\r|\n)[ \t]*|\\x([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})|\\(.)"
    r"|(?<![ \t])[ \t]*((?:\r\n|\r|\n)[ \t\r\n]*)",
    re.S,
)
_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
    "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")
# Text that YAML 1.1, which Ruby reads, does not parse as a string.
_TYPED = re.compile(
    r"""~|null|y|n|yes|no|on|off|true|false|=|<<|:.*|---.*|\.\.\.
    |[-+]?(?:0b[01_]+|0x[0-9a-f_]+|0o[0-7_]+|[0-9][0-9_,]*)
    |[-+]?(?:[0-9][0-9_,]*)?\.[0-9_]*(?:e[-+]?[0-9]+)?|[-+]?[0-9][0-9_,]*e[-+]?[0-9]+|[-+]?\.inf|\.nan
    |[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*""",
    re.X | re.I,
)


def folded_lines(raw: str) -> str:
    """Returns the text of a plain or single-quoted scalar: a line end is a space, an empty line a line end."""
    first, *rest = _LINE_END.split(raw)
    if not rest:
        return raw
    pieces, blank = [first.rstrip(" \t")], 0
    for number, line in enumerate(rest, 1):
        is_last = number == len(rest)
        stripped = line.lstrip(" \t") if is_last else line.strip(" \t")
        if not stripped and not is_last:
            blank += 1
            continue
        pieces += ["\n" * blank or " ", stripped]
        blank = 0
    return "".join(pieces)


def double_text(raw: str) -> str:
    """Returns the text of a double-quoted scalar."""

    def character(found: re.Match[str]) -> str:
        digits = found[1] or found[2] or found[3]
        if digits:
            return chr(min(int(digits, 16), 0x10FFFF))
        if found[4]:
            return _ESCAPES.get(found[4], found[4])
        if found[5]:
            return "\n" * (len(_LINE_END.findall(found[5])) - 1) or " "
        return ""

    text = _DOUBLE.sub(character, raw)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def block_text(lines: Sequence[str], header: str, indent: int) -> str:
    """Returns the text of a block.

    Args:
        lines: the lines after its header.
        header: its indicators, such as `|-`.
        indent: the indentation of its text in columns; 0 if its first line determines it.
    """
    indent = indent or next((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), 0)
    content = [line[indent:] for line in lines]
    trailing = 0
    while content and not content[-1]:
        content.pop()
        trailing += 1
    body = "\n".join(content) if header.startswith("|") else _folded(content)
    if "-" in header:
        return body
    return body + ("\n" * (trailing + bool(content)) if "+" in header else "\n" if content else "")


def _folded(lines: Sequence[str]) -> str:
    pieces: list[str] = []
    blank, was_indented, is_first = 0, False, True
    for line in lines:
        if not line:
            blank += 1
            continue
        is_indented = line[0] in " \t"
        if is_first:
            pieces.append("\n" * blank)
        elif is_indented or was_indented:
            pieces.append("\n" * (blank + 1))
        else:
            pieces.append("\n" * blank or " ")
        pieces.append(line)
        blank, was_indented, is_first = 0, is_indented, False
    return "".join(pieces)


def is_typed(text: str) -> bool:
    """Whether a plain scalar is not a string: empty, a number, a date, a truth value, or a symbol of Ruby."""
    return not text or _TYPED.fullmatch(text) is not None


def plain_or_quoted(text: str, *, is_flow: bool) -> str:
    """Writes a text as a plain scalar if it would be read back as that text, otherwise in quotation marks."""
    pattern = FLOW_PLAIN if is_flow else PLAIN
    is_plain = pattern.fullmatch(text) is not None and "\t" not in text and "\n" not in text
    is_plain = is_plain and not (is_flow and ("?" in text or ":" in text))  # indicators to readers of YAML 1.1
    return text if is_plain and not is_typed(text) and not _UNPRINTABLE.search(text) else double_quoted(text)


def single_quoted(text: str) -> str:
    """Writes a text in single quotation marks, or in double ones if it has characters that must be escaped."""
    if "\n" in text or "\t" in text or _UNPRINTABLE.search(text):
        return double_quoted(text)
    return "'" + text.replace("'", "''") + "'"


def double_quoted(text: str, *, digits: str = "") -> str:
    """Writes a text in double quotation marks.

    Args:
        text: the text.
        digits: `x` or `X` to escape characters beyond ASCII, in lower or upper case.
    """
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    text = _UNPRINTABLE.sub(lambda found: _escape(found[0], digits or "X"), text)
    if digits:
        text = re.sub(r"[^\x00-\x7f]", lambda found: _escape(found[0], digits), text)
    return f'"{text}"'


def _escape(character: str, digits: str) -> str:
    code = ord(character)
    return f"\\u{code:04{digits}}" if code < 0x10000 else f"\\U{code:08{digits}}"


def block(text: str, old: str, header: str, *, indent: int, line_end: str) -> str | None:
    """Writes a text as a block; None if a block cannot express it.

    Args:
        text: the text.
        old: the block that it replaces.
        header: the indicators of that block.
        indent: the column of its key.
        line_end: the file's line end.
    """
    is_folded = header.startswith(">")
    body = text.rstrip("\n")
    trailing = len(text) - len(body)
    if not body.strip() or body[0] in " \t\n" or _UNPRINTABLE.search(text) or (trailing > 1 and "+" not in header):
        return None
    if is_folded and re.search(r"\n[ \t]", body):
        return None
    first, *lines = _LINE_END.split(old)
    digits = re.sub(r"\D", "", header)
    width = next((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), indent + 2)
    width = indent + int(digits) if digits else width
    chomping = "-" if trailing == 0 else "+" if "+" in header else ""
    new_header = f"{header[0]}{digits}{chomping}{first[len(header) :]}"
    if is_folded:
        body = re.sub(r"\n+", lambda found: found[0] + "\n", body)
    written = [" " * width + line if line else "" for line in body.split("\n")]
    return line_end.join([new_header, *written, *[""] * (trailing - 1)])
