"""SubRip subtitles (.srt): the text of each cue; numbers and times keep their bytes."""

import re
from collections.abc import Iterator

from attendo.errors import DataError
from attendo.formats.encoded import EncodedText, decoded
from attendo.formats.file import File, Languages, Span
from attendo.formats.subtitles import TAGS, Cue, Syntax, cue, cue_file

_SYNTAX = Syntax(re.compile(TAGS + r"|\{\\[^{}\n]*\}"), decode=str, encode=str)
_LINE_END = r"(?:\r\n|\r|\n|\Z)"
_TIME = r"[ \t]*\d+:\d\d:\d\d[,.]\d{1,3}[ \t]*"
_TIMES = re.compile(rf"(?:^[ \t]*(\d+)[ \t]*{_LINE_END})?^{_TIME}-->{_TIME}[^\r\n]*{_LINE_END}", re.M)


def read_srt(data: bytes, languages: Languages) -> File:
    """Reads SubRip subtitles, in UTF-8, by their byte order mark, or else in Windows-1252.

    Raises:
        DataError: there is no cue.
    """
    del languages
    text, cues = srt_cues(data)
    return cue_file("srt", text, cues, _SYNTAX)


def srt_cues(data: bytes) -> tuple[EncodedText, list[Cue]]:
    """Reads the cues of SubRip subtitles.

    Raises:
        DataError: there is no cue.
    """
    try:
        text = decoded(data)
    except DataError:
        text = decoded(data, "cp1252")
    cues = list(_cues(text))
    if not cues:
        raise DataError("there is no cue with times such as 00:00:01,000 --> 00:00:02,000; is this a file of SubRip?")
    return text, cues


def _cues(text: EncodedText) -> Iterator[Cue]:
    """Yields the cues; the empty lines after a text are not part of it."""
    found = list(_TIMES.finditer(text.text))
    ends = [match.start() for match in found[1:]] + [len(text.text)]
    for number, (match, end) in enumerate(zip(found, ends, strict=False), 1):
        stop = match.end() + len(text.text[match.end() : end].rstrip())
        yield cue(text, match[1] or str(number), match[0], Span(match.end(), max(stop, match.end())), _SYNTAX)
