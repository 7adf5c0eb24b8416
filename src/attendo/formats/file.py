"""The types that all formats share: a file of units, results for them, and edits that splice results into the bytes.

A reader declares every span that writing may replace: values, states and insertion points. `File.write` checks that
each edit replaces a declared span, and copies everything else from the original bytes.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Literal, NamedTuple, Protocol

from attendo.formats.contents import Content, content, with_codes_of
from attendo.formats.encoded import EncodedText

State = Literal["new", "fuzzy", "translated", "final"]
"""How far a unit is: without a translation; with one to be reviewed; translated; approved, signed off or locked."""
UNTRANSLATED: tuple[State, ...] = ("new",)
Mark = Literal["review", "problems", "none"]
"""Which machine translations are marked for review: all, those with problems, or none."""


class Span(NamedTuple):
    """A range of a file's characters; an empty one is an insertion point."""

    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Edit:
    """New text for a declared span."""

    span: Span
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Languages:
    """A source and a target language, as codes in whatever style; None where one is not known."""

    source: str | None = None
    target: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    """A text of a unit: its only one, or one of its plural forms."""

    source: Content
    """What is to be translated."""
    target: Content | None = None
    """The translation that is there; None where there is none."""
    name: str = ""
    """Which plural form it is: `0`, `1` by a file's own formula, or a category of CLDR such as `few`."""
    sample: int | None = None
    """A number that takes this plural form; None where the unit has no plural."""
    is_of_one_number: bool = False
    """Whether it is the form of a single number, so that it may leave the number out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Unit:
    """A text of a file that is translated by itself, or the plural forms of one."""

    id: str
    """Unique in the file."""
    forms: tuple[Form, ...]
    """One, or one for each plural form of the target language."""
    state: State = "new"
    is_translatable: bool = True
    """False where the file says that it is not to be translated, or is locked."""
    context: str = ""
    """What tells equal sources apart: a message context, a key."""
    notes: tuple[str, ...] = ()
    """Comments for translators."""
    flags: frozenset[str] = frozenset()
    """What placeholders it has and how it is checked, as Weblate names it: `c-format`, `icu-message-format`."""
    max_length: int | None = None
    """The most that a translation may have of `length_unit`."""
    length_unit: Literal["char", "byte"] = "char"
    label: str = ""
    """Of an access key that is a text of its own: the id of the unit of which it is a letter."""
    spans: tuple[Span, ...] = ()
    """Every span that writing the unit may replace."""

    @property
    def source(self) -> Content:
        """The source of its first form."""
        return self.forms[0].source

    @property
    def target(self) -> Content | None:
        """The translation of its first form."""
        return self.forms[0].target


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """A unit's translation."""

    texts: tuple[Content, ...]
    """One for each of the unit's forms."""
    origin: Literal["mt", "tm", "changed"] = "mt"
    """Whether a model made it, a translation memory had it, or it is one of a memory with other numbers put in."""
    problems: tuple[str, ...] = ()
    """What checks found."""
    has_repaired_codes: bool = False
    """Whether inline codes were put in place by force; it is then marked for review whatever `mark` says."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Suggestion:
    """A translation that a file offers beside its units: what people translated in an earlier version, or elsewhere."""

    source: Content
    """The text that it translates, which may differ from that of the unit."""
    target: Content
    """The translation."""
    context: str = ""
    """The id of the unit that it stands at; empty where that is not known."""


def no_suggestions() -> Iterator[Suggestion]:
    """The suggestions of a file that has none."""
    return iter(())


def result(*texts: str) -> Result:
    """Makes a result of strings without codes, one a form."""
    return Result(texts=tuple(content(text) for text in texts))


@dataclass(frozen=True, kw_only=True, slots=True)
class WriteOptions:
    """How results are written."""

    mark: Mark = "review"
    tool: str = "attendo"
    """The name that files give as the origin of a translation."""
    time: str = ""
    """When, as `2026-11-21T10:00:00Z`, for formats that keep it; left out where it is empty."""

    def is_marked(self, written: Result) -> bool:
        """Says whether a result is marked for review."""
        if written.has_repaired_codes or self.mark == "none":
            return written.has_repaired_codes
        # What people have translated is marked for a reason only.
        return bool(written.problems) or (self.mark == "review" and written.origin != "tm")


class Editor(Protocol):
    """What a format's reader leaves behind to turn results into edits."""

    def edits(self, results: Mapping[str, Result], options: WriteOptions) -> Iterable[Edit]:
        """The edits that put results into the file."""


@dataclass(frozen=True, kw_only=True)
class File:
    """A file that was read."""

    format: str
    """The name of its format."""
    text: EncodedText
    units: tuple[Unit, ...]
    editor: Editor
    declared: Languages = field(default_factory=Languages)
    """The languages that the file names."""
    spans: tuple[Span, ...] = ()
    """Spans that writing may replace beside those of units: language declarations and headers."""
    suggestions: Callable[[], Iterator[Suggestion]] = no_suggestions
    """Gives the translations that the file offers beside its units."""

    def to_translate(self, states: Collection[State] = UNTRANSLATED) -> tuple[Unit, ...]:
        """The units that may be translated and are in one of some states; by default those without a translation."""
        return tuple(
            unit for unit in self.units if unit.is_translatable and unit.state in states and unit.state != "final"
        )

    def write(self, results: Mapping[str, Result], options: WriteOptions | None = None) -> bytes:
        """The file with results in it; without any, its very bytes.

        Args:
            results: by the ids of units. A form that a person translated in a unit that is not finished is kept.
            options: how translations are marked.

        Raises:
            DataError: the file's encoding lacks a character of a translation.
            ValueError: a result is for no unit of the file, one that must not change, or has another number of forms.
        """
        return self.written(results, options) if results else self.text.content

    def written(self, results: Mapping[str, Result], options: WriteOptions | None = None) -> bytes:
        """The file with results in it, as `write` gives it; without any, its declared languages change alone."""
        units = {unit.id: unit for unit in self.units}
        checked = {name: _checked(name, units.get(name), found) for name, found in results.items()}
        edits = list(self.editor.edits(checked, options or WriteOptions()))
        return spliced(self.text, edits, self.all_spans())

    def all_spans(self) -> frozenset[Span]:
        """Every declared span."""
        return frozenset(chain(self.spans, *(unit.spans for unit in self.units)))

    def byte_spans(self) -> list[tuple[int, int]]:
        """Every declared span as offsets in the file's bytes, in order; what lies within another one is left out."""
        spans = sorted(_outermost(self.all_spans()))
        offsets = self.text.byte_offsets(position for span in spans for position in (span.start, span.stop))
        return [(offsets[span.start], offsets[span.stop]) for span in spans]


def _outermost(spans: Iterable[Span]) -> Iterator[Span]:
    """Spans without those within others; insertion points at the edges of others stay."""
    start = stop = -1
    for span in sorted(spans, key=lambda span: (span.start, -span.stop)):
        is_within = span.stop <= stop and (span.start < span.stop or start < span.start < stop)
        if not is_within:
            yield span
        if span.stop > stop:
            start, stop = span.start, span.stop


def _checked(name: str, unit: Unit | None, found: Result) -> Result:
    """A result whose codes are those of its unit's sources."""
    if unit is None or not unit.is_translatable or unit.state == "final":
        raise ValueError(f"{name!r} is not a unit of the file that may be translated")
    if len(found.texts) != len(unit.forms):
        raise ValueError(f"{name!r} has {len(unit.forms)} forms, its result {len(found.texts)}")
    repaired = [with_codes_of(form.source, text) for form, text in zip(unit.forms, found.texts, strict=True)]
    problems = tuple(problem for _, found_problems in repaired for problem in found_problems)
    return replace(
        found,
        texts=tuple(text for text, _ in repaired),
        problems=(*found.problems, *problems),
        has_repaired_codes=found.has_repaired_codes or bool(problems),
    )


def spliced(text: EncodedText, edits: Sequence[Edit], declared: frozenset[Span]) -> bytes:
    """The bytes of a text with edits in them; what is outside of the edits is copied.

    Raises:
        DataError: the encoding lacks a character.
    """
    ordered = sorted(edits, key=lambda edit: edit.span)
    offsets = text.byte_offsets(position for edit in ordered for position in (edit.span.start, edit.span.stop))
    pieces, last = [], 0
    for edit in ordered:
        assert edit.span in declared, f"{edit} replaces what was not declared"
        start, stop = offsets[edit.span.start], offsets[edit.span.stop]
        assert start >= last, f"{edit} overlaps another one"
        pieces += [text.content[last:start], text.encode(edit.text)]
        last = stop
    return b"".join([*pieces, text.content[last:]])


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for one form's text, and how the text is written there."""

    span: Span
    written: Callable[[Content], str]


@dataclass(frozen=True, slots=True)
class SlotEditor:
    """An editor for formats without states: each form has a slot."""

    slots: Mapping[str, tuple[Slot, ...]]
    """By the id of a unit, one slot a form."""
    always: tuple[Edit, ...] = ()
    """What changes beside, as soon as there is a result: a declaration of the language."""
    beside: Mapping[str, tuple[Edit, ...]] = field(default_factory=dict)
    """What changes with a unit, by its id: plural forms that the target language does not have are removed."""

    def edits(self, results: Mapping[str, Result], options: WriteOptions) -> Iterable[Edit]:
        """The edits that put results into their slots."""
        del options
        yield from self.always
        for name, found in results.items():
            yield from self.beside.get(name, ())
            for slot, text in zip(self.slots[name], found.texts, strict=True):
                yield Edit(slot.span, slot.written(text))


@dataclass
class UniqueIds:
    """Makes names unique, in the order they come in: the second `a` is `a#2`."""

    _counts: dict[str, int] = field(default_factory=dict)

    def of(self, name: str) -> str:
        """The name itself the first time, with a number later."""
        count = self._counts[name] = self._counts.get(name, 0) + 1
        return name if count == 1 else self.of(f"{name}#{count}")


def access_key_label(name: str, source: str, names: Collection[str]) -> str:
    """The name of the text that an access key is a letter of; empty of any other text.

    Args:
        name: of the text, such as `save.accesskey`.
        source: its source.
        names: of all texts, of which the label is `save.label` or `save`.
    """
    entry, _, attribute = name.rpartition(".")
    if attribute.casefold() != "accesskey" or len(source) != 1:
        return ""
    return next((other for other in (f"{entry}.label", entry) if other in names), "")


def base_language(language: str) -> str:
    """The language without region, script and variant: `de` of `de-AT`, `de_AT` and `de@formal`."""
    return language.replace("_", "-").replace("@", "-").partition("-")[0].lower()


def is_same_language(first: str, second: str) -> bool:
    """Says whether two codes name the same language, whatever its region."""
    return base_language(first) == base_language(second)
