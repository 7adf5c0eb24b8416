"""Subtitles paired by their times: cues that overlap belong together, and those without a counterpart are told."""

from pathlib import Path

import pytest

from attendo.errors import DataError
from attendo.formats.pairs.selection import Selection
from attendo.formats.pairs.subtitle_pairs import read_subtitle_pairs

Cue = tuple[float, float, str]
Found = tuple[int, str, str, str | None]


def srt(cues: list[Cue], mark: str = ",") -> str:
    def time(seconds: float) -> str:
        return f"00:00:{seconds:06.3f}".replace(".", mark)

    return "".join(f"{n}\n{time(a)} --> {time(b)}\n{text}\n\n" for n, (a, b, text) in enumerate(cues, 1))


def read(folder: Path, sources: str | bytes, targets: str | bytes, endings: str = "srt srt") -> list[Found]:
    paths = [
        folder / f"film.{language}.{ending}" for language, ending in zip(("en", "de"), endings.split(), strict=True)
    ]
    for path, content in zip(paths, (sources, targets), strict=True):
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return [
        (pair.line, pair.source.decode(), (pair.target or b"").decode(), pair.fault)
        for pair in read_subtitle_pairs(paths, Selection())
    ]


ENGLISH: list[Cue] = [
    (1, 2, "<i>Good</i>\nmorning."), (3, 5, "Where are you,"), (5.1, 7, "and why?"), (9, 10, "Only here."),
    (20, 22, "{\\an8}The end."),
]  # fmt: skip
GERMAN: list[Cue] = [
    (1.2, 2.4, "Guten Morgen."),
    (3, 7.2, "Wo bist du,\nund warum?"),
    (15, 16, "Nur da."),
    (20.1, 22, "Ende."),
]
EXPECTED = [
    (3, "Good morning.", "Guten Morgen.", None),
    (8, "Where are you, and why?", "Wo bist du, und warum?", None),
    (16, "Only here.", "", "untranslated"),
    (12, "", "Nur da.", "untranslated"),
    (20, "The end.", "Ende.", None),
]


def test_cues_shown_together_are_pairs(tmp_path: Path) -> None:
    assert read(tmp_path, srt(ENGLISH), srt(GERMAN)) == EXPECTED
    assert read(tmp_path, srt(ENGLISH).replace("\n", "\r\n"), srt(GERMAN).encode("utf-16")) == EXPECTED
    swapped = [(target, source) for _, source, target, _ in EXPECTED]
    assert [row[1:3] for row in read(tmp_path, srt(GERMAN), srt(ENGLISH))] == swapped


def test_webvtt_is_read_beside_srt(tmp_path: Path) -> None:
    vtt = "WEBVTT\n\nNOTE none\n\n" + srt(GERMAN, mark=".").replace("00:00:", "00:")
    assert [row[1:] for row in read(tmp_path, srt(ENGLISH), vtt, "srt vtt")] == [row[1:] for row in EXPECTED]


def test_old_files_are_in_windows_1252(tmp_path: Path) -> None:
    found = read(tmp_path, srt([(1, 2, "The door.")]), srt([(1, 2, "Die Tür.")]).encode("cp1252"))
    assert found == [(3, "The door.", "Die Tür.", None)]


def test_what_overlaps_a_little_is_no_pair(tmp_path: Path) -> None:
    found = read(tmp_path, srt([(1, 3, "One."), (3.1, 5, "Two.")]), srt([(2.9, 5, "Zwei.")]))
    assert [row[1:] for row in found] == [("One.", "", "untranslated"), ("Two.", "Zwei.", None)]


@pytest.mark.parametrize(
    ("content", "encodings", "message"),
    [
        (b"no cues", ("utf-8", "utf-8"), "there is no cue with times"),
        (b"\x81", ("cp1252", "utf-8"), "is not cp1252"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, content: bytes, encodings: tuple[str, str], message: str) -> None:
    path = tmp_path / "a.srt"
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"{path}: {message}"):
        list(read_subtitle_pairs([path, path], Selection(), encodings=encodings))
