"""Frames from similar texts: the parts of a translation that a new text shares with its source stay unchanged.

The words in which the sources differ are found by their edit distance, and the words of the translation that come from
them by the model's own alignment. These words are gaps, which the model fills; where words were added, there is a gap
too. Names and numbers that the translation has as its source has them are put in at once.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from rapidfuzz.distance import Levenshtein

from attendo.decoding.constraints.frames import Frame
from attendo.decoding.lines.alignment import Alignment, words_of
from attendo.decoding.step import FloatArray

_MIN_WORDS = 2
"""Minimum number of words that stay unchanged."""
_TOKENS_A_WORD = 3
_MAX_GAP = 24
_CORE = re.compile(r"[^\W_](?:.*[^\W_])?", re.DOTALL)
_ORDINARY = re.compile(r"[^\W\d_]?[a-zà-öø-ÿß-]+")
"""Pattern of a word that is translated; any other, with digits, signs or inner capitals, is a name or a number."""


def frame_of(source: str, found: Alignment) -> Frame | None:
    """Returns the frame of a new text's translation.

    Args:
        source: the new text.
        found: the alignment of the similar text with its translation.

    Returns:
        The frame, or None if too little stays unchanged.
    """
    known, new, draft = found.source_words, source.split(), _Draft(list(found.target_words))
    received = _received(found)
    if not received.size:
        return None
    folded = [[word.casefold() for word in side] for side in (known, new)]
    for change in Levenshtein.opcodes(*folded):
        old_places, added = range(change.src_start, change.src_end), new[change.dest_start : change.dest_end]
        if change.tag == "equal" or (
            len(old_places) == len(added)
            and all(draft.put_in(known[place], word) for place, word in zip(old_places, added, strict=True))
        ):
            continue
        if old_places:
            draft.open(_span(received, old_places), len(added))
        else:
            draft.insert(_place_of(received, change.src_start), len(added))
    return draft.frame()


@dataclass
class _Draft:
    """The words of a translation, of which some are gaps."""

    words: list[str]
    opened: dict[int, int] = field(default_factory=dict)
    """The number of new source words for each gap, by its word."""
    inserted: dict[int, int] = field(default_factory=dict)
    """The number of new source words before a word, by its position."""

    def put_in(self, old: str, new: str) -> bool:
        """Replaces a name that the translation has unchanged from its source; returns False if it does not have it."""
        cores = [_CORE.search(word) for word in (old, new)]
        before, now = (core[0] if core else "" for core in cores)
        if not before or not now or _ORDINARY.fullmatch(now) or _ORDINARY.fullmatch(before):
            return False
        places = [place for place, word in enumerate(self.words) if (core := _CORE.search(word)) and core[0] == before]
        if len(places) != 1:
            return False
        self.words[places[0]] = self.words[places[0]].replace(before, now)
        return True

    def open(self, places: Sequence[int], added: int) -> None:
        """Turns words into gaps for a number of new words."""
        for place in places:
            self.opened.setdefault(place, 0)
        self.opened[places[0]] += added

    def insert(self, place: int, added: int) -> None:
        """Makes a gap before a word for a number of new words."""
        self.inserted[place] = self.inserted.get(place, 0) + added

    def frame(self) -> Frame | None:
        """Returns the words between the gaps as a frame; None if there are too few."""
        stretches, gaps, size, added, is_open = list[list[str]](), list[int](), 0, 0, True
        for place, word in enumerate([*self.words, None]):
            if place in self.inserted:
                added, is_open = added + self.inserted[place], True
            if place in self.opened:
                size, added, is_open = size + 1, added + self.opened[place], True
            elif is_open or word is None:
                gaps.append(min(_TOKENS_A_WORD * max(size, added) + 1, _MAX_GAP) if size or added else 0)
                stretches.append([] if word is None else [word])
                size, added, is_open = 0, 0, False
            else:
                stretches[-1].append(word)
        firm = stretches[:-1]
        if sum(map(len, firm)) < _MIN_WORDS:
            return None
        return Frame(stretches=tuple(map(" ".join, firm)), gaps=tuple(gaps))


def _received(found: Alignment) -> FloatArray:
    """Returns the attention of the translation's words to the source's, float32 `(target words, source words)`."""
    source, target = words_of(found.source_pieces[:-1]), words_of(found.target_pieces[:-1])
    if not source or not target:
        return np.zeros((0, 0), dtype=np.float32)
    columns = np.stack([found.weights[:, places].sum(axis=1) for places in source], axis=1)
    return np.stack([columns[places, :].mean(axis=0) for places in target])


def _span(received: FloatArray, places: Sequence[int]) -> list[int]:
    """Returns the translation's words for words of the source: the best one for each, and neighbours of it."""
    links = received.argmax(axis=1)
    found = set[int]()
    for place in places:
        best = int(received[:, place].argmax())
        for step in (-1, 1):
            now = best
            while 0 <= now < len(links) and (now == best or links[now] in places):
                found.add(now)
                now += step
    return sorted(found)


def _place_of(received: FloatArray, place: int) -> int:
    """Returns the position for the translation of words that are added before a word of the source."""
    if place == 0:
        return 0
    if place == received.shape[1]:
        return len(received)
    return int(received[:, place - 1].argmax()) + 1
