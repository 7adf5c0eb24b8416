"""Apple's .stringsdict: the texts of each plural category; format keys and rule types keep their bytes."""

from functools import partial

from attendo.errors import DataError
from attendo.formats.contents import Content, plain
from attendo.formats.elements import Element
from attendo.formats.file import Edit, File, Languages, Slot, SlotEditor, Span, UniqueIds, Unit
from attendo.formats.markup import Markup, parse_markup
from attendo.formats.markup_content import Inline, content_of, style_of, written
from attendo.formats.plural_rules import CATEGORY_NAMES
from attendo.formats.plural_sets import Category, plural_set

_FLAGS = frozenset({"objc-format"})


def read_stringsdict(data: bytes, languages: Languages) -> File:
    """Reads a dictionary of plural rules; its sources are its own values.

    Raises:
        DataError: the file is not a property list.
    """
    markup = parse_markup(data)
    root = markup.root.first("dict")
    if markup.root.local != "plist" or root is None:
        raise DataError("this is not a property list with a dictionary, as .stringsdict is")
    ids, units = UniqueIds(), []
    slots: dict[str, tuple[Slot, ...]] = {}
    beside: dict[str, tuple[Edit, ...]] = {}
    for key, entry in _pairs(markup, root):
        for variable, rules in _pairs(markup, entry[1]) if entry[1].local == "dict" else ():
            texts = {
                name: pair
                for name, pair in _pairs(markup, rules[1])
                if name in CATEGORY_NAMES and pair[1].local == "string"
            }
            if not texts:
                continue
            unit, unit_slots, removals = _unit(markup, ids.of(f"{key}/{variable}"), texts, languages)
            units.append(unit)
            slots[unit.id], beside[unit.id] = unit_slots, removals
    return File(format="stringsdict", text=markup.text, units=tuple(units), editor=SlotEditor(slots, beside=beside))


def _pairs(markup: Markup, dictionary: Element) -> list[tuple[str, tuple[Element, Element]]]:
    """Returns the keys of a dictionary, with the elements of the key and of its value."""
    children = dictionary.elements()
    return [
        (markup.raw(key.inner).strip(), (key, value))
        for key, value in zip(children[::2], children[1::2], strict=False)
        if key.local == "key"
    ]


def _unit(
    markup: Markup, name: str, texts: dict[str, tuple[Element, Element]], languages: Languages
) -> tuple[Unit, tuple[Slot, ...], tuple[Edit, ...]]:
    present = {
        category: Category(
            source=content_of(markup, value, _classify),
            slot=Slot(value.inner, partial(_written, markup, value)),
            whole=Span(key.tag.start - len(markup.indentation(key)), value.end),
        )
        for category, (key, value) in texts.items()
    }
    key, last = max(texts.values(), key=lambda pair: pair[1].end)

    def inserted(category: str, text: Content) -> str:
        raw = written(text, style_of(markup, last))
        return f"{markup.indentation(key)}<key>{category}</key>{markup.indentation(last)}<string>{raw}</string>"

    found = plural_set(present, languages.target, Span(last.end, last.end), inserted, has_zero=True)
    is_translatable = any(plain(form.source).strip() for form in found.forms)
    unit = Unit(
        id=name,
        forms=found.forms,
        is_translatable=is_translatable,
        context=name,
        flags=_FLAGS,
        spans=found.spans if is_translatable else (),
    )
    return unit, found.slots, found.removals


def _written(markup: Markup, value: Element, parts: Content) -> str:
    return markup.content_edit(value, written(parts, style_of(markup, value))).text


def _classify(element: Element) -> Inline:
    return Inline(None, element.local)
