"""Texts of several lines: their lines are translated separately, and the results joined.

A line ends with LF or CR LF. A text of one line may have such an end, as a line read from a file has; the translation
does not have it. In a text of several lines every line end is kept.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TypeVar, get_args

import numpy as np

from attendo.decoding.config import GuardName
from attendo.decoding.constraints.line_constraints import Constraints
from attendo.decoding.lines.alignment import Alignment
from attendo.decoding.lines.translation import Candidate, Translation
from attendo.decoding.scoring import PairScore
from attendo.decoding.searches.hypothesis import length_penalty
from attendo.errors import DataError

_MAX_WEIGHTS = 1 << 27
"""Weights of an alignment that are joined at most: half a gigabyte."""
_LINE_END = re.compile(r"(\r?\n)")

ItemT = TypeVar("ItemT")
WholeT = TypeVar("WholeT")
PartT = TypeVar("PartT")
ResultT = TypeVar("ResultT")
TargetT = TypeVar("TargetT", str, str | Sequence[int])


@dataclass(frozen=True)
class TextLines:
    """A text as its lines."""

    text: str
    """The whole text."""
    lines: tuple[str, ...]
    """The lines without their ends; for a text of one line, the text itself."""
    ends: tuple[str, ...] = ()
    """The line ends between the lines, one fewer than lines."""

    def joined(self, lines: Iterable[str]) -> str:
        """Other lines with this text's line ends between them."""
        return "".join(chain.from_iterable(zip(lines, (*self.ends, ""), strict=True)))


def text_lines(text: str) -> TextLines:
    """Splits a text at its line ends."""
    parts = _LINE_END.split(text) if "\n" in text else [text]
    if len(parts) == 1 or (len(parts) == 3 and not parts[2]):
        return TextLines(text, (text,))
    return TextLines(text, tuple(parts[::2]), tuple(parts[1::2]))


def by_line(
    items: Iterable[ItemT],
    split: Callable[[ItemT], tuple[WholeT, Sequence[PartT]]],
    work: Callable[[Iterator[PartT]], Iterable[ResultT]],
) -> Iterator[tuple[WholeT, list[ResultT]]]:
    """Works on the lines of items, and groups the results by item again.

    Args:
        items: the items, read as their lines are needed, which may happen in another thread.
        split: returns an item as a whole, and its lines, at least one.
        work: yields a result for each line, in order.

    Yields:
        Each item as a whole with the results of its lines, as soon as the last of them is there.
    """
    pending: deque[tuple[WholeT, int]] = deque()

    def parts() -> Iterator[PartT]:
        for item in items:
            whole, its_parts = split(item)
            pending.append((whole, len(its_parts)))
            yield from its_parts

    results = iter(work(parts()))
    for first in results:
        whole, count = pending.popleft()
        yield whole, [first, *islice(results, count - 1)]


def constrained_lines(
    numbered: tuple[int, tuple[str, Constraints]],
) -> tuple[TextLines, list[tuple[str, Constraints]]]:
    """The lines of a text, each with its constraints; the prefix applies to the first line that is not white space.

    Args:
        numbered: the number of the text, from 1, and the text with its constraints.

    Raises:
        DataError: words are forced into a text of several lines.
    """
    number, (text, constraints) = numbered
    split = text_lines(text)
    if len(split.lines) == 1:
        return split, [(text, constraints)]
    if constraints.forced_words:
        raise DataError(
            f"text {number} has {len(split.lines)} lines, and forced_words = {constraints.forced_words!r} does not say "
            "which one they belong to; translate its lines as texts of their own"
        )
    others = replace(constraints, target_prefix="")
    first = next((place for place, line in enumerate(split.lines) if line.strip()), 0)
    return split, [(line, constraints if place == first else others) for place, line in enumerate(split.lines)]


def pair_lines(pair: tuple[str, TargetT]) -> list[tuple[str, TargetT]]:
    """The lines of a pair of texts as pairs; the pair itself if the texts differ in their number of lines.

    Args:
        pair: a source text and its translation, as text or as ids, which have no lines.
    """
    source, target = pair
    if not isinstance(target, str):
        return [pair]
    sources, targets = text_lines(source).lines, text_lines(target).lines
    if len(sources) != len(targets) or len(sources) == 1:
        return [pair]
    return list(zip(sources, targets, strict=True))


def joined_translation(text: TextLines, lines: Sequence[Translation], alpha: float) -> Translation:
    """The translation of a text from those of its lines; for a single line, the same object.

    Args:
        text: the text.
        lines: the translation of each line.
        alpha: the exponent of the length penalty.
    """
    if len(lines) == 1:
        return lines[0]
    n_best = tuple(_joined_candidate(text, candidates, alpha) for candidates in _by_rank([t.n_best for t in lines]))
    acted = {name for line in lines for name in line.guards}
    return Translation(
        source=text.text,
        text=n_best[0].text,
        score=n_best[0].score,
        log_prob=n_best[0].log_prob,
        n_best=n_best,
        source_truncated=any(line.source_truncated for line in lines),
        guards=tuple(name for name in get_args(GuardName) if name in acted),
        problems=tuple(dict.fromkeys(problem for line in lines for problem in line.problems)),
        terms=_concatenated(line.terms for line in lines),
        read=text.joined(line.read for line in lines),
        lines=tuple(lines),
    )


def joined_alignments(lines: Sequence[Sequence[Alignment]]) -> tuple[Alignment, ...]:
    """The alignments of a text's n best from those of its lines; for a single line, the same objects.

    Args:
        lines: for each line the alignments of its n best.
    """
    return tuple(joined_alignment(alignments) for alignments in _by_rank(lines))


def joined_alignment(lines: Sequence[Alignment]) -> Alignment:
    """The alignment of a text from those of its lines: words of different lines are not linked.

    Args:
        lines: the alignment of each line.

    Raises:
        DataError: all weights together, nearly all of them 0, would fill the memory.
    """
    if len(lines) == 1:
        return lines[0]
    source_len, target_len = (
        sum(len(pieces) for pieces in side)
        for side in ([each.source_pieces for each in lines], [each.target_pieces for each in lines])
    )
    if target_len * source_len > _MAX_WEIGHTS:
        raise DataError(
            f"a text of {len(lines):,} lines has {source_len:,} pieces and its translation {target_len:,}, too many to "
            "align them all with each other; align its lines as texts of their own"
        )
    weights = np.zeros((target_len, source_len), dtype=np.float32)
    links: list[tuple[int, int]] = []
    row = column = source_words = target_words = 0
    for line in lines:
        rows, columns = line.weights.shape
        weights[row : row + rows, column : column + columns] = line.weights
        links += [(source + source_words, target + target_words) for source, target in line.links]
        row, column = row + rows, column + columns
        source_words, target_words = source_words + len(line.source_words), target_words + len(line.target_words)
    return Alignment(
        source_pieces=_concatenated(line.source_pieces for line in lines),
        target_pieces=_concatenated(line.target_pieces for line in lines),
        weights=weights,
        source_words=_concatenated(line.source_words for line in lines),
        target_words=_concatenated(line.target_words for line in lines),
        links=tuple(links),
        truncated=any(line.truncated for line in lines),
    )


def joined_score(lines: Sequence[PairScore]) -> PairScore:
    """The score of a pair of texts from those of its lines; for a single line, the same object."""
    if len(lines) == 1:
        return lines[0]
    return PairScore(
        log_prob=sum(line.log_prob for line in lines),
        token_log_probs=_concatenated(line.token_log_probs for line in lines),
        pieces=_concatenated(line.pieces for line in lines),
        truncated=any(line.truncated for line in lines),
    )


def _joined_candidate(text: TextLines, lines: Sequence[Candidate], alpha: float) -> Candidate:
    log_prob = sum(line.log_prob for line in lines)
    log_probs = _concatenated(line.token_log_probs for line in lines)
    return Candidate(
        text=text.joined(line.text for line in lines),
        ids=_concatenated(line.ids for line in lines),
        pieces=_concatenated(line.pieces for line in lines),
        log_prob=log_prob,
        score=log_prob / length_penalty(max(1, len(log_probs)), alpha),
        token_log_probs=log_probs,
        finished=all(line.finished for line in lines),
    )


def _by_rank(lines: Sequence[Sequence[ResultT]]) -> Iterator[list[ResultT]]:
    """For each rank, the candidate of every line at that rank; a line with fewer candidates repeats its last."""
    for rank in range(max(map(len, lines))):
        yield [line[min(rank, len(line) - 1)] for line in lines]


def _concatenated(parts: Iterable[tuple[ResultT, ...]]) -> tuple[ResultT, ...]:
    return tuple(chain.from_iterable(parts))
