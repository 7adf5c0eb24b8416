"""Subtitles in two languages as pairs: cues that are shown at the same time translate each other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from attendo.errors import DataError
from attendo.formats.contents import plain
from attendo.formats.pairs.selection import Selection, content_text, one_line
from attendo.formats.pairs.whole_files import read_whole
from attendo.formats.srt import srt_cues
from attendo.formats.subtitles import Cue
from attendo.formats.webvtt import webvtt_cues
from attendo.text.files.compression import unpacked_name
from attendo.text.files.encodings import UTF8, is_utf8
from attendo.text.files.formats import RawPair

_SHARE = 0.5
"""Share of the shorter of two cues that must be shown together with the other."""


@dataclass(frozen=True, slots=True)
class _Cue:
    line: int
    start_s: float
    stop_s: float
    text: str

    def is_shown_with(self, other: "_Cue") -> bool:
        """Whether two cues are on the screen together for a large part of the shorter one."""
        common = min(self.stop_s, other.stop_s) - max(self.start_s, other.start_s)
        return common > 0 and common >= _SHARE * min(self.stop_s - self.start_s, other.stop_s - other.start_s)


def read_subtitle_pairs(
    paths: Sequence[Path], selection: Selection, *, encodings: Sequence[str] = (UTF8, UTF8)
) -> Iterator[RawPair]:
    """Yields the pairs of a film's subtitles in two languages, in the order of their times.

    Cues are joined where one is shown together with several. The line of a pair is that of its first source cue; of one
    without a source, which is left out as `untranslated` like one without a target, that of its target.

    Args:
        paths: SRT or WebVTT files, the source first; tags are left out.
        selection: the wanted pairs.
        encodings: the encodings of both files; by default SRT that is not UTF-8 is read as Windows-1252.

    Raises:
        DataError: a file cannot be read, or holds no subtitles.
    """
    sources, targets = (_cues(path, encoding) for path, encoding in zip(paths, encodings, strict=True))
    for group in _groups(sources, targets):
        sides = [" ".join(cue.text for cue in side) for side in group]
        line = (group[0] or group[1])[0].line
        if all(sides):
            yield selection.pair(line, sides[0], sides[1])
        elif any(sides):
            yield RawPair(line=line, source=sides[0].encode(), target=sides[1].encode(), fault="untranslated")


def _cues(path: Path, encoding: str) -> list[_Cue]:
    """Reads the cues of a file, sorted by time."""
    data = read_whole(path)
    try:
        if not is_utf8(encoding):
            data = data.decode(encoding).encode("utf-8")
        read = webvtt_cues if unpacked_name(path.name).endswith(".vtt") else srt_cues
        text, cues = read(data)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    except UnicodeError as error:
        raise DataError(f"{path}: is not {encoding} ({error}); correct encoding, or the file") from error
    return sorted(_with_lines(text.text, cues), key=lambda cue: (cue.start_s, cue.stop_s))


def _with_lines(text: str, cues: Sequence[Cue]) -> Iterator[_Cue]:
    line, last = 1, 0
    for cue in cues:
        line += text.count("\n", last, cue.span.start)
        last = cue.span.start
        if plain(cue.text).strip():
            yield _Cue(line, cue.start_s, cue.stop_s, one_line(content_text(cue.text)))


def _groups(sources: Sequence[_Cue], targets: Sequence[_Cue]) -> Iterator[tuple[list[_Cue], list[_Cue]]]:
    """Yields groups of cues that belong together, in order of time; a cue without a counterpart is alone."""
    waiting = [list(reversed(sources)), list(reversed(targets))]
    while any(waiting):
        side = 0 if not waiting[1] or (waiting[0] and waiting[0][-1].start_s <= waiting[1][-1].start_s) else 1
        group: tuple[list[_Cue], list[_Cue]] = ([], [])
        group[side].append(waiting[side].pop())
        while (found := _next(group, waiting)) is not None:
            group[found].append(waiting[found].pop())
        yield group


def _next(group: tuple[list[_Cue], list[_Cue]], waiting: Sequence[list[_Cue]]) -> int | None:
    """Returns the side whose next cue is shown together with one of the other side in a group; None if neither is."""
    for side in (1, 0):
        if waiting[side] and any(cue.is_shown_with(waiting[side][-1]) for cue in group[1 - side]):
            return side
    return None
