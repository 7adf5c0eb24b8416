"""EVALB: comparing the brackets of a parser's tree with those of the treebank, as Sekine and Collins' program does.

Every English constituency parser since Collins (1997) is compared by it, also the paper's (Section 6.3, Table 4). Its
rules are followed to the digit, including surprising ones: its treatment of different lengths or words, of duplicate
brackets, of punctuation, and of an outer bracket without a label. Its limits are not: lines, words and labels may have
any length here, and a line that cannot be read is an error of that line alone, where EVALB would stop or crash.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from attendo.parsing.evalb.line import MATCHED, EvalbLine, Quote, listing, read_line
from attendo.parsing.evalb.parameters import EvalbParameters

Status = Literal[0, 1, 2]
OK: Status = 0
ERROR: Status = 1
SKIPPED: Status = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class SentenceScore:
    """The score of one sentence: EVALB's row of figures, and the counts that attendo's own reports need in addition."""

    number: int
    """Number of its line in both files, from 1."""
    length: int
    """Number of words in the gold tree, without those of DELETE_LABEL_FOR_LENGTH."""
    status: Status
    """0: compared; 1: error; 2: skipped, because the test line has no words."""
    matched: int
    """Number of matching brackets; like the next five, 0 for a skipped sentence and most errors."""
    gold_brackets: int
    test_brackets: int
    crossing: int
    """Number of brackets of the test tree that cross one of the gold tree."""
    words: int
    correct_tags: int
    messages: tuple[str, ...] = ()
    """Descriptions of the errors, in EVALB's words if it has any."""
    gold_labels: tuple[str, ...] = ()
    """The labels of all brackets of the gold tree that count, independent of the status."""
    test_labels: tuple[str, ...] = ()
    """The labels of all brackets of the test tree that count; empty unless the sentence is compared."""
    matched_labels: tuple[tuple[str, str], ...] = ()
    """The labels of each match in the gold tree and in the test tree, which may differ as EQ_LABEL allows."""
    mislabelled: tuple[tuple[str, str], ...] = ()
    """The labels, in the gold tree and in the test tree, of brackets around the same words with different labels."""
    gold_words: int = 0
    """Number of words in the gold tree without deleted ones, independent of the status."""
    gold_is_readable: bool = True
    details: str = ""
    """Words and brackets side by side, as lines in EVALB's format; empty without DEBUG."""


class Scorer:
    """Compares lines with one set of parameters."""

    def __init__(self, parameters: EvalbParameters) -> None:
        self._parameters = parameters
        self._deleted = frozenset(parameters.delete_labels)
        self._deleted_for_length = frozenset(parameters.delete_labels_for_length)
        self._quote_labels = frozenset(parameters.quote_labels)
        self._equal_labels = _both_ways(parameters.equal_labels)
        self._equal_words = _both_ways(parameters.equal_words)
        # Whether a constituent's label is deleted depends on EQ_LABEL, too; whether a word's tag is deleted does not.
        self._deleted_constituents = self._deleted | {
            one for one, other in self._equal_labels if other in self._deleted
        }

    def score(self, gold_line: str, test_line: str, number: int) -> SentenceScore:
        """Compares two trees.

        Args:
            gold_line: the treebank's tree, on one line.
            test_line: the parser's tree; only white space if it has none.
            number: number of the line, from 1.
        """
        gold, test = (
            read_line(line, self._deleted, self._deleted_for_length, self._quote_labels)
            for line in (gold_line, test_line)
        )
        messages = gold.messages + test.messages
        if not test.words and test.is_readable:
            return self._failure(gold, test, number, SKIPPED, messages)
        if not (gold.is_readable and test.is_readable):
            return self._failure(gold, test, number, ERROR, messages)
        if len(gold.words) != len(test.words):
            self._fix_quotes(gold, test)
        if len(gold.words) != len(test.words):
            messages.append(f"Length unmatch ({len(gold.words)}|{len(test.words)})")
            return self._failure(gold, test, number, ERROR, messages)
        for gold_word, test_word in zip(gold.words, test.words, strict=True):
            if gold_word != test_word and (gold_word, test_word) not in self._equal_words:
                messages.append(f"Words unmatch ({gold_word}|{test_word})")
                return self._failure(gold, test, number, ERROR, messages)
        return self._compare(gold, test, number, messages)

    def _fix_quotes(self, gold: EvalbLine, test: EvalbLine) -> None:
        """Reinserts quotation marks that only one side has deleted, because the two sides tag them differently."""
        for number, quote in enumerate(test.quotes):
            index = quote.index
            for position, other in enumerate(gold.quotes):
                if other.index != index or other.tag == quote.tag:
                    continue
                gold_is_deleted, test_is_deleted = other.tag in self._deleted, quote.tag in self._deleted
                if gold_is_deleted and not test_is_deleted:
                    gold.reinsert(other)
                    _shift(gold.quotes[position:])
                elif test_is_deleted and not gold_is_deleted:
                    test.reinsert(quote)
                    _shift(test.quotes[number:])

    def _compare(self, gold: EvalbLine, test: EvalbLine, number: int, messages: list[str]) -> SentenceScore:
        gold.massage(self._deleted_constituents)
        test.massage(self._deleted_constituents)
        gold_counted, test_counted = gold.counted(), test.counted()
        matches, mislabelled = self._match(gold, test, gold_counted, test_counted)
        gold.tag_results = test.tag_results = [
            int(gold_tag == test_tag or (gold_tag, test_tag) in self._equal_labels)
            for gold_tag, test_tag in zip(gold.tags, test.tags, strict=True)
        ]
        return SentenceScore(
            number=number,
            length=gold.length,
            status=ERROR if messages else OK,
            matched=len(matches),
            gold_brackets=len(gold_counted),
            test_brackets=len(test_counted),
            crossing=_num_crossing([span for span, _ in gold_counted], [span for span, _ in test_counted]),
            words=len(gold.words),
            correct_tags=sum(gold.tag_results),
            messages=tuple(messages),
            gold_labels=tuple([gold.labels[index] for _, index in gold_counted]),
            test_labels=tuple([test.labels[index] for _, index in test_counted]),
            matched_labels=tuple([(gold.labels[one], test.labels[other]) for one, other in matches]),
            mislabelled=tuple([(gold.labels[one], test.labels[other]) for one, other in mislabelled]),
            gold_words=len(gold.words),
            gold_is_readable=not gold.messages,
            details=listing(gold, test) if self._parameters.debug >= 1 else "",
        )

    def _match(
        self,
        gold: EvalbLine,
        test: EvalbLine,
        gold_counted: list[tuple[tuple[int, int], int]],
        test_counted: list[tuple[tuple[int, int], int]],
    ) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Pairs each gold bracket with the first free test bracket that fits.

        Returns:
            The pairs that match, and pairs of remaining brackets around the same words, as indices (gold, test).
        """
        free: dict[tuple[int, int], list[int]] = {}
        for span, test_index in test_counted:
            free.setdefault(span, []).append(test_index)
        matches, unmatched = [], []
        for span, gold_index in gold_counted:
            label = gold.labels[gold_index]
            at_span = free.get(span)
            if not at_span:
                continue
            for test_index in at_span:
                other_label = test.labels[test_index]
                if not self._parameters.labeled or label == other_label or (label, other_label) in self._equal_labels:
                    at_span.remove(test_index)
                    gold.results[gold_index] = test.results[test_index] = MATCHED
                    matches.append((gold_index, test_index))
                    break
            else:
                unmatched.append((span, gold_index))
        return matches, [(gold_index, free[span].pop(0)) for span, gold_index in unmatched if free[span]]

    def _failure(
        self, gold: EvalbLine, test: EvalbLine, number: int, status: Status, messages: list[str]
    ) -> SentenceScore:
        """Returns the score of a sentence that is not compared: zeros in its row."""
        details = listing(gold, test) if self._parameters.debug >= 1 else ""
        gold.massage(self._deleted_constituents)
        return SentenceScore(
            number=number,
            length=gold.length,
            status=status,
            matched=0,
            gold_brackets=0,
            test_brackets=0,
            crossing=0,
            words=0,
            correct_tags=0,
            messages=tuple(messages),
            gold_labels=tuple([gold.labels[index] for _, index in gold.counted()]),
            gold_words=len(gold.words),
            gold_is_readable=not gold.messages,
            details=details,
        )


def _both_ways(pairs: Iterable[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    return frozenset(both for one, other in pairs for both in ((one, other), (other, one)))


def _shift(quotes: list[Quote]) -> None:
    for quote in quotes:
        quote.index += 1


def _num_crossing(gold: list[tuple[int, int]], test: list[tuple[int, int]]) -> int:
    """Returns the number of test spans that overlap with a gold span without one containing the other."""
    spans = set(gold)
    crossing = 0
    for span in test:
        if span in spans:  # brackets of the same tree do not cross
            continue
        start, end = span
        for gold_start, gold_end in spans:
            if gold_start < start < gold_end < end or start < gold_start < end < gold_end:
                crossing += 1
                break
    return crossing
