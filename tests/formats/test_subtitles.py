"""Subtitles. Expected bytes are written by hand after SubRip's usage and W3C's WebVTT."""

import pytest

from attendo.errors import DataError
from attendo.formats.contents import Code, Content, joined, plain
from attendo.formats.file import File, Result, result
from attendo.formats.table import read_file

SRT = (
    "1\r\n00:00:01,000 --> 00:00:02,000\r\n{\\an8}<i>Hello</i> 5 < 6\r\n- you\r\n\r\n"
    "2\r\n00:00:03,000 --> 00:00:04,000 X1:1\r\n\r\n\r\n7\r\n00:00:05,000 --> 00:00:06,000\r\nBye <b>x"
)


def shouted(file: File, number: int) -> Result:
    source: Content = file.units[number].source
    return Result(texts=(joined([part if isinstance(part, Code) else part.upper() for part in source]),))


def test_the_texts_of_subrip_cues_are_translated() -> None:
    file = read_file(b"\xef\xbb\xbf" + SRT.encode(), "x.srt")
    assert [(unit.id, plain(unit.source), unit.is_translatable) for unit in file.units] == [
        ("1", "Hello 5 < 6\n- you", True),
        ("2", "", False),
        ("7", "Bye x", True),
    ]
    out = file.write({"1": shouted(file, 0), "7": shouted(file, 2)}).decode("utf-8-sig")
    assert out == SRT.replace("Hello", "HELLO").replace("you", "YOU").replace("Bye <b>x", "BYE <b>X")
    assert file.write({}) == b"\xef\xbb\xbf" + SRT.encode()


def test_an_empty_line_would_end_a_cue() -> None:
    file = read_file(b"1\n00:00:01,000 --> 00:00:02,000\na\n", "x.srt")
    assert file.write({"1": result("x\n\n y\n")}) == b"1\n00:00:01,000 --> 00:00:02,000\nx\n y\n"


VTT = (
    "WEBVTT - t\n\nNOTE 00:01.000 --> 00:02.000\nx\n\nSTYLE\n::cue {}\n\nid-1\n00:01.000 --> 00:02.000 align:start\n"
    "<v Bob>Hi <c.x>there</c> &amp; you</v> <00:01.500>now\n\n00:03.000 --> 01:00:04.000\nBye\n"
)


def test_the_texts_of_webvtt_cues_are_translated() -> None:
    file = read_file(VTT.encode(), "x.vtt")
    assert [(unit.id, plain(unit.source)) for unit in file.units] == [("id-1", "Hi there & you now"), ("2", "Bye")]
    out = file.write({"id-1": shouted(file, 0), "2": result("A < B --> C")}).decode()
    assert out == VTT.replace(">Hi ", ">HI ").replace("there", "THERE").replace("you<", "YOU<").replace(
        "now", "NOW"
    ).replace("Bye", "A &lt; B --&gt; C")


@pytest.mark.parametrize(("name", "message"), [("x.srt", "no cue with times"), ("x.vtt", "should begin with WEBVTT")])
def test_other_text_is_refused(name: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_file(b"hello\n", name)
