"""Errors in a parser's trees: confused labels, missing and spurious brackets, constituents attached elsewhere."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from attendo.parsing.evalb.parameters import EvalbParameters
from attendo.parsing.evalb.summary import f_measure, percent
from attendo.parsing.tree import Tree

_FUNCTION = re.compile("[-=]")
_CLASSES = ((1, 1), (2, 3), (4, 7), (8, 15), (16, 31), (32, None))
"""Classes of constituents by their number of words: the smallest and the largest."""
_ROOT = "(none)"
_SHOWN = 10

KeyT = TypeVar("KeyT")


class Bracket(NamedTuple):
    """A constituent that EVALB counts."""

    label: str
    start: int
    """Position of its first word, from 0; words that do not count are skipped."""
    end: int
    """Position after its last word."""
    parent: int | None
    """Index of the constituent around it in the same list; None if there is none."""


@dataclass(slots=True)
class LengthScore:
    """Counts of the constituents in one class of lengths."""

    gold: int = 0
    test: int = 0
    matched: int = 0

    @property
    def figures(self) -> tuple[float, float, float]:
        """Recall, precision and F1, in percent."""
        recall, precision = percent(self.matched, self.gold), percent(self.matched, self.test)
        return recall, precision, f_measure(precision, recall) if self.matched else 0.0


@dataclass(slots=True)
class ErrorAnalysis:
    """Errors of the compared sentences, counted by kind.

    Brackets are those of EVALB: words and labels of `DELETE_LABEL` are skipped, labels are cut at the first - or =, and
    those of `EQ_LABEL` count as the same. Each bracket that does not match is counted once: as confused if the other
    tree has one around the same words with another label, else as missing (gold) or spurious (test). A bracket that
    matches is attached elsewhere if in both trees it follows other words of the constituent around it, and these
    constituents begin at different words: a PP of the gold tree's VP that the parser has put into the NP before it.
    """

    parameters: EvalbParameters
    sentences: int = 0
    confused: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Counts of brackets around the same words with different labels, by label: gold, test."""
    missing: Counter[str] = field(default_factory=Counter)
    spurious: Counter[str] = field(default_factory=Counter)
    attached: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """Counts of brackets attached elsewhere, by label and the label of the constituent around it: gold, test."""
    lengths: tuple[LengthScore, ...] = field(default_factory=lambda: tuple(LengthScore() for _ in _CLASSES))

    def add(self, gold: Tree, test: Tree) -> None:
        """Counts a sentence, unless a word is deleted from only one tree, so that the brackets cannot be compared."""
        deleted = self.parameters.delete_labels
        if [tag in deleted for tag in gold.tags] != [tag in deleted for tag in test.tags]:
            return
        self.sentences += 1
        golds, tests = counted_brackets(gold, self.parameters), counted_brackets(test, self.parameters)
        pairs = self._matches(golds, tests)
        self._count_lengths(golds, tests, pairs)
        self._count_unmatched(golds, tests, pairs)
        for gold_index, test_index in pairs:
            gold_parent, test_parent = self._enclosing(golds, gold_index), self._enclosing(tests, test_index)
            if gold_parent is not None and test_parent is not None and gold_parent.start != test_parent.start:
                self.attached[golds[gold_index].label, gold_parent.label, test_parent.label] += 1

    def _matches(self, golds: list[Bracket], tests: list[Bracket]) -> list[tuple[int, int]]:
        """Returns the matching pairs as EVALB does: each gold bracket with the first free test bracket that fits."""
        free = _by_words(tests)
        pairs = []
        for index, bracket in enumerate(golds):
            at_words = free.get((bracket.start, bracket.end), [])
            for other in at_words:
                if not self.parameters.labeled or self._same(bracket.label, tests[other].label):
                    at_words.remove(other)
                    pairs.append((index, other))
                    break
        return pairs

    def _same(self, one: str, other: str) -> bool:
        equal = self.parameters.equal_labels
        return one == other or (one, other) in equal or (other, one) in equal

    def _count_lengths(self, golds: list[Bracket], tests: list[Bracket], pairs: list[tuple[int, int]]) -> None:
        for bracket in golds:
            self._length_of(bracket).gold += 1
        for bracket in tests:
            self._length_of(bracket).test += 1
        for index, _ in pairs:
            self._length_of(golds[index]).matched += 1

    def _length_of(self, bracket: Bracket) -> LengthScore:
        words = bracket.end - bracket.start
        return self.lengths[
            next(index for index, (_, largest) in enumerate(_CLASSES) if largest is None or words <= largest)
        ]

    def _count_unmatched(self, golds: list[Bracket], tests: list[Bracket], pairs: list[tuple[int, int]]) -> None:
        matched_gold, matched_test = {gold for gold, _ in pairs}, {test for _, test in pairs}
        unmatched = _by_words(tests, without=matched_test)
        for index, bracket in enumerate(golds):
            if index in matched_gold:
                continue
            if at_words := unmatched.get((bracket.start, bracket.end)):
                self.confused[bracket.label, tests[at_words.pop(0)].label] += 1
            else:
                self.missing[bracket.label] += 1
        self.spurious.update(tests[other].label for at_words in unmatched.values() for other in at_words)

    def _enclosing(self, brackets: list[Bracket], index: int) -> Bracket | None:
        """Returns the constituent that a bracket is a later part of; None if it is its first part, or within none."""
        parent = brackets[index].parent
        while parent is not None and brackets[parent][1:3] == brackets[index][1:3]:
            parent = brackets[parent].parent  # a unary chain counts as one constituent
        if parent is None or brackets[parent].start == brackets[index].start:
            return None
        return brackets[parent]

    def to_json(self) -> dict[str, Any]:
        """Returns all counts as JSON values."""
        return {
            "sentences": self.sentences,
            "confused": [
                {"gold": gold, "test": test, "count": count} for (gold, test), count in _sorted(self.confused)
            ],
            "missing": [{"label": label, "count": count} for label, count in _sorted(self.missing)],
            "spurious": [{"label": label, "count": count} for label, count in _sorted(self.spurious)],
            "attached_elsewhere": [
                {"label": label, "gold": gold, "test": test, "count": count}
                for (label, gold, test), count in _sorted(self.attached)
            ],
            "by_words": [
                {
                    "words": words,
                    "gold": score.gold,
                    "test": score.test,
                    "matched": score.matched,
                    **dict(zip(("recall", "precision", "f1"), score.figures, strict=True)),
                }
                for words, score in zip(_class_names(), self.lengths, strict=True)
            ],
        }

    def to_text(self) -> str:
        """Returns the most frequent errors of each kind except confused labels, and the scores by number of words."""
        kinds = (
            ("Brackets missing", _sorted(self.missing)),
            ("Brackets too many", _sorted(self.spurious)),
            (
                "Attached elsewhere: label, within gold > test",
                [(f"{label}, {a} > {b}", n) for (label, a, b), n in _sorted(self.attached)],
            ),
        )
        parts = [_kind_text(title, counts) for title, counts in kinds]
        return "\n\n".join([*parts, self._lengths_text()]) + "\n"

    def _lengths_text(self) -> str:
        head = f"{'Words':<10} {'gold':>6} {'test':>6} {'match':>6} {'Recall':>7} {'Prec.':>7} {'F1':>7}"
        rows = [
            f"{words:<10} {score.gold:6d} {score.test:6d} {score.matched:6d} "
            + " ".join(f"{figure:7.2f}" for figure in score.figures)
            for words, score in zip(_class_names(), self.lengths, strict=True)
            if score.gold or score.test
        ]
        return "\n".join(["-- Constituents by their words --", head, *rows])


def counted_brackets(tree: Tree, parameters: EvalbParameters) -> list[Bracket]:
    """Returns the constituents that EVALB counts, each before those within it.

    Args:
        tree: any tree.
        parameters: the words and labels to skip.
    """
    deleted = set(parameters.delete_labels)
    deleted |= {label for pair in parameters.equal_labels for label, other in (pair, pair[::-1]) if other in deleted}
    counted = [tag not in parameters.delete_labels for tag in tree.tags]
    before = [0]  # number of words that count before each word
    for counts in counted:
        before.append(before[-1] + counts)
    brackets: list[Bracket] = []
    open_brackets: list[int] = []
    for span in tree.spans:
        start, end, label = before[span.start], before[span.end], _FUNCTION.split(span.label, maxsplit=1)[0]
        if start == end or label in deleted:
            continue
        # Spans are nested and an outer one comes first, so a later one within another's range is part of it.
        while open_brackets and not (
            brackets[open_brackets[-1]].start <= start and end <= brackets[open_brackets[-1]].end
        ):
            open_brackets.pop()
        brackets.append(Bracket(label, start, end, open_brackets[-1] if open_brackets else None))
        open_brackets.append(len(brackets) - 1)
    return brackets


def _by_words(brackets: list[Bracket], without: Iterable[int] = ()) -> dict[tuple[int, int], list[int]]:
    """Returns the indices of brackets by the words that they enclose."""
    skipped = set(without)
    indices: dict[tuple[int, int], list[int]] = {}
    for index, bracket in enumerate(brackets):
        if index not in skipped:
            indices.setdefault((bracket.start, bracket.end), []).append(index)
    return indices


def _sorted(counts: Counter[KeyT]) -> list[tuple[KeyT, int]]:
    """Returns the counts, the most frequent first; equal ones in the order of their names."""
    return sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))


def _class_names() -> list[str]:
    return [f"{low}" if low == to else f"{low} to {to}" if to else f"{low} and more" for low, to in _CLASSES]


def _kind_text(title: str, counts: list[tuple[str, int]]) -> str:
    total = sum(count for _, count in counts)
    rows = [f"{count:6d}  {name or _ROOT}" for name, count in counts[:_SHOWN]]
    more = [f"{sum(count for _, count in counts[_SHOWN:]):6d}  others"] if len(counts) > _SHOWN else []
    return "\n".join([f"-- {title}: {total} --", *(rows or ["  none"]), *more])
