"""YAML files of messages as in Rails: a language at the top, texts under keys, plural forms under categories."""

import re
from collections.abc import Callable, Mapping, Sequence

from attendo.errors import DataError
from attendo.formats.contents import Content, content, plain
from attendo.formats.encoded import EncodedText, decoded
from attendo.formats.file import Edit, File, Form, Languages, Slot, SlotEditor, Span, UniqueIds, Unit, is_same_language
from attendo.formats.plural_rules import CATEGORY_NAMES, categories
from attendo.formats.plural_sets import Category, plural_set
from attendo.formats.yaml_text import block, double_quoted, is_typed, plain_or_quoted, single_quoted
from attendo.formats.yaml_values import YamlScalar, yaml_scalars

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")
_FLAGS = frozenset({"ruby-format"})


def read_yaml(data: bytes, languages: Languages) -> File:
    """Reads messages; values other than strings, such as numbers and symbols, are not translated.

    Raises:
        DataError: the file is not supported YAML, or not a mapping.
    """
    text = decoded(data)
    scalars = yaml_scalars(text, Span(0, len(text.text)))
    if any(not scalar.path for scalar in scalars):
        raise DataError("line 1: a YAML file of messages is a mapping, such as 'en:' with keys under it")
    root = _root_language(text, scalars, languages)
    reader = _Reader(text, languages.target, depth=0 if root is None else 1)
    reader.read(scalars)
    always: tuple[Edit, ...] = ()
    if root is not None and languages.target:
        always = (Edit(root, _root_key(text.text[root.start : root.stop], languages.target)),)
    declared = None if root is None else text.text[root.start : root.stop].strip("'\"")
    return File(
        format="yaml",
        text=text,
        units=tuple(reader.units),
        editor=SlotEditor(reader.slots, always=always, beside=reader.beside),
        declared=Languages(source=declared),
        spans=tuple(edit.span for edit in always),
    )


def is_text(scalar: YamlScalar) -> bool:
    """Whether a scalar is a string with text in it."""
    if not scalar.text.strip() or scalar.has_tag:
        return False
    return scalar.style != "plain" or not is_typed(scalar.text)


def scalar_writer(text: EncodedText, scalar: YamlScalar) -> Callable[[Content], str]:
    """Returns a function that writes a value in the present style, or in quotation marks if that cannot express it."""
    old = text.text[scalar.span.start : scalar.span.stop]
    escape = re.search(r"\\[xuU][0-9]*([a-fA-F]?)", old) if text.text.isascii() else None
    digits = "" if escape is None else "X" if escape[1].isupper() else "x"

    def write(parts: Content) -> str:
        value = plain(parts)
        if scalar.style == "plain":
            return plain_or_quoted(value, is_flow=scalar.is_flow)
        if scalar.style == "single":
            return single_quoted(value)
        found = None
        if scalar.style in ("literal", "folded"):
            found = block(value, old, scalar.header, indent=scalar.indent, line_end=text.line_end)
        return double_quoted(value, digits=digits) if found is None else found

    return write


def _root_language(text: EncodedText, scalars: Sequence[YamlScalar], languages: Languages) -> Span | None:
    """Returns the span of the only top-level key, if it is a language."""
    names = {scalar.path[0] for scalar in scalars}
    name = next(iter(names)) if len(names) == 1 else ""
    if _LANGUAGE.fullmatch(name) is None or all(len(scalar.path) == 1 for scalar in scalars):
        return None
    if languages.source and not is_same_language(name, languages.source):
        return None
    found = re.search(rf"^(?:--- )?(['\"]?){re.escape(name)}\1(?=[ \t]*:)", text.text, re.M)
    if found is None:
        return None
    start = found.start() + (4 if found[0].startswith("--- ") else 0)
    return Span(start, found.end())


def _root_key(old: str, language: str) -> str:
    """Writes a language as a key; Norwegian is quoted, since `no` is a truth value."""
    name = language.replace("_", "-")
    return f"{old[0]}{name}{old[0]}" if old[0] in "'\"" else plain_or_quoted(name, is_flow=False)


class _Reader:
    """Collects units and their slots.

    Args:
        text: the file.
        language: the target language, by whose categories plural forms are written.
        depth: the number of keys before the name of a unit.
    """

    def __init__(self, text: EncodedText, language: str | None, *, depth: int) -> None:
        self._text, self._language, self._depth = text, language, depth
        self._ids = UniqueIds()
        self.units: list[Unit] = []
        self.slots: dict[str, tuple[Slot, ...]] = {}
        self.beside: dict[str, tuple[Edit, ...]] = {}

    def read(self, scalars: Sequence[YamlScalar]) -> None:
        """Adds values as units; a set of plural forms is one unit."""
        plurals = _plural_sets(scalars, self._language)
        done: set[tuple[str, ...]] = set()
        for scalar in scalars:
            parent = scalar.path[:-1]
            if parent in plurals and scalar.path[-1] in plurals[parent]:
                if parent not in done:
                    done.add(parent)
                    self._plural(parent, plurals[parent])
            else:
                self._single(scalar)

    def _name(self, path: Sequence[str]) -> str:
        return ".".join(path[self._depth :])

    def _single(self, scalar: YamlScalar) -> None:
        name = self._name(scalar.path)
        is_translatable = is_text(scalar)
        unit = Unit(
            id=self._ids.of(name),
            forms=(Form(source=content(scalar.text)),),
            is_translatable=is_translatable,
            context=name,
            flags=_FLAGS,
            spans=(scalar.span,) if is_translatable else (),
        )
        self.units.append(unit)
        self.slots[unit.id] = (Slot(scalar.span, scalar_writer(self._text, scalar)),)

    def _plural(self, path: Sequence[str], scalars: Mapping[str, YamlScalar]) -> None:
        present = {
            name: Category(
                source=content(scalar.text),
                slot=Slot(scalar.span, scalar_writer(self._text, scalar)),
                whole=self._lines(scalar),
            )
            for name, scalar in scalars.items()
        }
        last = max(scalars.values(), key=lambda scalar: scalar.span.start)
        write = scalar_writer(self._text, last)
        end = self._lines(last).stop

        def inserted(category: str, text: Content) -> str:
            return f"{self._text.line_end}{' ' * last.indent}{category}: {write(text)}"

        found = plural_set(present, self._language, Span(end, end), inserted)
        unit = Unit(
            id=self._ids.of(self._name(path)),
            forms=found.forms,
            context=self._name(path),
            flags=_FLAGS,
            spans=found.spans,
        )
        self.units.append(unit)
        self.slots[unit.id], self.beside[unit.id] = found.slots, found.removals

    def _lines(self, scalar: YamlScalar) -> Span:
        """Returns the lines of a key and its value, with the line end before but without the one after."""
        text = self._text.text
        start = max(text.rfind("\n", 0, scalar.key.start), text.rfind("\r", 0, scalar.key.start), 0)
        if text.startswith("\r\n", start - 1):
            start -= 1
        behind = re.compile(r"[^\r\n]*").match(text, scalar.span.stop)
        assert behind is not None
        return Span(start, behind.end())


def _plural_sets(scalars: Sequence[YamlScalar], language: str | None) -> dict[tuple[str, ...], dict[str, YamlScalar]]:
    """Returns the plural forms by key; `zero`, which Rails uses for 0 in any language, is separate."""
    wanted = {form.name for form in categories(language)} if language else set(CATEGORY_NAMES)
    members: dict[tuple[str, ...], list[YamlScalar]] = {}
    for scalar in scalars:
        members.setdefault(scalar.path[:-1], []).append(scalar)
    parents = {path[:length] for path in members for length in range(len(path))}
    found: dict[tuple[str, ...], dict[str, YamlScalar]] = {}
    for parent, values in members.items():
        names = {value.path[-1]: value for value in values}
        is_plural = len(names) == len(values) and "other" in names and len(names) > 1 and names.keys() <= _CATEGORIES
        is_item = bool(parent) and parent[-1].isdigit()  # whose first key follows a hyphen
        if is_plural and not is_item and parent not in parents and all(map(_is_form, values)):
            found[parent] = {name: value for name, value in names.items() if name != "zero" or "zero" in wanted}
    return found


_CATEGORIES = frozenset(CATEGORY_NAMES)


def _is_form(scalar: YamlScalar) -> bool:
    return is_text(scalar) and not scalar.is_flow
