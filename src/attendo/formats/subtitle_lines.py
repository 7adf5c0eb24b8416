"""Line breaks of subtitles: sentences over several cues, and translations divided over cues and lines."""

import re
from collections.abc import Sequence
from itertools import accumulate, pairwise

from attendo.formats.contents import Code, Content, joined

_LONGEST_LINE = 42
"""Maximum characters per line in most guidelines."""
_LONGEST_PAUSE_S = 2.0
_ENDS = re.compile(r"(?:[.!?…:;。！？؟।]|\.\.)[\"'”’»)\]]*$|[\"”»)\]♪♫]$")
# Dialogue has a dash before each speaker; songs, sounds and names of speakers are lines of their own.
_OWN_LINE = re.compile(r"^[ \t]*(?:[-‐‑–—♪♫\[(*#]|>>|[A-ZÀ-Þ][A-ZÀ-Þ .'-]{1,30}:)", re.M)
_SPACE = re.compile(r"[ \t\n]+")
_PAUSES = ",;:.!?…–—，、。！？；：)"
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_CLOSING = "、。，．！？；：」』）】》〉…ー々ぁぃぅぇぉっゃゅょ,.!?;:)”’"


def goes_on(text: str, following: str, pause_s: float) -> bool:
    """Whether the sentence of a cue continues in the next one.

    Args:
        text: the cue's text.
        following: the next cue's text.
        pause_s: seconds between the two.
    """
    text, following = text.strip(), following.strip()
    if not text or not following or pause_s > _LONGEST_PAUSE_S or _ENDS.search(text):
        return False
    if has_lines_of_its_own(text) or has_lines_of_its_own(following):
        return False
    return text[-1] in ",，、" or following[0].islower() or re.match(r"I\b", following) is not None


def has_lines_of_its_own(text: str) -> bool:
    """Whether the lines of a cue are spoken or sung separately, rather than one sentence."""
    return _OWN_LINE.search(text) is not None


def divided(text: str, shares: Sequence[float]) -> list[str]:
    """Divides a text in proportion to shares; the last pieces are empty if there are too few words.

    It is divided at spaces, after punctuation if that is near, and between characters in scripts without spaces.
    """
    places = _places(text, shares)
    bounds = [(0, 0), *places, (len(text), len(text))]
    pieces = [text[before[1] : behind[0]] for before, behind in pairwise(bounds)]
    return pieces + [""] * (len(shares) - len(pieces))


def in_lines(parts: Content, source_lines: Sequence[str]) -> Content:
    """Divides a cue's text into lines like those of its source, or into two if a single line would be too long.

    Args:
        parts: the text; a text that has lines stays unchanged.
        source_lines: the lines of its source.
    """
    text = "".join(part for part in parts if isinstance(part, str))
    if "\n" in text:
        return parts
    shares = [float(len(line)) for line in source_lines]
    if len(shares) == 1 and len(text) > max(_LONGEST_LINE, shares[0]):
        shares = [1.0, 1.0]
    breaks = dict(_places(text, shares))
    result: list[str | Code] = []
    position = 0
    for part in parts:
        if isinstance(part, Code):
            result.append(part)
            continue
        last = 0
        for start, stop in breaks.items():
            if position <= start and stop <= position + len(part):
                result += [part[last : start - position], "\n"]
                last = stop - position
        result.append(part[last:])
        position += len(part)
    return joined(result)


def _places(text: str, shares: Sequence[float]) -> list[tuple[int, int]]:
    """The places to divide a text: one stretch of white space, or point, for each border between shares.

    Among all divisions, the one whose borders are nearest to those of the shares is chosen.
    """
    candidates = _candidates(text)
    count = min(len(shares) - 1, len(candidates))
    total = sum(shares) or 1.0
    ideals = [len(text) * border / total for border in list(accumulate(shares))[:count]]
    bonus = len(text) / (3 * len(shares))
    # The cheapest way to put the first borders at candidates before each one, and the candidate it ends with.
    ways: list[tuple[float, tuple[int, ...]]] = [(0.0, ())] * (len(candidates) + 1)
    for ideal in ideals:
        longer: list[tuple[float, tuple[int, ...]]] = [(float("inf"), ())]
        for number, (start, _) in enumerate(candidates):
            cost, chosen = ways[number]
            cost += abs(start - ideal) - (bonus if text[start - 1 : start] in _PAUSES else 0.0)
            longer.append(min(longer[-1], (cost, (*chosen, number))))
        ways = longer
    return [candidates[number] for number in ways[-1][1]]


def _candidates(text: str) -> list[tuple[int, int]]:
    spaces = [found.span() for found in _SPACE.finditer(text) if found.start() > 0 and found.end() < len(text)]
    if not _UNSPACED.search(text):
        return spaces
    covered = {place for start, stop in spaces for place in range(start, stop + 1)}
    points = [
        (place, place)
        for place in range(1, len(text))
        if place not in covered
        and text[place] not in _CLOSING
        and (_UNSPACED.match(text, place) or _UNSPACED.match(text, place - 1))
    ]
    return sorted(spaces + points)
