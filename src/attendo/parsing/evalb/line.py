"""Reading a line as EVALB does, into words, tags and brackets, and EVALB's listing of them."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field

# White space is that of C, not of Unicode: a word may contain a no-break space. A label alone opens a bracket; a label
# followed by a word and a closing bracket is a terminal.
_TOKEN = re.compile(
    r"\(([^ \t\n\v\f\r()]*)(?:[ \t\n\v\f\r]+([^ \t\n\v\f\r()]*)\))?|(\))|([^ \t\n\v\f\r()]+)",
)
_TERMINAL, _OPENING, _CLOSING = 2, 1, 3
_FUNCTION = re.compile("[-=]")
_QUOTES = frozenset(("'", '"', "/"))
"""The words that QUOTE_LABEL concerns."""

UNDEFINED, UNMATCHED, MATCHED, DELETED = 9, 0, 1, 5
"""The status of a bracket or tag, as EVALB's DEBUG output prints it."""
_NO_END = -1


@dataclass(slots=True)
class Quote:
    """A quotation mark, with its position in the line as it was read."""

    tag: str
    word: str
    index: int
    """Number of words before it, deleted ones not counted."""
    bracket: int
    """Number of brackets opened before it."""
    open_brackets: tuple[int, ...]
    """Indices of the brackets that enclose it."""


@dataclass(slots=True)
class EvalbLine:
    """One line as EVALB reads it; scoring changes it in place."""

    length: int = 0
    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    tag_results: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    quotes: list[Quote] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    is_readable: bool = True
    """False if the line has an error other than brackets that are not closed."""

    def reinsert(self, quote: Quote) -> None:
        """Puts a deleted quotation mark back where it was."""
        self.words.insert(quote.index, quote.word)
        self.tags.insert(quote.index, quote.tag)
        for index in range(quote.bracket, len(self.starts)):
            self.starts[index] += 1
            self.ends[index] += 1
        for index in quote.open_brackets:
            self.ends[index] += 1

    def massage(self, deleted: Collection[str]) -> None:
        """Removes functional tags from the labels and marks the brackets that do not count.

        Args:
            deleted: labels of brackets that do not count.
        """
        self.results = []
        for index, label in enumerate(self.labels):
            if self.starts[index] == self.ends[index]:
                self.results.append(DELETED)
                continue
            self.labels[index] = label = _FUNCTION.split(label, maxsplit=1)[0]
            self.results.append(DELETED if label in deleted else UNMATCHED)

    def counted(self) -> list[tuple[tuple[int, int], int]]:
        """Returns the spans, as the first word and the word after the last, and indices of the brackets that count."""
        return [
            ((start, end), index)
            for index, (start, end, result) in enumerate(zip(self.starts, self.ends, self.results, strict=True))
            if result != DELETED
        ]


def read_line(
    text: str, deleted: Collection[str], deleted_for_length: Collection[str], quote_labels: Collection[str]
) -> EvalbLine:
    """Reads a tree.

    Args:
        text: the line.
        deleted: tags of words that are deleted.
        deleted_for_length: tags of words that do not count towards the length.
        quote_labels: tags of quotation marks that may have to be reinserted.
    """
    line = EvalbLine()
    stack: list[int] = []
    words, tags, starts, ends, labels = line.words, line.tags, line.starts, line.ends, line.labels
    for match in _TOKEN.finditer(text):
        kind = match.lastindex
        if kind == _TERMINAL:
            tag, word = match[1], match[2]
            if tag not in deleted_for_length:
                line.length += 1
            if tag in quote_labels and word in _QUOTES:
                line.quotes.append(Quote(tag, word, len(words), len(starts), tuple(stack)))
            if tag not in deleted:
                words.append(word)
                tags.append(tag)
        elif kind == _OPENING:
            stack.append(len(starts))
            starts.append(len(words))
            ends.append(_NO_END)
            labels.append(match[1])
        elif kind == _CLOSING and stack:
            ends[stack.pop()] = len(words)
        else:
            line.is_readable = False
            line.messages.append(
                "Bracketing unbalance (too many close bracket)"
                if kind == _CLOSING
                else f"Reading sentence (no bracket, but {match[0][:80]})"
            )
            return line
    if stack:
        line.messages.append("Bracketing is unbalanced (too many open bracket)")
    return line


def listing(gold: EvalbLine, test: EvalbLine) -> str:
    """Returns EVALB's listing of both sides, first the words, then the brackets."""
    lines = [
        f"-<1>---(wn1={len(gold.words):3d}, bn1={len(gold.labels):3d})-           "
        f"-<2>---(wn2={len(test.words):3d}, bn2={len(test.labels):3d})-"
    ]
    sides = (gold, test)
    for index in range(max(len(side.words) for side in sides)):
        gold_details, test_details = (_word_details(side, index) for side in sides)
        lines.append(f"{gold_details}      {test_details}" if gold_details else f"{'':40}{test_details}")
    lines.append("")
    for index in range(max(len(side.labels) for side in sides)):
        gold_details, test_details = (_bracket_details(side, index) for side in sides)
        lines.append(f"{gold_details}      {test_details}" if gold_details else f"{'':32}{test_details}")
    return "\n".join([*lines, "", "========\n"])


def _word_details(side: EvalbLine, index: int) -> str:
    if index >= len(side.words) or not side.words[index]:
        return ""
    result = side.tag_results[index] if side.tag_results else UNDEFINED
    return f"{index:3d} : {result} : {_padded(side.tags[index], 6)}  {_padded(side.words[index], 16)}"


def _bracket_details(side: EvalbLine, index: int) -> str:
    if index >= len(side.labels):
        return ""
    result = side.results[index] if side.results else UNDEFINED
    return f"{index:3d} : {result} : {side.starts[index]:3d}  {side.ends[index]:3d}  {_padded(side.labels[index], 6)}"


def _padded(text: str, width: int) -> str:
    """Pads a text as C does, which counts bytes."""
    return text + " " * (width - len(text.encode()))
