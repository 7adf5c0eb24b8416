"""XLIFF 1.2, writing: targets, and states as XLIFF, Trados, memoQ and Phrase have them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from attendo.formats.elements import Element
from attendo.formats.file import Edit, Result, Span, WriteOptions
from attendo.formats.markup import Markup, escaped
from attendo.formats.markup_content import style_of, written

SDL = "http://sdl.com/FileTypes/SdlXliff/1.0"
MEMOQ = "MQXliff"
MEMSOURCE = "http://www.memsource.com/mxlf/2.0"
_OWN_STATES = {MEMOQ: ("status", "percent", "lastchangedtimestamp"), MEMSOURCE: ("trans-origin", "confirmed")}
"""The attributes of states, by the namespaces of memoQ and Phrase."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Segment:
    """A segment of a `trans-unit`, or the whole of an unsegmented one."""

    id: str
    mid: str
    source: Element
    """The `source` element, or a `mrk` of the `seg-source`."""
    target: Element | None
    """The element for its translation; None if it does not exist yet."""
    definition: Element | None
    """Trados' element with its state."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TransUnit:
    """A `trans-unit` and its segments."""

    element: Element
    source: Element
    segmented: Element | None
    """The `seg-source`, if it has segments."""
    target: Element | None
    segments: tuple[Segment, ...]
    flavour: str
    """The namespace of its states; empty for XLIFF's own."""

    @property
    def is_built(self) -> bool:
        """Whether the target is written as a whole: there is none, or the unit is segmented and the target empty."""
        if self.target is None:
            return True
        return self.segmented is not None and all(segment.target is None for segment in self.segments)

    @property
    def insertion(self) -> Span:
        """The insertion point of a target."""
        place = (self.segmented or self.element.first("seg-source") or self.source).end
        return Span(place, place)

    def spans(self, markup: Markup, segment: Segment) -> tuple[Span, ...]:
        """Returns every span that writing a segment may replace."""
        spans = []
        if self.target is None:
            spans.append(self.insertion)
        elif self.is_built:
            spans.append(self.target.inner)
        elif segment.target is not None:
            spans.append(segment.target.inner)
        if self.flavour == SDL and segment.definition is not None:
            names = ("conf", "origin", "origin-system", "percent")
            spans += [markup.attribute(segment.definition, name) for name in names]
        elif self.flavour in (MEMOQ, MEMSOURCE):
            prefix = _prefix(markup, self.element, self.flavour)
            spans += [markup.attribute(self.element, f"{prefix}:{name}") for name in _OWN_STATES[self.flavour]]
        elif self.target is not None:
            spans += [markup.attribute(self.target, name) for name in ("state", "state-qualifier")]
        return tuple(dict.fromkeys(spans))

    def own_states(
        self, markup: Markup, found: Mapping[str, Result], options: WriteOptions
    ) -> list[tuple[str, str | None]]:
        """Returns the values for the state attributes of memoQ or Phrase, by their names as written in the file.

        Args:
            markup: the file.
            found: the results of its segments.
            options: which are marked, and the time of the change.

        Returns:
            The values; None for an attribute that is removed.
        """
        prefix, percent = _prefix(markup, self.element, self.flavour), _percent(found.values())
        is_marked = any(options.is_marked(one) for one in found.values())
        values: tuple[str | None, ...]
        if self.flavour == MEMSOURCE:
            values = ("mt" if percent is None else "tm", "0" if is_marked else "1")
            return list(zip((f"{prefix}:{name}" for name in _OWN_STATES[MEMSOURCE]), values, strict=True))
        # memoQ counts no translation from a memory as confirmed; it records the similarity of the match.
        is_confirmed = not is_marked and (percent is None or options.mark == "none")
        status = "ManuallyConfirmed" if is_confirmed else "MachineTranslated" if percent is None else "PreTranslated"
        values = (status, percent, options.time)
        states = zip((f"{prefix}:{name}" for name in _OWN_STATES[MEMOQ]), values, strict=True)
        return [(name, value) for name, value in states if value != ""]


def _percent(found: Iterable[Result]) -> str | None:
    """Returns how similar matches of a memory are: 99 per cent with other numbers; None if a model has translated."""
    origins = {one.origin for one in found}
    return None if "mt" in origins else "99" if "changed" in origins else "100"


def _prefix(markup: Markup, element: Element, namespace: str) -> str:
    """Returns the prefix of an element's attributes in a namespace."""
    local = next(name.rpartition(" ")[2] for name in element.attributes if name.startswith(f"{namespace} "))
    raw = markup.raw(element.tag)
    end = raw.index(f":{local}")
    return raw[:end].split()[-1]


@dataclass(frozen=True, kw_only=True)
class Xliff1Editor:
    """Puts translations into XLIFF 1.2."""

    markup: Markup
    owner: Mapping[str, TransUnit]
    """The `trans-unit` of each unit, by the unit's id."""
    declarations: tuple[Edit, ...]

    def edits(self, results: Mapping[str, Result], options: WriteOptions) -> Iterable[Edit]:
        """Yields the edits of the declarations and of each `trans-unit`."""
        yield from self.declarations
        records = {id(self.owner[name]): self.owner[name] for name in results}
        for record in records.values():
            found = {segment.id: results[segment.id] for segment in record.segments if segment.id in results}
            yield from self._unit(record, found, options)

    def _unit(self, record: TransUnit, found: Mapping[str, Result], options: WriteOptions) -> Iterator[Edit]:
        marked = any(options.is_marked(one) for one in found.values())
        states = [] if record.flavour else _states(found, marked)
        if record.target is None:
            name = f"{self.markup.prefix(record.source)}target"
            attributes = "".join(f' {key}="{escaped(value, quotes=True)}"' for key, value in states)
            space = self.markup.indentation(record.source)
            raw = f"{space}<{name}{attributes}>{self._built(record, found)}</{name}>"
            yield Edit(record.insertion, raw)
        else:
            yield from self._filled(record, found)
            yield from self._state_edits(record.target, states)
        if record.flavour == SDL:
            for segment in record.segments:
                if segment.id in found and segment.definition is not None:
                    yield from self._sdl(segment.definition, found[segment.id], options)
        elif record.flavour:
            yield from self._state_edits(record.element, record.own_states(self.markup, found, options))

    def _state_edits(self, element: Element, states: Iterable[tuple[str, str | None]]) -> Iterator[Edit]:
        """Yields the edits of an element's attributes; new ones are inserted by a single edit."""
        inserted: dict[Span, str] = {}
        for name, value in states:
            edit = self.markup.set_attribute(element, name, value)
            if edit.span.start == edit.span.stop:
                inserted[edit.span] = inserted.get(edit.span, "") + edit.text
            else:
                yield edit
        yield from (Edit(span, text) for span, text in inserted.items())

    def _filled(self, record: TransUnit, found: Mapping[str, Result]) -> Iterator[Edit]:
        """Yields the edits of a present target's values."""
        assert record.target is not None
        if record.segmented is not None and record.is_built:
            yield self.markup.content_edit(record.target, self._built(record, found))
            return
        for segment in record.segments:
            if segment.id in found and segment.target is not None:
                yield self.markup.content_edit(segment.target, self._value(segment, found[segment.id]))

    def _value(self, segment: Segment, found: Result) -> str:
        return written(found.texts[0], style_of(self.markup, segment.source))

    def _built(self, record: TransUnit, found: Mapping[str, Result]) -> str:
        """Returns the content of a new target; the text between segments is copied from the `seg-source`."""
        if record.segmented is None:
            (segment,) = record.segments
            return self._value(segment, found[segment.id])
        pieces, last = [], record.segmented.inner.start
        for segment in record.segments:
            raw = self._value(segment, found[segment.id]) if segment.id in found else ""
            edit = self.markup.content_edit(segment.source, raw)
            pieces += [self.markup.raw(Span(last, edit.span.start)), edit.text]
            last = edit.span.stop
        return "".join([*pieces, self.markup.raw(Span(last, record.segmented.inner.stop))])

    def _sdl(self, definition: Element, found: Result, options: WriteOptions) -> Iterator[Edit]:
        """Yields the edits of a segment's state in Trados' element."""
        percent = _percent([found])
        values = [
            ("conf", "Draft" if options.is_marked(found) else "Translated"),
            ("origin", "mt" if percent is None else "tm"),
            ("origin-system", options.tool),
            ("percent", percent),
        ]
        yield from self._state_edits(definition, values)


def _states(found: Mapping[str, Result], marked: bool) -> list[tuple[str, str]]:
    """Returns the state attributes of a target in XLIFF's own terms."""
    origins = {one.origin for one in found.values()}
    qualifier = "leveraged-mt" if "mt" in origins else "leveraged-tm" if "changed" in origins else "exact-match"
    return [
        ("state", "needs-review-translation" if marked else "translated"),
        ("state-qualifier", qualifier),
    ]
