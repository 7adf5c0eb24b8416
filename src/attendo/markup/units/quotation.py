"""Quotation marks around placeholders, which a translation is to have as its source has."""

from collections.abc import Iterator

from attendo.formats.contents import Code, Content, joined

_PAIRS = ('""', "''", "“”", "‘’", "`'", "«»", "„“", "‚‘", "»«", "›‹", "‹›", "„”")
_OPENING, _CLOSING = frozenset(pair[0] for pair in _PAIRS), frozenset(pair[1] for pair in _PAIRS)
_CLOSES = {"„": "“", "‚": "‘", "“": "”", "‘": "’", "»": "«", "«": "»", "›": "‹", "‹": "›", "`": "'", '"': '"', "'": "'"}
_OPENS = {"“": "„", "‘": "‚", "”": "“", "’": "‘", "«": "»", "»": "«", "‹": "›", "›": "‹", '"': '"', "'": "'"}
_MARKS = _OPENING | _CLOSING


def with_quotation_marks(source: Content, translation: Content) -> Content:
    """Returns a translation with the quotation marks around placeholders that it lacks.

    A mark is added only if the translation has fewer than its source, so a mark around more words stays there.

    Args:
        source: the translated text, placeholders as codes.
        translation: its translation, with the same codes.
    """
    pairs = {
        code.id: before[-1] + behind[0] for code, before, behind in _neighbours(source) if _is_quoted(before, behind)
    }
    lacking = _num_marks(source) - _num_marks(translation)
    if not pairs or lacking <= 0:
        return translation
    marks: dict[str, tuple[str, str]] = {}
    for code, before, behind in _neighbours(translation):
        if code.id not in pairs:
            continue
        left, right = before[-1:], behind[:1]
        opens, closes = left in _OPENING, right in _CLOSING
        if opens == closes and (opens or lacking < 2):
            continue
        if opens:
            marks[code.id] = ("", _CLOSES.get(left, left))
        elif closes:
            marks[code.id] = (_OPENS.get(right, right), "")
        else:
            marks[code.id] = (pairs[code.id][0], pairs[code.id][1])
        lacking -= sum(map(bool, marks[code.id]))
        if lacking <= 0:
            break
    parts: list[str | Code] = []
    for part in translation:
        around = marks.get(part.id, ("", "")) if isinstance(part, Code) else ("", "")
        parts += [around[0], part, around[1]]
    return joined(parts)


def _neighbours(text: Content) -> Iterator[tuple[Code, str, str]]:
    """Yields each code that is not half of a pair, with the strings directly before and after it."""
    for number, part in enumerate(text):
        if isinstance(part, Code) and part.kind == "single":
            before = text[number - 1] if number else ""
            behind = text[number + 1] if number + 1 < len(text) else ""
            yield part, before if isinstance(before, str) else "", behind if isinstance(behind, str) else ""


def _is_quoted(before: str, behind: str) -> bool:
    return before[-1:] + behind[:1] in _PAIRS


def _num_marks(text: Content) -> int:
    """Returns the number of quotation marks; an apostrophe within a word is none."""
    found = 0
    for part in text:
        if isinstance(part, Code):
            continue
        for place, character in enumerate(part):
            if character in _MARKS and not (
                part[place - 1 : place].isalpha() and part[place + 1 : place + 2].isalpha()
            ):
                found += 1
    return found
