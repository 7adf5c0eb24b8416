""".NET resources (.resx): the texts among their data, not the designer's values, types and images."""

from attendo.errors import DataError
from attendo.formats.contents import Content, plain
from attendo.formats.elements import Element
from attendo.formats.file import File, Form, Languages, Slot, SlotEditor, UniqueIds, Unit
from attendo.formats.markup import Markup, parse_markup
from attendo.formats.markup_content import Inline, content_of, style_of, written

_FLAGS = frozenset({"c-sharp-format"})
# Properties that Windows Forms' designer keeps with texts.
_DESIGNER = (
    ".Name", ".Type", ".Parent", ".ZOrder", ".Size", ".Location", ".Font", ".Anchor", ".Dock", ".ImeMode", ".TabIndex",
    ".AutoSize", ".ClientSize", ".Margin", ".Padding", ".Visible", ".Enabled",
)  # fmt: skip


def read_resx(data: bytes, languages: Languages) -> File:
    """Reads .NET resources; their sources are their own values.

    Raises:
        DataError: the file has no .NET resources.
    """
    del languages
    markup = parse_markup(data)
    if markup.root.local != "root":
        raise DataError(f"these are not .NET resources: the outermost element is <{markup.root.local}>, not <root>")
    ids, units, slots = UniqueIds(), [], {}
    for element in markup.root.elements("data"):
        value = element.first("value")
        if value is None:
            continue
        unit = _unit(markup, element, value, ids.of(element.attributes.get("name", "")))
        units.append(unit)
        slots[unit.id] = (_slot(markup, value),)
    return File(format="resx", text=markup.text, units=tuple(units), editor=SlotEditor(slots))


def _unit(markup: Markup, element: Element, value: Element, name: str) -> Unit:
    source = content_of(markup, value, _classify)
    key = element.attributes.get("name", "")
    is_text = "type" not in element.attributes and "mimetype" not in element.attributes
    is_translatable = (
        is_text and not key.startswith(">>") and not key.endswith(_DESIGNER) and bool(plain(source).strip())
    )
    return Unit(
        id=name,
        forms=(Form(source=source),),
        is_translatable=is_translatable,
        context=key,
        notes=tuple(plain(content_of(markup, comment, _classify)) for comment in element.elements("comment")),
        flags=_FLAGS,
        spans=(value.inner,) if is_translatable else (),
    )


def _classify(element: Element) -> Inline:
    return Inline(None, element.local)


def _slot(markup: Markup, value: Element) -> Slot:
    style = style_of(markup, value)

    def write(parts: Content) -> str:
        return markup.content_edit(value, written(parts, style)).text

    return Slot(value.inner, write)
