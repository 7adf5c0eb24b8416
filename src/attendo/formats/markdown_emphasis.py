"""Emphasis by CommonMark's rules of delimiter runs (section 6.2), and `~~` as GitHub has it."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

_RUN = re.compile(r"(\*+|_+|~+)")


@dataclass(slots=True)
class Run:
    """A run of `*`, `_` or `~`; its characters are used up from both ends, `low` and `high`."""

    mark: str
    start: int
    stop: int
    can_open: bool
    can_close: bool
    low: int
    high: int
    halves: list[tuple[int, int, int, bool]] = field(default_factory=list)
    """Marks of emphasis: start, end, the number of the pair, and whether the mark closes it."""

    @property
    def length(self) -> int:
        """The number of characters in the run."""
        return self.stop - self.start


def delimiter_run(text: str, at: int) -> Run:
    """Reads the run at a position; the characters beside it determine whether it can open or close emphasis."""
    found = _RUN.match(text, at)
    assert found is not None
    stop = found.end()
    before, behind = text[at - 1 : at] if at else " ", text[stop : stop + 1] or " "
    is_left = not behind.isspace() and (not _is_punctuation(behind) or before.isspace() or _is_punctuation(before))
    is_right = not before.isspace() and (not _is_punctuation(before) or behind.isspace() or _is_punctuation(behind))
    can_open, can_close = is_left, is_right
    if text[at] == "_":
        can_open = is_left and (not is_right or _is_punctuation(before))
        can_close = is_right and (not is_left or _is_punctuation(behind))
    elif text[at] == "~" and stop - at > 2:
        can_open = can_close = False
    return Run(text[at], at, stop, can_open, can_close, at, stop)


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


def pair_runs(runs: Sequence[Run]) -> None:
    """Pairs the runs of a text, or of a link's text, whose runs are not available outside it afterwards."""
    # The numbers of runs that may still open; those between the halves of a pair are removed, so that each run is
    # visited once, and `bottoms` has, for each kind of closing run, the number below which no opening run matches.
    openers: list[int] = []
    bottoms: dict[tuple[str, bool, int], int] = {}
    for number, closer in enumerate(runs):
        key = (closer.mark, closer.can_open, closer.length % 3)
        while closer.can_close and closer.low < closer.high:
            place = len(openers) - 1
            while place >= 0 and openers[place] >= bottoms.get(key, 0) and not _matches(runs[openers[place]], closer):
                place -= 1
            if place < 0 or openers[place] < bottoms.get(key, 0):
                bottoms[key] = number
                break
            opener = runs[openers[place]]
            _pair(opener, closer)
            del openers[place + (opener.low < opener.high) :]
        if closer.can_open and closer.low < closer.high:
            openers.append(number)
    for run in runs:
        run.can_open = run.can_close = False


def _matches(opener: Run, closer: Run) -> bool:
    if opener.mark != closer.mark or not opener.can_open or opener.low == opener.high:
        return False
    if opener.mark == "~":
        return opener.length == closer.length
    is_either = opener.can_close or closer.can_open
    is_sum_of_three = (opener.length + closer.length) % 3 == 0
    return not (is_either and is_sum_of_three and (opener.length % 3 or closer.length % 3))


def _pair(opener: Run, closer: Run) -> None:
    """Uses one or two characters of both runs as the halves of a pair."""
    size = 2 if min(opener.high - opener.low, closer.high - closer.low) > 1 else 1
    pair = opener.high - size
    opener.halves.append((opener.high - size, opener.high, pair, False))
    closer.halves.append((closer.low, closer.low + size, pair, True))
    opener.high -= size
    closer.low += size
