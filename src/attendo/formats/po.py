"""PO and POT files of gettext: reading. `po_writing` writes.

Comments, references, obsolete entries, previous messages of entries that stay fuzzy, and the order of everything are
outside of the declared spans and keep their bytes.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from attendo.errors import DataError
from attendo.formats.contents import content
from attendo.formats.encoded import EncodedText, decoded
from attendo.formats.file import File, Form, Languages, Span, State, UniqueIds, Unit
from attendo.formats.plural_rules import PluralForm, parse_formula, usual_formula
from attendo.formats.po_writing import Field, PoEditor, PoEntry, PoHeader, joined_field

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")
_KEYWORD = re.compile(r'[ \t]*(domain|msgctxt|msgid_plural|msgid|msgstr(?:\[(\d{1,2})\])?)[ \t]*(?=")')
_STRING = re.compile(r'[ \t]*"((?:[^"\\]|\\.)*)"[ \t]*(?:\r\n|\r|\n|$)')
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|(.))")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "a": "\a"}
_CHARSET = re.compile(rb"charset=([\w.:-]+)")
_HEADER_CHARSET = re.compile(r"charset=(CHARSET)(?![\w-])")
_WRAPPED_AT = 79
# Where translators put their names: GNOME's message, and the contexts of KDE, which were part of messages once.
_CREDITS = re.compile(r"translator[-_]credits|_: (?:NAME|EMAIL) OF TRANSLATORS\n.*", re.S)
_CREDIT_CONTEXTS = ("NAME OF TRANSLATORS", "EMAIL OF TRANSLATORS")


@dataclass
class _Draft:
    """An entry whose lines are being read."""

    start: int
    fields: dict[str, list[Field]] = field(default_factory=dict)
    """The literals of each keyword, one per line."""
    flag_lines: list[Span] = field(default_factory=list)
    previous_lines: list[Span] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    first_keyword: int | None = None


def read_po(data: bytes, languages: Languages) -> File:
    """Reads a PO or POT file.

    Raises:
        DataError: the file is not a PO file, or is not in its declared encoding.
    """
    charset = _CHARSET.search(data[:65_536])
    declared = charset[1].decode("ascii", errors="replace") if charset and charset[1] != b"CHARSET" else None
    text = decoded(data, declared)
    entries = _entries(text)
    if not entries:
        raise DataError("this is not a PO file, or it has no messages")
    header = _header(text, entries, languages)
    wrap = None if _is_unwrapped(text.text) else _WRAPPED_AT
    ids, units, kept = UniqueIds(), [], {}
    for entry in entries:
        if not entry.source or "msgid" not in entry.fields:
            continue  # the header
        unit = _unit(entry, header.forms, ids)
        units.append(unit)
        kept[unit.id] = entry
    return File(
        format="po",
        text=text,
        units=tuple(units),
        editor=PoEditor(text=text, entries=kept, header=header, wrap=wrap),
        declared=Languages(target=header.language or None),
        spans=header.spans(),
    )


def unescaped(raw: str) -> str:
    """Returns the text of a C string literal, as in PO files."""

    def character(found: re.Match[str]) -> str:
        if found[1]:
            return chr(int(found[1], 8))
        if found[2]:
            return chr(int(found[2], 16))
        return _ESCAPED.get(found[3], found[3])

    return _ESCAPE.sub(character, raw)


def _entries(text: EncodedText) -> list[PoEntry]:
    """Reads the entries that are not obsolete."""
    entries: list[PoEntry] = []
    draft = _Draft(start=0)
    open_field = ""
    position = 0
    while position < len(text.text):
        line = _LINE.match(text.text, position)
        assert line is not None
        stripped = line[0].strip()
        end = line.end()
        keyword = _KEYWORD.match(text.text, position, end)
        begins = (stripped.startswith("#") or (keyword and keyword[1] in ("msgctxt", "msgid", "domain"))) and (
            any(name.startswith("msgstr") for name in draft.fields)
        )
        if begins or (keyword and keyword[1] == "msgid" and "msgid" in draft.fields):
            entries += _finished(text, draft)
            draft = _Draft(start=position)
        if keyword:
            open_field = "msgstr" if keyword[1].startswith("msgstr") else keyword[1]
            open_field += f"[{keyword[2]}]" if keyword[2] else ""
            if open_field in draft.fields:
                raise DataError(f"line {text.line_number(position)}: the message has a second {open_field}")
            draft.first_keyword = position if draft.first_keyword is None else draft.first_keyword
            draft.fields[open_field] = [_field(text, keyword.end(), end, position)]
        elif stripped.startswith('"') and open_field and open_field in draft.fields:
            draft.fields[open_field].append(_field(text, position, end, position))
        elif stripped.startswith("#"):
            if stripped.startswith("#~") and not draft.fields:
                draft = _Draft(start=end)  # its comments and flags belong to the obsolete message
            _comment(draft, line[0], Span(position, end))
            open_field = ""
        elif stripped:
            raise DataError(f"line {text.line_number(position)} is not a line of a PO file: {stripped[:60]!r}")
        position = end
    return [*entries, *_finished(text, draft)]


def _field(text: EncodedText, start: int, stop: int, line: int) -> Field:
    """Reads the string literal on a line."""
    literal = _STRING.fullmatch(text.text, start, stop)
    if not literal:
        shown = text.text[start:stop].strip()[:60]
        raise DataError(f"line {text.line_number(start)} has no string in quotes that ends: {shown!r}")
    opening = text.text.index('"', start)
    closing = literal.end(1) + 1
    return Field(span=Span(opening, closing), lines=(literal[1],), line=Span(line, stop))


def _comment(draft: _Draft, line: str, span: Span) -> None:
    """Adds a comment to an entry; obsolete lines stay outside."""
    line = line.strip()
    if line.startswith("#~"):
        return
    if line.startswith("#,"):
        draft.flag_lines.append(span)
        draft.flags += [flag.strip() for flag in line[2:].split(",") if flag.strip()]
    elif line.startswith("#|"):
        draft.previous_lines.append(span)
    elif not line.startswith("#:"):
        draft.notes.append(line[2:].strip() if line.startswith("#.") else line[1:].strip())


def _finished(text: EncodedText, draft: _Draft) -> list[PoEntry]:
    """Returns the entry of a draft; none if it has no message."""
    if "domain" in draft.fields and "msgid" not in draft.fields:
        return []
    if not draft.fields:
        return []
    if "msgid" not in draft.fields or not any(name.startswith("msgstr") for name in draft.fields):
        line = text.line_number(draft.first_keyword or draft.start)
        raise DataError(f"line {line}: a message needs both msgid and msgstr")
    assert draft.first_keyword is not None
    translations = [name for name in draft.fields if name.startswith("msgstr")]
    indices = [f"msgstr[{index}]" for index in range(len(translations))]
    if translations != (indices if "msgid_plural" in draft.fields else ["msgstr"]):
        line = text.line_number(draft.first_keyword)
        wanted = "msgstr[0], msgstr[1] and so on" if "msgid_plural" in draft.fields else "one msgstr"
        raise DataError(f"line {line}: the message has {', '.join(translations)}, where it should have {wanted}")
    fields = {name: joined_field(literals) for name, literals in draft.fields.items()}
    return [
        PoEntry(
            fields=fields,
            flag_lines=tuple(draft.flag_lines),
            previous_lines=tuple(draft.previous_lines),
            notes=tuple(note for note in draft.notes if note),
            flags=tuple(draft.flags),
            keyword=draft.first_keyword,
            source=unescaped("".join(fields["msgid"].lines)),
        )
    ]


def _unit(entry: PoEntry, forms: Sequence[PluralForm], ids: UniqueIds) -> Unit:
    context = unescaped("".join(entry.fields["msgctxt"].lines)) if "msgctxt" in entry.fields else ""
    found = _forms(entry, forms)
    targets = [form.target for form in found]
    state: State = "new" if None in targets else "fuzzy" if "fuzzy" in entry.flags else "translated"
    flags = frozenset(flag for flag in entry.flags if flag != "fuzzy" and not flag.startswith(("no-", "range:")))
    is_credit = context in _CREDIT_CONTEXTS or _CREDITS.fullmatch(entry.source) is not None
    return Unit(
        id=ids.of(f"{context}\x04{entry.source}" if context else entry.source),
        forms=found,
        state=state,
        is_translatable=not is_credit,
        context=context,
        notes=entry.notes,
        flags=flags,
        spans=() if is_credit else entry.spans(len(found)),
    )


def _forms(entry: PoEntry, forms: Sequence[PluralForm]) -> tuple[Form, ...]:
    """Returns the forms of an entry: a single one, or those of the file's formula."""

    def target(name: str) -> str:
        return unescaped("".join(entry.fields[name].lines)) if name in entry.fields else ""

    if "msgid_plural" not in entry.fields:
        translated = target("msgstr")
        return (Form(source=content(entry.source), target=content(translated) if translated else None),)
    plural = unescaped("".join(entry.fields["msgid_plural"].lines))
    return tuple(
        Form(
            source=content(entry.source if form.is_singular else plural),
            target=content(target(f"msgstr[{form.name}]")) or None,
            name=form.name,
            sample=form.sample,
            is_of_one_number=form.is_of_one_number,
        )
        for form in forms
    )


def _header(text: EncodedText, entries: Sequence[PoEntry], languages: Languages) -> PoHeader:
    """Reads the header, the entry with an empty msgid, and determines which of its fields may be set."""
    entry = next((entry for entry in entries if not entry.source and "msgctxt" not in entry.fields), None)
    usual = usual_formula(languages.target) if languages.target else None
    if entry is None or "msgstr" not in entry.fields:
        return PoHeader(forms=parse_formula(usual or "nplurals=2; plural=(n != 1);"))
    fields = {
        name.strip().lower(): value.strip()
        for name, mark, value in (
            line.partition(":") for line in unescaped("".join(entry.fields["msgstr"].lines)).split("\n")
        )
        if mark
    }
    span = entry.fields["msgstr"].span
    raw = text.text[span.start : span.stop]
    formula = fields.get("plural-forms", "")
    is_missing = not formula or "INTEGER" in formula
    edits, lacking = dict[Span, str](), list[str]()
    if not fields.get("language") and languages.target:
        code = languages.target.replace("-", "_")
        if found := re.search(r'(?:"|\\n)Language:( *)\\n', raw):
            edits[_within(span, found)] = f" {code}"
        elif "language" not in fields:
            lacking.append(f"Language: {code}")
    if found := _HEADER_CHARSET.search(raw):
        edits[_within(span, found)] = "UTF-8"
    has_plurals = any("msgid_plural" in other.fields for other in entries)
    if is_missing and usual and has_plurals:
        if found := re.search(r'(?:"|\\n)Plural-Forms:([^"\\]*)\\n', raw):
            edits[_within(span, found)] = f" {usual}"
        else:
            lacking.append(f"Plural-Forms: {usual}")
    if lacking and raw.endswith('\\n"') and "\n" in raw:
        edits[Span(span.stop, span.stop)] = "".join(f'{text.line_end}"{line}\\n"' for line in lacking)
    forms = parse_formula(formula if not is_missing else usual or "nplurals=2; plural=(n != 1);")
    return PoHeader(forms=forms, edits=edits, language=fields.get("language", ""))


def _within(span: Span, found: re.Match[str]) -> Span:
    """Returns the first group of a pattern's match in a span."""
    return Span(span.start + found.start(1), span.start + found.end(1))


def _is_unwrapped(text: str) -> bool:
    """Whether a file's strings are not wrapped: a line that could be broken is longer than gettext's lines."""
    return any(
        len(line) > _WRAPPED_AT + 1 and line.startswith(('"', "msg")) and " " in line[:-2].partition('"')[2].strip()
        for line in text.splitlines()
    )
