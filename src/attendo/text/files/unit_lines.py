"""Units of translation files, one per line: written once while a corpus is prepared, and read three times."""

from collections.abc import Iterator

from attendo.text.files.formats import MAX_LINE_BYTES, Lines, RawPair

_EXCERPT_BYTES = 1000
_BREAKS = bytes.maketrans(b"\t\r\n", b"   ")


def unit_line(pair: RawPair) -> bytes:
    """Returns a pair as a line: its number, its fault, source and target, separated by tabs.

    Tabs and line breaks within a side become blanks. A pair that is too long for a line keeps its beginning and has the
    fault `too_long`.
    """
    sides, fault = [pair.source, pair.target or b""], pair.fault
    if len(sides[0]) + len(sides[1]) > MAX_LINE_BYTES - _EXCERPT_BYTES:
        sides, fault = [side[:_EXCERPT_BYTES] for side in sides], fault or "too_long"
    fields = (str(pair.line).encode(), (fault or "").encode(), *(side.translate(_BREAKS) for side in sides))
    return b"\t".join(fields) + b"\n"


def read_unit_lines(lines: Lines) -> Iterator[RawPair]:
    """Yields the pairs that `unit_line` wrote."""
    for line in lines:
        number, fault, source, target = line.split(b"\t", 3)
        yield RawPair(line=int(number), source=source, target=target, fault=fault.decode() or None)
