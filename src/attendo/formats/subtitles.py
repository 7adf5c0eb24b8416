"""What SRT and WebVTT share: the tags in a cue's text, and cues as units."""

import re
from collections.abc import Callable, Iterable

from attendo.formats.contents import ALONE, Code, Content, joined, paired, plain
from attendo.formats.encoded import EncodedText
from attendo.formats.file import File, Form, Slot, SlotEditor, Span, UniqueIds, Unit

TAGS = r"<(/?)([A-Za-z0-9][\w:.]*)[^<>\n]*>"
"""Tags in angle brackets; the groups are the slash and the name."""


def cue_file(
    name: str,
    text: EncodedText,
    cues: Iterable[tuple[str, Span]],
    *,
    tags: re.Pattern[str],
    decode: Callable[[str], str],
    encode: Callable[[str], str],
) -> File:
    """A file of cues.

    Args:
        name: of the format.
        text: the file.
        cues: the name of each cue and where its text stands.
        tags: what is markup in a cue.
        decode: gives the characters of a piece of a cue's text.
        encode: writes such a piece.
    """
    ids, units, slots = UniqueIds(), [], {}
    for cue, span in cues:
        source = tagged(text.text[span.start : span.stop].replace("\r\n", "\n"), tags, decode)
        is_translatable = bool(plain(source).strip())
        unit = Unit(
            id=ids.of(cue),
            forms=(Form(source=source),),
            is_translatable=is_translatable,
            spans=(span,) if is_translatable else (),
        )
        units.append(unit)
        slots[unit.id] = (Slot(span, _writer(text, encode)),)
    return File(format=name, text=text, units=tuple(units), editor=SlotEditor(slots))


def tagged(raw: str, pattern: re.Pattern[str], decode: Callable[[str], str]) -> Content:
    """A cue's text with its tags as codes; a tag without its other half stands alone."""
    tags = list(pattern.finditer(raw))
    halves = paired([((tag[2] or "").partition(".")[0], bool(tag[1])) for tag in tags])
    parts: list[str | Code] = []
    last = 0
    for number, tag in enumerate(tags):
        parts.append(decode(raw[last : tag.start()]))
        pair, kind = halves.get(number, (number, ALONE))
        parts.append(Code(id=str(pair), raw=tag[0], kind=kind))
        last = tag.end()
    return joined([*parts, decode(raw[last:])])


def _writer(text: EncodedText, encode: Callable[[str], str]) -> Callable[[Content], str]:
    def write(parts: Content) -> str:
        raw = "".join(part.raw if isinstance(part, Code) else encode(part) for part in parts)
        # An empty line would end the cue.
        return re.sub(r"\n\s*\n+", "\n", raw.strip("\n")).replace("\n", text.line_end)

    return write
