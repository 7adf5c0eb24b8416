"""The types that all formats share: a file of units, results for them, and edits that splice results into the bytes.

A reader declares every span that writing may replace: values, states and insertion points. `File.write` checks that
each edit replaces a declared span, and copies everything else from the original bytes.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Literal, NamedTuple, Protocol

from attendo.formats.contents import Content, codes, content, with_codes_of
from attendo.formats.encoded import EncodedText

State = Literal["new", "fuzzy", "translated", "final"]
"""State of a unit: without a translation; with one to review; translated; approved, signed off or locked."""
UNTRANSLATED: tuple[State, ...] = ("new",)
Mark = Literal["review", "problems", "none"]
"""The machine translations that are marked for review: all, those with problems, or none."""


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
    """A source and a target language as codes of any style; None if unknown."""

    source: str | None = None
    target: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    """A text of a unit: its only text, or one of its plural forms."""

    source: Content
    """The source."""
    target: Content | None = None
    """The present translation; None if there is none."""
    name: str = ""
    """The plural form: `0`, `1` by a file's own formula, or a category of CLDR such as `few`."""
    sample: int | None = None
    """A number that takes this plural form; None if the unit has no plural."""
    is_of_one_number: bool = False
    """Whether this is the form of a single number, which may leave the number out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Unit:
    """A text of a file that is translated by itself, with its plural forms if it has several."""

    id: str
    """Identifier, unique in the file."""
    forms: tuple[Form, ...]
    """The only form, or one for each plural form of the target language."""
    state: State = "new"
    is_translatable: bool = True
    """False if the file marks it as not to be translated, or locked."""
    context: str = ""
    """A message context or key, which distinguishes equal sources."""
    notes: tuple[str, ...] = ()
    """Comments for translators."""
    flags: frozenset[str] = frozenset()
    """Weblate's names for the kinds of placeholders and checks: `c-format`, `icu-message-format`."""
    max_length: int | None = None
    """Maximum length of a translation in `length_unit`."""
    length_unit: Literal["char", "byte"] = "char"
    label: str = ""
    """For an access key that is a separate text: the id of the unit of which it is a letter."""
    spans: tuple[Span, ...] = ()
    """Every span that writing the unit may replace."""

    @property
    def source(self) -> Content:
        """The source of the first form."""
        return self.forms[0].source

    @property
    def target(self) -> Content | None:
        """The translation of the first form."""
        return self.forms[0].target


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """A unit's translation."""

    texts: tuple[Content, ...]
    """A translation for each of the unit's forms."""
    origin: Literal["mt", "tm", "changed"] = "mt"
    """The origin: a model, a translation memory, or a memory with other numbers put in."""
    problems: tuple[str, ...] = ()
    """The findings of the checks."""
    has_repaired_codes: bool = False
    """Whether inline codes had to be put in place; the result is then marked for review regardless of `mark`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Suggestion:
    """A translation that a file offers besides its units, such as a person's translation of an earlier version."""

    source: Content
    """The translated text, which may differ from the unit's source."""
    target: Content
    """The translation."""
    context: str = ""
    """The id of the unit that it belongs to; empty if unknown."""


def no_suggestions() -> Iterator[Suggestion]:
    """Returns no suggestions, for files that have none."""
    return iter(())


def result(*texts: str) -> Result:
    """Makes a result of strings without codes, one per form."""
    return Result(texts=tuple(content(text) for text in texts))


@dataclass(frozen=True, kw_only=True, slots=True)
class WriteOptions:
    """Options for writing results."""

    mark: Mark = "review"
    tool: str = "attendo"
    """The name that files give as the origin of a translation."""
    time: str = ""
    """The time, as `2026-11-21T10:00:00Z`, for formats that record it; left out if empty."""

    def is_marked(self, written: Result) -> bool:
        """Whether a result is marked for review."""
        if written.has_repaired_codes or self.mark == "none":
            return written.has_repaired_codes
        # What people have translated is marked for a reason only.
        return bool(written.problems) or (self.mark == "review" and written.origin != "tm")


class Editor(Protocol):
    """The part of a format's reader that turns results into edits."""

    def edits(self, results: Mapping[str, Result], options: WriteOptions) -> Iterable[Edit]:
        """Returns the edits that put results into the file."""


@dataclass(frozen=True, kw_only=True)
class File:
    """A file that was read."""

    format: str
    """The name of the format."""
    text: EncodedText
    units: tuple[Unit, ...]
    editor: Editor
    declared: Languages = field(default_factory=Languages)
    """The languages that the file names."""
    spans: tuple[Span, ...] = ()
    """Spans besides those of units that writing may replace: language declarations and headers."""
    suggestions: Callable[[], Iterator[Suggestion]] = no_suggestions
    """Returns the translations that the file offers besides its units."""

    def to_translate(self, states: Collection[State] = UNTRANSLATED) -> tuple[Unit, ...]:
        """Returns the translatable units in some states; by default those without a translation."""
        return tuple(
            unit for unit in self.units if unit.is_translatable and unit.state in states and unit.state != "final"
        )

    def write(self, results: Mapping[str, Result], options: WriteOptions | None = None) -> bytes:
        """Returns the file with results in it; without results, its original bytes.

        Args:
            results: the results by unit id. Forms that people have translated in an unfinished unit are kept.
            options: the marking of translations.

        Raises:
            DataError: the file's encoding lacks a character of a translation.
            ValueError: a result is for no unit of the file, one that must not change, or has another number of forms.
        """
        return self.written(results, options) if results else self.text.content

    def written(self, results: Mapping[str, Result], options: WriteOptions | None = None) -> bytes:
        """The file with results in it, as for `write`; without results, only its declared languages change."""
        units = {unit.id: unit for unit in self.units}
        checked = {name: _checked(name, units.get(name), found) for name, found in results.items()}
        edits = list(self.editor.edits(checked, options or WriteOptions()))
        return spliced(self.text, edits, self.all_spans())

    def all_spans(self) -> frozenset[Span]:
        """Returns every declared span."""
        return frozenset(chain(self.spans, *(unit.spans for unit in self.units)))

    def byte_spans(self) -> list[tuple[int, int]]:
        """Returns every declared span as byte offsets, in order; spans within others are left out."""
        spans = sorted(_outermost(self.all_spans()))
        offsets = self.text.byte_offsets(position for span in spans for position in (span.start, span.stop))
        return [(offsets[span.start], offsets[span.stop]) for span in spans]


def _outermost(spans: Iterable[Span]) -> Iterator[Span]:
    """Removes spans that lie within others; insertion points at the edges of others stay."""
    start = stop = -1
    for span in sorted(spans, key=lambda span: (span.start, -span.stop)):
        is_within = span.stop <= stop and (span.start < span.stop or start < span.start < stop)
        if not is_within:
            yield span
        if span.stop > stop:
            start, stop = span.start, span.stop


def _checked(name: str, unit: Unit | None, found: Result) -> Result:
    """Returns a result whose codes are those of its unit's sources."""
    if unit is None or not unit.is_translatable or unit.state == "final":
        raise ValueError(f"{name!r} is not a unit of the file that may be translated")
    if len(found.texts) != len(unit.forms):
        raise ValueError(f"{name!r} has {len(unit.forms)} forms, its result {len(found.texts)}")
    repaired = [
        with_codes_of(source_with_codes(unit, form, text), text)
        for form, text in zip(unit.forms, found.texts, strict=True)
    ]
    problems = tuple(problem for _, found_problems in repaired for problem in found_problems)
    return replace(
        found,
        texts=tuple(text for text, _ in repaired),
        problems=(*found.problems, *problems),
        has_repaired_codes=found.has_repaired_codes or bool(problems),
    )


def source_with_codes(unit: Unit, form: Form, text: Content) -> Content:
    """Returns the source that has the codes of a form's translation: its own, or that of another plural form.

    "One file" becomes "{ $n } fichier" where the form is of other numbers too.
    """
    if form.sample is None or len(unit.forms) == 1:
        return form.source
    text_codes = sorted((code.id, code.kind) for code in codes(text))
    sources = (form.source, *(other.source for other in unit.forms))
    same = (source for source in sources if sorted((code.id, code.kind) for code in codes(source)) == text_codes)
    return next(same, form.source)


def spliced(text: EncodedText, edits: Sequence[Edit], declared: frozenset[Span]) -> bytes:
    """Applies edits to a text and returns its bytes; everything outside the edits is copied.

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
    """The span for a form's text, and the function that writes the text there."""

    span: Span
    written: Callable[[Content], str]


@dataclass(frozen=True, slots=True)
class SlotEditor:
    """An editor for formats without states: each form has a slot."""

    slots: Mapping[str, tuple[Slot, ...]]
    """The slots by unit id, one for each form."""
    always: tuple[Edit, ...] = ()
    """Edits that are made as soon as there is any result, such as a declaration of the language."""
    beside: Mapping[str, tuple[Edit, ...]] = field(default_factory=dict)
    """Edits that come with a unit, by its id: the removal of plural forms that the target language lacks."""

    def edits(self, results: Mapping[str, Result], options: WriteOptions) -> Iterable[Edit]:
        """Yields the edits that put results into their slots."""
        del options
        yield from self.always
        for name, found in results.items():
            yield from self.beside.get(name, ())
            for slot, text in zip(self.slots[name], found.texts, strict=True):
                yield Edit(slot.span, slot.written(text))


@dataclass
class UniqueIds:
    """Makes names unique in order of appearance: the second `a` becomes `a#2`."""

    _counts: dict[str, int] = field(default_factory=dict)

    def of(self, name: str) -> str:
        """Returns the name itself the first time, and with a number later."""
        count = self._counts[name] = self._counts.get(name, 0) + 1
        return name if count == 1 else self.of(f"{name}#{count}")


def access_key_label(name: str, source: str, names: Collection[str]) -> str:
    """Returns the name of the text that an access key is a letter of; empty for any other text.

    Args:
        name: the name of the text, such as `save.accesskey`.
        source: its source.
        names: the names of all texts; the label is `save.label` or `save`.
    """
    entry, _, attribute = name.rpartition(".")
    if attribute.casefold() != "accesskey" or len(source) != 1:
        return ""
    return next((other for other in (f"{entry}.label", entry) if other in names), "")


def base_language(language: str) -> str:
    """The language without region, script and variant: `de` for `de-AT`, `de_AT` and `de@formal`."""
    return language.replace("_", "-").replace("@", "-").partition("-")[0].lower()


def is_same_language(first: str, second: str) -> bool:
    """Whether two codes name the same language, regardless of region."""
    return base_language(first) == base_language(second)
