"""Apple's string catalogues (.xcstrings): JSON with every language's strings, plural variations and states by key."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from attendo.errors import DataError
from attendo.formats.contents import content, plain
from attendo.formats.encoded import EncodedText, decoded
from attendo.formats.file import (
    Edit,
    File,
    Form,
    Languages,
    Result,
    Span,
    State,
    UniqueIds,
    Unit,
    WriteOptions,
)
from attendo.formats.json_values import JsonValue, parse_json_values
from attendo.formats.plural_rules import categories

_FLAGS = frozenset({"objc-format"})
_STEP = "  "
_STATES: Mapping[str, State] = {"translated": "translated", "needs_review": "fuzzy", "new": "new"}

Tree = str | Sequence[tuple[str, "Tree"]]
"""A value to write: a string, or members of an object."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Entry:
    """A key of the catalogue."""

    value: JsonValue
    language: str
    """The target language as written in the catalogue."""
    names: tuple[str, ...]
    """The plural categories of its forms; a single empty name if it has none."""

    def unit(self, name: str) -> JsonValue | None:
        """Returns the `stringUnit` of a form in the target language."""
        path = ("localizations", self.language)
        variation = ("variations", "plural", name) if name else ()
        return self.value.get(*path, *variation, "stringUnit")

    def parent(self) -> tuple[JsonValue, tuple[str, ...]]:
        """Returns the innermost present object on the path to the forms, and the names of the missing ones."""
        path = ["localizations", self.language, *(["variations", "plural"] if self.names[0] else [])]
        found = self.value
        for number, name in enumerate(path):
            inner = found.get(name)
            if inner is None:
                return found, tuple(path[number:])
            found = inner
        return found, ()


def read_xcstrings(data: bytes, languages: Languages) -> File:
    """Reads a string catalogue.

    Raises:
        DataError: the file is not a string catalogue, or the target language is unknown.
    """
    text = decoded(data)
    root = parse_json_values(text)
    strings = root.get("strings")
    if strings is None or strings.kind != "object" or not root.text_of("sourceLanguage"):
        raise DataError("this is not a string catalogue, which would have the keys sourceLanguage and strings")
    if languages.target is None:
        raise DataError("a string catalogue holds several languages; name the target language (--to de)")
    language = _language_name(strings, languages.target)
    writer = _Writer(text)
    units, entries = [], {}
    ids = UniqueIds()
    for member in strings.members:
        name = ids.of(member.name)
        forms, names = _forms(member.name, member.value, root.text_of("sourceLanguage"), language)
        entry = _Entry(value=member.value, language=language, names=names)
        unit = _unit(writer, name, entry, forms)
        units.append(unit)
        entries[name] = entry
    return File(
        format="xcstrings",
        text=text,
        units=tuple(units),
        editor=_Editor(writer=writer, entries=entries),
        declared=Languages(source=root.text_of("sourceLanguage")),
    )


def _language_name(strings: JsonValue, target: str) -> str:
    """Returns the target language as written in the catalogue."""
    wanted = target.replace("_", "-")
    names = {
        one.name
        for member in strings.members
        if (found := member.value.get("localizations")) is not None
        for one in found.members
    }
    return next((name for name in sorted(names) if name.lower() == wanted.lower()), wanted)


def _forms(key: str, value: JsonValue, source: str, target: str) -> tuple[tuple[Form, ...], tuple[str, ...]]:
    """Returns the forms of an entry and their categories."""
    there = value.get("localizations", source)
    plural = None if there is None else there.get("variations", "plural")
    if plural is None:
        text = "" if there is None else there.text_of("stringUnit", "value")
        return (Form(source=content(text or key), target=_target(value, target, "")),), ("",)
    other = plural.text_of("other", "stringUnit", "value")
    one = plural.text_of("one", "stringUnit", "value") or other
    wanted = categories(target)
    forms = tuple(
        Form(
            source=content(one if form.is_singular else other),
            target=_target(value, target, form.name),
            name=form.name,
            sample=form.sample,
            is_of_one_number=form.is_of_one_number,
        )
        for form in wanted
    )
    return forms, tuple(form.name for form in wanted)


def _target(value: JsonValue, language: str, name: str) -> tuple[str, ...] | None:
    variation = ("variations", "plural", name) if name else ()
    unit = value.get("localizations", language, *variation, "stringUnit")
    if unit is None or unit.text_of("state") == "new" or not unit.text_of("value").strip():
        return None
    return (unit.text_of("value"),)


def _unit(writer: "_Writer", name: str, entry: _Entry, forms: tuple[Form, ...]) -> Unit:
    found = [entry.unit(form_name) for form_name in entry.names]
    states = {_STATES.get(unit.text_of("state"), "fuzzy") for unit in found if unit is not None}
    has_all = all(form.target is not None for form in forms)
    state: State = "new" if not has_all else "fuzzy" if "fuzzy" in states else "translated"
    should = entry.value.get("shouldTranslate")
    localizations = entry.value.get("localizations")
    kinds = [] if localizations is None else [member.value for member in localizations.members]
    is_simple = not any(
        form_name.get("substitutions") is not None or form_name.get("variations", "device") is not None
        for form_name in kinds
    )
    localization = None if localizations is None else localizations.get(entry.language)
    has_same_shape = localization is None or (localization.get("variations") is not None) == bool(entry.names[0])
    is_translatable = (
        is_simple
        and has_same_shape
        and (should is None or writer.raw(should) != "false")
        and entry.value.text_of("extractionState") != "stale"
        and any(plain(form.source).strip() for form in forms)
    )
    comment = entry.value.text_of("comment")
    return Unit(
        id=name,
        forms=forms,
        state=state,
        is_translatable=is_translatable,
        context=name,
        notes=(comment,) if comment else (),
        flags=_FLAGS,
        spans=writer.spans(entry) if is_translatable else (),
    )


@dataclass(frozen=True)
class _Writer:
    """Writes members in the layout of the file."""

    text: EncodedText

    def raw(self, value: JsonValue) -> str:
        """Writes a value."""
        return self.text.text[value.span.start : value.span.stop]

    def spans(self, entry: _Entry) -> tuple[Span, ...]:
        """Returns every span that writing an entry may replace."""
        spans = []
        for unit in (entry.unit(name) for name in entry.names):
            spans += [] if unit is None else [one.span for one in _value_and_state(unit)]
        if any(entry.unit(name) is None for name in entry.names):
            parent, missing = entry.parent()
            lacking = [name or "stringUnit" for name in entry.names if entry.unit(name) is None]
            first = [missing[0]] if missing else lacking
            spans += [self._place(parent, name)[0] for name in first]
        return tuple(dict.fromkeys(spans))

    def inserted(self, parent: JsonValue, name: str, tree: Tree) -> Edit:
        """Returns the edit that adds a member to an object, in alphabetical order."""
        span, before, behind = self._place(parent, name)
        return Edit(span, f"{before}{self._key(name)}{self._rendered(tree, self._indent(parent))}{behind}")

    def _place(self, parent: JsonValue, name: str) -> tuple[Span, str, str]:
        indent = self._indent(parent)
        if not parent.members:
            end = indent[: -len(_STEP)] if indent.endswith(_STEP) else ""
            inner = Span(parent.span.start + 1, parent.span.stop - 1)
            return inner, f"{self.text.line_end}{indent}", f"{self.text.line_end}{end}"
        before = [member for member in parent.members if member.name < name]
        if before:
            stop = before[-1].value.span.stop
            return Span(stop, stop), f",{self.text.line_end}{indent}", ""
        start = parent.members[0].start
        return Span(start, start), "", f",{self.text.line_end}{indent}"

    def _indent(self, parent: JsonValue) -> str:
        """Returns the indentation of an object's members."""
        position = parent.members[0].start if parent.members else parent.span.start
        line = self.text.text[self.text.text.rfind("\n", 0, position) + 1 : position]
        own = line[: len(line) - len(line.lstrip())]
        return own if parent.members else own + _STEP

    def _key(self, name: str) -> str:
        return f"{json.dumps(name, ensure_ascii=False)} : "

    def _rendered(self, tree: Tree, indent: str) -> str:
        if isinstance(tree, str):
            return json.dumps(tree, ensure_ascii=False)
        inner = indent + _STEP
        members = f",{self.text.line_end}".join(
            f"{inner}{self._key(name)}{self._rendered(value, inner)}" for name, value in tree
        )
        return f"{{{self.text.line_end}{members}{self.text.line_end}{indent}}}"


def _value_and_state(unit: JsonValue) -> Iterator[JsonValue]:
    """Yields the strings of a `stringUnit` that change: value and state."""
    for name in ("state", "value"):
        found = unit.get(name)
        if found is not None:
            yield found


@dataclass(frozen=True, kw_only=True)
class _Editor:
    """Puts translations into a catalogue."""

    writer: _Writer
    entries: Mapping[str, _Entry]

    def edits(self, results: Mapping[str, Result], options: WriteOptions) -> Iterable[Edit]:
        """Yields the edits of each key: of present strings, and of added members."""
        for name, found in results.items():
            state = "needs_review" if options.is_marked(found) else "translated"
            yield from self._entry(self.entries[name], [plain(text) for text in found.texts], state)

    def _entry(self, entry: _Entry, texts: Sequence[str], state: str) -> Iterator[Edit]:
        has_all = all((unit := entry.unit(name)) is not None and unit.text_of("value") for name in entry.names)
        missing: list[tuple[str, Tree]] = []
        for name, text in zip(entry.names, texts, strict=True):
            unit = entry.unit(name)
            if unit is None:
                tree: Tree = (("stringUnit", (("state", state), ("value", text))),)
                missing.append((name, tree))
            elif has_all or not unit.text_of("value") or unit.text_of("state") == "new":
                for old, new in ((unit.get("state"), state), (unit.get("value"), text)):
                    if old is not None:
                        yield Edit(old.span, json.dumps(new, ensure_ascii=False))
        if missing:
            yield from self._added(entry, missing)

    def _added(self, entry: _Entry, missing: Sequence[tuple[str, Tree]]) -> Iterator[Edit]:
        parent, path = entry.parent()
        if not path and entry.names[0]:
            # Names between the same two neighbours are added at one place, in the order of the alphabet.
            for name, tree in sorted(missing):
                yield self.writer.inserted(parent, name, tree)
            return
        tree = sorted(missing) if entry.names[0] else missing[0][1]
        for name in reversed(path[1:]):
            tree = ((name, tree),)
        if path:
            yield self.writer.inserted(parent, path[0], tree)
        else:
            yield self.writer.inserted(parent, "stringUnit", missing[0][1][0][1])
