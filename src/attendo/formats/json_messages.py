"""JSON files of messages: flat and nested ones with i18next's plurals, Chrome's `messages.json`, and ARB."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from attendo.errors import DataError
from attendo.formats.contents import Content, content, plain
from attendo.formats.encoded import EncodedText, decoded
from attendo.formats.file import Edit, File, Form, Languages, Slot, SlotEditor, Span, UniqueIds, Unit
from attendo.formats.json_values import JsonStyle, JsonValue, Member, parse_json_values, style_of_json
from attendo.formats.plural_rules import CATEGORY_NAMES
from attendo.formats.plural_sets import Category, plural_set

_CHROME_KEYS = frozenset({"message", "description", "placeholders", "hash"})


def read_json(data: bytes, languages: Languages) -> File:
    """Reads messages: an object of strings, of objects of strings, or of Chrome's messages.

    Raises:
        DataError: it is no JSON, or no object.
    """
    text = decoded(data)
    root = _root(text)
    reader = _Reader(text=text, style=style_of_json(text), language=languages.target)
    if _is_chrome(root):
        for member in root.members:
            reader.string(
                member.name,
                member.value.get("message"),
                note=member.value.text_of("description"),
                flags=frozenset({"placeholders"}),
            )
    else:
        reader.nested(root)
    return reader.file("json")


def read_arb(data: bytes, languages: Languages) -> File:
    """Reads ARB, the messages of Flutter: ICU messages, whose `@key` objects describe them.

    Raises:
        DataError: it is no JSON, or no object.
    """
    text = decoded(data)
    root = _root(text)
    reader = _Reader(text=text, style=style_of_json(text), language=languages.target)
    notes = {member.name: member.value.text_of("description") for member in root.members}
    for member in root.members:
        if not member.name.startswith("@"):
            note = notes.get(f"@{member.name}", "")
            reader.string(member.name, member.value, note=note, flags=frozenset({"icu-message-format"}))
    locale = root.get("@@locale")
    edits: tuple[Edit, ...] = ()
    if locale is not None and locale.kind == "string" and languages.target:
        edits = (Edit(locale.span, reader.style.written(languages.target.replace("-", "_"))),)
    return reader.file("arb", always=edits, source=None if locale is None else locale.text)


def _root(text: EncodedText) -> JsonValue:
    root = parse_json_values(text)
    if root.kind not in ("object", "array"):
        raise DataError("line 1: a JSON file of messages is an object or a list")
    return root


def _is_chrome(root: JsonValue) -> bool:
    """Whether every member is an object with a message and its description, as in Chrome's files."""
    return bool(root.members) and all(
        (message := member.value.get("message")) is not None
        and message.kind == "string"
        and {one.name for one in member.value.members} <= _CHROME_KEYS
        for member in root.members
    )


class _Reader:
    """Collects units and their slots.

    Args:
        text: the file.
        style: the file's way of writing strings.
        language: the target language, by whose plural categories i18next's keys are written.
    """

    def __init__(self, *, text: EncodedText, style: JsonStyle, language: str | None) -> None:
        self.text, self.style, self.language = text, style, language
        self._ids = UniqueIds()
        self._units: list[Unit] = []
        self._slots: dict[str, tuple[Slot, ...]] = {}
        self._beside: dict[str, tuple[Edit, ...]] = {}

    def file(self, name: str, *, always: tuple[Edit, ...] = (), source: str | None = None) -> File:
        """Makes the file of the units so far."""
        return File(
            format=name,
            text=self.text,
            units=tuple(self._units),
            editor=SlotEditor(self._slots, always=always, beside=self._beside),
            declared=Languages(source=source),
            spans=tuple(edit.span for edit in always),
        )

    def string(self, key: str, value: JsonValue | None, *, note: str = "", flags: frozenset[str] = frozenset()) -> None:
        """Adds a string as a unit; other values are ignored."""
        if value is None or value.kind != "string":
            return
        is_translatable = bool(value.text.strip())
        unit = Unit(
            id=self._ids.of(key),
            forms=(Form(source=content(value.text)),),
            is_translatable=is_translatable,
            context=key,
            notes=(note,) if note else (),
            flags=flags or _flags(value.text),
            spans=(value.span,) if is_translatable else (),
        )
        self._units.append(unit)
        self._slots[unit.id] = (self._slot(value),)

    def nested(self, root: JsonValue) -> None:
        """Adds every string within a value; a set of i18next's plural keys is one unit."""
        waiting: list[tuple[str, JsonValue]] = [("", root)]
        while waiting:
            path, value = waiting.pop()
            if value.kind == "string":
                self.string(path, value)
            plurals = _plural_keys(value) if value.kind == "object" else {}
            places = {id(member): number for number, member in enumerate(value.members)} if plurals else {}
            grouped = {id(member) for members in plurals.values() for member in members.values()}
            for name, members in plurals.items():
                self._plural(f"{path}.{name}" if path else name, name, members, value, places)
            inner = [
                (f"{path}.{member.name}" if path else member.name, member.value)
                for member in value.members
                if id(member) not in grouped
            ]
            waiting.extend(reversed(inner))

    def _slot(self, value: JsonValue) -> Slot:
        return Slot(value.span, self._writer(value))

    def _writer(self, value: JsonValue) -> Callable[[Content], str]:
        old = self.text.text[value.span.start : value.span.stop]
        return lambda parts: self.style.written(plain(parts), old)

    def _plural(
        self, path: str, name: str, members: Mapping[str, Member], parent: JsonValue, places: Mapping[int, int]
    ) -> None:
        present = {
            category: Category(
                source=content(member.value.text),
                slot=self._slot(member.value),
                whole=self._whole(member, places[id(member)], parent),
            )
            for category, member in members.items()
        }
        last = max(members.values(), key=lambda member: member.start)
        write = self._writer(last.value)
        before = self.text.text[max(0, last.start - 4_096) : last.start]
        space = before[len(before.rstrip()) :]
        between = self.text.text[last.start : last.value.span.start].rpartition('"')[2]

        def inserted(category: str, text: Content) -> str:
            return f",{space}{self.style.written(f'{name}_{category}')}{between}{write(text)}"

        end = last.value.span.stop
        found = plural_set(present, self.language, Span(end, end), inserted, has_zero=True)
        unit = Unit(
            id=self._ids.of(path),
            forms=found.forms,
            context=path,
            is_translatable=any(plain(form.source).strip() for form in found.forms),
            flags=_flags("".join(member.value.text for member in members.values())),
            spans=found.spans,
        )
        self._units.append(unit)
        self._slots[unit.id], self._beside[unit.id] = found.slots, found.removals

    def _whole(self, member: Member, number: int, parent: JsonValue) -> Span:
        """Returns the span of a member with the comma and space after it, or before it if it is the last."""
        if number + 1 < len(parent.members):
            return Span(member.start, parent.members[number + 1].start)
        previous = parent.members[number - 1].value.span.stop if number else member.start
        return Span(previous, member.value.span.stop)


def _flags(text: str) -> frozenset[str]:
    return frozenset({"i18next-interpolation"}) if "{{" in text or "$t(" in text else frozenset()


def _plural_keys(value: JsonValue) -> dict[str, dict[str, Member]]:
    """Sets of strings whose keys differ in i18next's plural suffix alone; `_other` is always there, with another."""
    found: dict[str, dict[str, Member]] = {}
    for base, category, member in _suffixed(value.members):
        found.setdefault(base, {}).setdefault(category, member)
    return {
        base: members
        for base, members in found.items()
        if "other" in members and len(members) > 1 and not base.endswith("_ordinal")
    }


def _suffixed(members: Sequence[Member]) -> Iterator[tuple[str, str, Member]]:
    for member in members:
        base, mark, category = member.name.rpartition("_")
        if mark and base and category in CATEGORY_NAMES and member.value.kind == "string":
            yield base, category, member
