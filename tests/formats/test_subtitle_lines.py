"""Where subtitles are divided. Expected pieces are divided by hand, after the guidelines of broadcasters."""

import pytest
from tests.formats.documents import read, shown, write

from attendo.formats.contents import Content
from attendo.formats.subtitle_lines import divided, goes_on, in_lines


@pytest.mark.parametrize(
    ("text", "following", "pause_s", "expected"),
    [
        ("I went to", "the old house.", 0.1, True),
        ("When I came,", "Anna was there.", 0.1, True),
        ("and then", "I saw it.", 0.1, True),
        ("I went to", "the old house.", 5.0, False),
        ("I went home.", "then I slept.", 0.1, False),
        ("He said “no”", "and left.", 0.1, False),
        ("I went to", "The Old House", 0.1, False),
        ("- Who is", "it?", 0.1, False),
        ("ANNA: who is", "it?", 0.1, False),
        ("[music]", "and then", 0.1, False),
        ("", "and then", 0.1, False),
    ],
)
def test_a_sentence_goes_on_in_the_next_cue(text: str, following: str, pause_s: float, expected: bool) -> None:
    assert goes_on(text, following, pause_s) is expected


@pytest.mark.parametrize(
    ("text", "shares", "expected"),
    [
        ("one two three four", [1, 1], ["one two", "three four"]),
        ("one two three four", [3, 1], ["one two three", "four"]),
        # Behind a comma, though the middle is one word away.
        ("als ich kam, war es schon spät", [1, 1], ["als ich kam,", "war es schon spät"]),
        ("one", [1, 1, 1], ["one", "", ""]),
        ("", [1, 1], ["", ""]),
        ("今日は雨です。明日は晴れ", [1, 1], ["今日は雨です。", "明日は晴れ"]),
    ],
)
def test_a_text_is_divided_in_proportion(text: str, shares: list[float], expected: list[str]) -> None:
    assert divided(text, shares) == expected


def test_a_cue_has_as_many_lines_as_its_source_or_one_more_where_it_is_long() -> None:
    assert in_lines(("one two three four",), ["a", "b"]) == ("one two\nthree four",)
    assert in_lines(("one two three four",), ["a"]) == ("one two three four",)
    assert in_lines(("word " * 10 + "end",), ["a"]) == ("word word word word word\nword word word word word end",)
    assert in_lines(("own\nlines of a text",), ["a"]) == ("own\nlines of a text",)


CUES = """1
00:00:01,000 --> 00:00:02,000
<i>When I came</i>

2
00:00:02,100 --> 00:00:05,100
<i>to the old
red house,</i>

3
00:00:05,200 --> 00:00:06,000
- Who?
- Me.

4
00:00:06,100 --> 00:00:07,000
{\\an8}<b>A dog</b> and
a cat.
"""


def test_a_sentence_over_several_cues_is_one_unit_and_is_divided_by_time() -> None:
    file = read(CUES, "film.srt")
    assert [(unit.id, shown(unit.source)) for unit in file.units] == [
        ("1-2", "When I came to the old red house,"),
        ("3", "- Who?\n- Me."),
        ("4", "«<b>»A dog«</b>» and a cat."),
    ]
    bold = file.units[2].source
    texts: dict[str, Content | str] = {
        "1-2": "Als ich zu dem alten roten Haus kam,",
        "4": (bold[0], "Ein Hund", bold[2], " und eine Katze."),
    }
    out = write(file, texts).decode()
    # The first cue is shown for a quarter of the time.
    expected = CUES.replace("When I came", "Als ich zu").replace("to the old\nred house,", "dem alten roten\nHaus kam,")
    assert out == expected.replace("<b>A dog</b> and\na cat.", "<b>Ein Hund</b> und\neine Katze.")


def test_speakers_of_webvtt_are_not_joined() -> None:
    text = (
        "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann>who is\n\n00:02.000 --> 00:03.000\n<v Bob>it?\n\n"
        "00:03.000 --> 00:04.000\n<v Bob>that one,\n\n00:04.000 --> 00:05.000\n<v Bob>there.\n"
    )
    file = read(text, "film.vtt")
    assert [(unit.id, shown(unit.source)) for unit in file.units] == [
        ("1", "who is"), ("2", "it?"), ("3-4", "that one, there."),
    ]  # fmt: skip
    out = write(file, {"3-4": "das, dort."}).decode()
    assert out == text.replace("that one,", "das,").replace("there.", "dort.")
