"""WebVTT subtitles (.vtt): the text of each cue; notes, styles, regions, times and settings keep their bytes."""

import re
from collections.abc import Iterator

from attendo.errors import DataError
from attendo.formats.encoded import EncodedText, decoded
from attendo.formats.file import File, Languages, Span
from attendo.formats.subtitles import TAGS, Cue, Syntax, cue, cue_file

_BLOCK = re.compile(r"(?:[^\r\n]+(?:\r\n|\r|\n|\Z))+")
_TIMES = re.compile(
    r"^[ \t]*(?:\d+:)?\d\d:\d\d\.\d{3}[ \t]+-->[ \t]+(?:\d+:)?\d\d:\d\d\.\d{3}[^\r\n]*(?:\r\n|\r|\n|\Z)", re.M
)
_REFERENCE = re.compile("&(amp|lt|gt|nbsp|lrm|rlm);")
_CHARACTERS = {"amp": "&", "lt": "<", "gt": ">", "nbsp": "\u00a0", "lrm": "\u200e", "rlm": "\u200f"}


def read_webvtt(data: bytes, languages: Languages) -> File:
    """Reads WebVTT.

    Raises:
        DataError: it does not begin as WebVTT does.
    """
    del languages
    text, cues = webvtt_cues(data)
    return cue_file("vtt", text, cues, _SYNTAX)


def webvtt_cues(data: bytes) -> tuple[EncodedText, list[Cue]]:
    """Reads the cues of WebVTT.

    Raises:
        DataError: it does not begin as WebVTT does.
    """
    text = decoded(data)
    if not re.match(r"WEBVTT(?=[ \t\r\n]|\Z)", text.text):
        raise DataError("line 1 should begin with WEBVTT; is this a file of WebVTT?")
    return text, list(_cues(text))


def _cues(text: EncodedText) -> Iterator[Cue]:
    """Yields the cues with their names or numbers."""
    number = 0
    for block in _BLOCK.finditer(text.text):
        times = _TIMES.search(text.text, block.start(), block.end())
        if times is None or re.match(r"(?:NOTE|STYLE|REGION)(?=\s|\Z)", block[0]):
            continue
        number += 1
        name = text.text[block.start() : times.start()].strip()
        stop = times.end() + len(text.text[times.end() : block.end()].rstrip())
        yield cue(text, name or str(number), times[0], Span(times.end(), max(stop, times.end())), _SYNTAX)


def _decoded(raw: str) -> str:
    return _REFERENCE.sub(lambda found: _CHARACTERS[found[1]], raw)


def _encoded(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("-->", "--&gt;")


_SYNTAX = Syntax(re.compile(TAGS), decode=_decoded, encode=_encoded)
