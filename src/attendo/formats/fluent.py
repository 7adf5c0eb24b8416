"""Fluent (.ftl), Mozilla's format: messages, terms and their attributes; placeables are codes.

A pattern that is one selector gives a unit for its plural variants, or one for each variant of another selector. A
selector within a longer text is not translated: its variants alone are no sentences.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from attendo.errors import DataError
from attendo.formats.contents import Code, Content, joined, plain
from attendo.formats.encoded import EncodedText, decoded
from attendo.formats.file import (
    Edit,
    File,
    Form,
    Languages,
    Slot,
    SlotEditor,
    Span,
    UniqueIds,
    Unit,
    access_key_label,
)
from attendo.formats.plural_rules import CATEGORY_NAMES
from attendo.formats.plural_sets import Category, plural_set

_FLAGS = frozenset({"fluent-target-syntax"})
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_ENTRY = re.compile(r"(-?[A-Za-z][\w-]*)[ ]*=[ ]*")
_ATTRIBUTE = re.compile(r"[ ]+\.([A-Za-z][\w-]*)[ ]*=[ ]*")
_STRING = re.compile(r'"(?:[^"\\\r\n]|\\.)*"')
_VARIANT = re.compile(r"\s*(\*?)\[\s*([^\]\s]+)\s*\][ ]*")
_LITERAL = re.compile(r'\{\s*"((?:[^"\\\r\n]|\\.)*)"\s*\}')
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{6})|(.))")
_INDENT = re.compile(r"\n([ ]*)(?=[^ \r\n]|\Z)")
_SPACE = re.compile(r"[ ]*(?:(?:\r\n|\r|\n)[ ]*)*")
_FOLLOWING = re.compile(r"(?:[ ]*(?:\r\n|\r|\n))+(?:[ ]+(?=[^ \r\n.*\[}])|(?=\{))")
_ARROW = re.compile(r"->[ ]*(?:\r\n|\n|\r)")


@dataclass(frozen=True, slots=True)
class _Variant:
    key: str
    start: int
    """The start of its line."""
    value: Span


@dataclass
class _Reader:
    """Collects units and their slots."""

    text: EncodedText
    language: str | None
    names: frozenset[str]
    """The names of all messages and attributes."""
    ids: UniqueIds = field(default_factory=UniqueIds)
    units: list[Unit] = field(default_factory=list)
    slots: dict[str, tuple[Slot, ...]] = field(default_factory=dict)
    beside: dict[str, tuple[Edit, ...]] = field(default_factory=dict)

    def pattern(self, name: str, span: Span, note: str) -> None:
        """Adds the unit or units of a pattern."""
        variants = _variants(self.text, span)
        if variants is None:
            has_selector = any(_ARROW.search(code.raw) for code in _codes(_content(self.text, span)))
            self._take(name, span, note, is_translatable=not has_selector)
            return
        if all(variant.key in CATEGORY_NAMES for variant in variants) and len(variants) > 1:
            self._plural(name, variants, note)
            return
        for variant in variants:
            nested = any(_ARROW.search(code.raw) for code in _codes(_content(self.text, variant.value)))
            self._take(f"{name}[{variant.key}]", variant.value, note, is_translatable=not nested)

    def _take(self, name: str, span: Span, note: str, *, is_translatable: bool) -> None:
        source = _content(self.text, span)
        is_translatable = is_translatable and bool(plain(source).strip()) and not _is_shortcut(name, source)
        unit = Unit(
            id=self.ids.of(name),
            forms=(Form(source=source),),
            is_translatable=is_translatable,
            context=name,
            notes=(note,) if note else (),
            flags=_FLAGS,
            label=access_key_label(name, plain(source), self.names),
            spans=(span,) if is_translatable else (),
        )
        self.units.append(unit)
        self.slots[unit.id] = (self._slot(span),)

    def _plural(self, name: str, variants: list[_Variant], note: str) -> None:
        present = {
            variant.key: Category(
                source=_content(self.text, variant.value),
                slot=self._slot(variant.value),
                whole=Span(variant.start, self._line_stop(variant.value.stop)),
            )
            for variant in variants
        }
        first = variants[0]
        indent = re.match(r"[ ]*", self.text.text[first.start : first.value.start])
        prefix = indent[0] if indent else ""
        # Variants are added before the default one, whose star and name the file keeps.
        default = next(one for one in variants if "*" in self.text.text[one.start : one.value.start])

        def inserted(category: str, parts: Content) -> str:
            return f"{prefix}[{category}] {self._written('    ' + prefix, parts)}{self.text.line_end}"

        found = plural_set(present, self.language, Span(default.start, default.start), inserted)
        removals = tuple(edit for edit in found.removals if edit.span.start != default.start)
        is_translatable = any(plain(form.source).strip() for form in found.forms)
        unit = Unit(
            id=self.ids.of(name),
            forms=found.forms,
            is_translatable=is_translatable,
            context=name,
            notes=(note,) if note else (),
            flags=_FLAGS,
            spans=found.spans if is_translatable else (),
        )
        self.units.append(unit)
        self.slots[unit.id], self.beside[unit.id] = found.slots, removals

    def _line_stop(self, position: int) -> int:
        found = _LINE.match(self.text.text, position)
        return position if found is None else found.end()

    def _slot(self, span: Span) -> Slot:
        line_start = self.text.text.rfind("\n", 0, span.start) + 1
        line = self.text.text[line_start : span.start]
        own = line[: len(line) - len(line.lstrip(" "))]
        return Slot(span, self._writer(own + "    " if line.strip() else own))

    def _writer(self, indent: str) -> Callable[[Content], str]:
        return partial(self._written, indent)

    def _written(self, indent: str, parts: Content) -> str:
        """Writes a pattern: its further lines are indented, and text that would be syntax is in placeables."""
        pieces = []
        for number, part in enumerate(parts):
            if isinstance(part, Code):
                pieces.append(part.raw)
                continue
            lines = part.replace("\r", " ").split("\n")
            last = len(lines) - 1
            for index, line in enumerate(lines):
                begins = index > 0 or number == 0
                ends = index < last or number == len(parts) - 1
                is_edge = (index == 0 and number == 0) or (index == last and number == len(parts) - 1)
                visible = _visible(line, begins=begins, ends=ends, is_edge=is_edge)
                pieces.append(f"{self.text.line_end}{indent if visible or index == last else ''}" if index else "")
                pieces.append(visible)
        return "".join(pieces)


def _is_shortcut(name: str, source: Content) -> bool:
    """Whether a text is the letter of a keyboard shortcut, which is not translated."""
    return name.rpartition(".")[2].casefold() in ("key", "commandkey", "keycode") and len(plain(source)) == 1


def _visible(line: str, *, begins: bool, ends: bool, is_edge: bool) -> str:
    """Protects a line's edges and braces: Fluent trims spaces, and `.`, `*` and `[` at a start are syntax."""
    if not line:
        return '{ "" }' if is_edge and begins and ends else ""
    start = line[0] if begins and line[0] in " .*[" else ""
    stop = " " if ends and len(line) > len(start) and line.endswith(" ") else ""
    inner = line[len(start) : len(line) - len(stop)]
    inner = re.sub(r"[{}]", lambda found: f'{{ "{found[0]}" }}', inner)
    before, behind = (f'{{ "{edge}" }}' if edge else "" for edge in (start, stop))
    return f"{before}{inner}{behind}"


def read_fluent(data: bytes, languages: Languages) -> File:
    """Reads messages and terms; their sources are their own values.

    Raises:
        DataError: a placeable does not end, or a line is not in Fluent's syntax.
    """
    text = decoded(data)
    patterns = list(_patterns(text))
    reader = _Reader(text=text, language=languages.target, names=frozenset(name for name, _, _ in patterns))
    for name, span, note in patterns:
        reader.pattern(name, span, note)
    editor = SlotEditor(reader.slots, beside=reader.beside)
    return File(format="fluent", text=reader.text, units=tuple(reader.units), editor=editor)


def _patterns(text: EncodedText) -> Iterator[tuple[str, Span, str]]:
    """Yields each pattern with the name of its message and attribute, and the comment before it."""
    position, entry, note = 0, "", ""
    while position < len(text.text):
        line = _LINE.match(text.text, position)
        assert line is not None
        found = _ENTRY.match(text.text, position) or (_ATTRIBUTE.match(text.text, position) if entry else None)
        if found is not None:
            is_attribute = text.text[position] == " "
            entry = entry if is_attribute else found[1]
            stop = _pattern_end(text, found.end())
            if text.text[found.end() : stop].strip(" \r\n"):
                yield (
                    f"{entry}.{found[1]}" if is_attribute else entry,
                    Span(_pattern_start(text, found.end()), stop),
                    note,
                )
            behind = _LINE.match(text.text, stop)
            position = line.end() if behind is None else behind.end()
            continue
        if line[0].startswith("#"):
            comment_line = line[0].lstrip("#").strip()
            note, entry = f"{note}\n{comment_line}" if note else comment_line, ""
        elif not line[0].strip():
            note = ""
        else:
            raise DataError(f"line {text.line_number(position)} is not a line of Fluent: {line[0].strip()[:60]!r}")
        position = line.end()


def _pattern_start(text: EncodedText, position: int) -> int:
    """Finds a pattern's first character: on the line of its name, or indented on a later one."""
    found = _SPACE.match(text.text, position)
    assert found is not None
    return found.end()


def _pattern_end(text: EncodedText, position: int) -> int:
    """Finds the end of a pattern: that of its last line that is indented and begins no attribute."""
    end = _text_end(text, position)
    while True:
        following = _FOLLOWING.match(text.text, end)
        if following is None:
            return end
        end = _text_end(text, following.end())


def _text_end(text: EncodedText, position: int) -> int:
    """Finds the end of a pattern's line, without white space; placeables may span several lines."""
    start = position
    while position < len(text.text) and text.text[position] not in "\r\n":
        position = _placeable_end(text, position) if text.text[position] == "{" else position + 1
    stripped = text.text[start:position].rstrip(" ")
    return start + len(stripped)


def _placeable_end(text: EncodedText, position: int) -> int:
    """Finds the position after a placeable's closing brace."""
    depth, start = 0, position
    while position < len(text.text):
        mark = text.text[position]
        if mark == '"' and depth and (string := _STRING.match(text.text, position)):
            position = string.end()
            continue
        depth += (mark == "{") - (mark == "}")
        position += 1
        if depth == 0:
            return position
    raise DataError(f"line {text.line_number(start)}: a placeable does not end")


def _content(text: EncodedText, span: Span) -> Content:
    """Reads a pattern's content: string literals are text, other placeables codes; common indentation is removed."""
    pieces: list[tuple[str, bool]] = []
    position = last = span.start
    while position < span.stop:
        if text.text[position] == "{":
            end = _placeable_end(text, position)
            pieces += [(text.text[last:position], True), (text.text[position:end], False)]
            position = last = end
            continue
        position += 1
    pieces.append((text.text[last : span.stop], True))
    indents = [len(found) for raw, is_text in pieces if is_text for found in _INDENT.findall(raw)]
    line = text.text[text.text.rfind("\n", 0, span.start) + 1 : span.start]
    common = min([*indents, len(line)] if not line.strip() else indents, default=0)
    return joined([_part(raw, number, common, is_text=is_text) for number, (raw, is_text) in enumerate(pieces)])


def _part(raw: str, number: int, common: int, *, is_text: bool) -> str | Code:
    """A piece of a pattern: text, or a placeable."""
    if is_text:
        return re.sub(rf"\r?\n[ ]{{0,{common}}}", "\n", raw)
    literal = _LITERAL.fullmatch(raw)
    if literal is None:
        return Code(id=str(number), raw=raw)
    return _ESCAPE.sub(
        lambda found: chr(int(found[1] or found[2], 16)) if found[1] or found[2] else found[3], literal[1]
    )


def _codes(parts: Content) -> list[Code]:
    return [part for part in parts if isinstance(part, Code)]


def _variants(text: EncodedText, span: Span) -> list[_Variant] | None:
    """Returns the variants of a pattern that is a single selector with one default; None for any other pattern."""
    raw = text.text[span.start : span.stop]
    if not raw.startswith("{") or _placeable_end(text, span.start) != span.stop:
        return None
    arrow = _ARROW.search(text.text, span.start, span.stop)
    if arrow is None:
        return None
    variants, position = [], arrow.end()
    while found := _VARIANT.match(text.text, position, span.stop):
        start = text.text.rfind("\n", 0, found.start(2)) + 1
        stop = _pattern_end(text, found.end())
        variants.append(_Variant(found[2], start, Span(_pattern_start(text, found.end()), stop)))
        position = stop
    rest = text.text[position : span.stop].strip()
    num_defaults = sum("*" in text.text[variant.start : variant.value.start] for variant in variants)
    return variants if num_defaults == 1 and rest == "}" else None
